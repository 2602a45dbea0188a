//! What `namespace` shows to people.

use std::io::{self, Write};

use handfast_registry::{
    ExampleChange, NamespaceEntry, NamespacePage, NamespaceRemark, NamespaceVersion, rfc3339,
};
use serde_json::{Value as Json, json};

use crate::view::Shown as Safe;

pub(crate) fn list(page: &NamespacePage, now: u64, out: &mut dyn Write) -> io::Result<()> {
    page.entries.iter().try_for_each(|entry| {
        let whose = match (entry.historical, entry.claimed) {
            (true, false) => "unclaimed",
            _ => "",
        };
        let status = entry.state(now);
        let title = Safe(&entry.form.title);
        writeln!(
            out,
            "{:<20}  {status:<10}  {whose:<9}  {title}",
            entry.name()
        )
    })
}

pub(crate) fn entry(entry: &NamespaceEntry, now: u64, out: &mut dyn Write) -> io::Result<()> {
    let form = &entry.form;
    let mut row = |label: &str, text: &str| {
        if text.is_empty() {
            return Ok(());
        }
        writeln!(out, "  {label:<14}  {}", Safe(text))
    };
    let whose = match (entry.historical, entry.claimed, entry.claim_pending) {
        (_, true, true) => "claimed, and disputed",
        (_, true, false) => "claimed",
        (_, false, true) => "unclaimed; a claim waits to be verified",
        (true, false, false) => "historical, unclaimed",
        (false, false, false) => "",
    };
    let case = match form.normalisation.case {
        _ if form.normalisation.steps.is_some() => "",
        handfast_registry::NamespaceCase::Lower => "does not count; lower is canonical",
        handfast_registry::NamespaceCase::Sensitive => "counts",
        handfast_registry::NamespaceCase::Upper => "does not count; upper is canonical",
    };
    let until = entry.provisional_until.map(rfc3339).unwrap_or_default();
    row("uri", &entry.uri())?;
    row("title", &form.title)?;
    row("status", entry.state(now).as_str())?;
    row("why", &entry.why)?;
    row("owner", whose)?;
    row("verified", entry.verified.as_deref().unwrap_or_default())?;
    row(
        "registered",
        entry.registered.as_deref().unwrap_or_default(),
    )?;
    row("until", &until)?;
    row("organisation", &form.authority.organisation)?;
    row("address", &form.authority.address)?;
    row("url", &form.authority.url)?;
    row("contact", &form.authority.contact)?;
    row("description", &form.description)?;
    row("syntax", &form.syntax.summary)?;
    row(
        "pattern",
        form.syntax.pattern.as_deref().unwrap_or_default(),
    )?;
    row("normalisation", &form.normalisation.summary)?;
    row("case", case)?;
    if form.normalisation.steps.is_none() {
        row("strip", &form.normalisation.strip)?;
    }
    for step in form.normalisation.steps.iter().flatten() {
        row("step", &step.to_string())?;
    }
    row(
        "mechanism",
        form.resolution.mechanism.as_deref().unwrap_or_default(),
    )?;
    row(
        "security",
        form.resolution.security.as_deref().unwrap_or_default(),
    )?;
    for sample in &form.examples {
        row(
            "example",
            &format!("{}  →  {}", sample.input, sample.canonical),
        )?;
    }
    row("version", &entry.version.to_string())?;
    row("changed", &rfc3339(entry.changed_by(now)))
}

pub(crate) fn history(versions: &[NamespaceVersion], out: &mut dyn Write) -> io::Result<()> {
    versions.iter().try_for_each(|version| {
        let entry = &version.entry;
        let action = version
            .action
            .map_or("original entry", |action| action.as_str());
        let (time, by, why) = entry.made();
        let who = match &version.who {
            Some(who) => format!("{} ({who})", by.as_str()),
            None => by.as_str().to_string(),
        };
        writeln!(
            out,
            "{:>3}  {}  {action:<20}  {:<10}  {who}  {}",
            entry.version,
            rfc3339(time),
            entry.status,
            Safe(why)
        )
    })
}

/// A text of several lines.
pub(crate) fn text(text: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut lines = text.lines();
    lines.try_for_each(|line| writeln!(out, "{}", Safe(line)))
}

pub(crate) fn comments(comments: &[NamespaceRemark], out: &mut dyn Write) -> io::Result<()> {
    comments.iter().try_for_each(|remark| {
        let comment = &remark.comment;
        let time = rfc3339(comment.time);
        let author = comment.author.to_string();
        let author = if remark.is_signed { &author } else { remark.by };
        writeln!(out, "{:>3}  {time}  {author}", comment.number)?;
        let mut lines = comment.text.lines();
        lines.try_for_each(|line| writeln!(out, "     {}", Safe(line)))
    })
}

pub(crate) fn changes(changes: &[ExampleChange], out: &mut dyn Write) -> io::Result<()> {
    changes.iter().try_for_each(|change| {
        let after = change.after.as_deref().unwrap_or("nothing");
        writeln!(
            out,
            "  {}: {} becomes {}",
            Safe(&change.input),
            Safe(&change.before),
            Safe(after)
        )
    })
}

pub(crate) fn change_as_json(change: &ExampleChange) -> Json {
    json!({"input": change.input, "before": change.before, "after": change.after})
}
