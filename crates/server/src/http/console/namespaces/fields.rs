//! The fields of an entry, as a form: for a proposal, and for changing an entry.

use handfast_registry::{
    NamespaceCase, NamespaceDeclaration, NamespaceForm, NamespaceSample, RegistryError,
};

use crate::http::console::frame::FieldError;
use crate::http::console::visit::Visit;

/// The fields, with what is typed into them.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a box of its own")]
pub(super) struct EntryFields {
    pub(super) texts: Vec<EntryText>,
    pub(super) case: String,
    /// Whether ordered steps hold, in place of case and characters that do not count.
    pub(super) has_steps: bool,
    pub(super) is_page_first: bool,
    pub(super) is_public: bool,
    pub(super) is_in_use: bool,
    pub(super) is_without_uri: bool,
}

/// A field of text.
pub(super) struct EntryText {
    pub(super) name: &'static str,
    pub(super) label: &'static str,
    pub(super) hint: &'static str,
    pub(super) rows: u8,
    pub(super) is_mono: bool,
    pub(super) value: String,
}

/// Name, label, hint, rows (1 is a line), and whether machines compare it.
const FIELDS: &[(&str, &str, &str, u8, bool)] = &[
    (
        "namespace",
        "Namespace",
        "The string between info: and the slash, such as est-survey.",
        1,
        true,
    ),
    (
        "title",
        "Title",
        "What its identifiers are, for people.",
        1,
        false,
    ),
    (
        "organisation",
        "Organisation",
        "Who issues the identifiers.",
        1,
        false,
    ),
    (
        "contact",
        "Contact",
        "An e-mail address that everybody may see.",
        1,
        false,
    ),
    ("url", "Web address", "Of the organisation.", 1, true),
    (
        "address",
        "Postal address",
        "Of the organisation.",
        2,
        false,
    ),
    (
        "description",
        "Description",
        "Scope, history and policy.",
        4,
        false,
    ),
    (
        "syntax",
        "How identifiers are written",
        "In words.",
        2,
        false,
    ),
    (
        "pattern",
        "Pattern",
        "A regular expression for the identifiers, if there is one.",
        1,
        true,
    ),
    (
        "strip",
        "Characters that do not count",
        "They are left out before identifiers are compared, such as hyphens.",
        1,
        true,
    ),
    (
        "normalisation",
        "How identifiers are compared",
        "In words.",
        2,
        false,
    ),
    (
        "mechanism",
        "Where identifiers lead",
        "A web address in which {id} stands for the identifier, if they lead anywhere.",
        1,
        true,
    ),
    (
        "security",
        "Security considerations",
        "What can go wrong when an identifier is followed there. Needed if they lead anywhere.",
        3,
        false,
    ),
    (
        "examples",
        "Examples",
        "One in a line: an info URI, a blank, and its canonical form.",
        3,
        true,
    ),
    (
        "why",
        "What reviewers should know",
        "Everybody can read it.",
        2,
        false,
    ),
];

impl EntryFields {
    /// What was sent; at first, nothing.
    pub(super) fn typed(visit: &Visit<'_>, has_steps: bool) -> Self {
        let is_said = |name| visit.field(name) == "yes";
        Self {
            case: visit.field("case").to_string(),
            has_steps,
            is_page_first: is_said("page-first"),
            is_public: is_said("public"),
            is_in_use: is_said("in-use"),
            is_without_uri: is_said("without-uri"),
            ..Self::with(has_steps, |name| visit.field(name).to_string())
        }
    }

    /// What an entry says.
    pub(super) fn of(form: &NamespaceForm) -> Self {
        let declared = form.declaration;
        let has_steps = has_steps(form);
        Self {
            case: form.normalisation.case.as_str().to_string(),
            has_steps,
            is_page_first: form.resolution.page_first,
            is_public: declared.is_some_and(|said| said.public),
            is_in_use: declared.is_some_and(|said| said.in_use),
            is_without_uri: declared.is_some_and(|said| said.without_uri_form),
            ..Self::with(has_steps, |name| text_of(form, name))
        }
    }

    fn with(has_steps: bool, value: impl Fn(&str) -> String) -> Self {
        let shown = FIELDS
            .iter()
            .filter(|field| !(has_steps && field.0 == "strip"));
        let texts = shown.map(|(name, label, hint, rows, is_mono)| EntryText {
            name,
            label,
            hint,
            rows: *rows,
            is_mono: *is_mono,
            value: value(name),
        });
        Self {
            texts: texts.collect(),
            ..Self::default()
        }
    }

    /// The form without some of its fields of text.
    pub(super) fn without(mut self, names: &[&str]) -> Self {
        self.texts.retain(|text| !names.contains(&text.name));
        self
    }
}

/// Whether ordered steps hold in an entry.
pub(super) fn has_steps(form: &NamespaceForm) -> bool {
    form.normalisation.steps.is_some()
}

/// What a field shows of an entry.
fn text_of(form: &NamespaceForm, name: &str) -> String {
    let optional = |text: &Option<String>| text.clone().unwrap_or_default();
    match name {
        "namespace" => form.namespace.clone(),
        "title" => form.title.clone(),
        "organisation" => form.authority.organisation.clone(),
        "contact" => form.authority.contact.clone(),
        "url" => form.authority.url.clone(),
        "address" => form.authority.address.clone(),
        "description" => form.description.clone(),
        "syntax" => form.syntax.summary.clone(),
        "pattern" => optional(&form.syntax.pattern),
        "strip" => form.normalisation.strip.clone(),
        "normalisation" => form.normalisation.summary.clone(),
        "mechanism" => optional(&form.resolution.mechanism),
        "security" => optional(&form.resolution.security),
        "examples" => {
            let examples = form.examples.iter();
            let lines = examples.map(|sample| format!("{} {}", sample.input, sample.canonical));
            lines.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// The fields that must not be empty, and are.
pub(super) fn missing(visit: &Visit<'_>, is_new: bool) -> Vec<FieldError> {
    let needed = [
        ("namespace", "Say which namespace."),
        ("title", "Give it a title."),
        ("organisation", "Say who issues the identifiers."),
        ("contact", "Say how the public reaches the organisation."),
    ];
    let missing = needed
        .into_iter()
        .filter(|(field, _)| visit.field(field).is_empty() && (is_new || *field != "namespace"));
    missing
        .map(|(field, text)| FieldError::new(field, text))
        .collect()
}

/// The field that an error is about.
pub(super) fn field_of(error: &RegistryError) -> &'static str {
    match error.code() {
        "bad-contact" => "contact",
        "bad-uri" => "url",
        "bad-pattern" => "pattern",
        "bad-steps" | "not-idempotent" => "strip",
        "bad-example" => "examples",
        "bad-mechanism" | "no-security" => "mechanism",
        "not-declared" => "public",
        _ => "title",
    }
}

/// An entry with what was sent. What has no field stays as it was.
pub(super) fn read(visit: &Visit<'_>, was: NamespaceForm) -> Result<NamespaceForm, FieldError> {
    let text = |name: &str| visit.field(name).to_string();
    let optional = |name: &str| Some(text(name)).filter(|text| !text.is_empty());
    let is_said = |name: &str| visit.field(name) == "yes";
    let mut form = was;
    form.title = text("title");
    form.authority.organisation = text("organisation");
    form.authority.contact = text("contact");
    form.authority.url = text("url");
    form.authority.address = text("address");
    form.description = text("description");
    form.syntax.summary = text("syntax");
    form.syntax.pattern = optional("pattern");
    form.normalisation.summary = text("normalisation");
    if !has_steps(&form) {
        form.normalisation.strip = text("strip");
        form.normalisation.case = match visit.field("case") {
            "lower" => NamespaceCase::Lower,
            "upper" => NamespaceCase::Upper,
            _ => NamespaceCase::Sensitive,
        };
    }
    form.resolution.mechanism = optional("mechanism");
    form.resolution.security = optional("security");
    form.resolution.page_first = is_said("page-first");
    form.examples = examples(visit.field("examples"), &form.examples)?;
    let declared = NamespaceDeclaration {
        public: is_said("public"),
        in_use: is_said("in-use"),
        without_uri_form: is_said("without-uri"),
    };
    let is_declared = declared.public || declared.in_use || declared.without_uri_form;
    form.declaration = (is_declared || form.declaration.is_some()).then_some(declared);
    Ok(form)
}

/// Examples, one in a line. One that stays keeps its form outside of URIs.
fn examples(text: &str, were: &[NamespaceSample]) -> Result<Vec<NamespaceSample>, FieldError> {
    let mut examples = Vec::new();
    for line in text.lines() {
        let mut parts = line.split_whitespace();
        match (parts.next(), parts.next(), parts.next()) {
            (None, ..) => {}
            (Some(input), canonical, None) => {
                let was = were.iter().find(|sample| sample.input == input);
                examples.push(NamespaceSample {
                    native: was.and_then(|sample| sample.native.clone()),
                    input: input.to_string(),
                    canonical: canonical.unwrap_or(input).to_string(),
                });
            }
            _ => {
                let words = "An example is an info URI, a blank, and its canonical form.";
                return Err(FieldError::new("examples", words));
            }
        }
    }
    Ok(examples)
}
