//! What an administrator does first on a new server.

use crate::http::console::visit::Visit;

/// A step.
pub(super) struct ChecklistItem {
    pub(super) what: &'static str,
    pub(super) is_done: bool,
    /// What to do, in words.
    pub(super) how: &'static str,
    /// A command, or lines of the configuration.
    pub(super) command: String,
    /// A page where it is done, and the words of its link.
    pub(super) link: Option<(&'static str, &'static str)>,
}

/// A registry with more names is not new any more.
const NEW: u64 = 100;

/// The steps; nothing if all are done, if the server is not new, or if the person is not an
/// administrator.
pub(super) fn checklist(visit: &Visit<'_>) -> Vec<ChecklistItem> {
    let is_administrator = visit
        .person
        .as_ref()
        .is_some_and(|person| person.is_administrator);
    let names = visit.registry().statistics().map_or(0, |found| found.names);
    if !is_administrator || names > NEW {
        return Vec::new();
    }
    let web = visit.web;
    let public = web.hosts.public_url();
    let is_behind_proxy = web.is_behind_proxy() && public.starts_with("https://");
    let items = vec![
        ChecklistItem {
            what: "Public address",
            is_done: !public.is_empty(),
            how: "Say under which address readers reach this server. Links to cite begin with it.",
            command: "# Lines of handfast.toml\n[web]\npublic-url = \"https://id.library.example\""
                .to_string(),
            link: None,
        },
        ChecklistItem {
            what: "Certificate",
            is_done: web.tls_kind != "self-signed" || is_behind_proxy,
            how: "Browsers do not know the present certificate. Get one automatically, give the \
                  files of one, or put a proxy in front.",
            command: "# Lines of handfast.toml\n[web.acme]\ndomains = [\"id.library.example\"]\n\
                      contact = [\"ops@library.example\"]\nagree-terms = true"
                .to_string(),
            link: None,
        },
        ChecklistItem {
            what: "First prefix",
            is_done: !visit.waiting().own.is_empty(),
            how: "Names are made under a prefix, or another authority.",
            command: String::new(),
            link: Some(("/console/authorities/new", "Make a prefix")),
        },
        ChecklistItem {
            what: "Backup",
            is_done: visit.registry().last_backup().is_some(),
            how: "Copy the registry to a file while the server runs, every day.",
            command: "handfast backup FILE".to_string(),
            link: None,
        },
    ];
    if items.iter().all(|item| item.is_done) {
        return Vec::new();
    }
    items
}
