//! Import, export and bulk changes, as a user of the command line meets them.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod export;
mod import;
mod jobs;
mod links;
mod updates;

use handfast_testing::{Folder, lines};
use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_handfast");

/// Refused lines with their numbers and codes, by number.
fn refused_lines(outcomes: &[Value]) -> Vec<(u64, String)> {
    let refused = outcomes
        .iter()
        .filter(|outcome| outcome["outcome"] == "refused");
    let mut found: Vec<_> = refused
        .map(|outcome| {
            assert!(!outcome["reason"].as_str().unwrap().is_empty());
            let code = outcome["code"].as_str().unwrap().to_string();
            (outcome["line"].as_u64().unwrap(), code)
        })
        .collect();
    found.sort();
    found
}

fn counts(summary: &Value) -> [u64; 4] {
    ["created", "changed", "unchanged", "refused"].map(|what| summary[what].as_u64().unwrap())
}

fn names(folder: &Folder, authority: &str) -> Vec<String> {
    let listed = folder.done(&["name", "list", "--authority", authority, "--json"]);
    let listed = lines(&listed);
    let ids = listed.iter().map(|name| name["id"].as_str().unwrap());
    ids.map(str::to_string).collect()
}

fn urls(folder: &Folder, id: &str) -> Vec<String> {
    let shown = folder.json(&["name", "show", id]);
    let values = shown["values"].as_array().unwrap().iter();
    let urls = values.filter(|value| value["type"] == "URL");
    urls.map(|value| value["data"]["value"].as_str().unwrap().to_string())
        .collect()
}

/// How many events there are, by a proof that costs none.
fn events(folder: &Folder) -> u64 {
    folder.json(&["log", "verify"])["events"].as_u64().unwrap()
}

/// All that can be told from outside.
fn whole(folder: &Folder) -> (String, u64, Value) {
    let exported = folder.done(&["export", "--with-secrets"]);
    (exported, events(folder), folder.json(&["job", "list"]))
}
