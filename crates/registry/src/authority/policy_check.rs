//! Checks on the texts and the policy of an authority.

use crate::authority::change::AuthorityChange;
use crate::authority::path::AuthorityPath;
use crate::authority::pattern_cache;
use crate::authority::policy::{Authority, Persistence, Policy};
use crate::error::RegistryError;

/// The maximum length of title, meaning or contact, in bytes.
const MAX_TEXT_BYTES: usize = handfast_api::limits::AUTHORITY_TEXT;

pub(super) fn check_authority(authority: &Authority) -> Result<(), RegistryError> {
    let texts = [&authority.title, &authority.meaning, &authority.contact];
    if texts.iter().any(|text| text.len() > MAX_TEXT_BYTES) {
        let problem =
            format!("title, meaning and contact have at most {MAX_TEXT_BYTES} bytes each");
        return Err(RegistryError::policy("too-large", problem));
    }
    check_policy(&authority.path, &authority.policy)
}

/// Case rule and profile can be set for a prefix only; other names follow their scheme and
/// namespace.
pub(super) fn check_case_unset(
    path: &AuthorityPath,
    change: &AuthorityChange,
) -> Result<(), RegistryError> {
    if path.prefix().is_some() || change.case_sensitive.is_none() && change.cordra.is_none() {
        return Ok(());
    }
    let (code, problem) = if path.is_urn() {
        let problem = "the case rule of a URN belongs to its namespace (URN-3)";
        ("case-of-nid", problem)
    } else {
        let problem = "case and profile are chosen for prefixes only: here the scheme, or the \
            entry of the namespace, says it";
        ("prefix-policy", problem)
    };
    Err(RegistryError::policy(code, format!("{path}: {problem}")))
}

/// Checks that a new pattern is valid and cheap. Callers do so before the change reaches the
/// writer, which then finds the pattern compiled.
pub(super) fn check_pattern(change: &AuthorityChange) -> Result<(), RegistryError> {
    let Some(Some(pattern)) = &change.pattern else {
        return Ok(());
    };
    pattern_cache::check_new(pattern).map_err(|error| {
        let problem = format!("the pattern cannot be used: {error}");
        let hint = "; if it is too big, write [A-Za-z0-9_] for \\w, [0-9] for \\d, and repeat less";
        RegistryError::policy("bad-pattern", problem + hint)
    })
}

fn check_policy(path: &AuthorityPath, policy: &Policy) -> Result<(), RegistryError> {
    let refuse =
        |code, problem: &str| Err(RegistryError::policy(code, format!("{path}: {problem}")));
    if ["info:ark", "info:doi", "info:hdl"].contains(&path.key()) {
        return refuse(
            "other-authority",
            "its names are handles, DOIs or ARKs and belong to their prefixes",
        );
    }
    if let Some(pattern) = &policy.pattern
        && let Err(error) = pattern_cache::compiled(pattern)
    {
        return refuse("bad-pattern", &format!("the pattern is not valid: {error}"));
    }
    if path.is_urn() && policy.case_sensitive {
        return refuse(
            "case-of-nid",
            "the case rule of a URN belongs to its namespace (URN-3)",
        );
    }
    if path.is_urn() && policy.persistence == Persistence::Erasable {
        return refuse(
            "permanent",
            "a URN once assigned is never assigned again (URN-7)",
        );
    }
    if policy.cordra && policy.case_sensitive {
        return refuse(
            "case-of-cordra",
            "case never counts under a cordra authority (CID-11)",
        );
    }
    let Some(prefix) = path.prefix() else {
        if policy.cordra || policy.case_sensitive {
            return refuse(
                "prefix-policy",
                "case and profile are chosen for prefixes only",
            );
        }
        return Ok(());
    };
    if policy.cordra
        && prefix
            .as_str()
            .bytes()
            .any(|b| b != b'.' && !b.is_ascii_digit())
    {
        return refuse(
            "not-cordra",
            "a CORDRA naming authority is digits joined by dots (CID-2)",
        );
    }
    if policy.case_sensitive && prefix.is_always_insensitive() {
        return refuse(
            "always-insensitive",
            "case never counts under 10, 10.* and 0.* (HDL-6)",
        );
    }
    Ok(())
}
