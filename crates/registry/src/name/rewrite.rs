//! Rewriting values in bulk changes.

use handfast_wire::{Ttl, Value, type_matches};

use crate::error::RegistryError;
use crate::name::record::Record;
use crate::name::url::url_problem;

/// The values with changed URLs; `None` if no URL matches.
pub(crate) fn changed_urls(
    old: &Record,
    from: &str,
    to: &str,
    is_host: bool,
) -> Option<Vec<Value<'static>>> {
    changed(old, |value| {
        let is_url = value.value_type.eq_ignore_ascii_case("URL");
        let url = std::str::from_utf8(&value.data).ok().filter(|_| is_url)?;
        let changed = if is_host {
            with_host(url, from, to)
        } else {
            url.strip_prefix(from).map(|rest| format!("{to}{rest}"))
        };
        let changed = changed.filter(|changed| changed != url)?;
        value.data = changed.into_bytes().into();
        Some(())
    })
}

/// The values after a change, which returns `Some` for a value that it changed; `None` if it
/// changed none.
fn changed(
    old: &Record,
    change: impl Fn(&mut Value<'static>) -> Option<()>,
) -> Option<Vec<Value<'static>>> {
    let mut is_changed = false;
    let mut values = old.values.clone();
    for value in &mut values {
        if change(value).is_some() {
            value.timestamp = 0;
            is_changed = true;
        }
    }
    is_changed.then_some(values)
}

/// Refuses a change after which a URL leads nowhere.
pub(crate) fn check_changed_urls(old: &Record, new: &[Value<'_>]) -> Result<(), RegistryError> {
    let mut changed = old.values.iter().zip(new);
    let problem = changed.find_map(|(old, new)| {
        let url = new.text().filter(|_| old.data != new.data)?;
        let problem = url_problem(url)?;
        Some(format!(
            "{} would become {problem}",
            old.text().unwrap_or_default()
        ))
    });
    match problem {
        Some(problem) => Err(RegistryError::policy("bad-url", problem)),
        None => Ok(()),
    }
}

/// Whether a text is a host, with or without a port.
pub(crate) fn is_host(text: &str) -> bool {
    let (name, port) = match text.rsplit_once(':') {
        Some((name, port)) if !text.ends_with(']') => (name, Some(port)),
        _ => (text, None),
    };
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    let inside = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'));
    let is_name = match inside {
        Some(address) => address
            .bytes()
            .all(|b| b.is_ascii_hexdigit() || b == b':' || b == b'.'),
        None => name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_')),
    };
    !name.is_empty() && is_name && port.is_none_or(is_port)
}

/// The URL at another host, if it is at `from`. If `from` has a port, the port must match, too.
fn with_host(url: &str, from: &str, to: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (place, path) = rest.split_at_checked(end)?;
    let (user, host) = match place.rsplit_once('@') {
        Some((user, host)) => (format!("{user}@"), host),
        None => (String::new(), place),
    };
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (name, Some(port)),
        _ => (host, None),
    };
    if host.eq_ignore_ascii_case(from) {
        return Some(format!("{scheme}://{user}{to}{path}"));
    }
    // Without a port in `to`, the URL keeps its port.
    let port = port.filter(|_| name.eq_ignore_ascii_case(from))?;
    Some(format!("{scheme}://{user}{to}:{port}{path}"))
}

/// The values with another TTL; `None` if they have it already.
pub(crate) fn changed_ttls(
    old: &Record,
    value_type: Option<&str>,
    seconds: u32,
) -> Option<Vec<Value<'static>>> {
    let ttl = Ttl::Relative(seconds);
    changed(old, |value| {
        let is_meant = value_type.is_none_or(|wanted| type_matches(&value.value_type, wanted));
        (is_meant && value.ttl != ttl).then(|| value.ttl = ttl)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_told_from_other_texts() {
        for host in [
            "old.example",
            "localhost:8000",
            "[2001:db8::1]",
            "[::1]:80",
            "bücher.example",
        ] {
            assert!(is_host(host), "{host}");
        }
        for other in [
            "",
            "a/b",
            "x@evil.org",
            "https://old.org",
            "a b",
            "a:",
            ":80",
            "a?x",
        ] {
            assert!(!is_host(other), "{other}");
        }
    }

    #[test]
    fn a_host_is_replaced_and_nothing_else() {
        let change = |url| with_host(url, "old.example", "new.example");
        assert_eq!(
            change("https://OLD.example/old.example?x").as_deref(),
            Some("https://new.example/old.example?x")
        );
        assert_eq!(
            change("http://u@old.example:8080").as_deref(),
            Some("http://u@new.example:8080")
        );
        for other in [
            "https://sold.example/",
            "https://old.example.org/",
            "https://x/?old.example",
            "mailto:a@old.example",
        ] {
            assert_eq!(change(other), None, "{other}");
        }
        let moved = with_host("http://a:80/x", "a:80", "b");
        assert_eq!(moved.as_deref(), Some("http://b/x"));
    }
}
