//! Validating a form.
//!
//! Forms are untrusted input. Everything in them is bounded, texts are plain, patterns run in
//! linear time by construction, and rules are tested: examples must have the stated canonical
//! forms, and normalising twice must not change anything.

use std::net::Ipv6Addr;

use handfast_api::limits::{
    NAMESPACE_EXAMPLE, NAMESPACE_EXAMPLES, NAMESPACE_LINE, NAMESPACE_NAME, NAMESPACE_TEXT,
    NAMESPACE_URI, NAMESPACE_URIS,
};
use handfast_api::{NamespaceForm, ResolutionForm};
use handfast_id::{
    InfoUri, InfoValidity, Namespace, NamespaceError, ParseError, Pattern, RuleBook,
};

use super::mechanism::filled;
use super::trials::trials;
use crate::error::RegistryError;

/// The largest form, in bytes of JSON: all entries are in memory, and all versions are kept.
const MAX_FORM_BYTES: usize = 64 << 10;

/// Checks a form, and returns its rules.
pub(super) fn check(form: &NamespaceForm) -> Result<Namespace, RegistryError> {
    check_given(form)?;
    check_historical(form)
}

/// Checks a form from the original registry, which may lack fields that a proposal needs.
pub(super) fn check_historical(form: &NamespaceForm) -> Result<Namespace, RegistryError> {
    let length = serde_json::to_string(form).map_or(usize::MAX, |text| text.len());
    if length > MAX_FORM_BYTES {
        let problem = format!("an entry has at most {MAX_FORM_BYTES} bytes in all, as JSON");
        return Err(RegistryError::policy("too-large", problem));
    }
    check_texts(form)?;
    check_resolution(&form.resolution)?;
    let rules = rules(form)?;
    check_cost(form)?;
    let book = RuleBook::standard().with_namespace(rules.clone());
    check_examples(form, &book)?;
    check_trials(form, &book)?;
    Ok(rules)
}

/// Checks the declarations of a proposal (`INFO-10`).
pub(super) fn check_declaration(form: &NamespaceForm) -> Result<(), RegistryError> {
    let is_declared = form
        .declaration
        .is_some_and(|declared| declared.public && declared.without_uri_form);
    if is_declared {
        return Ok(());
    }
    Err(RegistryError::policy(
        "not-declared",
        "a proposal declares that the namespace is public, is in use or planned, and has no URI \
         form of its own",
    ))
}

/// Checks the fields that a registration needs, beyond those of a proposal (`INFO-9`, `INFO-10`).
pub(super) fn check_review(form: &NamespaceForm, until: Option<u64>) -> Result<(), RegistryError> {
    let is_planned = form.declaration.is_some_and(|declared| !declared.in_use);
    if is_planned && until.is_none() {
        let problem = "a namespace that is only planned is registered provisionally: say until \
            when with --until, within twelve months; once it is in use, its authority says so in \
            the entry";
        return Err(RegistryError::policy("planned", problem));
    }
    if form.syntax.summary.trim().is_empty() {
        let problem =
            "syntax.summary is missing: the entry says in words how identifiers are written";
        return Err(RegistryError::policy("missing-field", problem));
    }
    if !is_reachable(form.authority.contact.trim()) {
        let problem = "authority.contact is no e-mail address and no URL: the public must be able \
            to reach the authority";
        return Err(RegistryError::policy("bad-contact", problem));
    }
    Ok(())
}

/// Whether a contact contains an e-mail address or a URL.
fn is_reachable(contact: &str) -> bool {
    let is_address = |word: &str| {
        let parts = word.split_once('@');
        parts.is_some_and(|(local, host)| !local.is_empty() && host.len() > 2)
    };
    let is_url = |word: &str| word.starts_with("https://") || word.starts_with("http://");
    let mut words = contact.split([' ', '<', '>', ',', ';', '(', ')']);
    words.any(|word| is_address(word) || is_url(word))
}

/// The rules of a form, or what is wrong with them.
pub(super) fn rules(form: &NamespaceForm) -> Result<Namespace, RegistryError> {
    form.rules().map_err(|error| {
        let (code, why) = match &error {
            NamespaceError::Name { source, .. } => ("bad-namespace", source.to_string()),
            NamespaceError::Pattern { source, .. } => ("bad-pattern", source.to_string()),
            NamespaceError::Step { source, .. } => ("bad-steps", source.to_string()),
            other => ("bad-entry", other.to_string()),
        };
        RegistryError::policy(code, format!("{error}: {why}"))
    })
}

/// Checks that the required fields are present (`INFO-10`).
fn check_given(form: &NamespaceForm) -> Result<(), RegistryError> {
    let authority = &form.authority;
    for (field, text) in [
        ("title", &form.title),
        ("authority.organisation", &authority.organisation),
        ("authority.contact", &authority.contact),
    ] {
        if text.trim().is_empty() {
            let problem = format!("{field} is missing");
            return Err(RegistryError::policy("missing-field", problem));
        }
    }
    Ok(())
}

fn check_texts(form: &NamespaceForm) -> Result<(), RegistryError> {
    let authority = &form.authority;
    let examples = form.examples.iter().flat_map(|sample| {
        let written = [
            ("examples.input", &sample.input),
            ("examples.canonical", &sample.canonical),
        ];
        let native = sample.native.iter().map(|text| ("examples.native", text));
        written.into_iter().chain(native)
    });
    let lines = [
        ("namespace", &form.namespace, NAMESPACE_NAME),
        ("title", &form.title, NAMESPACE_LINE),
        (
            "authority.organisation",
            &authority.organisation,
            NAMESPACE_LINE,
        ),
        ("authority.contact", &authority.contact, NAMESPACE_LINE),
        ("authority.address", &authority.address, NAMESPACE_URI),
        ("description", &form.description, NAMESPACE_TEXT),
        ("syntax.summary", &form.syntax.summary, NAMESPACE_TEXT),
        (
            "normalisation.summary",
            &form.normalisation.summary,
            NAMESPACE_TEXT,
        ),
        (
            "resolution.summary",
            &form.resolution.summary,
            NAMESPACE_TEXT,
        ),
    ];
    let lines = lines.into_iter();
    let lines = lines.chain(examples.map(|(field, text)| (field, text, NAMESPACE_EXAMPLE)));
    let security = form.resolution.security.iter();
    let lines = lines.chain(security.map(|text| ("resolution.security", text, NAMESPACE_TEXT)));
    for (field, text, limit) in lines {
        check_text(field, text, limit)?;
    }
    let uris = [&form.see, &form.syntax.see, &form.normalisation.see];
    for see in uris.into_iter().chain([&form.resolution.see]) {
        if see.len() > NAMESPACE_URIS {
            let problem = format!("at most {NAMESPACE_URIS} addresses stand in one place");
            return Err(RegistryError::policy("too-large", problem));
        }
        see.iter().try_for_each(|uri| check_uri("see", uri))?;
    }
    if !authority.url.is_empty() {
        check_uri("authority.url", &authority.url)?;
    }
    Ok(())
}

/// Checks that a text is bounded and plain. It may contain any printable character, and is escaped
/// where it is shown.
pub(super) fn check_text(field: &str, text: &str, limit: usize) -> Result<(), RegistryError> {
    if text.len() > limit {
        let problem = format!(
            "{field} has at most {limit} bytes, this one has {}",
            text.len()
        );
        return Err(RegistryError::policy("too-large", problem));
    }
    let is_plain = |c: char| !c.is_control() || matches!(c, '\n' | '\r' | '\t');
    if !text.chars().all(is_plain) {
        let problem = format!("{field} holds a control character: it is plain text");
        return Err(RegistryError::policy("not-plain-text", problem));
    }
    Ok(())
}

/// Checks that a text is bounded, plain and not empty.
pub(super) fn check_filled(
    what: &str,
    text: &str,
    limit: usize,
    code: &'static str,
) -> Result<(), RegistryError> {
    check_text(&format!("a {what}"), text, limit)?;
    if text.trim().is_empty() {
        return Err(RegistryError::policy(
            code,
            format!("a {what} says something"),
        ));
    }
    Ok(())
}

fn check_uri(field: &str, uri: &str) -> Result<(), RegistryError> {
    check_text(field, uri, NAMESPACE_URI)?;
    if is_web_address(uri) {
        return Ok(());
    }
    let problem = format!("{field}: {uri:?} is no http or https address");
    Err(RegistryError::policy("bad-uri", problem))
}

/// Checks a URI: `http://` or `https://`, a host that cannot be mistaken for another, and
/// characters that a URI may contain.
pub(super) fn is_web_address(uri: &str) -> bool {
    let rest = uri
        .strip_prefix("https://")
        .or_else(|| uri.strip_prefix("http://"));
    let Some(rest) = rest else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let in_uri = |b: u8| b.is_ascii_graphic() && !b"\"<>\\^`".contains(&b);
    is_host(host) && rest.bytes().all(in_uri)
}

/// A host name or an address, with an optional port.
fn is_host(text: &str) -> bool {
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, port)) if address.parse::<Ipv6Addr>().is_ok() => ("", port),
        Some(_) => return false,
        None => text.split_at(text.find(':').unwrap_or(text.len())),
    };
    let is_port = |port: &str| {
        let is_digits = port.bytes().all(|b| b.is_ascii_digit());
        is_digits && port.parse::<u16>().is_ok_and(|port| port > 0)
    };
    let is_label = |label: &str| {
        let is_plain = label
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-');
        is_plain && !label.is_empty() && !label.starts_with('-') && !label.ends_with('-')
    };
    let is_name = text.starts_with('[') || host.split('.').all(is_label);
    is_name && (port.is_empty() || port.strip_prefix(':').is_some_and(is_port))
}

/// `INFO-11`: checks a template with `{id}`; a mechanism needs security considerations.
fn check_resolution(said: &ResolutionForm) -> Result<(), RegistryError> {
    let Some(mechanism) = &said.mechanism else {
        return Ok(());
    };
    // The same function that resolution uses.
    if mechanism.len() > NAMESPACE_URI || filled(mechanism, "sample-1").is_none() {
        let problem = format!(
            "{mechanism:?} is no mechanism: that is an http or https address with one {{id}} \
             behind its host, and behind a / or ? there"
        );
        return Err(RegistryError::policy("bad-mechanism", problem));
    }
    let security = said.security.as_deref().unwrap_or_default();
    if security.trim().is_empty() {
        let problem = "no mechanism is registered without security considerations";
        return Err(RegistryError::policy("no-security", problem));
    }
    Ok(())
}

/// The maximum memory of all patterns of an entry, in bytes. It bounds the cost of an identifier
/// from an untrusted client: some tenths of a second for the longest one, whatever the patterns.
const MAX_COMPILED_BYTES: usize = 1 << 18;

/// Patterns run in linear time, but the time for each byte grows with their size.
fn check_cost(form: &NamespaceForm) -> Result<(), RegistryError> {
    let steps = form.normalisation.steps.iter().flatten();
    let rewrites = steps.filter_map(|step| match step.as_array()?.as_slice() {
        [name, pattern, _] if name == "rewrite" => pattern.as_str(),
        _ => None,
    });
    let patterns: Vec<&str> = rewrites.chain(form.syntax.pattern.as_deref()).collect();
    for pattern in &patterns {
        if Pattern::within(pattern, MAX_COMPILED_BYTES / patterns.len()).is_err() {
            let problem =
                format!("the pattern {pattern:?} costs too much: it has too many repetitions");
            return Err(RegistryError::policy("bad-pattern", problem));
        }
    }
    Ok(())
}

fn check_examples(form: &NamespaceForm, book: &RuleBook) -> Result<(), RegistryError> {
    if form.examples.len() > NAMESPACE_EXAMPLES {
        let problem = format!("an entry has at most {NAMESPACE_EXAMPLES} examples");
        return Err(RegistryError::policy("too-large", problem));
    }
    for sample in &form.examples {
        let refuse = |why: String| Err(RegistryError::policy("bad-example", why));
        let read = |text: &str| {
            let bad = |error: ParseError| {
                RegistryError::policy("bad-example", format!("example {text:?}: {error}"))
            };
            let uri = InfoUri::parse(text).map_err(bad)?;
            let canonical = uri.canonical(book).map_err(bad)?;
            Ok::<_, RegistryError>((uri.into_owned(), canonical.as_str().to_string()))
        };
        let (uri, canonical) = read(&sample.input)?;
        if uri.namespace() != form.namespace {
            return refuse(format!(
                "example {:?} is of another namespace",
                sample.input
            ));
        }
        if canonical != sample.canonical {
            let (input, stated) = (&sample.input, &sample.canonical);
            return refuse(format!(
                "example {input:?} comes out as {canonical:?}, not as {stated:?}"
            ));
        }
        if uri.validate(book) == InfoValidity::DoesNotFit {
            return refuse(format!(
                "example {:?} does not fit the pattern",
                sample.input
            ));
        }
        let (_, again) = read(&canonical)?;
        if again != canonical {
            return Err(not_idempotent(&sample.input, &canonical, &again));
        }
    }
    Ok(())
}

/// Under usable rules an identifier this short, in bytes, has a canonical form.
const MAX_SHORT_BYTES: usize = 200;

/// `info-registry.md` §6: steps must be idempotent on generated trials, too.
fn check_trials(form: &NamespaceForm, book: &RuleBook) -> Result<(), RegistryError> {
    let has_steps = form.rules().is_ok_and(|rules| !rules.steps().is_empty());
    if !has_steps {
        return Ok(());
    }
    for trial in trials(form) {
        let Ok(uri) = InfoUri::parse(&trial) else {
            continue;
        };
        let Ok(once) = uri.canonical(book) else {
            if trial.len() > MAX_SHORT_BYTES {
                continue;
            }
            let problem = format!("the steps leave nothing that can be stored of {trial:?}");
            return Err(RegistryError::policy("bad-steps", problem));
        };
        let once = once.as_str();
        match canonical(once, book) {
            Some(twice) if twice == once => {}
            twice => return Err(not_idempotent(&trial, once, &twice.unwrap_or_default())),
        }
    }
    Ok(())
}

fn canonical(text: &str, book: &RuleBook) -> Option<String> {
    let canonical = InfoUri::parse(text).ok()?.canonical(book).ok()?;
    Some(canonical.as_str().to_string())
}

fn not_idempotent(input: &str, once: &str, twice: &str) -> RegistryError {
    let problem = format!(
        "{input:?} comes out as {once:?}, and that as {twice:?}: a canonical form must stay as it \
         is"
    );
    RegistryError::policy("not-idempotent", problem)
}
