//! `/console/namespaces/{namespace}`: an entry, its comments, and what this person may do with it.

use askama::Template;
use handfast_registry::{NamespaceRemark, NamespaceSample, NamespaceStatus};
use hyper::{Response, StatusCode};

use super::{ShownStatus, entry_of, path_of};
use crate::http::console::error_page::PageError;
use crate::http::console::frame::{ConsoleFrame, Crumb, FieldError, Flash, MenuItem};
use crate::http::console::message::message;
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::pages::filters;
use crate::http::response::Body;

#[derive(Template)]
#[template(path = "console/namespace.html")]
#[expect(clippy::struct_excessive_bools, reason = "the template asks for each")]
struct NamespaceEntryPage<'a> {
    frame: ConsoleFrame<'a>,
    uri: String,
    path: String,
    public_path: String,
    title: String,
    status: ShownStatus,
    version: u64,
    organisation: String,
    contact: String,
    description: String,
    syntax: String,
    normalisation: String,
    examples: Vec<NamespaceSample>,
    is_historical: bool,
    verified: String,
    why: String,
    changed: u64,
    provisional_until: Option<u64>,
    claim_pending: bool,
    is_candidate: bool,
    comments: Vec<ShownComment>,
    acts: Vec<ShownAct>,
    /// Whether this person may change what it says.
    may_change: bool,
    /// Whether it was declined, and this person may propose it again.
    may_propose: bool,
    /// What was typed into the form of an action, or as a comment.
    typed: TypedAct,
}

struct ShownComment {
    by: String,
    time: u64,
    text: String,
}

/// What is typed into the form of an action.
#[derive(Default)]
pub(super) struct TypedAct {
    pub(super) act: String,
    pub(super) why: String,
    pub(super) until: String,
    pub(super) despite: String,
    pub(super) comment: String,
}

/// An action, as a form.
struct ShownAct {
    act: &'static str,
    word: &'static str,
    about: &'static str,
    hint: &'static str,
    class: &'static str,
    needs_reason: bool,
    until: Option<&'static str>,
    has_despite: bool,
}

pub(super) fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    entry(visit, StatusCode::OK, TypedAct::default(), Vec::new())
}

/// The page, with what is wrong with a form of it.
pub(super) fn entry(
    visit: &Visit<'_>,
    status: StatusCode,
    typed: TypedAct,
    errors: Vec<FieldError>,
) -> Result<Response<Body>, PageError> {
    let (registry, who) = (visit.registry(), visit.who());
    let entry = entry_of(visit)?;
    let name = entry.name().to_string();
    let remarks = registry.namespace_comments(&who, &name)?;
    let acts = registry.namespace_acts(&who, &name)?;
    let is_candidate = entry.status == NamespaceStatus::Candidate;
    let same = [
        format!("handfast namespace show {name}"),
        format!("curl {}/api/v1/namespaces/{name}", visit.base),
    ];
    let (changed, _, why) = entry.made();
    let page = NamespaceEntryPage {
        frame: ConsoleFrame::new(visit, entry.uri(), MenuItem::Namespaces)
            .crumbs([
                Crumb::new("Namespaces", "/console/namespaces"),
                Crumb::new(entry.uri(), ""),
            ])
            .flash(flash(visit))
            .errors(errors)
            .same(same),
        uri: entry.uri(),
        path: path_of(&name),
        public_path: format!("/registry/info/{name}"),
        title: entry.form.title.clone(),
        status: ShownStatus::of(&entry, visit.now),
        version: entry.version,
        organisation: entry.form.authority.organisation.clone(),
        contact: entry.form.contact().to_string(),
        description: entry.form.description.clone(),
        syntax: entry.form.syntax_in_words(),
        normalisation: entry.form.normalisation_in_words(),
        examples: entry.form.examples.clone(),
        is_historical: entry.historical,
        verified: entry.verified.clone().unwrap_or_default(),
        why: why.to_string(),
        changed,
        provisional_until: entry.provisional_until,
        claim_pending: entry.claim_pending,
        is_candidate,
        comments: remarks
            .iter()
            .map(|remark| ShownComment::of(visit, remark))
            .collect(),
        may_change: acts.contains(&"change"),
        may_propose: acts.contains(&"propose"),
        acts: acts
            .into_iter()
            .filter_map(|act| ShownAct::of(act, is_candidate))
            .collect(),
        typed,
    };
    Ok(page.frame.respond(status, &page))
}

fn flash(visit: &Visit<'_>) -> Option<Flash> {
    let (head, text) = match visit.query("done")? {
        "approve" => ("Registered.", "Names can be made in this namespace."),
        "refuse" => ("Declined.", "The person who asked can read your reason."),
        "claim" => ("Claimed.", "Somebody who reviews the registry decides."),
        "take-back" => ("Taken back.", "Your claim does not wait any more."),
        "verify" => (
            "Verified.",
            "The entry belongs to the account that claimed it.",
        ),
        "renew" => ("Renewed.", "The entry goes on until the new date."),
        "deprecate" => (
            "Deprecated.",
            "Readers see that it should not be used for anything new.",
        ),
        "withdraw" => ("Withdrawn.", "A tombstone stands in its place."),
        "propose" => (
            "Proposed.",
            "It is open to comments until somebody who reviews the registry decides.",
        ),
        "change" => ("Saved.", "Readers see the entry as it is now."),
        "comment" => ("Said.", "Everybody can read your comment."),
        _ => return None,
    };
    Some(Flash::new("good", head, text))
}

impl ShownComment {
    fn of(visit: &Visit<'_>, remark: &NamespaceRemark) -> Self {
        let by = match remark.by {
            "authority" => "The authority that proposes it",
            "maintainer" => "A maintainer of the registry",
            "operator" => "A reviewer of the registry",
            _ => "An account",
        };
        Self {
            by: if remark.is_signed {
                let author = visit.title_of(&remark.comment.author);
                format!("{author} ({})", remark.by)
            } else {
                by.to_string()
            },
            time: remark.comment.time,
            text: remark.comment.text.clone(),
        }
    }
}

impl ShownAct {
    fn of(act: &'static str, is_candidate: bool) -> Option<Self> {
        let usual = Self {
            act,
            word: "",
            about: "",
            hint: "It stands in the public history of the entry.",
            class: "",
            needs_reason: true,
            until: None,
            has_despite: false,
        };
        Some(match act {
            "approve" => Self {
                word: if is_candidate {
                    "Register"
                } else {
                    "Make it permanent again"
                },
                about: "The namespace is registered, and its rules count.",
                hint: "Say how it was verified whose the namespace is. It stands in the public \
                       history.",
                class: "primary",
                until: Some("Only until this day, if the namespace is planned"),
                has_despite: is_candidate,
                ..usual
            },
            "refuse" => Self {
                word: if is_candidate {
                    "Decline the proposal"
                } else {
                    "Decline the claim"
                },
                about: "Nothing else changes.",
                class: "destructive",
                ..usual
            },
            "verify" => Self {
                word: "Accept the claim",
                about: "The account that claims it becomes its owner.",
                hint: "Say how that was verified. It stands in the public history.",
                class: "primary",
                ..usual
            },
            "claim" => Self {
                word: "Claim it",
                about: "Say that the namespace belongs to your organisation.",
                hint: "Say how that can be verified.",
                ..usual
            },
            "take-back" => Self {
                word: "Take the claim back",
                about: "Your claim does not wait any more.",
                needs_reason: false,
                ..usual
            },
            "renew" => Self {
                word: "Renew it",
                about: "The provisional entry goes on.",
                until: Some("Until this day"),
                ..usual
            },
            "deprecate" => Self {
                word: "Deprecate it",
                about: "It should not be used for anything new. Its names lead where they did.",
                ..usual
            },
            "withdraw" => Self {
                word: if is_candidate {
                    "Take the proposal back"
                } else {
                    "Withdraw it"
                },
                about: "A tombstone stands in its place, and its string is never used again.",
                class: "destructive",
                ..usual
            },
            _ => return None,
        })
    }
}

pub(super) fn comment(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let text = visit.field("text");
    let registry = visit.registry();
    match registry.comment_on_namespace(&visit.who(), visit.id(), text) {
        Ok(_) => Ok(see(&format!("{}?done=comment", path_of(visit.id())))),
        Err(error) if error.is_failure() || error.code() == "no-namespace" => Err(error.into()),
        Err(error) => {
            let typed = TypedAct {
                comment: text.to_string(),
                ..TypedAct::default()
            };
            let errors = vec![FieldError::new("comment", message(&error))];
            entry(visit, StatusCode::UNPROCESSABLE_ENTITY, typed, errors)
        }
    }
}
