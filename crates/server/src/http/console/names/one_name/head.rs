//! What all pages of a name begin with: its title, state, link, and what one may do with it.

use handfast_registry::{
    Authority, NameRight, Persistence, Record, RegistryError, Role, Shown, State,
};

use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, Crumb, MenuItem};
use crate::http::console::visit::Visit;
use crate::http::percent::{COMPONENT, encode};
use crate::http::resolver::target::{escaped_text, path_of};
use crate::http::resolver::title::title_of;

/// The longest local name in a breadcrumb, in characters; the page has the whole one.
const MAX_CRUMB: usize = 60;
/// How many authorities above one a breadcrumb shows.
const MAX_ABOVE: usize = 8;

/// A tab of the pages of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameTab {
    History,
    Label,
    Values,
}

/// What the pages of a name begin with: a field `name` of their templates.
pub(super) struct NameHead {
    /// The name as it was registered.
    pub(super) id: String,
    /// The address of its page in the console.
    pub(super) path: String,
    /// Its title, or the name itself.
    pub(super) title: String,
    pub(super) has_title: bool,
    pub(super) state: &'static str,
    /// The link that people cite.
    pub(super) citable: String,
    /// The address of its public page.
    pub(super) public: String,
    pub(super) authority: AuthorityLink,
    pub(super) tab: NameTab,
    rights: Vec<NameRight>,
    crumbs: Vec<(String, String)>,
}

/// The authority of a name.
pub(super) struct AuthorityLink {
    pub(super) path: String,
    pub(super) title: String,
    /// The address of its page in the console.
    pub(super) page: String,
    /// Whether its names are never given to anything else.
    pub(super) is_permanent: bool,
}

impl NameHead {
    /// The name of a request, as the person may see it.
    pub(super) fn load(visit: &Visit<'_>, tab: NameTab) -> Result<(Self, Shown), PageError> {
        let (registry, who) = (visit.registry(), visit.who());
        let shown = registry.show(&who, visit.id())?;
        let rights = registry.name_rights(&who, visit.id())?;
        Ok((Self::new(visit, &shown.record, rights, tab)?, shown))
    }

    fn new(
        visit: &Visit<'_>,
        record: &Record,
        rights: Vec<NameRight>,
        tab: NameTab,
    ) -> Result<Self, PageError> {
        let title = title_of(&record.values);
        let id = record.text.clone();
        let path = path_of_name(&id);
        let chain = chain(visit, record)?;
        let authority = chain.last().map(AuthorityLink::new);
        let authority = authority.unwrap_or_else(|| AuthorityLink {
            path: record.authority.clone(),
            title: record.authority.clone(),
            page: "/console/authorities".to_string(),
            is_permanent: true,
        });
        let mut crumbs = vec![(
            "Authorities".to_string(),
            "/console/authorities".to_string(),
        )];
        crumbs.extend(chain.iter().map(|authority| {
            let link = AuthorityLink::new(authority);
            let text = if link.title == link.path {
                link.path
            } else {
                format!("{} {}", link.path, link.title)
            };
            (text, link.page)
        }));
        crumbs.push((shortened(local_part(&id, &authority.path)), path.clone()));
        let public = if record.authority.starts_with("hdl:") {
            // Two slashes would begin another host.
            format!("/{}", path_of(id.trim_start_matches('/')))
        } else {
            format!("/{}", escaped_text(id.as_bytes()))
        };
        Ok(Self {
            has_title: title.is_some(),
            title: title.unwrap_or_else(|| id.clone()),
            state: record.state.as_str(),
            citable: visit.links().link(&id),
            public,
            authority,
            tab,
            rights,
            crumbs,
            id,
            path,
        })
    }

    /// The frame of a page of this name. The last part of the breadcrumb is a link unless the page
    /// is the first one of the name.
    pub(super) fn frame<'a>(&self, visit: &'a Visit<'_>, page: &str) -> ConsoleFrame<'a> {
        let is_first = page.is_empty();
        let title = if is_first {
            self.title.clone()
        } else {
            format!("{page}: {}", self.title)
        };
        let last = self.crumbs.len().saturating_sub(1);
        let crumbs = self.crumbs.iter().enumerate().map(|(at, (text, path))| {
            let path = if at == last && is_first { "" } else { path };
            Crumb::new(text, path)
        });
        let page = (!is_first).then(|| Crumb::new(page, ""));
        ConsoleFrame::new(visit, title, MenuItem::Names).crumbs(crumbs.chain(page))
    }

    fn may(&self, right: NameRight) -> bool {
        self.rights.contains(&right)
    }

    /// Checks that the person may change something of it.
    pub(super) fn check_rights(&self, visit: &Visit<'_>) -> Result<(), PageError> {
        if self.may_something() {
            return Ok(());
        }
        let authority = visit
            .registry()
            .authority(&visit.who(), &self.authority.path)?;
        let denied = RegistryError::Denied {
            needs: Role::Write,
            authority: authority.path,
        };
        Err(denied.into())
    }

    /// Whether the person may change anything of it.
    pub(super) fn may_something(&self) -> bool {
        !self.rights.is_empty()
    }

    pub(super) fn may_edit(&self) -> bool {
        self.may(NameRight::Edit)
    }

    pub(super) fn may_activate(&self) -> bool {
        self.may(NameRight::Activate)
    }

    pub(super) fn may_restore(&self) -> bool {
        self.may(NameRight::Restore)
    }

    pub(super) fn may_transfer(&self) -> bool {
        self.may(NameRight::Transfer)
    }

    pub(super) fn may_withdraw(&self) -> bool {
        self.may(NameRight::Withdraw)
    }

    pub(super) fn is_public(&self) -> bool {
        self.state != State::Reserved.as_str()
    }

    pub(super) fn is_values(&self) -> bool {
        self.tab == NameTab::Values
    }

    pub(super) fn is_history(&self) -> bool {
        self.tab == NameTab::History
    }

    pub(super) fn is_label(&self) -> bool {
        self.tab == NameTab::Label
    }

    /// The name as an argument of a command.
    pub(super) fn argument(&self) -> String {
        quoted(&self.id)
    }

    /// The URL of the name in `/api/v1`.
    pub(super) fn api(&self, visit: &Visit<'_>) -> String {
        let id = encode(&self.id, COMPONENT);
        format!("{}/api/v1/names/{id}", visit.base)
    }
}

impl AuthorityLink {
    fn new(authority: &Authority) -> Self {
        let path = authority.path.to_string();
        let title = authority.title.trim();
        Self {
            title: if title.is_empty() { &path } else { title }.to_string(),
            page: format!("/console/authorities/{}", encode(&path, COMPONENT)),
            is_permanent: authority.policy.persistence == Persistence::Permanent,
            path,
        }
    }
}

/// The address of the page of a name.
pub(super) fn path_of_name(id: &str) -> String {
    format!("/console/names/{}", encode(id, COMPONENT))
}

/// A text as one word of a shell.
pub(in crate::http::console) fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._/:@%+=,".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_string();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Options of a command, each with a text.
pub(in crate::http::console) fn options<'t>(
    given: impl IntoIterator<Item = (&'t str, &'t str)>,
) -> String {
    let written = given.into_iter();
    let written = written.map(|(name, text)| format!(" --{name} {}", quoted(text)));
    written.collect::<Vec<_>>().concat()
}

/// A name without its authority.
fn local_part<'n>(id: &'n str, authority: &str) -> &'n str {
    let (head, tail) = id.split_at_checked(authority.len()).unwrap_or((id, ""));
    let rest = tail.strip_prefix(['/', ':']);
    rest.filter(|_| head.eq_ignore_ascii_case(authority))
        .unwrap_or(id)
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= MAX_CRUMB {
        return text.to_string();
    }
    let start: String = text.chars().take(MAX_CRUMB).collect();
    format!("{start}…")
}

/// The authority of a record and those above it, topmost first.
fn chain(visit: &Visit<'_>, record: &Record) -> Result<Vec<Authority>, PageError> {
    let key = record.authority.as_str();
    let mut next = Some(key.strip_prefix("hdl:").unwrap_or(key).to_string());
    let mut chain = Vec::new();
    while let Some(path) = next.filter(|_| chain.len() < MAX_ABOVE) {
        let found = match visit.registry().authority(&visit.who(), &path) {
            Ok(found) => found,
            Err(error) if error.is_failure() => return Err(error.into()),
            Err(_) => break,
        };
        next = found.parent.as_ref().map(ToString::to_string);
        chain.push(found);
    }
    chain.reverse();
    Ok(chain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_word_of_a_shell() {
        assert_eq!(quoted("20.1/a"), "20.1/a");
        assert_eq!(quoted("20.1/a b"), "'20.1/a b'");
        assert_eq!(quoted("it's; rm"), r"'it'\''s; rm'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn a_name_is_shown_without_its_authority() {
        assert_eq!(local_part("20.1000/Map/4", "20.1000"), "Map/4");
        assert_eq!(local_part("urn:urn-3:HUL:x", "urn:urn-3:hul"), "x");
        assert_eq!(local_part("20.10009/x", "20.1000"), "20.10009/x");
    }
}
