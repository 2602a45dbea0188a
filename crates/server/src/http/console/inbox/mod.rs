//! The first page: what waits for this person, and what they look after.

mod checklist;
mod decide;
mod own_requests;

use askama::Template;
use handfast_registry::{AccessRequest, AuthorityRequest, NamespaceStatus, Principal};
use hyper::{Response, StatusCode};

use self::checklist::{ChecklistItem, checklist};
use self::own_requests::{OwnRequest, asked};
use super::authorities::curl;
use super::error_page::PageError;
use super::frame::{ConsoleFrame, FieldError, Flash, MenuItem};
use super::jobs::words::{ShownProgress, title as job_title};
use super::page_table::{PageRoute, form, page};
use super::visit::Visit;
use crate::http::pages::{filters, words};
use crate::http::percent::{COMPONENT, encode};
use crate::http::response::Body;

#[rustfmt::skip]
pub(super) const PAGES: &[PageRoute] = &[
    page("/", show),
    form("/inbox/access/{id}/grant", decide::grant_access),
    form("/inbox/access/{id}/decline", decide::decline_access),
    form("/inbox/authorities/{authority}/approve", decide::approve_authority),
    form("/inbox/authorities/{authority}/decline", decide::decline_authority),
];

/// Tokens that end within so many milliseconds are shown.
const SOON: u64 = 14 * DAY;
const DAY: u64 = 24 * 60 * 60 * 1_000;
/// How many running jobs and ending tokens are shown.
const MAX_ASIDE: usize = 10;

#[derive(Template)]
#[template(path = "console/inbox.html")]
struct InboxPage<'a> {
    frame: ConsoleFrame<'a>,
    decisions: u64,
    requests: Vec<InboxRequest>,
    reviews: Vec<ShownReview>,
    running: Vec<RunningJob>,
    ending: Vec<EndingToken>,
    /// What the person has asked for, and the answers.
    asked: Vec<OwnRequest>,
    authorities: Vec<ShownAuthority>,
    as_of_event: u64,
    may_create: bool,
    checklist: Vec<ChecklistItem>,
    /// What was typed as a reason for declining, and where.
    typed: String,
    typed_for: String,
}

/// Something that is decided on the page itself.
struct InboxRequest {
    icon: &'static str,
    /// The `id` of the field for a reason.
    field: String,
    what: String,
    /// The subject, as machines compare it.
    subject: String,
    title: String,
    reason: String,
    by: String,
    created: u64,
    yes: String,
    /// Where forms are sent: `/grant` or `/approve`, and `/decline` follow.
    accept: String,
    decline: String,
}

/// Something that has a page of its own.
struct ShownReview {
    icon: &'static str,
    what: String,
    subject: String,
    title: String,
    /// Why it is asked for.
    reason: String,
    path: String,
}

struct RunningJob {
    title: String,
    path: String,
    progress: ShownProgress,
}

struct EndingToken {
    title: String,
    expires: u64,
    words: String,
    last_used: Option<u64>,
}

struct ShownAuthority {
    title: String,
    authority: String,
    path: String,
    active: u64,
    reserved: u64,
    withdrawn: u64,
    /// Whether the names of all authorities below it are in the numbers.
    is_complete: bool,
}

impl InboxPage<'_> {
    /// Whether all names of the authorities are counted.
    fn counts_all(&self) -> bool {
        self.authorities.iter().all(|own| own.is_complete)
    }
}

fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    inbox(visit, StatusCode::OK, None)
}

/// The page, with what is wrong with a reason that was typed into a field.
fn inbox(
    visit: &Visit<'_>,
    status: StatusCode,
    wrong: Option<FieldError>,
) -> Result<Response<Body>, PageError> {
    let waiting = visit.waiting();
    let access = waiting.access.iter().map(|asked| of_access(visit, asked));
    let authorities = waiting.authorities.iter();
    let authorities = authorities.map(|asked| of_authority(visit, asked));
    let requests: Vec<_> = authorities.chain(access).collect();
    let typed_for = wrong
        .as_ref()
        .map_or_else(String::new, |error| error.field.clone());
    let writable = visit.registry().writable_authorities(&visit.who(), 1)?;
    let same = [
        "handfast access list".to_string(),
        curl(visit, "GET", "/access-requests"),
    ];
    let page = InboxPage {
        decisions: u64::try_from(waiting.decisions()).unwrap_or(0),
        requests,
        reviews: reviews(visit),
        running: running(visit)?,
        ending: ending(visit)?,
        asked: asked(visit)?,
        authorities: own_authorities(visit),
        as_of_event: waiting.as_of_event,
        may_create: !writable.is_empty(),
        checklist: checklist(visit),
        typed: visit.field("reason").to_string(),
        typed_for,
        frame: ConsoleFrame::new(visit, "Inbox", MenuItem::Inbox)
            .flash(flash(visit))
            .errors(wrong.into_iter().collect())
            .same(same),
    };
    Ok(page.frame.respond(status, &page))
}

fn flash(visit: &Visit<'_>) -> Option<Flash> {
    let (kind, head, text) = match visit.query("done")? {
        "password" => (
            "good",
            "Saved.",
            "Your new password counts from now on. You were signed out everywhere else.",
        ),
        "granted" => ("good", "Granted.", "The person has the role from now on."),
        "approved" => (
            "good",
            "Approved.",
            "The authority exists, and the person who asked looks after it.",
        ),
        "declined" => (
            "good",
            "Declined.",
            "The person who asked can read your reason.",
        ),
        "decided" => (
            "note",
            "Decided already.",
            "Somebody else was faster, or the request was taken back.",
        ),
        _ => return None,
    };
    Some(Flash::new(kind, head, text))
}

fn of_access(visit: &Visit<'_>, asked: &AccessRequest) -> InboxRequest {
    let title = visit.registry().authority(&visit.who(), &asked.authority);
    let path = format!("/console/inbox/access/{}", encode(&asked.id, COMPONENT));
    let role = asked.role.as_str();
    InboxRequest {
        icon: "people",
        field: field_of("access", &asked.id),
        what: format!("Access: {role} on"),
        subject: asked.authority.clone(),
        title: title.map(|found| found.title).unwrap_or_default(),
        reason: asked.reason.clone(),
        by: visit.title_of(&Principal::Account(asked.account.clone())),
        created: asked.created,
        yes: format!("Grant {role}"),
        accept: format!("{path}/grant"),
        decline: format!("{path}/decline"),
    }
}

fn of_authority(visit: &Visit<'_>, asked: &AuthorityRequest) -> InboxRequest {
    let path = encode(&asked.authority, COMPONENT);
    let path = format!("/console/inbox/authorities/{path}");
    InboxRequest {
        icon: "authority",
        field: field_of("authority", &asked.authority),
        what: "New authority".to_string(),
        subject: asked.authority.clone(),
        title: asked.title.clone(),
        reason: asked.reason.clone(),
        by: visit.title_of(&asked.by),
        created: asked.created,
        yes: "Approve".to_string(),
        accept: format!("{path}/approve"),
        decline: format!("{path}/decline"),
    }
}

/// The `id` of the field for the reason of a decision.
fn field_of(kind: &str, id: &str) -> String {
    let id: String = id
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    format!("reason-{kind}-{id}")
}

fn reviews(visit: &Visit<'_>) -> Vec<ShownReview> {
    let waiting = visit.waiting();
    let reserved = waiting.reserved.iter().map(|own| ShownReview {
        icon: "name",
        what: format!(
            "{} for publication under",
            words::count(
                own.counts.reserved,
                "reserved name waits",
                "reserved names wait"
            )
        ),
        subject: own.authority.clone(),
        title: own.title.clone(),
        reason: String::new(),
        path: format!(
            "/console/names?authority={}&state=reserved",
            encode(&own.authority, COMPONENT)
        ),
    });
    let namespaces = waiting.namespaces.iter().map(|entry| ShownReview {
        icon: "namespace",
        what: match entry.status {
            NamespaceStatus::Candidate => "Proposed namespace".to_string(),
            _ => "Claim of namespace".to_string(),
        },
        subject: entry.uri(),
        title: entry.form.title.clone(),
        reason: entry.made().2.to_string(),
        path: format!("/console/namespaces/{}", encode(entry.name(), COMPONENT)),
    });
    namespaces.chain(reserved).collect()
}

fn running(visit: &Visit<'_>) -> Result<Vec<RunningJob>, PageError> {
    let running = visit.registry().jobs_in_progress(&visit.who(), MAX_ASIDE)?;
    let running = running.into_iter().map(|(job, progress)| RunningJob {
        title: format!("{}, job {}", job_title(&job.kind), job.number),
        path: format!("/console/jobs/{}", job.number),
        progress: ShownProgress::new(&progress, job.started, visit.now),
    });
    Ok(running.collect())
}

fn ending(visit: &Visit<'_>) -> Result<Vec<EndingToken>, PageError> {
    let person = visit.person()?;
    let account = &person.session.account;
    let tokens = visit.registry().tokens(&person.who)?.into_iter();
    let now = visit.now;
    let ending = tokens.filter(|token| {
        token.account.eq_ignore_ascii_case(account)
            && token.expires > now
            && token.expires <= now.saturating_add(SOON)
    });
    let ending = ending.take(MAX_ASIDE).map(|token| EndingToken {
        words: match (token.expires - now) / DAY {
            0 => "ends today".to_string(),
            days => format!("ends in {}", words::count(days, "day", "days")),
        },
        last_used: visit.registry().token_last_used(&token.id),
        expires: token.expires,
        title: if token.title.is_empty() {
            token.id
        } else {
            token.title
        },
    });
    Ok(ending.collect())
}

/// The authorities of the person, each with the names of all authorities below it.
fn own_authorities(visit: &Visit<'_>) -> Vec<ShownAuthority> {
    let all = &visit.waiting().own;
    let keys = all.iter().map(|own| own.key.as_str());
    // While the counts are rebuilt there are none.
    let counts = visit.registry().counts_with_children(keys);
    let counts = counts.unwrap_or_default();
    let own = all.iter().map(|own| {
        let names = counts.by_authority.get(&own.key).copied();
        let names = names.unwrap_or_default();
        ShownAuthority {
            title: own.title.clone(),
            authority: own.authority.clone(),
            path: format!("/console/authorities/{}", encode(&own.authority, COMPONENT)),
            active: names.active,
            reserved: names.reserved,
            withdrawn: names.withdrawn,
            is_complete: counts.is_complete,
        }
    });
    own.collect()
}
