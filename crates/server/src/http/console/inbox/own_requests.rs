//! What the person has asked for, and the answers: open requests, and those decided lately.

use handfast_registry::{AccessRequestStatus, AuthorityRequestStatus, Principal, RegistryError};

use crate::http::console::authorities::path_of;
use crate::http::console::visit::Visit;

/// How long an answer is in the inbox, in milliseconds.
const SHOWN: u64 = 30 * 24 * 60 * 60 * 1_000;
/// How many requests are shown.
const MAX_SHOWN: usize = 20;

/// A request of the person.
pub(super) struct OwnRequest {
    /// `write on`, or `the authority`.
    pub(super) what: String,
    pub(super) authority: String,
    /// The page with the request.
    pub(super) path: String,
    /// When it was made, or decided.
    pub(super) time: u64,
    /// `Granted`, `Declined`, or nothing.
    pub(super) answer: &'static str,
    pub(super) by: String,
    /// Why it was declined.
    pub(super) reason: String,
}

/// The requests of the person, newest first.
pub(super) fn asked(visit: &Visit<'_>) -> Result<Vec<OwnRequest>, RegistryError> {
    let (registry, who) = (visit.registry(), visit.who());
    let mut asked = Vec::new();
    for request in registry.access_requests(&who)? {
        if Principal::account(&request.account).is_ok_and(|asker| asker == who) {
            let (time, answer, by, reason) = match request.status {
                AccessRequestStatus::Open => (request.created, "", None, String::new()),
                AccessRequestStatus::Granted { by, at } => (at, GRANTED, Some(by), String::new()),
                AccessRequestStatus::Declined { by, at, reason } => {
                    (at, DECLINED, Some(by), reason)
                }
            };
            asked.push(OwnRequest {
                what: format!("{} on", request.role.as_str()),
                path: format!("{}/requests", path_of(&request.authority)),
                authority: request.authority,
                time,
                answer,
                by: by_words(visit, &who, by),
                reason,
            });
        }
    }
    for request in registry.authority_requests(&who)? {
        if request.by == who {
            let (time, answer, by, reason) = match request.status {
                AuthorityRequestStatus::Open => (request.created, "", None, String::new()),
                AuthorityRequestStatus::Approved { by, at } => {
                    (at, APPROVED, Some(by), String::new())
                }
                AuthorityRequestStatus::Declined { by, at, reason } => {
                    (at, DECLINED, Some(by), reason)
                }
            };
            // A declined authority has no page any more.
            let path = match (answer, &request.parent) {
                (DECLINED, Some(parent)) => format!("{}/requests", path_of(parent)),
                (DECLINED, None) => "/console/authorities".to_string(),
                _ => path_of(&request.authority),
            };
            asked.push(OwnRequest {
                what: "the authority".to_string(),
                path,
                authority: request.authority,
                time,
                answer,
                by: by_words(visit, &who, by),
                reason,
            });
        }
    }
    let since = visit.now.saturating_sub(SHOWN);
    // Nobody needs to read that a request was taken back by themselves.
    asked.retain(|one| one.answer.is_empty() || one.time >= since && !one.by.is_empty());
    asked.sort_by_key(|one| std::cmp::Reverse(one.time));
    asked.truncate(MAX_SHOWN);
    Ok(asked)
}

const APPROVED: &str = "Approved";
const DECLINED: &str = "Declined";
const GRANTED: &str = "Granted";

/// Who decided; nothing if it was the person.
fn by_words(visit: &Visit<'_>, who: &Principal, by: Option<Principal>) -> String {
    let by = by.filter(|by| by != who);
    by.map_or_else(String::new, |by| visit.title_of(&by))
}
