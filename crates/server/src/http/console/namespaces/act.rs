//! Actions on an entry: decisions, claims, renewing, deprecating, withdrawing.

use handfast_registry::{NamespaceAct, NamespaceOrder, RegistryError, parse_rfc3339};
use hyper::{Response, StatusCode};

use super::entry::{TypedAct, entry};
use super::path_of;
use crate::http::console::error_page::PageError;
use crate::http::console::frame::FieldError;
use crate::http::console::message::message;
use crate::http::console::see;
use crate::http::console::visit::Visit;
use crate::http::response::Body;

pub(super) fn take(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let act = visit.path.get(1).map_or("", String::as_str);
    let typed = TypedAct {
        act: act.to_string(),
        why: visit.field("why").to_string(),
        until: visit.field("until").to_string(),
        despite: visit.field("despite").to_string(),
        comment: String::new(),
    };
    let invalid = |field: &str, text: String, typed: TypedAct| {
        let errors = vec![FieldError::new(format!("{field}-{act}"), text)];
        entry(visit, StatusCode::UNPROCESSABLE_ENTITY, typed, errors)
    };
    let until = parse_rfc3339(&format!("{}T00:00:00Z", typed.until));
    if until.is_none() && !typed.until.is_empty() {
        let text = "Write a day, such as 2027-01-31.".to_string();
        return invalid("until", text, typed);
    }
    let wanted = match (act, until) {
        ("approve", until) => NamespaceAct::Approve { until },
        ("claim", _) => NamespaceAct::Claim,
        ("deprecate", _) => NamespaceAct::Deprecate,
        ("refuse", _) => NamespaceAct::Refuse,
        ("renew", Some(until)) => NamespaceAct::Renew { until },
        ("renew", None) => {
            let text = "Say until which day, such as 2027-01-31.".to_string();
            return invalid("until", text, typed);
        }
        ("take-back", _) => NamespaceAct::TakeBack,
        ("verify", _) => NamespaceAct::Verify,
        ("withdraw", _) => NamespaceAct::Withdraw,
        _ => return Err(PageError::not_found("There is no such action.")),
    };
    let order = NamespaceOrder {
        expects: visit.field("version").parse().ok(),
        despite: Some(typed.despite.clone()).filter(|text| !text.is_empty()),
        ..NamespaceOrder::new(wanted, &typed.why)
    };
    let registry = visit.registry();
    match registry.act_on_namespace(&visit.who(), visit.id(), order) {
        Ok(_) => Ok(see(&format!("{}?done={act}", path_of(visit.id())))),
        Err(error) if is_of_page(&error) => Err(error.into()),
        Err(error) => {
            let (field, text) = match error.code() {
                "bad-reason" => ("why", "Say why. Everybody can read it.".to_string()),
                "bad-date" | "planned" => ("until", message(&error)),
                "clash" => ("despite", message(&error)),
                "other-version" => (
                    "why",
                    "Somebody else has changed the entry. Look at it again, and decide then."
                        .to_string(),
                ),
                _ => ("why", message(&error)),
            };
            invalid(field, text, typed)
        }
    }
}

/// Whether an error is none of the form: the person may not do this at all.
fn is_of_page(error: &RegistryError) -> bool {
    error.is_failure()
        || matches!(
            error,
            RegistryError::Denied { .. } | RegistryError::NotTheirs { .. }
        )
        || ["account-only", "no-namespace", "own-request"].contains(&error.code())
}
