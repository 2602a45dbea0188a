//! What `namespace` shows to people, made from the JSON of the API.

use std::io::{self, Write};

use serde_json::Value as Json;

use crate::commands::inspect_view::Shown as Safe;

/// A text somewhere in an object; nothing if there is none.
fn text<'j>(object: &'j Json, pointer: &str) -> &'j str {
    let found = object.pointer(pointer).and_then(Json::as_str);
    found.unwrap_or_default()
}

fn is(object: &Json, field: &str) -> bool {
    object.get(field) == Some(&Json::Bool(true))
}

fn all<'j>(object: &'j Json, pointer: &str) -> impl Iterator<Item = &'j Json> {
    let list = object.pointer(pointer).and_then(Json::as_array);
    list.into_iter().flatten()
}

pub(crate) fn list(page: &Json, out: &mut dyn Write) -> io::Result<()> {
    all(page, "/namespaces").try_for_each(|entry| {
        let whose = if is(entry, "historical") && !is(entry, "claimed") {
            "unclaimed"
        } else {
            ""
        };
        writeln!(
            out,
            "{:<20}  {:<10}  {whose:<9}  {}",
            Safe(text(entry, "/namespace")).to_string(),
            Safe(text(entry, "/status")).to_string(),
            Safe(text(entry, "/title"))
        )
    })
}

pub(crate) fn entry(entry: &Json, out: &mut dyn Write) -> io::Result<()> {
    let mut row = |label: &str, text: &str| {
        if text.is_empty() {
            return Ok(());
        }
        writeln!(out, "  {label:<14}  {}", Safe(text))
    };
    let whose = match (
        is(entry, "historical"),
        is(entry, "claimed"),
        is(entry, "claim_pending"),
    ) {
        (_, true, true) => "claimed, and disputed",
        (_, true, false) => "claimed",
        (_, false, true) => "unclaimed; a claim waits to be verified",
        (true, false, false) => "historical, unclaimed",
        (false, false, false) => "",
    };
    let has_steps = entry
        .pointer("/normalisation/steps")
        .is_some_and(Json::is_array);
    let (case, strip) = match text(entry, "/normalisation/case") {
        _ if has_steps => ("", ""),
        case => (
            match case {
                "lower" => "does not count; lower is canonical",
                "upper" => "does not count; upper is canonical",
                _ => "counts",
            },
            text(entry, "/normalisation/strip"),
        ),
    };
    for (label, pointer) in [
        ("uri", "/uri"),
        ("title", "/title"),
        ("status", "/status"),
        ("why", "/why"),
    ] {
        row(label, text(entry, pointer))?;
    }
    row("owner", whose)?;
    for (label, pointer) in [
        ("verified", "/verified"),
        ("registered", "/registered"),
        ("until", "/provisional_until"),
        ("organisation", "/authority/organisation"),
        ("address", "/authority/address"),
        ("url", "/authority/url"),
        ("contact", "/authority/contact"),
        ("description", "/description"),
        ("syntax", "/syntax/summary"),
        ("pattern", "/syntax/pattern"),
        ("normalisation", "/normalisation/summary"),
    ] {
        row(label, text(entry, pointer))?;
    }
    row("case", case)?;
    row("strip", strip)?;
    for step in all(entry, "/normalisation/steps") {
        row("step", &step.to_string())?;
    }
    row("mechanism", text(entry, "/resolution/mechanism"))?;
    row("security", text(entry, "/resolution/security"))?;
    for sample in all(entry, "/examples") {
        let (input, canonical) = (text(sample, "/input"), text(sample, "/canonical"));
        row("example", &format!("{input}  →  {canonical}"))?;
    }
    row("version", &number(entry, "version").to_string())?;
    row("changed", text(entry, "/changed"))
}

/// What was done with an entry, or would have been.
pub(crate) fn done(said: &Json, done: &str, out: &mut dyn Write) -> io::Result<()> {
    let would = if is(said, "dry_run") {
        "would have "
    } else {
        ""
    };
    let (uri, status) = (text(said, "/uri"), text(said, "/status"));
    writeln!(out, "{would}{done} {}: {}", Safe(uri), Safe(status))?;
    all(said, "/example_changes").try_for_each(|change| {
        let after = change.get("after").and_then(Json::as_str);
        writeln!(
            out,
            "  {}: {} becomes {}",
            Safe(text(change, "/input")),
            Safe(text(change, "/before")),
            Safe(after.unwrap_or("nothing"))
        )
    })
}

pub(crate) fn history(versions: &Json, out: &mut dyn Write) -> io::Result<()> {
    all(versions, "").try_for_each(|version| {
        let action = version.get("action").and_then(Json::as_str);
        let by = text(version, "/by");
        let who = match version.get("who").and_then(Json::as_str) {
            Some(who) => format!("{by} ({who})"),
            None => by.to_string(),
        };
        writeln!(
            out,
            "{:>3}  {}  {:<20}  {:<10}  {}  {}",
            number(version, "version"),
            Safe(text(version, "/time")),
            Safe(action.unwrap_or("original entry")).to_string(),
            Safe(text(version, "/status")).to_string(),
            Safe(&who),
            Safe(text(version, "/why"))
        )
    })
}

/// The policy, or that there is a new one.
pub(crate) fn policy(policy: &Json, is_new: bool, out: &mut dyn Write) -> io::Result<()> {
    if is_new {
        let version = number(policy, "version");
        return writeln!(out, "set version {version} of the policy");
    }
    let mut lines = text(policy, "/text").lines();
    lines.try_for_each(|line| writeln!(out, "{}", Safe(line)))
}

pub(crate) fn comments(comments: &Json, out: &mut dyn Write) -> io::Result<()> {
    all(comments, "").try_for_each(|comment| {
        let author = comment.get("author").and_then(Json::as_str);
        let author = author.unwrap_or_else(|| text(comment, "/by"));
        let (number, time) = (number(comment, "comment"), text(comment, "/time"));
        writeln!(out, "{number:>3}  {}  {}", Safe(time), Safe(author))?;
        let mut lines = text(comment, "/text").lines();
        lines.try_for_each(|line| writeln!(out, "     {}", Safe(line)))
    })
}

/// That a comment was made.
pub(crate) fn commented(comment: &Json, namespace: &str, out: &mut dyn Write) -> io::Result<()> {
    let number = number(comment, "comment");
    writeln!(out, "comment {number} on info:{namespace}/")
}

pub(crate) fn number(object: &Json, field: &str) -> u64 {
    let found = object.get(field).and_then(Json::as_u64);
    found.unwrap_or_default()
}
