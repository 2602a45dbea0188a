//! A request to the console, and the person who sends it.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

use handfast_registry::{CitableLinks, Principal, Registry, Session, Waiting};
use hyper::body::Bytes;
use hyper::header::{FORWARDED, HeaderName};
use hyper::http::request::Parts;

use super::cookie;
use super::error_page::PageError;
use crate::http::{Caller, Web, form};

/// One request.
pub(super) struct Visit<'v> {
    pub(super) web: &'v Arc<Web>,
    pub(super) caller: &'v Arc<Caller>,
    pub(super) request: PageRequest,
    /// What stands for the braces of the path.
    pub(super) path: Vec<String>,
    /// Who is signed in.
    pub(super) person: Option<Person>,
    /// How clients reach this server.
    pub(super) base: String,
    pub(super) nonce: String,
    pub(super) now: u64,
    /// What waits for the person: every page says how much that is.
    waiting: OnceCell<Waiting>,
}

/// The maximum number of decisions of each kind that the inbox lists and counts.
const MAX_WAITING: usize = 100;

/// The head of a request, its query and its form.
pub(super) struct PageRequest {
    pub(super) head: Parts,
    query: Vec<(String, String)>,
    form: FormFields,
    /// Whether the form could be read: it is a form, and has no more fields than any of ours.
    pub(super) is_readable: bool,
    pub(super) raw_form: Bytes,
}

/// The fields of a form. They are found by name, because a form may have thousands of them.
struct FormFields(HashMap<String, Vec<String>>);

/// The headers by which proxies say for whom they ask.
const FORWARDED_FOR: [HeaderName; 3] = [
    FORWARDED,
    HeaderName::from_static("x-forwarded-for"),
    HeaderName::from_static("x-forwarded-proto"),
];

/// The person who is signed in, by an account or by a handle identity.
pub(super) struct Person {
    pub(super) who: Principal,
    /// What people call them.
    pub(super) title: String,
    pub(super) is_administrator: bool,
    pub(super) session: Session,
}

impl PageRequest {
    pub(super) fn new(head: Parts, raw_form: Bytes) -> Self {
        let pairs = std::str::from_utf8(&raw_form).ok();
        let pairs = pairs.and_then(form::all_pairs);
        Self {
            query: form::pairs(head.uri.query().unwrap_or_default()).unwrap_or_default(),
            is_readable: pairs.is_some(),
            form: FormFields::new(pairs.unwrap_or_default()),
            head,
            raw_form,
        }
    }
}

impl FormFields {
    fn new(pairs: Vec<(String, String)>) -> Self {
        let mut fields: HashMap<String, Vec<String>> = HashMap::new();
        for (name, value) in pairs {
            fields.entry(name).or_default().push(value);
        }
        Self(fields)
    }

    fn all(&self, name: &str) -> &[String] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }
}

impl<'v> Visit<'v> {
    pub(super) fn new(web: &'v Arc<Web>, caller: &'v Arc<Caller>, request: PageRequest) -> Self {
        let base = web
            .hosts
            .base(caller, &request.head.uri, &request.head.headers);
        let mut visit = Self {
            web,
            caller,
            request,
            path: Vec::new(),
            person: None,
            base,
            nonce: crate::http::pages::nonce(web),
            now: web.context.now(),
            waiting: OnceCell::new(),
        };
        visit.person = visit.signed_in();
        visit
    }

    /// Whether credentials may be sent here: nobody can listen. A proxy on this machine that is not
    /// configured has an address of this machine, and its clients have not.
    pub(super) fn is_safe(&self) -> bool {
        let headers = &self.request.head.headers;
        let is_forwarded = FORWARDED_FOR.iter().any(|name| headers.contains_key(name));
        self.caller.is_secure || self.caller.address.ip().is_loopback() && !is_forwarded
    }

    /// The secret of the session, as the browser has sent it.
    pub(super) fn secret(&self) -> Option<&str> {
        cookie::secret(&self.request.head.headers, self.caller.is_secure)
    }

    fn signed_in(&self) -> Option<Person> {
        let secret = self.secret().filter(|_| self.is_safe())?;
        let session = self.registry().session(secret).ok()??;
        let who = session.who();
        let account = self.registry().account(&session.account).ok();
        let title = account
            .as_ref()
            .map_or("", |account| account.title.as_str());
        let title = if title.is_empty() {
            &session.account
        } else {
            title
        };
        Some(Person {
            title: title.to_string(),
            // Handle identities have no account, and may be administrators all the same.
            is_administrator: self.registry().is_administrator(&who).unwrap_or(false),
            who,
            session,
        })
    }

    pub(super) fn registry(&self) -> &Registry {
        self.web.registry()
    }

    /// What makes citable links: at the resolver or public URL of the configuration, or at the
    /// address that the browser has asked.
    pub(super) fn links(&self) -> CitableLinks {
        let configured = CitableLinks::configured(&self.registry().rules(), None);
        configured.unwrap_or_else(|| CitableLinks::new(&*self.base))
    }

    /// Who acts: the account that is signed in, or nobody.
    pub(super) fn who(&self) -> Principal {
        let person = self.person.as_ref();
        person.map_or_else(Principal::nobody, |person| person.who.clone())
    }

    pub(super) fn person(&self) -> Result<&Person, PageError> {
        let missing = || PageError::not_found("Nobody is signed in.");
        self.person.as_ref().ok_or_else(missing)
    }

    /// What waits for the person who is signed in; nothing if it cannot be read.
    pub(super) fn waiting(&self) -> &Waiting {
        self.waiting.get_or_init(|| {
            let Some(person) = &self.person else {
                return Waiting::default();
            };
            let waiting = self.registry().waiting(&person.who, MAX_WAITING);
            waiting.unwrap_or_else(|error| {
                tracing::warn!(%error, "the inbox could not be read");
                Waiting::default()
            })
        })
    }

    /// What people call an account: its title, or its name.
    pub(super) fn title_of(&self, who: &Principal) -> String {
        let name = who.to_string();
        let account = match who {
            Principal::Account(_) | Principal::Limited { .. } => self.registry().account(&name),
            _ => return name,
        };
        let title = account.map(|account| account.title).unwrap_or_default();
        if title.is_empty() { name } else { title }
    }

    /// What stands for the first braces of the path.
    pub(super) fn id(&self) -> &str {
        self.path.first().map_or("", String::as_str)
    }

    /// A parameter of the query, without blanks around it, unless it is empty.
    pub(super) fn query(&self, name: &str) -> Option<&str> {
        first(&self.request.query, name)
    }

    /// A field of the form, without blanks around it; empty if it is missing.
    pub(super) fn field(&self, name: &str) -> &str {
        let value = self.request.form.all(name).first();
        value.map_or("", |value| value.trim())
    }

    /// A field of the form exactly as it was sent: for passwords and values.
    pub(super) fn exact_field(&self, name: &str) -> &str {
        self.exact_fields(name).first().map_or("", String::as_str)
    }

    /// All fields of the form with this name.
    pub(super) fn fields<'s>(&'s self, name: &str) -> impl Iterator<Item = &'s str> + use<'s, 'v> {
        self.exact_fields(name).iter().map(|value| value.trim())
    }

    /// All fields of the form with this name, exactly as they were sent.
    pub(super) fn exact_fields(&self, name: &str) -> &[String] {
        self.request.form.all(name)
    }

    /// The path and query of this request, for coming back to it.
    pub(super) fn here(&self) -> String {
        let uri = &self.request.head.uri;
        uri.path_and_query()
            .map_or("/console/", |here| here.as_str())
            .to_string()
    }
}

fn first<'p>(pairs: &'p [(String, String)], name: &str) -> Option<&'p str> {
    let mut found = pairs.iter().filter(|(found, _)| found == name);
    let value = found.next().map(|(_, value)| value.trim());
    value.filter(|value| !value.is_empty())
}
