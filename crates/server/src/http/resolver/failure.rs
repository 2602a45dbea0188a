//! Why there is nothing: a page for people, a problem (RFC 9457) for programs.

use askama::Template;
use handfast_registry::rfc3339;
use hyper::header::RETRY_AFTER;
use hyper::{Response, StatusCode};
use serde_json::{Map, Value as Json};

use crate::http::Web;
use crate::http::pages::{Frame, MenuPlace, filters};
use crate::http::registry_pages::unregistered_name::NamespaceFacts;
use crate::http::resolver::accept::Accept;
use crate::http::resolver::page::fresh;
use crate::http::resolver::target::path_of;
use crate::http::resolver::tombstone_page::WithdrawnName;
use crate::http::resolver::{not_found_page, tombstone_page};
use crate::http::response::{Body, WithHeader};

const PROBLEM: &str = "application/problem+json";

/// Why there is nothing.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: StatusCode,
    pub(crate) code: &'static str,
    pub(crate) title: &'static str,
    pub(crate) detail: String,
    /// More, for people.
    pub(crate) page: FailurePage,
    /// More, for programs.
    pub(crate) members: Map<String, Json>,
}

/// The page that shows a failure.
#[derive(Debug, Default)]
pub(crate) enum FailurePage {
    /// A name that is not registered.
    Missing(String),
    /// The words alone.
    #[default]
    Plain,
    /// A name of a prefix that is not registered here.
    Remote(String),
    /// An `info` URI, with what its namespace says.
    Unregistered(Box<NamespaceFacts>),
    Withdrawn(Box<WithdrawnName>),
}

impl Failure {
    pub(crate) fn new(
        status: StatusCode,
        code: &'static str,
        title: &'static str,
        detail: String,
    ) -> Self {
        Self {
            status,
            code,
            title,
            detail,
            page: FailurePage::Plain,
            members: Map::new(),
        }
    }

    /// "Error pages say the requested handle "cannot be found" after quoting it."
    pub(crate) fn missing(name: &str) -> Self {
        let detail = format!("The identifier \"{name}\" cannot be found.");
        Self {
            page: FailurePage::Missing(name.to_string()),
            ..Self::new(StatusCode::NOT_FOUND, "not-found", "Not Found", detail)
        }
    }

    /// A name whose prefix is not homed here.
    pub(crate) fn foreign(name: &str) -> Self {
        let detail = format!("The prefix of \"{name}\" is not served here.");
        let (status, title) = (StatusCode::BAD_REQUEST, "Resolution Error");
        Self {
            page: FailurePage::Remote(name.to_string()),
            ..Self::new(status, "no-authority", title, detail)
        }
    }

    /// A name whose prefix is not in use.
    pub(crate) fn inactive(name: &str, message: &str) -> Self {
        let detail = format!("The prefix of \"{name}\" is not in use. {message}");
        let detail = detail.trim().to_string();
        Self::new(StatusCode::NOT_FOUND, "inactive", "Not Found", detail)
    }

    /// A name that is gone, with its tombstone.
    pub(crate) fn withdrawn(name: &WithdrawnName) -> Self {
        let text = &name.text;
        let detail = format!("\"{text}\" was withdrawn. It will never name anything else.");
        let mut failure = Self::new(StatusCode::GONE, "withdrawn", "Withdrawn", detail);
        failure.page = FailurePage::Withdrawn(Box::new(name.clone()));
        let Some(tombstone) = &name.tombstone else {
            return failure;
        };
        let mut say = |member: &str, text: String| {
            failure.members.insert(member.to_string(), text.into());
        };
        if !tombstone.reason.is_empty() {
            say("reason", tombstone.reason.clone());
        }
        say("date", rfc3339(tombstone.date));
        if let Some(successor) = &tombstone.successor {
            say("successor", successor.clone());
        }
        failure
    }

    /// Something that cannot be a name.
    pub(crate) fn malformed(detail: String) -> Self {
        Self::new(
            StatusCode::BAD_REQUEST,
            "malformed",
            "No Identifier",
            detail,
        )
    }

    pub(crate) fn answer(self, web: &Web, accept: &Accept) -> Response<Body> {
        let response = if accept.wants_json() {
            self.problem()
        } else {
            self.page(web)
        };
        match response.status() {
            StatusCode::SERVICE_UNAVAILABLE => response.with(RETRY_AFTER, "5"),
            _ => response,
        }
    }

    /// The page for people.
    pub(crate) fn page(self, web: &Web) -> Response<Body> {
        match &self.page {
            FailurePage::Missing(name) => not_found_page::answer(web, &self, name),
            FailurePage::Withdrawn(name) => tombstone_page::answer(web, self.status, name),
            FailurePage::Plain | FailurePage::Remote(_) | FailurePage::Unregistered(_) => {
                self.words_page(web)
            }
        }
    }

    fn words_page(self, web: &Web) -> Response<Body> {
        let mut heading = sentence_case(self.title);
        let mut remote = None;
        let mut facts = None;
        match self.page {
            FailurePage::Remote(name) => {
                let prefix = name.split('/').next().unwrap_or_default();
                heading = format!("Prefix {prefix} is not registered here");
                let path = path_of(&name);
                remote = Some(format!("https://hdl.handle.net/{path}"));
            }
            FailurePage::Unregistered(of_namespace) => facts = Some(of_namespace),
            _ => {}
        }
        let page = WordsPage {
            frame: Frame::new(web, heading.clone(), MenuPlace::Nowhere),
            heading,
            detail: self.detail,
            remote,
            facts,
        };
        page.frame.respond(self.status, &page)
    }

    pub(crate) fn problem(self) -> Response<Body> {
        let mut members = self.members;
        members.insert("type".into(), "about:blank".into());
        members.insert("title".into(), self.title.into());
        members.insert("status".into(), self.status.as_u16().into());
        members.insert("code".into(), self.code.into());
        members.insert("detail".into(), self.detail.into());
        fresh(self.status, PROBLEM, Json::Object(members).to_string())
    }
}

/// `Not Found` as headings have it: `Not found`.
fn sentence_case(title: &str) -> String {
    let mut characters = title.chars();
    let first = characters.next();
    let rest = characters.as_str().to_lowercase();
    first.into_iter().chain(rest.chars()).collect()
}

/// A failure in words.
#[derive(Template)]
#[template(path = "resolver/failure.html")]
struct WordsPage<'a> {
    frame: Frame<'a>,
    heading: String,
    detail: String,
    /// Another resolver that may know the name.
    remote: Option<String>,
    facts: Option<Box<NamespaceFacts>>,
}
