//! What a job would do, as pages show it.

use handfast_registry::{Difference, JobPreview, PreviewedChange};
use handfast_wire::{Ttl, Value};

use super::report::ReportedOutcome;
use crate::http::percent::{COMPONENT, encode};

/// How many names a preview looks at: it takes some 50 ms.
pub(super) const MAX_PREVIEWED: u64 = 2_000;
/// How many names a preview lists.
pub(super) const PREVIEWED_ROWS: usize = 20;

pub(super) struct ShownPreview {
    pub(super) changed: u64,
    pub(super) unchanged: u64,
    pub(super) refused: u64,
    pub(super) looked_at: u64,
    pub(super) is_complete: bool,
    pub(super) stay: u64,
    pub(super) changes: Vec<ShownChange>,
    pub(super) rejections: Vec<ReportedOutcome>,
}

pub(super) struct ShownChange {
    pub(super) id: String,
    pub(super) path: String,
    /// Whether it gets another state.
    pub(super) has_other_state: bool,
    pub(super) before: &'static str,
    pub(super) after: &'static str,
    pub(super) values: Vec<ChangedValue>,
}

pub(super) struct ChangedValue {
    pub(super) index: u32,
    pub(super) value_type: String,
    pub(super) was: Option<String>,
    pub(super) now: Option<String>,
}

impl ShownPreview {
    pub(super) fn of(preview: &JobPreview) -> Self {
        Self {
            changed: preview.counts.changed,
            unchanged: preview.counts.unchanged,
            refused: preview.counts.refused,
            looked_at: preview.looked_at,
            is_complete: preview.is_complete,
            stay: preview.stay,
            changes: preview.changes.iter().map(ShownChange::of).collect(),
            rejections: preview.rejections.iter().map(ReportedOutcome::of).collect(),
        }
    }
}

impl ShownChange {
    fn of(change: &PreviewedChange) -> Self {
        let (before, after) = change.states;
        Self {
            id: change.id.clone(),
            path: format!("/console/names/{}", encode(&change.id, COMPONENT)),
            has_other_state: before != after,
            before: before.as_str(),
            after: after.as_str(),
            values: change.differences.iter().map(ChangedValue::of).collect(),
        }
    }
}

impl ChangedValue {
    fn of(difference: &Difference) -> Self {
        let (before, after) = (difference.before.as_ref(), difference.after.as_ref());
        let is_data = match (before, after) {
            (Some(before), Some(after)) => before.data != after.data || before.ttl == after.ttl,
            _ => true,
        };
        let text = |value: &Value<'static>| match (is_data, value.ttl) {
            (true, _) if !value.is_public() => "(not shown)".to_string(),
            (true, _) => String::from_utf8_lossy(&value.data).into_owned(),
            (false, Ttl::Relative(seconds)) => format!("cached for {seconds} seconds"),
            (false, Ttl::Absolute(time)) => format!("cached until second {time} since 1970"),
        };
        Self {
            index: difference.index,
            value_type: before
                .or(after)
                .map(|value| value.value_type.to_string())
                .unwrap_or_default(),
            was: before.map(text),
            now: after.map(text),
        }
    }
}
