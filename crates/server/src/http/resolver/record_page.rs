//! The page of a record: what the thing is, where the name leads, how to cite it, its history, and
//! all its values.

use std::sync::Arc;

use askama::Template;
use handfast_id::recognise;
use handfast_registry::{CitableLinks, Principal, Record};
use handfast_wire::{Value, json};
use hyper::{Response, StatusCode};

use crate::http::Web;
use crate::http::pages::authority::{AuthorityWords, local_part};
use crate::http::pages::{Frame, MenuPlace, filters};
use crate::http::percent::{COMPONENT, encode};
use crate::http::resolver::event_words::{EventLine, recent};
use crate::http::resolver::locations::Locations;
use crate::http::resolver::name_lookup::Name;
use crate::http::resolver::page::formatted;
use crate::http::resolver::qr_code::QrSymbol;
use crate::http::resolver::target::{escaped_text, is_web, path_of};
use crate::http::resolver::title::title_of;
use crate::http::resolver::tombstone_page::proof_of;
use crate::http::response::Body;

/// A record that is to be shown.
pub(crate) struct RecordView<'r> {
    pub(crate) web: &'r Arc<Web>,
    /// The base URL of this resolver.
    pub(crate) base: &'r str,
    pub(crate) name: &'r Name,
    /// Where the name leads now.
    pub(crate) target: Option<String>,
    /// What its namespace says about security.
    pub(crate) security: Option<&'r str>,
    /// Whether the page is shown before the name leads on.
    pub(crate) is_first: bool,
}

/// Where a name leads.
struct AddressLine {
    text: String,
    href: Option<String>,
    is_used: bool,
}

/// One value of a record.
struct RecordValueRow {
    index: u32,
    value_type: String,
    type_path: Option<String>,
    time: String,
    text: String,
    href: Option<String>,
}

/// The link that leads on.
struct LeadingLink {
    href: String,
    host: String,
}

#[derive(Template)]
#[template(path = "resolver/record.html")]
struct RecordPage<'a> {
    frame: Frame<'a>,
    text: &'a str,
    title: Option<String>,
    local: String,
    authority: Option<AuthorityWords>,
    /// How many names the authority has, if this is the record of a prefix.
    names: Option<u64>,
    /// The stored record, if the name is not made by a template.
    record: Option<Record>,
    citable: String,
    path: String,
    qr: Option<String>,
    leads: Option<LeadingLink>,
    is_first: bool,
    security: Option<&'a str>,
    addresses: Vec<AddressLine>,
    history: Vec<EventLine>,
    proof: Option<String>,
    spellings: Vec<String>,
    values: Vec<RecordValueRow>,
    commands: Vec<String>,
}

/// A label to print.
#[derive(Template)]
#[template(path = "resolver/label.html")]
struct LabelSheetPage<'a> {
    frame: Frame<'a>,
    text: &'a str,
    title: Option<String>,
    path: String,
    qr: Option<String>,
}

/// How many of the last events a page shows.
const MAX_EVENTS: usize = 10;
/// How many addresses a page lists; all of them are among the values.
const MAX_ADDRESSES: usize = 100;

impl<'r> RecordView<'r> {
    /// A record without its target and the words of its namespace.
    pub(crate) fn new(web: &'r Arc<Web>, base: &'r str, name: &'r Name) -> Self {
        Self {
            web,
            base,
            name,
            target: None,
            security: None,
            is_first: false,
        }
    }

    pub(crate) fn respond(&self) -> Response<Body> {
        let page = self.page();
        page.frame.respond(StatusCode::OK, &page)
    }

    fn page(&self) -> RecordPage<'_> {
        let (web, name) = (self.web, self.name);
        let record = self.record();
        let authority = AuthorityWords::of_name(web, &name.text);
        let is_prefix = name
            .text
            .get(..5)
            .is_some_and(|start| start.eq_ignore_ascii_case("0.NA/"));
        let of_prefix = authority.as_ref().filter(|_| is_prefix);
        let title = self.title(record.as_ref());
        let title = title.or_else(|| {
            let titled = of_prefix.filter(|authority| authority.has_title);
            titled.map(|authority| authority.title.clone())
        });
        let counts = of_prefix.and_then(|found| web.registry().counts(&found.path).ok());
        let citable = self.citable();
        let is_public = authority.as_ref().is_some_and(|found| found.is_permanent);
        let history = if record.is_some() {
            recent(web.registry(), &name.text, MAX_EVENTS)
        } else {
            Vec::new()
        };
        let heading = title.as_deref().unwrap_or(&name.text);
        RecordPage {
            frame: Frame::new(web, heading, MenuPlace::Registry),
            local: match &authority {
                Some(authority) => local_part(&name.text, &authority.path).to_string(),
                None => name.text.clone(),
            },
            names: counts.map(|counts| counts.active),
            qr: QrSymbol::new(&citable).map(|symbol| symbol.svg()),
            path: self.path(),
            leads: self.leads(),
            is_first: self.is_first,
            security: self.security.map(str::trim).filter(|text| !text.is_empty()),
            addresses: self.addresses(),
            proof: (is_public && !history.is_empty()).then(|| proof_of(&name.text)),
            history,
            spellings: self.spellings(&citable),
            values: name.values.iter().map(RecordValueRow::new).collect(),
            commands: self.commands(&citable),
            text: &name.text,
            title,
            authority,
            record,
            citable,
        }
    }

    /// A page with a label to print.
    pub(crate) fn label(&self) -> Response<Body> {
        let record = self.record();
        let page = LabelSheetPage {
            frame: Frame::new(
                self.web,
                format!("Label of {}", self.name.text),
                MenuPlace::Registry,
            ),
            text: &self.name.text,
            title: self.title(record.as_ref()),
            path: self.path(),
            qr: QrSymbol::new(&self.citable()).map(|symbol| symbol.svg()),
        };
        page.frame.respond(StatusCode::OK, &page)
    }

    /// The link that people cite.
    pub(crate) fn citable(&self) -> String {
        CitableLinks::new(self.base).link(&self.name.text)
    }

    fn path(&self) -> String {
        escaped_text(self.name.path().as_bytes())
    }

    /// The stored record, as everybody may read it. The one here may have only some of its values.
    fn record(&self) -> Option<Record> {
        self.name.authority()?;
        let shown = self
            .web
            .registry()
            .show(&Principal::nobody(), &self.name.text);
        shown.ok().map(|shown| shown.record)
    }

    fn title(&self, record: Option<&Record>) -> Option<String> {
        let of_record = record.and_then(|record| title_of(&record.values));
        of_record.or_else(|| title_of(&self.name.values))
    }

    fn leads(&self) -> Option<LeadingLink> {
        let target = self.target.as_deref()?;
        let behind = target.split_once("://")?.1;
        let host = behind.split(['/', '?', '#']).next().unwrap_or_default();
        let host = host.rsplit('@').next().unwrap_or_default();
        Some(LeadingLink {
            host: host.to_string(),
            // The name's own address would show this page again.
            href: if self.is_first {
                target.to_string()
            } else {
                self.path()
            },
        })
    }

    fn addresses(&self) -> Vec<AddressLine> {
        let mut lines: Vec<AddressLine> = Vec::new();
        for location in Locations::of(self.name).list {
            let url = escaped_text(&self.name.with_rest(&location.href));
            if url.is_empty() || lines.iter().any(|line| line.text == url) {
                continue;
            }
            if lines.len() == MAX_ADDRESSES {
                break;
            }
            lines.push(AddressLine {
                is_used: self.target.as_deref() == Some(&url),
                href: is_web(url.as_bytes()).then(|| url.clone()),
                text: url,
            });
        }
        lines
    }

    fn spellings(&self, citable: &str) -> Vec<String> {
        let rules = self.web.registry().rules();
        let Ok(read) = recognise(&self.name.text, &rules) else {
            return Vec::new();
        };
        let all = read.identifier.spellings(&rules);
        let mut others = Vec::new();
        for (_, spelling) in all.iter() {
            let is_new = !others.iter().any(|other| other == spelling);
            if is_new && spelling != self.name.text && spelling != citable {
                others.push(spelling.to_string());
            }
        }
        others
    }

    /// The same by command and by curl.
    fn commands(&self, citable: &str) -> Vec<String> {
        let text = &self.name.text;
        let path = encode(text, COMPONENT);
        let mut all = vec![format!(
            "curl -H 'Accept: application/json' {}",
            quoted(citable)
        )];
        if self.name.authority().is_some() {
            all.insert(0, format!("handfast name show {}", quoted(text)));
            let base = self.base;
            all.push(format!(
                "curl {}",
                quoted(&format!("{base}/api/v1/names/{path}"))
            ));
        }
        all
    }
}

/// A word of a command, in quotation marks where a shell needs them.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

impl RecordValueRow {
    fn new(value: &Value<'_>) -> Self {
        let value_type = value.value_type.to_string();
        let type_path = value_type
            .contains('/')
            .then(|| format!("/{}", path_of(value_type.trim_start_matches('/'))));
        let (text, href) = data(value);
        Self {
            index: value.index,
            type_path,
            time: match value.timestamp {
                0 => String::new(),
                seconds => json::timestamp(seconds).replace('T', " "),
            },
            value_type,
            text,
            href,
        }
    }
}

/// The data of a value as text, and where it leads if it is an address.
fn data(value: &Value<'_>) -> (String, Option<String>) {
    let Some(text) = value.text() else {
        let (format, text) = formatted(value);
        if format != "base64" {
            return (text, None);
        }
        let digits = value.data.iter().map(|byte| format!("{byte:02X}"));
        return (digits.collect(), None);
    };
    let is_mail =
        value.is_type("EMAIL") && text.contains('@') && !text.contains(char::is_whitespace);
    let href = if is_web(&value.data) {
        Some(escaped_text(&value.data))
    } else if is_mail {
        Some(format!("mailto:{}", escaped_text(text.as_bytes())))
    } else {
        None
    };
    (text.to_string(), href)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_web_and_of_mail_are_links() {
        for (value_type, text, href) in [
            ("DESC", "<script>alert(1)</script>", None),
            (
                "URL",
                "http://a/\"><script>",
                Some("http://a/%22%3E%3Cscript%3E"),
            ),
            ("URL", "javascript:alert('<script>')", None),
            (
                "EMAIL",
                "\"<script>\"@a",
                Some("mailto:%22%3Cscript%3E%22@a"),
            ),
        ] {
            let row = RecordValueRow::new(&Value::new(1, value_type, text.as_bytes()));
            assert_eq!(row.href.as_deref(), href, "{text}");
            assert_eq!(row.text, text);
        }
        let row = RecordValueRow::new(&Value::new(1, "a/\"><script>", b"\xFF\0"));
        assert_eq!(row.type_path.as_deref(), Some("/a/%22%3E%3Cscript%3E"));
        assert_eq!(row.text, "FF00");
    }

    #[test]
    fn a_word_of_a_command_stays_one_word() {
        assert_eq!(quoted("20.1000/map-0412"), "20.1000/map-0412");
        assert_eq!(quoted("20.1/it's $HOME"), "'20.1/it'\\''s $HOME'");
        assert_eq!(quoted(""), "''");
    }
}
