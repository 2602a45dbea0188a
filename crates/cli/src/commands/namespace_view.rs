//! What `namespace` shows to people.

use std::io::{self, Write};

use handfast_api::{
    ListedNamespace, Namespace, NamespaceCase, NamespaceComment, NamespaceDone, NamespacePolicy,
    NamespaceVersion,
};

use crate::commands::inspect_view::Shown as Safe;
use crate::terminal::output::rows;

pub(crate) fn list(entries: &[ListedNamespace], out: &mut dyn Write) -> io::Result<()> {
    entries.iter().try_for_each(|entry| {
        let whose = if entry.historical && !entry.claimed {
            "unclaimed"
        } else {
            ""
        };
        let (namespace, title) = (Safe(&entry.namespace).to_string(), Safe(&entry.title));
        let status = entry.status;
        writeln!(out, "{namespace:<20}  {status:<10}  {whose:<9}  {title}")
    })
}

pub(crate) fn entry(entry: &Namespace, out: &mut dyn Write) -> io::Result<()> {
    let whose = match (entry.historical, entry.claimed, entry.claim_pending) {
        (_, true, true) => "claimed, and disputed",
        (_, true, false) => "claimed",
        (_, false, true) => "unclaimed; a claim waits to be verified",
        (true, false, false) => "historical, unclaimed",
        (false, false, false) => "",
    };
    let (form, resolution) = (&entry.normalisation, &entry.resolution);
    let case = match form.case {
        NamespaceCase::Lower => "does not count; lower is canonical",
        NamespaceCase::Upper => "does not count; upper is canonical",
        NamespaceCase::Sensitive => "counts",
    };
    let steps = form.steps.iter().flatten();
    let steps = steps.map(|step| ("step", Some(step.to_string())));
    let has_steps = form.steps.is_some();
    let about = [
        ("uri", Some(entry.uri.clone())),
        ("title", Some(entry.title.clone())),
        ("status", Some(entry.status.to_string())),
        ("why", Some(entry.why.clone())),
        ("owner", Some(whose.into())),
        ("verified", entry.verified.clone()),
        ("registered", entry.registered.clone()),
        ("until", entry.provisional_until.clone()),
        ("organisation", Some(entry.authority.organisation.clone())),
        ("address", Some(entry.authority.address.clone())),
        ("url", Some(entry.authority.url.clone())),
        ("contact", Some(entry.authority.contact.clone())),
        ("description", Some(entry.description.clone())),
        ("syntax", Some(entry.syntax.summary.clone())),
        ("pattern", entry.syntax.pattern.clone()),
        ("normalisation", Some(form.summary.clone())),
        ("case", (!has_steps).then(|| case.into())),
        ("strip", (!has_steps).then(|| form.strip.clone())),
    ];
    rows(out, 14, about.into_iter().chain(steps))?;
    let examples = entry.examples.iter().map(|sample| {
        let text = format!("{}  →  {}", sample.input, sample.canonical);
        ("example", Some(text))
    });
    let how = [
        ("mechanism", resolution.mechanism.clone()),
        ("security", resolution.security.clone()),
    ];
    let last = [
        ("version", Some(entry.version.to_string())),
        ("changed", Some(entry.changed.clone())),
    ];
    rows(out, 14, how.into_iter().chain(examples).chain(last))
}

/// What was done with an entry, or would have been.
pub(crate) fn done(said: &NamespaceDone, done: &str, out: &mut dyn Write) -> io::Result<()> {
    let would = if said.dry_run { "would have " } else { "" };
    let (uri, status) = (Safe(&said.entry.uri), said.entry.status);
    writeln!(out, "{would}{done} {uri}: {status}")?;
    said.example_changes.iter().try_for_each(|change| {
        let (input, before) = (Safe(&change.input), Safe(&change.before));
        let after = Safe(change.after.as_deref().unwrap_or("nothing"));
        writeln!(out, "  {input}: {before} becomes {after}")
    })
}

pub(crate) fn history(versions: &[NamespaceVersion], out: &mut dyn Write) -> io::Result<()> {
    versions.iter().try_for_each(|version| {
        let (number, by, status) = (version.version, version.by, version.status);
        let action = Safe(version.action.as_deref().unwrap_or("original entry")).to_string();
        let who = match &version.who {
            Some(who) => format!("{by} ({who})"),
            None => by.to_string(),
        };
        let (time, who, why) = (Safe(&version.time), Safe(&who), Safe(&version.why));
        writeln!(
            out,
            "{number:>3}  {time}  {action:<20}  {status:<10}  {who}  {why}"
        )
    })
}

/// The policy, or that there is a new one.
pub(crate) fn policy(
    policy: &NamespacePolicy,
    is_new: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    if is_new {
        return writeln!(out, "set version {} of the policy", policy.version);
    }
    let mut lines = policy.text.lines();
    lines.try_for_each(|line| writeln!(out, "{}", Safe(line)))
}

pub(crate) fn comments(comments: &[NamespaceComment], out: &mut dyn Write) -> io::Result<()> {
    comments.iter().try_for_each(|comment| {
        let author = Safe(comment.author.as_deref().unwrap_or(&comment.by));
        let (number, time) = (comment.comment, Safe(&comment.time));
        writeln!(out, "{number:>3}  {time}  {author}")?;
        let mut lines = comment.text.lines();
        lines.try_for_each(|line| writeln!(out, "     {}", Safe(line)))
    })
}
