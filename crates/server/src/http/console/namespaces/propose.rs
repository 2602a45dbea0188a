//! `/console/namespaces/new`: proposing a namespace.

use askama::Template;
use handfast_registry::{
    NamespaceAct, NamespaceAuthority, NamespaceCase, NamespaceDeclaration, NamespaceForm,
    NamespaceOrder, NamespaceSample, NormalisationForm, ResolutionForm, SyntaxForm,
};
use hyper::{Response, StatusCode};

use super::path_of;
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, Crumb, FieldError, MenuItem};
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::response::Body;

#[derive(Template)]
#[template(path = "console/namespace_new.html")]
struct ProposePage<'a> {
    frame: ConsoleFrame<'a>,
    fields: Vec<ProposalField>,
    case: String,
    is_public: bool,
    is_in_use: bool,
    is_without_uri: bool,
}

/// A field of text.
struct ProposalField {
    name: &'static str,
    label: &'static str,
    hint: &'static str,
    rows: u8,
    is_mono: bool,
    value: String,
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

pub(super) fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    visit.person()?;
    Ok(respond(visit, StatusCode::OK, Vec::new()))
}

fn respond(visit: &Visit<'_>, status: StatusCode, errors: Vec<FieldError>) -> Response<Body> {
    let fields = FIELDS.iter().map(|(name, label, hint, rows, is_mono)| {
        let value = visit.field(name).to_string();
        ProposalField {
            name,
            label,
            hint,
            rows: *rows,
            is_mono: *is_mono,
            value,
        }
    });
    let same = [
        "handfast namespace propose --help".to_string(),
        format!(
            "curl -X POST -H \"Authorization: Bearer $HANDFAST_TOKEN\" -H 'Content-Type: \
             application/json' {}/api/v1/namespaces -d @namespace.json",
            visit.base
        ),
    ];
    let page = ProposePage {
        fields: fields.collect(),
        case: visit.field("case").to_string(),
        is_public: visit.field("public") == "yes",
        is_in_use: visit.field("in-use") == "yes",
        is_without_uri: visit.field("without-uri") == "yes",
        frame: ConsoleFrame::new(visit, "Propose a namespace", MenuItem::Namespaces)
            .crumbs([
                Crumb::new("Namespaces", "/console/namespaces"),
                Crumb::new("Propose a namespace", ""),
            ])
            .errors(errors)
            .same(same),
    };
    page.frame.respond(status, &page)
}

pub(super) fn send(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let invalid = |errors| Ok(respond(visit, StatusCode::UNPROCESSABLE_ENTITY, errors));
    let needed = [
        ("namespace", "Say which namespace."),
        ("title", "Give it a title."),
        ("organisation", "Say who issues the identifiers."),
        ("contact", "Say how the public reaches the organisation."),
    ];
    let missing = needed
        .into_iter()
        .filter(|(field, _)| visit.field(field).is_empty());
    let errors: Vec<_> = missing
        .map(|(field, text)| FieldError::new(field, text))
        .collect();
    if !errors.is_empty() {
        return invalid(errors);
    }
    let form = match form(visit) {
        Ok(form) => form,
        Err(error) => return invalid(vec![error]),
    };
    let name = form.namespace.clone();
    let order = NamespaceOrder::new(NamespaceAct::Propose(Box::new(form)), visit.field("why"));
    match visit
        .registry()
        .act_on_namespace(&visit.who(), &name, order)
    {
        Ok(entry) => Ok(see(&format!("{}?done=propose", path_of(entry.name())))),
        Err(error) if error.is_failure() || error.code() == "account-only" => Err(error.into()),
        Err(error) => {
            let field = match error.code() {
                "bad-contact" => "contact",
                "bad-uri" => "url",
                "bad-pattern" => "pattern",
                "bad-steps" | "not-idempotent" => "strip",
                "bad-example" => "examples",
                "not-declared" => "public",
                _ => "namespace",
            };
            invalid(vec![FieldError::new(field, error.to_string())])
        }
    }
}

fn form(visit: &Visit<'_>) -> Result<NamespaceForm, FieldError> {
    let text = |name: &str| visit.field(name).to_string();
    let is_said = |name: &str| visit.field(name) == "yes";
    let case = match visit.field("case") {
        "lower" => NamespaceCase::Lower,
        "upper" => NamespaceCase::Upper,
        _ => NamespaceCase::Sensitive,
    };
    let mut examples = Vec::new();
    for line in visit.field("examples").lines() {
        let mut parts = line.split_whitespace();
        match (parts.next(), parts.next(), parts.next()) {
            (None, ..) => {}
            (Some(input), canonical, None) => examples.push(NamespaceSample {
                native: None,
                input: input.to_string(),
                canonical: canonical.unwrap_or(input).to_string(),
            }),
            _ => {
                let words = "An example is an info URI, a blank, and its canonical form.";
                return Err(FieldError::new("examples", words));
            }
        }
    }
    Ok(NamespaceForm {
        namespace: handfast_registry::bare_namespace(visit.field("namespace")),
        title: text("title"),
        authority: NamespaceAuthority {
            organisation: text("organisation"),
            address: String::new(),
            url: text("url"),
            contact: text("contact"),
        },
        description: text("description"),
        see: Vec::new(),
        syntax: SyntaxForm {
            summary: text("syntax"),
            pattern: Some(text("pattern")).filter(|pattern| !pattern.is_empty()),
            see: Vec::new(),
        },
        normalisation: NormalisationForm {
            case,
            strip: text("strip"),
            ..NormalisationForm::default()
        },
        resolution: ResolutionForm::default(),
        examples,
        declaration: Some(NamespaceDeclaration {
            public: is_said("public"),
            in_use: is_said("in-use"),
            without_uri_form: is_said("without-uri"),
        }),
    })
}
