//! What `namespace` shows to people.

use std::io::{self, Write};

use handfast_api::{
    ListedNamespace, Namespace, NamespaceCase, NamespaceComment, NamespaceDone, NamespacePolicy,
    NamespaceVersion,
};

use crate::commands::inspect_view::Shown as Safe;

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
    let normalisation = &entry.normalisation;
    let (case, strip) = match normalisation.case {
        _ if normalisation.steps.is_some() => ("", ""),
        NamespaceCase::Lower => ("does not count; lower is canonical", &*normalisation.strip),
        NamespaceCase::Upper => ("does not count; upper is canonical", &*normalisation.strip),
        NamespaceCase::Sensitive => ("counts", &*normalisation.strip),
    };
    let steps = normalisation
        .steps
        .iter()
        .flatten()
        .map(ToString::to_string);
    let examples = entry.examples.iter();
    let examples = examples.map(|sample| format!("{}  →  {}", sample.input, sample.canonical));
    let (steps, examples): (Vec<_>, Vec<_>) = (steps.collect(), examples.collect());
    let version = entry.version.to_string();
    let mut rows = vec![
        ("uri", &*entry.uri),
        ("title", &entry.title),
        ("status", entry.status.as_str()),
        ("why", &entry.why),
        ("owner", whose),
        ("verified", entry.verified.as_deref().unwrap_or_default()),
        (
            "registered",
            entry.registered.as_deref().unwrap_or_default(),
        ),
        (
            "until",
            entry.provisional_until.as_deref().unwrap_or_default(),
        ),
        ("organisation", &entry.authority.organisation),
        ("address", &entry.authority.address),
        ("url", &entry.authority.url),
        ("contact", &entry.authority.contact),
        ("description", &entry.description),
        ("syntax", &entry.syntax.summary),
        (
            "pattern",
            entry.syntax.pattern.as_deref().unwrap_or_default(),
        ),
        ("normalisation", &normalisation.summary),
        ("case", case),
        ("strip", strip),
    ];
    rows.extend(steps.iter().map(|step| ("step", &**step)));
    let resolution = &entry.resolution;
    rows.push((
        "mechanism",
        resolution.mechanism.as_deref().unwrap_or_default(),
    ));
    rows.push((
        "security",
        resolution.security.as_deref().unwrap_or_default(),
    ));
    rows.extend(examples.iter().map(|example| ("example", &**example)));
    rows.extend([("version", &*version), ("changed", &entry.changed)]);
    for (label, text) in rows.into_iter().filter(|(_, text)| !text.is_empty()) {
        writeln!(out, "  {label:<14}  {}", Safe(text))?;
    }
    Ok(())
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
