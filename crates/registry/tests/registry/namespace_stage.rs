//! A registry in which tests propose, register and change `info` namespaces.

use std::sync::Arc;

use handfast_id::InfoUri;
use handfast_registry::{NamespaceAct, NamespaceEntry, NamespaceForm, NamespaceOrder, Role};

use crate::*;

pub(crate) const DAY: u64 = 24 * 60 * 60 * 1_000;

/// A registry with a clock that stands still until it is set.
pub(crate) struct Stage {
    pub(crate) registry: Registry,
    clock: Arc<AtomicU64>,
    pub(crate) folder: tempfile::TempDir,
}

impl std::ops::Deref for Stage {
    type Target = Registry;

    fn deref(&self) -> &Registry {
        &self.registry
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        is_honest(&self.registry);
    }
}

pub(crate) fn stage() -> Stage {
    let clock = Arc::new(AtomicU64::new(1_800_000_000_000));
    let folder = tempfile::tempdir().unwrap();
    let (shown, chance) = (Arc::clone(&clock), AtomicU64::new(1));
    let environment = Environment::new(
        move || shown.load(Ordering::Relaxed),
        move |bytes| fill_with(bytes, chance.fetch_add(1, Ordering::Relaxed)),
    );
    let registry = Registry::create(&folder.path().join("data"), environment).unwrap();
    for name in ["owner", "outsider", "lead", "admin", "other"] {
        registry.create_account(&OPERATOR, name, "").unwrap();
    }
    authority(&registry, "info:");
    for (name, role) in [("lead", Role::Lead), ("admin", Role::Admin)] {
        registry
            .grant(&OPERATOR, "info:", &account(name), role)
            .unwrap();
    }
    Stage {
        registry,
        clock,
        folder,
    }
}

pub(crate) fn form(json: &str) -> NamespaceForm {
    let mut form = NamespaceForm::from_json(json).unwrap();
    let whole = r#"{"namespace": "x", "title": "T",
        "authority": {"organisation": "O", "contact": "c@example.org"},
        "declaration": {"public": true, "in_use": true, "without_uri_form": true}}"#;
    let whole = NamespaceForm::from_json(whole).unwrap();
    form.title = whole.title;
    form.authority = whole.authority;
    form.declaration = whole.declaration;
    if form.syntax.summary.is_empty() {
        form.syntax.summary = "As its authority writes it.".into();
    }
    form
}

pub(crate) fn oai() -> NamespaceForm {
    form(
        r#"{"namespace": "oai", "normalisation": {"case": "lower"}, "examples": [
        {"input": "info:OAI/arXiv.org%3AHEP-TH%2F9901001",
         "canonical": "info:oai/arxiv.org:hep-th%2F9901001"}]}"#,
    )
}

pub(crate) fn propose(form: &NamespaceForm) -> NamespaceOrder {
    NamespaceOrder::new(NamespaceAct::Propose(Box::new(form.clone())), "")
}

impl Stage {
    pub(crate) fn act(
        &self,
        who: &Principal,
        name: &str,
        act: NamespaceAct,
    ) -> Result<Arc<NamespaceEntry>, RegistryError> {
        self.act_on_namespace(who, name, NamespaceOrder::new(act, "because"))
    }

    pub(crate) fn propose(
        &self,
        form: NamespaceForm,
    ) -> Result<Arc<NamespaceEntry>, RegistryError> {
        let name = form.namespace.clone();
        self.act(
            &account("owner"),
            &name,
            NamespaceAct::Propose(Box::new(form)),
        )
    }

    pub(crate) fn approve(&self, name: &str) -> Result<Arc<NamespaceEntry>, RegistryError> {
        self.act(&OPERATOR, name, NamespaceAct::Approve { until: None })
    }

    pub(crate) fn register(
        &self,
        form: NamespaceForm,
    ) -> Result<Arc<NamespaceEntry>, RegistryError> {
        let name = form.namespace.clone();
        self.propose(form)?;
        self.approve(&name)
    }

    pub(crate) fn change(&self, form: NamespaceForm) -> Result<Arc<NamespaceEntry>, RegistryError> {
        let name = form.namespace.clone();
        self.act(
            &account("owner"),
            &name,
            NamespaceAct::Change(Box::new(form)),
        )
    }

    pub(crate) fn canonical(&self, text: &str) -> (String, Option<bool>) {
        let uri = InfoUri::parse(text).unwrap();
        let canonical = uri.canonical(&self.rules()).unwrap();
        (canonical.as_str().to_string(), canonical.registered())
    }

    pub(crate) fn at(&self, later: u64) {
        self.clock.fetch_add(later, Ordering::Relaxed);
    }
}
