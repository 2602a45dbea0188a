//! Signing in: by password, or by a one-time link.
//!
//! A one-time link is spent by the button of its page, not by opening it, because programs that
//! look at links in mails open them, too. Without TLS signing in works on the machine itself only.

use askama::Template;
use handfast_registry::{LinkInfo, NewSession, Principal, SignInClient};
use hyper::header::{RETRY_AFTER, SET_COOKIE};
use hyper::{Response, StatusCode};

use super::authorities::curl_with;
use super::error_page::PageError;
use super::frame::{ConsoleFrame, FieldError, MenuItem};
use super::message::message;
use super::page_table::{PageRoute, find, form, hashing, open, page};
use super::visit::{Person, Visit};
use super::{cookie, see};
use crate::admission::peer::Peer;
use crate::http::pages::filters;
use crate::http::percent::{COMPONENT, encode};
use crate::http::response::{Body, WithHeader};

/// The words of a failed sign-in: they do not say which of the two is wrong.
const NO_MATCH: &str = "Account and password do not match. Check both, or use a one-time link.";
pub(super) const TOO_MANY: &str = "Too many attempts. Try again in a minute.";
/// What the page for signing in says if a form comes back afterwards.
const TEXT_IS_THERE: &str =
    "You were signed out. Your text is still there: sign in with your password and go on.";
/// The longest form that the page for signing in can have in it, in bytes.
const MAX_CARRIED_FORM: usize = 20 << 10;
const NOT_SAFE: &str = "Sign in over https, or on the machine of the server itself.";

#[rustfmt::skip]
pub(super) const PAGES: &[PageRoute] = &[
    open(page("/sign-in", show)),
    open(hashing(form("/sign-in", with_password))),
    open(page("/enter/{code}", show_link)),
    open(form("/enter/{code}", with_link)),
    form("/sign-out", sign_out),
    page("/password", show_new_password),
    hashing(form("/password", set_password)),
];

#[derive(Template)]
#[template(path = "console/sign_in.html")]
struct SignInPage<'a> {
    frame: ConsoleFrame<'a>,
    typed: TypedSignIn,
    notice: String,
    is_safe: bool,
}

/// The fields of the form.
#[derive(Default)]
struct TypedSignIn {
    account: String,
    to: String,
    /// A form that was sent before, and where to; empty if there was none.
    form: String,
    form_path: String,
}

impl TypedSignIn {
    fn read(visit: &Visit<'_>) -> Self {
        Self {
            account: visit.field("account").to_string(),
            to: visit.field("to").to_string(),
            form: visit.exact_field("form").to_string(),
            form_path: visit.field("form-path").to_string(),
        }
    }

    /// The page that signing in leads to. A form that was sent before is stored for the account.
    fn place(&self, visit: &Visit<'_>, account: &str) -> String {
        let is_ours = self.form_path == place_of(&self.form_path);
        if self.form.is_empty() || !is_ours {
            return place_of(&self.to).to_string();
        }
        let (path, form) = (&self.form_path, self.form.as_bytes());
        match visit.registry().store_draft(account, path, form) {
            Ok(draft) => format!("/console/draft/{draft}"),
            Err(error) => {
                tracing::warn!(%error, "a form could not be stored");
                "/console/".to_string()
            }
        }
    }
}

#[derive(Template)]
#[template(path = "console/enter.html")]
struct EnterPage<'a> {
    frame: ConsoleFrame<'a>,
    link: Option<LinkInfo>,
    code: String,
    is_safe: bool,
}

#[derive(Template)]
#[template(path = "console/password.html")]
struct PasswordPage<'a> {
    frame: ConsoleFrame<'a>,
    account: String,
    has_password: bool,
    is_first: bool,
}

/// Leads to the page for signing in; a form that was sent comes back afterwards.
///
/// If the server knows whose session has ended, it stores the form for that account. Otherwise the
/// page for signing in has the form in it, and the account that signs in there gets it: a form
/// without an account is not stored, because anybody could fill the store with such forms.
pub(super) fn lead_there(visit: &Visit<'_>) -> Response<Body> {
    let head = &visit.request.head;
    let is_form = head.method == hyper::Method::POST;
    let ended = visit.secret().filter(|_| visit.is_safe());
    // A password is never stored as it was typed; a sign-out has no text.
    let found = find(&head.method, head.uri.path());
    let has_password = found.is_some_and(|(route, _)| route.hashes_password);
    let path = head.uri.path();
    let is_stored = is_form && !has_password && path != "/console/sign-out";
    let draft = ended.filter(|_| is_stored).and_then(|secret| {
        let account = visit.registry().ended_session(secret).ok()??;
        let form = &visit.request.raw_form;
        visit.registry().store_draft(&account, path, form).ok()
    });
    let is_short = visit.request.raw_form.len() <= MAX_CARRIED_FORM;
    if draft.is_none() && is_stored && is_short && visit.is_safe() {
        let form = std::str::from_utf8(&visit.request.raw_form).unwrap_or_default();
        let typed = TypedSignIn {
            form: form.to_string(),
            form_path: path.to_string(),
            ..TypedSignIn::default()
        };
        return sign_in_page(visit, StatusCode::UNAUTHORIZED, typed, TEXT_IS_THERE, None);
    }
    let (to, why) = match draft {
        Some(draft) => (format!("/console/draft/{draft}"), "&ended=stored"),
        None if is_form => ("/console/".to_string(), "&ended=1"),
        None if ended.is_some() => (visit.here(), "&ended=1"),
        None => (visit.here(), ""),
    };
    see(&format!(
        "/console/sign-in?to={}{why}",
        encode(&to, COMPONENT)
    ))
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "all pages of the table have one type"
)]
pub(super) fn show(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    if visit.person.is_some() {
        return Ok(see(place_of(visit.query("to").unwrap_or_default())));
    }
    let notice = match visit.query("ended") {
        Some("stored") => TEXT_IS_THERE,
        Some(_) => "You were signed out. Sign in and go on.",
        None => "",
    };
    let typed = TypedSignIn {
        to: visit.query("to").unwrap_or_default().to_string(),
        ..TypedSignIn::default()
    };
    Ok(sign_in_page(visit, StatusCode::OK, typed, notice, None))
}

fn sign_in_page(
    visit: &Visit<'_>,
    status: StatusCode,
    typed: TypedSignIn,
    notice: &str,
    error: Option<FieldError>,
) -> Response<Body> {
    let frame = ConsoleFrame::new(visit, "Sign in", MenuItem::Nothing);
    let page = SignInPage {
        frame: frame.errors(error.into_iter().collect()),
        typed,
        notice: notice.to_string(),
        is_safe: visit.is_safe(),
    };
    page.frame.respond(status, &page)
}

pub(super) fn with_password(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    need_safe(visit)?;
    let (account, password) = (visit.field("account"), visit.exact_field("password"));
    let refused = |status, text: &str| {
        let error = FieldError::new("account", text);
        sign_in_page(visit, status, TypedSignIn::read(visit), "", Some(error))
    };
    let too_many = || refused(StatusCode::TOO_MANY_REQUESTS, TOO_MANY).with(RETRY_AFTER, "60");
    let peer = Peer::connected(visit.caller.address.ip());
    let identity = format!("account:{account}");
    let logins = &visit.web.context.failed_logins;
    let Ok(attempt) = logins.begin(peer, &identity, visit.now) else {
        return Ok(too_many());
    };
    let client = client(visit);
    let session = visit
        .registry()
        .sign_in_with_password(account, password, &client);
    let session = match session {
        Ok(session) => Some(session),
        Err(error) if error.code() == "wrong-password" => None,
        Err(error) => return Err(error.into()),
    };
    if attempt.finish(session.is_some()).is_err() {
        return Ok(too_many());
    }
    match session {
        Some(session) => {
            let to = TypedSignIn::read(visit).place(visit, &session.session.account);
            Ok(signed_in(visit, &session, &to))
        }
        None => Ok(refused(StatusCode::UNPROCESSABLE_ENTITY, NO_MATCH)),
    }
}

pub(super) fn show_link(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let link = visit.registry().look_at_link(visit.id())?;
    let status = if link.is_some() {
        StatusCode::OK
    } else {
        StatusCode::GONE
    };
    let page = EnterPage {
        frame: ConsoleFrame::new(visit, "Sign in", MenuItem::Nothing),
        link,
        code: encode(visit.id(), COMPONENT),
        is_safe: visit.is_safe(),
    };
    Ok(page.frame.respond(status, &page))
}

pub(super) fn with_link(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    need_safe(visit)?;
    let session = visit.registry().use_link(visit.id(), &client(visit))?;
    // A handle identity has a key instead of a password.
    let is_account = matches!(session.session.who(), Principal::Account(_));
    let account = &session.session.account;
    let to = if !is_account || visit.registry().has_password(account)? {
        "/console/"
    } else {
        "/console/password?first=1"
    };
    Ok(signed_in(visit, &session, to))
}

pub(super) fn sign_out(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let person = visit.person()?;
    visit
        .registry()
        .end_session(&person.who, &person.session.id)?;
    let gone = cookie::removed(visit.caller.is_secure);
    Ok(see("/console/sign-in").with(SET_COOKIE, gone))
}

pub(super) fn show_new_password(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    password_page(visit, StatusCode::OK, Vec::new())
}

fn password_page(
    visit: &Visit<'_>,
    status: StatusCode,
    errors: Vec<FieldError>,
) -> Result<Response<Body>, PageError> {
    let person = visit.person()?;
    need_account(person)?;
    let account = &person.session.account;
    let path = format!("/accounts/{}/password", encode(account, COMPONENT));
    let same = [
        format!("handfast user password {account}"),
        curl_with(visit, "PUT", &path, r#"{"password": "…"}"#),
    ];
    let page = PasswordPage {
        frame: ConsoleFrame::new(visit, "Password", MenuItem::Nothing)
            .errors(errors)
            .same(same),
        account: account.clone(),
        has_password: visit.registry().has_password(account)?,
        is_first: visit.query("first").is_some() || !visit.field("first").is_empty(),
    };
    Ok(page.frame.respond(status, &page))
}

pub(super) fn set_password(visit: &Visit<'_>) -> Result<Response<Body>, PageError> {
    let person = visit.person()?;
    need_account(person)?;
    let account = &person.session.account;
    let invalid = |field: &str, text: String| {
        let errors = vec![FieldError::new(field, text)];
        password_page(visit, StatusCode::UNPROCESSABLE_ENTITY, errors)
    };
    let password = visit.exact_field("password");
    if password != visit.exact_field("again") {
        return invalid("again", "The two passwords differ.".to_string());
    }
    if visit.registry().has_password(account)? {
        let old = visit.exact_field("old");
        let peer = Peer::connected(visit.caller.address.ip());
        let identity = format!("account:{account}");
        let logins = &visit.web.context.failed_logins;
        let Ok(attempt) = logins.begin(peer, &identity, visit.now) else {
            return invalid("old", TOO_MANY.to_string());
        };
        let is_right = visit.registry().check_password(account, old)?;
        if attempt.finish(is_right).is_err() {
            return invalid("old", TOO_MANY.to_string());
        }
        if !is_right {
            return invalid("old", "This is not your present password.".to_string());
        }
    }
    let secret = visit.secret().unwrap_or_default();
    // All sessions end; this browser gets a new one.
    match visit
        .registry()
        .choose_password(secret, password, &client(visit))
    {
        Ok(session) => Ok(signed_in(visit, &session, "/console/?done=password")),
        Err(error) if error.is_failure() => Err(error.into()),
        Err(error) => invalid("password", message(&error)),
    }
}

/// Only accounts have passwords.
fn need_account(person: &Person) -> Result<(), PageError> {
    if matches!(person.who, Principal::Account(_)) {
        return Ok(());
    }
    let text = format!(
        "{} signs in with its key, and has no password. On the machine of the server, handfast \
         user sign-in {} prints a link without the key.",
        person.who, person.who
    );
    let status = StatusCode::CONFLICT;
    Err(PageError::new(status, "account-only", text))
}

fn need_safe(visit: &Visit<'_>) -> Result<(), PageError> {
    if visit.is_safe() {
        return Ok(());
    }
    Err(PageError::new(
        StatusCode::FORBIDDEN,
        "not-secure",
        NOT_SAFE,
    ))
}

/// What is stored about the client of a session.
fn client(visit: &Visit<'_>) -> SignInClient {
    let agent = visit.request.head.headers.get(hyper::header::USER_AGENT);
    let agent = agent
        .and_then(|agent| agent.to_str().ok())
        .unwrap_or_default();
    SignInClient {
        agent: agent.chars().take(200).collect(),
        network: visit.caller.address.ip().to_canonical().to_string(),
    }
}

pub(super) fn signed_in(visit: &Visit<'_>, session: &NewSession, to: &str) -> Response<Body> {
    let stored = cookie::stored(&session.secret, visit.caller.is_secure);
    see(to).with(SET_COOKIE, stored)
}

/// A page of the console, and nothing else: the resolver leads anywhere. Browsers follow the dots
/// of a path, also encoded ones, and leave out control characters.
pub(super) fn place_of(to: &str) -> &str {
    let path = to.split(['?', '#']).next().unwrap_or_default();
    let has_dots = path.split('/').any(|segment| {
        let segment = segment.to_ascii_lowercase().replace("%2e", ".");
        matches!(segment.as_str(), "." | "..")
    });
    let is_odd = to.contains(|c: char| c == '\\' || c.is_control());
    let is_ours = to.starts_with("/console/") && !has_dots && !is_odd;
    if is_ours { to } else { "/console/" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signing_in_leads_to_the_console_only() {
        assert_eq!(place_of("/console/names?q=a"), "/console/names?q=a");
        for other in [
            "",
            "/20.1/a",
            "//evil.example/console/",
            "https://evil.example/console/",
            "/console",
            "/console/\\evil",
            "/console/../20.1/a",
            "/console/names/../../20.1/a",
            "/console/%2E%2e/20.1/a",
            "/console/.%2e/20.1/a",
            "/console/.\t./20.1/a",
            "/console/..?to=x",
        ] {
            assert_eq!(place_of(other), "/console/", "{other}");
        }
    }
}
