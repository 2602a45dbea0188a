//! How a text becomes its canonical form, step by step.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::chars::PCHAR;
use crate::cordra::CordraId;
use crate::doi::Doi;
use crate::error::ParseError;
use crate::hdl_uri::{HdlForm, HdlUri};
use crate::identifier::{Identifier, Scheme, parse_as};
use crate::info::InfoUri;
use crate::namespace::NamespaceLookup;
use crate::percent::{self, Piece};
use crate::recognise::recognise;
use crate::rules::Rules;
use crate::urn::Urn;

/// One step on the way to a canonical form.
///
/// ```
/// use handfast_id::{Scheme, Standard, explain};
///
/// let steps = explain("INFO:LCCN/n78%2d89035", Scheme::Info, &Standard)?;
/// let lines: Vec<_> = steps.iter().map(|s| format!("{}: {}", s.rule, s.text)).collect();
/// assert_eq!(lines[..3], [
///     "INFO-4 (a): info:LCCN/n78%2d89035",
///     "INFO-4 (b): info:lccn/n78%2d89035",
///     "INFO-4 (c): info:lccn/n78-89035",
/// ]);
/// assert_eq!(steps.last().unwrap().text, "info:lccn/n78089035");
/// # Ok::<_, handfast_id::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Explanation {
    /// The rule that asks for the step.
    pub rule: &'static str,
    /// The step.
    pub what: Cow<'static, str>,
    /// The text after it.
    pub text: String,
}

/// Reads `text` and shows each step on the way to its canonical form, those that change nothing
/// included. The last text is the canonical form.
///
/// ```
/// use handfast_id::{Scheme, Standard, explain};
///
/// let steps = explain("HDL://20.1000/%41", Scheme::Hdl, &Standard)?;
/// assert_eq!(steps.last().unwrap().text, "hdl:20.1000/A");
/// # Ok::<_, handfast_id::ParseError>(())
/// ```
pub fn explain(
    text: &str,
    scheme: Scheme,
    rules: &dyn Rules,
) -> Result<Vec<Explanation>, ParseError> {
    let mut steps = Explanations(Vec::new());
    let (identifier, text) = match scheme {
        Scheme::Any => {
            let found = recognise(text, rules)?;
            steps.put(
                "X-7",
                "white space and one pair of brackets trimmed",
                found.text,
            );
            let what = format!(
                "recognised as {} by: {}",
                found.identifier.scheme(),
                found.by.as_str()
            );
            steps.put("§7", what, found.text);
            (found.identifier, found.text)
        }
        _ => (parse_as(text, scheme, rules)?, text),
    };
    match &identifier {
        Identifier::Ark(ark) => {
            let [naan, name] = [ark.naan().to_ascii_lowercase(), ark.name().to_string()];
            steps.put(
                "ARK-1",
                "what follows ? or # left out, no slash after ark:",
                format!("ark:{}/{name}", ark.naan()),
            );
            steps.put(
                "ARK-1",
                "authority number in lower case",
                format!("ark:{naan}/{name}"),
            );
            steps.put(
                "ARK-1",
                "hyphens dropped",
                format!("ark:{naan}/{}", name.replace('-', "")),
            );
            steps.put(
                "ARK-1",
                "triplets in upper case, / and . dropped at the end",
                ark.to_string(),
            );
        }
        Identifier::Cordra(id) => steps.cordra(id),
        Identifier::Doi(doi) => steps.doi(doi),
        Identifier::Handle(handle) => {
            steps.put(
                "HDL-1",
                "a handle is kept as it is written",
                handle.as_str(),
            );
        }
        Identifier::Hdl(uri) => steps.hdl(uri),
        Identifier::Info(uri) => steps.info(uri, text, rules),
        Identifier::Urn(urn) => steps.urn(urn),
    }
    Ok(steps.0)
}

struct Explanations(Vec<Explanation>);

impl Explanations {
    fn put(
        &mut self,
        rule: &'static str,
        what: impl Into<Cow<'static, str>>,
        text: impl Into<String>,
    ) {
        self.0.push(Explanation {
            rule,
            what: what.into(),
            text: text.into(),
        });
    }

    fn cordra(&mut self, id: &CordraId<'_>) {
        let tail = [('?', id.query()), ('#', id.fragment())];
        let tail =
            tail.map(|(mark, part)| part.map(|part| format!("{mark}{part}")).unwrap_or_default());
        self.put(
            "CID-3",
            "path in upper case",
            format!("{}{}", id.record(), tail.concat()),
        );
        self.put("X-2", "triplets in upper case", id.to_string());
    }

    fn doi(&mut self, doi: &Doi<'_>) {
        self.put("DOI-1", "read as a handle", doi.handle().as_str());
        self.put(
            "DOI-1",
            "doi: and the handle in lower case",
            doi.to_string(),
        );
    }

    fn hdl(&mut self, uri: &HdlUri<'_>) {
        let (rule, what) = match uri.form() {
            HdlForm::Host => ("URI-2", "host form: the host is the prefix"),
            HdlForm::Http => ("URI-10", "HTTP form: all after the prefix is the suffix"),
            HdlForm::Path => ("URI-3", "path form: two segments"),
        };
        self.put(
            "URI-6",
            format!("{what} ({rule}); triplets decoded"),
            uri.handle().as_str(),
        );
        self.put(
            "URI-7",
            "path form with triplets only where they are needed; query and fragment kept",
            uri.to_string(),
        );
    }

    fn info(&mut self, uri: &InfoUri<'_>, text: &str, rules: &dyn Rules) {
        let namespace_at = "info:".len();
        let identifier_at = namespace_at + uri.namespace().len() + 1;
        let after = |at: usize| text.get(at..).unwrap_or_default();
        self.put(
            "INFO-4 (a)",
            "scheme in lower case",
            format!("info:{}", after(namespace_at)),
        );
        let head = format!("info:{}/", uri.namespace());
        self.put(
            "INFO-4 (b)",
            "namespace in lower case",
            format!("{head}{}", after(identifier_at)),
        );
        let fragment = uri.fragment().map(|f| format!("#{f}")).unwrap_or_default();
        let decoded = decode_pchars(uri.identifier());
        self.put(
            "INFO-4 (c)",
            "triplets decoded whose character may stand bare",
            format!("{head}{decoded}{fragment}"),
        );
        self.put(
            "INFO-4 (d)",
            "remaining triplets in upper case",
            uri.to_string(),
        );
        match rules.namespace(uri.namespace()) {
            NamespaceLookup::Former(entry) | NamespaceLookup::Registered(entry) => {
                let mut identifier = uri.normalised();
                for step in entry.steps().iter() {
                    identifier = step.apply(&identifier).unwrap_or(identifier);
                    self.put("INFO-6", step.to_string(), uri.with_identifier(&identifier));
                }
                if entry.steps().is_empty() {
                    self.put(
                        "INFO-6",
                        "the entry has no steps of its own",
                        uri.to_string(),
                    );
                }
            }
            NamespaceLookup::Unavailable => {
                self.put(
                    "INFO-7",
                    "no registry: nothing more is assumed",
                    uri.to_string(),
                );
            }
            NamespaceLookup::Unknown => {
                self.put(
                    "INFO-7",
                    "not registered: nothing more is assumed",
                    uri.to_string(),
                );
            }
        }
    }

    fn urn(&mut self, urn: &Urn<'_>) {
        let (nid, nss) = (urn.nid(), urn.nss());
        self.put(
            "URN-1",
            "scheme and NID in lower case; r, q and f left out",
            format!("urn:{nid}:{nss}"),
        );
        let with_upper_triplets = percent::with_upper_triplets(nss);
        self.put(
            "X-2",
            "triplets in upper case",
            format!("urn:{nid}:{with_upper_triplets}"),
        );
        if urn.ignores_case() {
            self.put("URN-3", "all but triplets in lower case", urn.to_string());
        }
    }
}

/// `INFO-4` (c) alone: the other triplets stay as they were written.
fn decode_pchars(identifier: &str) -> String {
    let mut out = String::with_capacity(identifier.len());
    let mut at = 0;
    for piece in percent::pieces(identifier) {
        match piece {
            Piece::Triplet(byte) if PCHAR.has(byte) => out.push(char::from(byte)),
            Piece::Triplet(_) => out.push_str(identifier.get(at..at + 3).unwrap_or_default()),
            Piece::Bare(bare) => out.push_str(bare),
        }
        at += match piece {
            Piece::Triplet(_) => 3,
            Piece::Bare(bare) => bare.len(),
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Standard;

    #[test]
    fn the_last_text_is_the_canonical_form() {
        for text in [
            "  <INFO:RLGID/(CStRLIN)%20ctyg87-b14807#%2f> ",
            "info:nobody/%2f%41",
            "HDL://20.1000/a%2fb?%c3",
            "https://hdl.handle.net/20.1000/a/é",
            "https://doi.org/10.1/X",
            "1/f58fb49eb1f848f0a606e84cef294be5?%e9",
            "urn:urn-3:A:b%2fC?+r",
            "urn:isbn:1%2f",
            "ARK:/B1/a-b%2f.?info",
            "20.1000/x",
        ] {
            let canonical = parse_as(text, Scheme::Any, &Standard)
                .unwrap()
                .canonical(&Standard);
            let steps = explain(text, Scheme::Any, &Standard).unwrap();
            assert_eq!(steps.last().unwrap().text, canonical);
        }
    }
}
