//! The values of a template handle.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use regex_lite::{Regex, RegexBuilder};
use roxmltree::Node;

use super::substitute::Variables;
use super::{Namespace, NamespaceError, TemplateHandle, is_named};
use crate::reference::Reference;
use crate::value::Value;

/// The result of a template.
///
/// ```
/// use handfast_wire::namespace::{Namespace, Outcome, evaluate, split};
///
/// let chain = [Namespace::parse("<n><template><notfound/></template></n>")?];
/// let handle = split("20.1000/a@b", "@").unwrap();
/// assert_eq!(evaluate(&chain, &handle, &[], false, &mut |_| None)?, Outcome::NotFound);
/// # Ok::<_, handfast_wire::namespace::NamespaceError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// There is no such handle.
    NotFound,
    /// The values of the handle, which may be none.
    Values(Vec<Value<'static>>),
}

/// The values of a template handle (`handle-protocol.md` §6.9, steps 6 and 7).
///
/// `chain` has the namespaces that apply, the innermost first; `values` are those of the base
/// handle. `fetch` returns the XML in a value, for templates that refer to others. Regular
/// expressions ignore case unless the server is case sensitive. Queries filter the result.
///
/// ```
/// use handfast_wire::Value;
/// use handfast_wire::namespace::{Namespace, Outcome, evaluate, split};
///
/// let chain = [Namespace::parse(
///     r#"<n><template><value type="URL" data="https://x.example/${extension}"/></template></n>"#,
/// )?];
/// let handle = split("20.1000/a@b", "@").unwrap();
/// let made = evaluate(&chain, &handle, &[], false, &mut |_| None)?;
/// assert_eq!(made, Outcome::Values(vec![Value::new(1, "URL", b"https://x.example/b")]));
/// # Ok::<_, handfast_wire::namespace::NamespaceError>(())
/// ```
pub fn evaluate(
    chain: &[Namespace<'_>],
    handle: &TemplateHandle<'_>,
    values: &[Value<'_>],
    is_case_sensitive: bool,
    fetch: &mut dyn FnMut(&Reference<'_>) -> Option<String>,
) -> Result<Outcome, NamespaceError> {
    let Some(namespace) = chain.iter().find(|namespace| namespace.has_template()) else {
        let values = values.iter().cloned().map(Value::into_owned);
        return Ok(Outcome::Values(values.collect()));
    };
    let mut evaluation = Evaluation {
        handle,
        values,
        is_case_sensitive,
        fetch,
        expressions: HashMap::new(),
        work: MAX_WORK,
        made: Made::default(),
    };
    for template in namespace.templates() {
        if evaluation.template(template, 0)? == Flow::NotFound {
            return Ok(Outcome::NotFound);
        }
    }
    Ok(Outcome::Values(evaluation.made.values))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    GoOn,
    NotFound,
}

/// The values made so far.
#[derive(Default)]
struct Made {
    values: Vec<Value<'static>>,
    indexes: BTreeSet<u32>,
    octets: usize,
}

impl Made {
    /// "If the index is already used in the result, it is increased until free."
    fn push(&mut self, mut value: Value<'static>) -> Result<(), NamespaceError> {
        while self.indexes.contains(&value.index) {
            value.index = value.index.checked_add(1).ok_or(NamespaceError::TooMuch)?;
        }
        self.indexes.insert(value.index);
        self.octets += value.encoded_length();
        if self.values.len() >= MAX_VALUES || self.octets > MAX_OCTETS {
            return Err(NamespaceError::TooMuch);
        }
        self.values.push(value);
        Ok(())
    }
}

struct Evaluation<'e> {
    handle: &'e TemplateHandle<'e>,
    values: &'e [Value<'e>],
    is_case_sensitive: bool,
    fetch: &'e mut dyn FnMut(&Reference<'_>) -> Option<String>,
    expressions: HashMap<String, Regex>,
    work: usize,
    made: Made,
}

impl Evaluation<'_> {
    /// A `template` element, or what it refers to.
    fn template(&mut self, node: Node<'_, '_>, depth: usize) -> Result<Flow, NamespaceError> {
        let Some(reference) = node.attribute("ref") else {
            let handle = self.handle;
            let mut variables = Variables::default();
            variables.set("handle", handle.handle, vec![]);
            variables.set("base", handle.base, vec![]);
            variables.set("extension", handle.extension, vec![]);
            return self.children(node, &mut variables, None, 0);
        };
        // "recursion limit 10; failure → not found; unparsable → as if absent"
        if depth >= MAX_REFERENCES {
            return Ok(Flow::NotFound);
        }
        self.spend(REFERENCE_WORK)?;
        let reference = reference.split_once(':');
        let reference = reference.and_then(|(i, handle)| Some((i.trim().parse().ok()?, handle)));
        let Some((index, handle)) = reference else {
            return Ok(Flow::NotFound);
        };
        let Some(text) = (self.fetch)(&Reference::new(handle, index)) else {
            return Ok(Flow::NotFound);
        };
        let Ok(namespace) = Namespace::parse(&text) else {
            return Ok(Flow::GoOn);
        };
        let root = namespace.document.root_element();
        if is_named(root, "template") || !namespace.has_template() {
            return self.template(root, depth + 1);
        }
        for template in namespace.templates() {
            if self.template(template, depth + 1)? == Flow::NotFound {
                return Ok(Flow::NotFound);
            }
        }
        Ok(Flow::GoOn)
    }

    /// The elements of one level, in order.
    fn children<'v>(
        &mut self,
        parent: Node<'v, '_>,
        variables: &mut Variables<'v>,
        current: Option<&'v Value<'v>>,
        depth: usize,
    ) -> Result<Flow, NamespaceError> {
        if depth > MAX_DEPTH {
            return Err(NamespaceError::TooMuch);
        }
        let outer = variables.0.len();
        // The `if` that an `else` belongs to, and whether it is turned round.
        let mut condition = None;
        for node in parent.children().filter(Node::is_element) {
            self.spend(ELEMENT_WORK)?;
            let flow = match node.tag_name().name() {
                "value" => self.value(node, variables, current)?,
                "foreach" if current.is_none() => self.foreach(node, variables, depth)?,
                "if" => {
                    condition = Some((node, false));
                    self.branch(node, node, false, variables, current, depth)?
                }
                "else" => match &mut condition {
                    Some((test, is_turned)) => {
                        *is_turned = !*is_turned;
                        let (test, is_turned) = (*test, *is_turned);
                        self.branch(node, test, is_turned, variables, current, depth)?
                    }
                    None => Flow::GoOn,
                },
                "notfound" => Flow::NotFound,
                "def" => self.define(node, variables, current, depth)?,
                _ => Flow::GoOn,
            };
            if flow == Flow::NotFound {
                return Ok(flow);
            }
        }
        variables.0.truncate(outer);
        Ok(Flow::GoOn)
    }

    fn value(
        &mut self,
        node: Node<'_, '_>,
        variables: &Variables<'_>,
        current: Option<&Value<'_>>,
    ) -> Result<Flow, NamespaceError> {
        let mut substitute = |text: &str| {
            let text = variables.substitute(text, MAX_OCTETS);
            let text = text.ok_or(NamespaceError::TooMuch)?;
            self.spend(text.len()).map(|()| text)
        };
        let value_type = node.attribute("type").map(&mut substitute).transpose()?;
        let data = written_data(node)
            .map(|text| substitute(&text))
            .transpose()?;
        let value = match (current, value_type, data) {
            (Some(current), value_type, data) => {
                self.spend(current.data.len())?;
                let mut value = current.clone().into_owned();
                let index = node
                    .attribute("index")
                    .and_then(|index| index.trim().parse().ok());
                value.index = index.filter(|index| *index > 0).unwrap_or(value.index);
                value.value_type = value_type.map_or(value.value_type, Cow::Owned);
                value.data = data.map_or(value.data, |data| data.into_bytes().into());
                value
            }
            // "index is always 1 regardless of the attribute, and both type and data are required
            // (else skipped)"
            (None, Some(value_type), Some(data)) => Value {
                value_type: value_type.into(),
                data: data.into_bytes().into(),
                ..Value::new(1, "", b"")
            },
            (None, ..) => return Ok(Flow::GoOn),
        };
        self.made.push(value)?;
        Ok(Flow::GoOn)
    }

    /// "for each base value (stored order), with variables `index`, `type`, `data` set"
    fn foreach<'v>(
        &mut self,
        node: Node<'v, '_>,
        variables: &mut Variables<'v>,
        depth: usize,
    ) -> Result<Flow, NamespaceError> {
        for value in self.values {
            let data = String::from_utf8_lossy(&value.data);
            let copied: usize = variables.0.iter().map(|variable| variable.text.len()).sum();
            self.spend(
                data.len()
                    .saturating_add(copied)
                    .saturating_add(ELEMENT_WORK),
            )?;
            // The variables of one turn live no longer than it.
            let mut inner = Variables(variables.0.clone());
            inner.set("index", value.index.to_string(), vec![]);
            inner.set("type", value.value_type.as_ref(), vec![]);
            inner.set("data", data, vec![]);
            if self.children(node, &mut inner, Some(value), depth + 1)? == Flow::NotFound {
                return Ok(Flow::NotFound);
            }
        }
        Ok(Flow::GoOn)
    }

    /// The children of an `if` or `else`, if the condition is true, or with `is_turned` if it is
    /// false.
    fn branch<'v>(
        &mut self,
        node: Node<'v, '_>,
        condition: Node<'v, '_>,
        is_turned: bool,
        variables: &mut Variables<'v>,
        current: Option<&'v Value<'v>>,
        depth: usize,
    ) -> Result<Flow, NamespaceError> {
        let name = condition.attribute("value").unwrap_or("extension");
        let (kind, expression) = (
            condition.attribute("test"),
            condition.attribute("expression"),
        );
        if kind.is_none() && expression.is_none() {
            if is_turned {
                return Ok(Flow::GoOn);
            }
            return self.children(node, variables, current, depth + 1);
        }
        let expression = expression.unwrap_or_default();
        let text = variables.lookup(name).to_owned();
        self.spend(text.len())?;
        let (holds, groups) = if kind == Some("matches") {
            let groups = self.matches(expression, &text)?;
            (groups.is_some(), groups.unwrap_or_default())
        } else {
            (text == expression, vec![])
        };
        let is_negated = condition.attribute("negate").map(str::trim) == Some("true");
        if holds == (is_negated != is_turned) {
            return Ok(Flow::GoOn);
        }
        let outer = variables.0.len();
        variables.set(
            condition.attribute("parameter").unwrap_or(name),
            text,
            groups,
        );
        let flow = self.children(node, variables, current, depth + 1)?;
        variables.0.truncate(outer);
        Ok(flow)
    }

    /// "evaluate the children as a template; bind the data of the first value produced to the
    /// variable for the rest of this level"
    fn define<'v>(
        &mut self,
        node: Node<'v, '_>,
        variables: &mut Variables<'v>,
        current: Option<&'v Value<'v>>,
        depth: usize,
    ) -> Result<Flow, NamespaceError> {
        let outer = std::mem::take(&mut self.made);
        let flow = self.children(node, variables, current, depth + 1);
        let inner = std::mem::replace(&mut self.made, outer);
        let first = inner.values.first().map(|value| value.data.as_ref());
        let data = first.map(|data| String::from_utf8_lossy(data).into_owned());
        if let Some(name) = node.attribute("parameter") {
            variables.set(name, data.unwrap_or_default(), vec![]);
        }
        flow
    }

    /// The groups, if all of the text matches.
    fn matches(
        &mut self,
        expression: &str,
        text: &str,
    ) -> Result<Option<Vec<String>>, NamespaceError> {
        if text.len() > MAX_MATCHED || expression.len() > MAX_EXPRESSION {
            return Err(NamespaceError::TooMuch);
        }
        // How long matching takes depends on both, and an expression that repeats is larger than it
        // looks.
        let size = expression.len().max(16) * repetitions(expression);
        self.spend(text.len().saturating_mul(size))?;
        if !self.expressions.contains_key(expression) {
            self.spend(COMPILE_WORK)?;
            let regex = compile(expression, self.is_case_sensitive)?;
            self.expressions.insert(expression.to_owned(), regex);
        }
        let Some(regex) = self.expressions.get(expression) else {
            return Ok(None);
        };
        let captures = regex.captures(text);
        Ok(captures.map(|captures| {
            let group = |group: Option<regex_lite::Match<'_>>| {
                group.map_or_else(String::new, |group| group.as_str().to_owned())
            };
            captures.iter().map(group).collect()
        }))
    }

    fn spend(&mut self, work: usize) -> Result<(), NamespaceError> {
        self.work = self.work.checked_sub(work).ok_or(NamespaceError::TooMuch)?;
        Ok(())
    }
}

/// "Data comes from the `data` attribute, else the element's text, else its child elements
/// serialised."
fn written_data<'n>(node: Node<'n, '_>) -> Option<Cow<'n, str>> {
    if let Some(data) = node.attribute("data") {
        return Some(data.into());
    }
    let texts = node.children().filter(Node::is_text);
    let text: String = texts.filter_map(|text| text.text()).collect();
    if !text.trim().is_empty() {
        return Some(text.into());
    }
    let input = node.document().input_text();
    let elements = node.children().filter(Node::is_element);
    let elements: String = elements
        .filter_map(|element| input.get(element.range()))
        .collect();
    (!elements.is_empty()).then_some(elements.into())
}

/// By how much counted repetitions make an expression larger, at most.
fn repetitions(expression: &str) -> usize {
    let counts = expression.split('{').skip(1).filter_map(|rest| {
        let inside = rest.split('}').next()?;
        let counts = inside
            .split(',')
            .filter_map(|count| count.trim().parse::<usize>().ok());
        counts.max()
    });
    counts
        .fold(1, |product: usize, count| {
            product.saturating_mul(count.max(1))
        })
        .min(MAX_COMPILED)
}

/// An expression that matches all of a text or nothing.
fn compile(expression: &str, is_case_sensitive: bool) -> Result<Regex, NamespaceError> {
    let build = |expression: &str| {
        RegexBuilder::new(expression)
            .case_insensitive(!is_case_sensitive)
            .size_limit(MAX_COMPILED)
            .nest_limit(32)
            .build()
            .map_err(|_| NamespaceError::Expression)
    };
    // By itself first: `a)|(b` is not valid, but would be inside the parentheses.
    build(expression)?;
    build(&format!("^(?:{expression})$"))
}

/// The limits of one message.
const MAX_VALUES: usize = 2048;
const MAX_OCTETS: usize = 262_144;

const MAX_DEPTH: usize = 64;
const MAX_REFERENCES: usize = 10;
const MAX_MATCHED: usize = 4096;
const MAX_EXPRESSION: usize = 1024;
const MAX_COMPILED: usize = 16_384;

/// The limits of the cost of an evaluation, about in copied octets.
const MAX_WORK: usize = 2_000_000;
const ELEMENT_WORK: usize = 100;
const REFERENCE_WORK: usize = 100_000;
const COMPILE_WORK: usize = 50_000;
