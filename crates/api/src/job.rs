//! Jobs, imports and exports.

use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::is_default;
use crate::limits;
use crate::name::NameState;
use crate::words::words;

/// A job, which changes many names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Job {
    /// How many names it has changed.
    pub changed: u64,
    /// How many names and authorities it has created.
    pub created: u64,
    /// When it ended (RFC 3339).
    pub ended: Option<String>,
    /// The events that it made: the first and the last number of each run of them.
    #[schemars(extend("examples" = [[[7, 12]]]))]
    pub events: Vec<(u64, u64)>,
    /// The number of the job.
    #[schemars(example = 3)]
    pub job: u64,
    /// What the job does.
    pub kind: JobKind,
    /// How far it has come, while it is running.
    pub progress: Option<JobProgress>,
    /// How many names it has rejected.
    pub refused: u64,
    /// When it began (RFC 3339).
    #[schemars(example = &"2026-11-15T06:17:16Z")]
    pub started: String,
    /// Where the job is in its life.
    pub state: JobState,
    /// How many names already were as they should be.
    pub unchanged: u64,
    /// What it is done with, for people.
    #[schemars(example = &"names.ndjson")]
    pub what: String,
    /// Who started it.
    #[schemars(example = &"ann")]
    pub who: String,
}

words! {
    /// What a job does.
    JobKind {
        /// Imports names.
        Import = "import",
        /// Replaces the beginning, or the host, of URLs.
        ReplaceUrl = "replace-url",
        /// Sets how long values may be cached.
        SetTtl = "set-ttl",
        /// Undoes another job.
        Undo = "undo",
        /// Withdraws names.
        Withdraw = "withdraw",
    }
}

words! {
    /// Where a job is in its life.
    JobState {
        /// It was stopped for good.
        Cancelled = "cancelled",
        /// It was interrupted, and can be resumed.
        Interrupted = "cut-short",
        /// It has ended.
        Done = "done",
        /// It is running.
        Running = "running",
    }
}

/// How far a job has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobProgress {
    /// How much is done.
    pub done: u64,
    /// How much there is to do, if that is known.
    pub total: Option<u64>,
    /// What `done` and `total` count.
    #[schemars(extend("enum" = ["bytes", "names"]))]
    pub unit: String,
}

/// A page of jobs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobPage {
    /// The jobs, oldest first.
    pub jobs: Vec<Job>,
    /// The parameter `after` of the next page; `null` on the last page.
    pub next: Option<String>,
}

/// A job to start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(transform = describe_kind)]
pub enum NewJob {
    /// Replace the beginning of URLs. All texts have at most 10,000 bytes together.
    ReplaceUrl {
        /// The authority whose names change, with all below it.
        #[schemars(length(max = limits::JOB_TEXT), example = &"20.1000")]
        authority: String,
        /// What URLs begin with now.
        #[schemars(length(min = 1, max = limits::JOB_TEXT), example = &"http://old.example.org/")]
        from: String,
        /// Whether `from` and `to` are hosts.
        #[serde(default, skip_serializing_if = "is_default")]
        host: bool,
        /// What they are to begin with.
        #[schemars(length(min = 1, max = limits::JOB_TEXT), example = &"https://example.org/")]
        to: String,
    },
    /// Set how long values may be cached.
    SetTtl {
        /// The authority whose names change, with all below it.
        #[schemars(length(max = limits::JOB_TEXT), example = &"20.1000")]
        authority: String,
        /// The time, in seconds.
        #[schemars(range(max = u32::MAX), example = 86400)]
        seconds: u32,
        /// The type of the values: by default all types.
        #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
        #[schemars(length(max = limits::JOB_TEXT), example = &"URL")]
        value_type: Option<String>,
    },
    /// Undo another job.
    Undo {
        /// The number of the job.
        #[schemars(example = 3)]
        job: u64,
    },
    /// Withdraw names.
    Withdraw {
        /// The names.
        #[schemars(extend("examples" = [["20.1000/report-7"]]))]
        names: Vec<String>,
        /// Why they are withdrawn, for the public; at most 10,000 bytes.
        #[schemars(
            length(max = limits::WITHDRAWAL_REASON),
            example = &"The reports were retracted"
        )]
        reason: String,
    },
}

/// The member that tells the variants apart has no comment of its own.
fn describe_kind(schema: &mut Schema) {
    let variants = schema.get_mut("oneOf").and_then(Json::as_array_mut);
    for variant in variants.into_iter().flatten() {
        if let Some(Json::Object(kind)) = variant.pointer_mut("/properties/kind") {
            kind.insert("description".into(), "What the job does.".into());
        }
    }
}

/// A job that has ended, or the preview of one, with its outcomes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobDone {
    /// The job, or the counts of a dry run.
    #[serde(flatten)]
    pub summary: JobSummary,
    /// What became of each name: of a dry run all changes, otherwise only rejections.
    #[schemars(length(max = limits::OUTCOMES))]
    pub outcomes: Vec<Outcome>,
    /// How many more outcomes there are than `outcomes` lists.
    pub untold: u64,
}

/// A job that has ended, or the preview of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobSummary {
    /// The job, or the counts of a dry run.
    #[serde(flatten)]
    pub result: JobResult,
    /// How many names and authorities stay that the undone import had created. Left out if 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub stay: u64,
}

/// What a request to change many names came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum JobResult {
    /// A job.
    Job(Box<Job>),
    /// A dry run, which changes nothing and is no job.
    DryRun(PlannedCounts),
}

/// What a job would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedCounts {
    /// How many names would change.
    pub changed: u64,
    /// Always true.
    #[serde(rename = "dry-run")]
    pub dry_run: bool,
    /// How many names would be rejected.
    pub refused: u64,
    /// How many names already are as they should be.
    pub unchanged: u64,
}

/// What became of one name of a job, or of one line of an import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// The values that an import changed, or the first 100 of them; `values` counts all. Left out
    /// if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = limits::OUTCOME_CHANGES))]
    pub changes: Vec<ValueChange>,
    /// A stable code of the reason. Only rejections have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", example = &"exists")]
    pub code: Option<String>,
    /// The number of the event. A dry run has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64", example = 7)]
    pub event: Option<u64>,
    /// The name or authority, if it could be read.
    #[schemars(example = &"20.1000/report-7")]
    pub id: Option<String>,
    /// The line of an import, or the place in a list, from 1. Left out where there are no lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64", example = 1)]
    pub line: Option<u64>,
    /// What was done.
    pub outcome: OutcomeKind,
    /// Why the name was rejected. Only rejections have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String", example = &"20.1000/report-7 exists already")]
    pub reason: Option<String>,
    /// The states of a name that an import moved from one to another. Left out otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "StateChange")]
    pub state: Option<StateChange>,
    /// How many values of an existing name an import changed. Left out if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ValueCounts")]
    pub values: Option<ValueCounts>,
}

words! {
    /// What was done.
    OutcomeKind {
        /// The name was changed.
        Changed = "changed",
        /// The name was created.
        Created = "created",
        /// Nothing, for a reason.
        Refused = "refused",
        /// Nothing: the name already is as it should be.
        Unchanged = "unchanged",
    }
}

/// A page of outcomes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutcomePage {
    /// The parameter `after` of the next page; `null` on the last page.
    pub next: Option<String>,
    /// The outcomes.
    pub outcomes: Vec<Outcome>,
}

/// The state of a name before and after an import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StateChange {
    /// The state after the import.
    pub after: NameState,
    /// The state before the import.
    pub before: NameState,
}

/// How many values of existing names an import changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ValueCounts {
    /// How many values it added.
    pub added: u64,
    /// How many values it changed.
    pub changed: u64,
    /// How many values it removed.
    pub removed: u64,
}

/// A value that an import changed. The text of a secret is `(hidden)`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ValueChange {
    /// The beginning of the value after the import; `null` if the import removed it.
    pub after: Option<String>,
    /// The beginning of the value before the import; `null` if the import added it.
    pub before: Option<String>,
    /// The index of the value.
    #[schemars(example = 1)]
    pub index: u32,
    /// The type of the value.
    #[serde(rename = "type")]
    #[schemars(example = &"URL")]
    pub value_type: String,
}

/// The last line of the response to an import.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportSummary {
    /// How many names and authorities were changed.
    pub changed: u64,
    /// How many names and authorities were created.
    pub created: u64,
    /// Whether nothing was written.
    #[serde(rename = "dry-run")]
    pub dry_run: bool,
    /// The format of the input.
    #[schemars(example = &"ndjson")]
    pub format: String,
    /// The number of the job; a dry run has none.
    pub job: Option<u64>,
    /// How many lines were rejected.
    pub refused: u64,
    /// Whether the import continued one that was interrupted.
    pub resumed: bool,
    /// How many lines say what already is so.
    pub unchanged: u64,
    /// How many more outcomes there are than lines above.
    pub untold: u64,
    /// How many values of existing names were changed.
    pub values: ValueCounts,
}

/// What an export gave: the trailer `Handfast-Summary` of its response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExportSummary {
    /// How many authorities were exported.
    pub authorities: u64,
    /// The last event before the export.
    pub event: u64,
    /// The format of the export.
    #[schemars(example = &"ndjson")]
    pub format: String,
    /// What could not be exported.
    #[serde(rename = "left-out")]
    pub left_out: LeftOut,
    /// How many names were exported.
    pub names: u64,
}

/// What could not be exported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// How many names the format cannot express.
    pub names: u64,
    /// How many secrets were left out.
    pub secrets: u64,
    /// How many values of exported names the format cannot express.
    pub values: u64,
}

/// What an export of the log gave: the trailer `Handfast-Summary` of its response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogExportSummary {
    /// How many events were exported.
    pub events: u64,
}
