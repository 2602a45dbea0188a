//! Whether everything is in order, in words.

use x509_parser::prelude::{FromDer, X509Certificate};

use crate::http::console::visit::Visit;
use crate::http::operator::readiness;
use crate::http::pages::words;

/// A check and its outcome.
pub(super) struct ShownCheck {
    pub(super) what: &'static str,
    pub(super) text: String,
    /// Whether somebody should look at it.
    pub(super) is_trouble: bool,
    /// A page or file about it, and the words of the link.
    pub(super) link: Option<(&'static str, &'static str)>,
    /// A command that helps.
    pub(super) command: &'static str,
}

const DAY: u64 = 24 * 60 * 60 * 1_000;
/// An older backup is a trouble.
const OLD_BACKUP: u64 = 7 * DAY;
/// A certificate that ends sooner is a trouble.
const ENDING: u64 = 14 * DAY;
/// With less space on the disk somebody should look.
const LITTLE_SPACE: u64 = 1 << 30;
/// Derived data that is so many events behind is a trouble.
const BEHIND: u64 = 10_000;

pub(super) fn checks(visit: &Visit<'_>) -> Vec<ShownCheck> {
    let mut checks = vec![
        store(visit),
        backup(visit),
        certificate(visit),
        address(visit),
        log(visit),
        derived(visit),
        jobs(visit),
    ];
    checks.extend(visit.web.site.problems.iter().map(|problem| ShownCheck {
        what: "Settings of pages",
        text: problem.clone(),
        is_trouble: true,
        link: None,
        command: "",
    }));
    checks
}

fn check(what: &'static str, text: String, is_trouble: bool) -> ShownCheck {
    ShownCheck {
        what,
        text,
        is_trouble,
        link: None,
        command: "",
    }
}

fn store(visit: &Visit<'_>) -> ShownCheck {
    let registry = visit.registry();
    let used = words::bytes(registry.usage().used);
    let space = registry.disk_space();
    let free = space.map_or_else(String::new, |space| {
        format!("; {} free on its disk", words::bytes(space.free))
    });
    if registry.is_store_damaged() {
        let text = "The store is damaged. Stop the server, and restore the data folder from a \
                    backup.";
        return ShownCheck {
            command: "handfast check",
            ..check("Store", text.to_string(), true)
        };
    }
    if let Some(failure) = registry.last_store_failure() {
        let text = format!("The last change could not be written: {failure}. {used}{free}.");
        return check("Store", text, true);
    }
    if registry.is_writer_stuck() {
        let text = format!("One change has been written for very long. {used}{free}.");
        return check("Store", text, true);
    }
    let is_little = space.is_some_and(|space| space.free < LITTLE_SPACE);
    let is_trouble = is_little || !readiness::is_writable(registry);
    check("Store", format!("{used} in use{free}."), is_trouble)
}

fn backup(visit: &Visit<'_>) -> ShownCheck {
    let Some(made) = visit.registry().last_backup() else {
        let text = "No backup of this folder is known. A backup holds the names and events, but \
                    not the keys of the site.";
        return ShownCheck {
            command: "handfast backup FILE",
            ..check("Backup", text.to_string(), true)
        };
    };
    let age = visit.now.saturating_sub(made);
    let old = match age / DAY {
        0 => "less than a day old".to_string(),
        days => format!("{} old", words::count(days, "day", "days")),
    };
    let is_old = age > OLD_BACKUP;
    let text = format!(
        "The last one is {old}. It holds the names and events, but not the keys of the site."
    );
    ShownCheck {
        command: if is_old { "handfast backup FILE" } else { "" },
        ..check("Backup", text, is_old)
    }
}

fn certificate(visit: &Visit<'_>) -> ShownCheck {
    let web = visit.web;
    let current = web.tls.certificate.current();
    let end = current.cert.first().and_then(|leaf| {
        let (_, certificate) = X509Certificate::from_der(leaf).ok()?;
        let seconds = certificate.validity().not_after.timestamp();
        u64::try_from(seconds).ok()?.checked_mul(1_000)
    });
    let text = match (web.tls_kind, end) {
        ("self-signed", _) if web.is_behind_proxy() => {
            let text = "Self-signed, with the key of the site. A proxy in front has its own.";
            return check("Certificate", text.to_string(), false);
        }
        ("self-signed", _) => {
            let text = "Self-signed, with the key of the site: browsers do not know it.";
            return check("Certificate", text.to_string(), true);
        }
        (_, None) => {
            let text = "The certificate cannot be read.";
            return check("Certificate", text.to_string(), true);
        }
        ("acme", Some(end)) => format!("Until {}, renews itself.", words::plain_day(end)),
        (_, Some(end)) => format!("Until {}, from files.", words::plain_day(end)),
    };
    let is_ending = end.is_some_and(|end| end < visit.now.saturating_add(ENDING));
    check("Certificate", text, is_ending)
}

fn address(visit: &Visit<'_>) -> ShownCheck {
    match visit.web.hosts.public_url() {
        url if url.is_empty() => {
            let text = "No public address is set. Links to cite begin with the address that a \
                        browser used: set public-url in the section [web] of handfast.toml.";
            check("Public address", text.to_string(), true)
        }
        url => check("Public address", format!("{url}."), false),
    }
}

fn log(visit: &Visit<'_>) -> ShownCheck {
    let registry = visit.registry();
    let link = Some(("/api/v1/log/checkpoint", "Checkpoint"));
    let (Ok(events), Ok(signed)) = (registry.event_count(), registry.last_signed()) else {
        return check("Public log", "The log cannot be read.".to_string(), true);
    };
    let events = words::count(events, "event", "events");
    let text = match signed {
        Some((origin, size)) => format!(
            "{events}; the last signed checkpoint of {origin} has {}.",
            words::number(size)
        ),
        None => format!("{events}; no checkpoint was asked for yet."),
    };
    ShownCheck {
        link,
        ..check("Public log", text, false)
    }
}

fn derived(visit: &Visit<'_>) -> ShownCheck {
    let registry = visit.registry();
    let what = "Counts and lists";
    let (totals, events) = match (registry.name_totals(), registry.event_count()) {
        (Ok(totals), Ok(events)) => (totals, events),
        (Err(error), _) | (_, Err(error)) => {
            return check(what, format!("They cannot be read: {error}."), true);
        }
    };
    let behind = events.saturating_sub(totals.as_of_event);
    let text = format!(
        "As of event {}, {} behind.",
        words::number(totals.as_of_event),
        words::count(behind, "event", "events")
    );
    check(what, text, behind > BEHIND)
}

fn jobs(visit: &Visit<'_>) -> ShownCheck {
    let running = u64::try_from(visit.registry().jobs_under_way()).unwrap_or(0);
    let text = match running {
        0 => "No job runs now.".to_string(),
        running => format!("{} now.", words::count(running, "job runs", "jobs run")),
    };
    ShownCheck {
        link: Some(("/console/jobs", "Jobs")),
        ..check("Jobs", text, false)
    }
}
