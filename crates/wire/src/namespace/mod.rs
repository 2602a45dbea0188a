//! Namespaces: the data of `HS_NAMESPACE`, and the template handles that it describes.
//!
//! A namespace may define how handles that are not stored are computed from others:
//! `20.1000/abc@10-20` from the values of `20.1000/abc`, with the extension `10-20`
//! (`handle-protocol.md` §6.9). A resolver of such a handle finds the namespaces that apply, the
//! innermost first, and calls [`split`] and [`evaluate`].
//!
//! ```
//! use handfast_wire::Value;
//! use handfast_wire::namespace::{Namespace, Outcome, TemplateHandle, delimiter, evaluate, split};
//!
//! let chain = [Namespace::parse(
//!     r#"<namespace><template delimiter="@"><foreach>
//!          <value data="${data}?page=${extension}"/>
//!        </foreach></template></namespace>"#,
//! )?];
//! let delimiter = delimiter(&chain).unwrap();
//! let handle = split("20.1000/abc@7", delimiter).unwrap();
//! assert_eq!((handle.base, handle.extension), ("20.1000/abc", "7"));
//!
//! let values = [Value::new(1, "URL", b"https://example.org/abc")];
//! let Outcome::Values(values) = evaluate(&chain, &handle, &values, false, &mut |_| None)? else {
//!     panic!("not found");
//! };
//! assert_eq!(values[0].text(), Some("https://example.org/abc?page=7"));
//! # Ok::<_, handfast_wire::namespace::NamespaceError>(())
//! ```
//!
//! The authors of namespaces are trusted with a prefix, but not with the server: the cost of a
//! template is limited.

mod evaluate;
mod substitute;

use std::fmt;

use roxmltree::{Document, Node, ParsingOptions};

pub use evaluate::{Outcome, evaluate};

use crate::value::Value;

/// The data of an `HS_NAMESPACE` value.
///
/// ```
/// use handfast_wire::namespace::Namespace;
///
/// let namespace = Namespace::parse("<namespace><status>inactive</status></namespace>")?;
/// assert!(!namespace.is_active());
/// # Ok::<_, handfast_wire::namespace::NamespaceError>(())
/// ```
pub struct Namespace<'a> {
    document: Document<'a>,
}

impl<'a> Namespace<'a> {
    /// Reads the XML. A document type is refused: it can make much out of little.
    pub fn parse(text: &'a str) -> Result<Self, NamespaceError> {
        if text.len() > MAX_LENGTH || !has_few_attributes(text) {
            return Err(NamespaceError::TooMuch);
        }
        let options = ParsingOptions {
            nodes_limit: MAX_NODES,
            ..ParsingOptions::default()
        };
        match Document::parse_with_options(text, options) {
            Ok(document) => Ok(Self { document }),
            Err(roxmltree::Error::NodesLimitReached) => Err(NamespaceError::TooMuch),
            Err(error) => {
                let position = error.pos();
                Err(NamespaceError::Xml {
                    line: position.row,
                    column: position.col,
                })
            }
        }
    }

    /// Whether its status is not `inactive`.
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.child_text("status").map(str::trim) != Some("inactive")
    }

    /// The contact for questions about the status.
    #[must_use]
    pub fn status_message(&self) -> Option<&str> {
        self.child_text("statusmsg")
    }

    /// Whom to ask.
    #[must_use]
    pub fn contact(&self) -> Option<&str> {
        self.child_text("contact")
    }

    /// The handles whose `10320/loc` values hold for all handles of the namespace.
    ///
    /// ```
    /// use handfast_wire::namespace::Namespace;
    ///
    /// let namespace = Namespace::parse("<namespace><locs> 20.1000/locs </locs></namespace>")?;
    /// assert_eq!(namespace.locations().collect::<Vec<_>>(), ["20.1000/locs"]);
    /// # Ok::<_, handfast_wire::namespace::NamespaceError>(())
    /// ```
    pub fn locations(&self) -> impl Iterator<Item = &str> {
        let texts = self.children("locs").filter_map(|child| child.text());
        texts.map(str::trim).filter(|text| !text.is_empty())
    }

    /// Whether locations of the namespaces around it do not hold (`no_nslocs`).
    #[must_use]
    pub fn has_all_locations(&self) -> bool {
        let mut children = self.children("locs");
        children.any(|child| child.has_attribute("no_nslocs"))
    }

    /// Whether it has a template.
    #[must_use]
    pub fn has_template(&self) -> bool {
        self.templates().next().is_some()
    }

    fn templates(&self) -> impl Iterator<Item = Node<'_, 'a>> {
        self.children("template")
    }

    fn children(&self, name: &'static str) -> impl Iterator<Item = Node<'_, 'a>> {
        let children = self.document.root_element().children();
        children.filter(move |child| is_named(*child, name))
    }

    fn child_text(&self, name: &str) -> Option<&str> {
        let mut children = self.document.root_element().children();
        children.find(|child| is_named(*child, name))?.text()
    }
}

impl fmt::Debug for Namespace<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Namespace({:?})", self.document.input_text())
    }
}

/// A handle that is made by a template.
///
/// ```
/// use handfast_wire::namespace::split;
///
/// assert_eq!(split("20.1000/abc@7", "@").unwrap().handle, "20.1000/abc@7");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TemplateHandle<'a> {
    /// All of it.
    pub handle: &'a str,
    /// The text before the delimiter.
    pub base: &'a str,
    /// The text after the first delimiter.
    pub extension: &'a str,
}

/// Splits a handle at the first delimiter behind the prefix: "base = part before D, extension =
/// part after D (may be empty, may contain D again)".
///
/// ```
/// use handfast_wire::namespace::split;
///
/// // The prefix is not searched.
/// let handle = split("20.1000/a.b.c", ".").unwrap();
/// assert_eq!((handle.base, handle.extension), ("20.1000/a", "b.c"));
/// assert_eq!(split("20.1000/abc", "@"), None);
/// ```
#[must_use]
pub fn split<'a>(handle: &'a str, delimiter: &str) -> Option<TemplateHandle<'a>> {
    let slash = handle.find('/')?;
    let at = slash + handle.get(slash..)?.find(delimiter)?;
    if delimiter.is_empty() {
        return None;
    }
    Some(TemplateHandle {
        handle,
        base: handle.get(..at)?,
        extension: handle.get(at + delimiter.len()..)?,
    })
}

/// The "`delimiter` attribute of the first `template` element found going from this namespace to
/// its parents".
///
/// ```
/// use handfast_wire::namespace::{Namespace, delimiter};
///
/// let inner = Namespace::parse("<namespace/>")?;
/// let outer = Namespace::parse(r#"<namespace><template delimiter="@"/></namespace>"#)?;
/// assert_eq!(delimiter(&[inner, outer]), Some("@"));
/// # Ok::<_, handfast_wire::namespace::NamespaceError>(())
/// ```
#[must_use]
pub fn delimiter<'c>(chain: &'c [Namespace<'_>]) -> Option<&'c str> {
    let mut templates = chain.iter().flat_map(Namespace::templates);
    let delimiter = templates.next()?.attribute("delimiter");
    delimiter.filter(|delimiter| !delimiter.is_empty())
}

/// The namespace of a record: "If a handle has several `HS_NAMESPACE` values the one with the
/// lowest index counts."
///
/// ```
/// use handfast_wire::Value;
/// use handfast_wire::namespace::namespace_value;
///
/// let values = [Value::new(9, "HS_NAMESPACE", b"<b/>"), Value::new(3, "HS_NAMESPACE", b"<a/>")];
/// assert_eq!(namespace_value(&values).unwrap().index, 3);
/// ```
#[must_use]
pub fn namespace_value<'v, 'a>(values: &'v [Value<'a>]) -> Option<&'v Value<'a>> {
    let all = values.iter().filter(|value| value.is_type("HS_NAMESPACE"));
    all.min_by_key(|value| value.index)
}

/// Why a namespace cannot be read or its template not evaluated.
///
/// ```
/// use handfast_wire::namespace::{Namespace, NamespaceError};
///
/// let error = Namespace::parse("<namespace>").unwrap_err();
/// assert!(matches!(error, NamespaceError::Xml { line: 1, .. }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NamespaceError {
    /// A regular expression that is not valid, or that cannot be matched in bounded time.
    #[error("a regular expression of the template cannot be used")]
    Expression,
    /// The text is too long, or the template asks for too much work.
    #[error("the namespace is too long, or its template too much work")]
    TooMuch,
    /// Not XML, or XML with a document type.
    #[error("the namespace is not XML at line {line}, column {column}")]
    Xml {
        /// The line, from 1.
        line: u32,
        /// The column, from 1.
        column: u32,
    },
}

/// Whether no element of a text can have more than a thousand attributes: readers of XML compare
/// each of them with all others, so that a text of many takes long to read.
///
/// ```
/// use handfast_wire::namespace::has_few_attributes;
///
/// assert!(has_few_attributes("<a b='c'><d e='f'/></a>"));
/// assert!(!has_few_attributes(&format!("<a {}/>", "b='c' ".repeat(1_001))));
/// ```
#[must_use]
pub fn has_few_attributes(text: &str) -> bool {
    // No element goes on behind the start of another.
    text.split('<')
        .all(|part| part.matches('=').nth(MAX_ATTRIBUTES).is_none())
}

fn is_named(node: Node<'_, '_>, name: &str) -> bool {
    node.is_element() && node.tag_name().name() == name
}

const MAX_LENGTH: usize = 262_144;
const MAX_NODES: u32 = 20_000;
const MAX_ATTRIBUTES: usize = 1_000;
