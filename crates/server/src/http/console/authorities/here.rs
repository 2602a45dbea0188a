//! The authority of a page: what the person may do there, its heading and tabs.

use handfast_id::CaseRule;
use handfast_registry::{
    AccessRequestStatus, Authority, AuthorityRequestStatus, AuthorityStatus, Persistence, Reason,
    RegistryError, RightsOn, Role,
};
use hyper::Response;

use super::path_of;
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, Crumb, Flash, MenuItem};
use crate::http::console::visit::Visit;
use crate::http::pages::words;
use crate::http::percent::{COMPONENT, encode};
use crate::http::response::Body;

/// An authority, and what the person may do there.
pub(super) struct Here {
    pub(super) authority: Authority,
    pub(super) rights: RightsOn,
}

/// The heading and the tabs of the pages of an authority: a field `head` of their templates.
pub(super) struct AuthorityHead {
    pub(super) id: String,
    /// Its page.
    pub(super) path: String,
    pub(super) title: String,
    /// How many names it has, and its most important rules, in words.
    pub(super) facts: Vec<String>,
    pub(super) status: &'static str,
    pub(super) tabs: Vec<Tab>,
    pub(super) may_write: bool,
    pub(super) may_lead: bool,
    /// The id in a query.
    pub(super) in_query: String,
}

/// A tab.
pub(super) struct Tab {
    pub(super) path: String,
    pub(super) word: &'static str,
    pub(super) is_current: bool,
    pub(super) count: usize,
}

impl Here {
    /// The authority in the path of a request. One that is only requested does not exist for those
    /// who neither asked for it nor decide it.
    pub(super) fn load(visit: &Visit<'_>) -> Result<Self, PageError> {
        Self::of(visit, visit.id())
    }

    /// The same of any authority.
    pub(super) fn of(visit: &Visit<'_>, id: &str) -> Result<Self, PageError> {
        let (registry, who) = (visit.registry(), visit.who());
        let authority = registry.authority(&who, id)?;
        let rights = registry.rights_on(&who, id)?;
        if let AuthorityStatus::Requested { by } = &authority.status
            && !rights.is_over
            && *by != who
        {
            return Err(RegistryError::NoAuthority(authority.path).into());
        }
        Ok(Self { authority, rights })
    }

    pub(super) fn id(&self) -> String {
        self.authority.path.to_string()
    }

    pub(super) fn path(&self) -> String {
        path_of(&self.id())
    }

    /// What people call it.
    pub(super) fn title(&self) -> String {
        titled(&self.authority.title, &self.authority.path.to_string())
    }

    pub(super) fn has(&self, role: Role) -> bool {
        self.rights.has(role)
    }

    pub(super) fn is_active(&self) -> bool {
        self.authority.status == AuthorityStatus::Active
    }

    /// Says which role is missing, and where.
    pub(super) fn need(&self, role: Role) -> Result<(), PageError> {
        if self.has(role) {
            return Ok(());
        }
        Err(RegistryError::Denied {
            needs: role,
            authority: self.authority.path.clone(),
        }
        .into())
    }

    /// Whether the person may grant a role here.
    pub(super) fn may_grant(&self, role: Role) -> bool {
        self.has(role.max(Role::Lead))
    }

    /// The breadcrumb: the authorities above.
    fn crumbs(&self, visit: &Visit<'_>, page: Option<&str>) -> Vec<Crumb> {
        let mut above = Vec::new();
        let mut next = self.authority.parent.clone();
        while let Some(path) = next.filter(|_| above.len() < MAX_CRUMBS) {
            let id = path.to_string();
            let found = visit.registry().authority(&visit.who(), &id).ok();
            let title = found.as_ref().map_or("", |found| found.title.as_str());
            let text = format!("{id} {}", shortened(title));
            above.push(Crumb::new(text.trim(), path_of(&id)));
            next = found.and_then(|found| found.parent);
        }
        above.push(Crumb::new("Authorities", "/console/authorities"));
        above.reverse();
        match page {
            Some(page) => {
                above.push(Crumb::new(self.id(), self.path()));
                above.push(Crumb::new(page, ""));
            }
            None => above.push(Crumb::new(self.id(), "")),
        }
        above
    }

    /// The frame of a page of this authority; `page` is its tab, or empty.
    pub(super) fn frame<'a>(&self, visit: &'a Visit<'_>, page: &str) -> ConsoleFrame<'a> {
        let id = self.id();
        let title = match page {
            "" => format!("{id} {}", shortened(&self.authority.title)),
            _ => format!("{page} – {id}"),
        };
        let page = Some(page).filter(|page| !page.is_empty());
        ConsoleFrame::new(visit, title.trim(), MenuItem::Authorities)
            .crumbs(self.crumbs(visit, page))
    }

    pub(super) fn head(
        &self,
        visit: &Visit<'_>,
        current: &str,
    ) -> Result<AuthorityHead, PageError> {
        let (id, path) = (self.id(), self.path());
        let is_requested = matches!(self.authority.status, AuthorityStatus::Requested { .. });
        let tab = |word: &'static str, part: &str, count| Tab {
            path: format!("{path}{part}"),
            word,
            is_current: word == current,
            count,
        };
        let mut tabs = vec![tab("Overview", "", 0)];
        if self.has(Role::Read) && !is_requested {
            tabs.push(tab("People", "/people", 0));
        }
        if !is_requested {
            tabs.push(tab("Policy", "/policy", 0));
            tabs.push(tab("Authorities below", "/children", 0));
        }
        if self.has(Role::Lead) || self.rights.is_over {
            tabs.push(tab("Requests", "/requests", self.open_requests(visit)?));
        }
        let (status, is_active) = match self.authority.status {
            AuthorityStatus::Active => ("", true),
            AuthorityStatus::Retired => ("Retired", false),
            AuthorityStatus::Requested { .. } => ("Requested", false),
        };
        Ok(AuthorityHead {
            title: self.title(),
            facts: self.facts(visit)?,
            status,
            tabs,
            may_write: is_active && self.has(Role::Write),
            may_lead: is_active && self.has(Role::Lead),
            in_query: encode(&id, COMPONENT),
            id,
            path,
        })
    }

    fn facts(&self, visit: &Visit<'_>) -> Result<Vec<String>, PageError> {
        if matches!(self.authority.status, AuthorityStatus::Requested { .. }) {
            return Ok(Vec::new());
        }
        let own = visit.registry().counts(&self.id())?.own();
        let number = if self.has(Role::Read) {
            own.total()
        } else {
            own.public()
        };
        let policy = &self.authority.policy;
        let persistence = match policy.persistence {
            Persistence::Permanent => "permanent",
            Persistence::Erasable => "names may be erased",
        };
        let rules = visit.registry().rules();
        let case = match self.authority.case_rule(&rules) {
            CaseRule::AsciiInsensitive => "upper and lower case are the same",
            CaseRule::Sensitive => "upper and lower case differ",
        };
        let mut facts = vec![
            words::count(number, "name", "names"),
            persistence.to_string(),
        ];
        if policy.cordra {
            facts.push("CORDRA identifiers".to_string());
        }
        facts.push(case.to_string());
        Ok(facts)
    }

    /// How many requests wait here that the person may decide.
    fn open_requests(&self, visit: &Visit<'_>) -> Result<usize, PageError> {
        let (registry, who) = (visit.registry(), visit.who());
        let access = registry.access_requests(&who)?;
        let access = access.iter().filter(|one| {
            one.status == AccessRequestStatus::Open
                && one.authority == self.id()
                && !who.to_string().eq_ignore_ascii_case(&one.account)
        });
        let authorities = registry.authority_requests(&who)?;
        let authorities = authorities.iter().filter(|one| {
            one.status == AuthorityRequestStatus::Open
                && (one.parent == Some(self.id()) || one.authority == self.id())
                && one.by != who
        });
        Ok(access.count() + authorities.count())
    }
}

/// How many authorities above one the breadcrumb has.
const MAX_CRUMBS: usize = 20;
/// How much of a title the breadcrumb has.
const MAX_CRUMB_CHARACTERS: usize = 60;

/// The beginning of a title, for places where only a little of it fits.
fn shortened(title: &str) -> String {
    let mut short: String = title.chars().take(MAX_CRUMB_CHARACTERS).collect();
    if short.len() < title.len() {
        short.push('…');
    }
    short
}

/// A title, or the identifier of a thing without one.
pub(in crate::http::console) fn titled(title: &str, id: &str) -> String {
    let shown = if title.trim().is_empty() { id } else { title };
    shown.to_string()
}

/// Why somebody has a role, in a few words.
pub(in crate::http::console) fn because(reason: &Reason) -> String {
    if reason.is_administrator {
        return "administrator of this registry".to_string();
    }
    match (&reason.through, reason.is_inherited) {
        (Some(group), true) => format!("by group {group}, from {}", reason.authority),
        (Some(group), false) => format!("by group {group}"),
        (None, true) => format!("from {}", reason.authority),
        (None, false) => "granted here".to_string(),
    }
}

/// A message about what was done, from the words of a table.
pub(in crate::http::console) fn flash(
    visit: &Visit<'_>,
    table: &[(&str, &str, &str)],
) -> Option<Flash> {
    let done = visit.query("done")?;
    let (_, head, text) = table.iter().find(|(word, _, _)| *word == done)?;
    Some(Flash::new("good", head, text))
}

/// The beginning of commands for `curl`.
pub(in crate::http::console) fn curl(visit: &Visit<'_>, method: &str, path: &str) -> String {
    let method = match method {
        "GET" => String::new(),
        other => format!("-X {other} "),
    };
    let base = &visit.base;
    format!("curl {method}-H \"Authorization: Bearer $HANDFAST_TOKEN\" '{base}/api/v1{path}'")
}

/// The same, with a body in JSON.
pub(in crate::http::console) fn curl_with(
    visit: &Visit<'_>,
    method: &str,
    path: &str,
    body: &str,
) -> String {
    let curl = curl(visit, method, path);
    format!("{curl} -H 'Content-Type: application/json' -d '{body}'")
}

/// Whether a form is shown again with what is wrong. Missing rights and failures have pages of
/// their own.
pub(in crate::http::console) fn is_wrong_input(error: &RegistryError) -> bool {
    let is_denied = matches!(
        error.code(),
        "account-only" | "denied" | "no-role" | "not-yours" | "operator-only" | "other-version"
    );
    !error.is_failure() && !is_denied
}

/// The answer of a page.
pub(in crate::http::console) type Answered = Result<Response<Body>, PageError>;
