//! Outcomes: the result of each line.

use serde::{Deserialize, Serialize};

use crate::error::RegistryError;
use crate::import::apply::Applied;
use crate::import::changes::Changes;

/// The result of a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The line, from 1; in a JSON dump the number of the record; in a list the number of the name;
    /// 0 where there is none.
    pub line: u64,
    /// The name or the authority, if the line could be parsed that far.
    pub id: Option<String>,
    /// What was done.
    pub done: Done,
    /// The changes of a name by an import. They are not stored.
    #[serde(skip)]
    pub changes: Changes,
}

/// What was done for a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Done {
    /// A name or an authority was changed by an event; `None` in a dry run.
    Changed(Option<u64>),
    /// A name or an authority was created by an event; `None` in a dry run.
    Created(Option<u64>),
    /// The line was rejected.
    Refused {
        /// A stable code.
        code: String,
        /// Why, and what would help.
        reason: String,
    },
    /// Nothing: the stored state is already as the line says.
    Unchanged,
}

impl Done {
    /// One word for it.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Changed(_) => "changed",
            Self::Created(_) => "created",
            Self::Refused { .. } => "refused",
            Self::Unchanged => "unchanged",
        }
    }

    /// The event that did it.
    #[must_use]
    pub fn event(&self) -> Option<u64> {
        match self {
            Self::Changed(event) | Self::Created(event) => *event,
            Self::Refused { .. } | Self::Unchanged => None,
        }
    }
}

impl Outcome {
    /// Whether the line was rejected.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        matches!(self.done, Done::Refused { .. })
    }

    /// In a dry run there is no event.
    pub(crate) fn planned(self) -> Self {
        let done = match self.done {
            Done::Changed(_) => Done::Changed(None),
            Done::Created(_) => Done::Created(None),
            done => done,
        };
        Self { done, ..self }
    }

    pub(crate) fn of(line: u64, id: String, done: Result<Done, RegistryError>) -> Self {
        match done {
            Ok(done) => Self {
                line,
                id: Some(id),
                done,
                changes: Changes::default(),
            },
            Err(error) => Self::refused(line, Some(&id), &error),
        }
    }

    /// The outcome of a name whose values may have changed.
    pub(crate) fn of_applied(
        line: u64,
        id: String,
        applied: Result<Applied, RegistryError>,
    ) -> Self {
        let (done, changes) = match applied {
            Ok(applied) => (Ok(applied.done), applied.changes),
            Err(error) => (Err(error), Changes::default()),
        };
        Self {
            changes,
            ..Self::of(line, id, done)
        }
    }

    pub(crate) fn refused(line: u64, id: Option<&str>, error: &RegistryError) -> Self {
        let hint = error.hint().map(|hint| format!("; {hint}"));
        let reason = format!("{error}{}", hint.unwrap_or_default());
        Self::bad(line, id, error.code(), reason)
    }

    pub(crate) fn bad(line: u64, id: Option<&str>, code: &str, reason: String) -> Self {
        Self {
            line,
            id: id.map(|id| shortened(id.to_string(), MAX_REFUSED_ID)),
            done: Done::Refused {
                code: code.to_string(),
                reason: shortened(reason, MAX_REASON),
            },
            changes: Changes::default(),
        }
    }
}

/// The maximum number of bytes of the name in a rejected line that are reported: a line may be
/// megabytes long, and thousands of outcomes are stored.
const MAX_REFUSED_ID: usize = 2_048;
/// The maximum number of bytes of the reason.
const MAX_REASON: usize = 4_096;

pub(crate) fn shortened(mut text: String, max_bytes: usize) -> String {
    if text.len() > max_bytes {
        text.truncate(text.floor_char_boundary(max_bytes));
        text.push('…');
    }
    text
}

/// Counts of lines by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Names and authorities that were created.
    pub created: u64,
    /// Names and authorities that were changed.
    pub changed: u64,
    /// Lines that change nothing.
    pub unchanged: u64,
    /// Rejected lines.
    pub refused: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, done: &Done) {
        let count = match done {
            Done::Changed(_) => &mut self.changed,
            Done::Created(_) => &mut self.created,
            Done::Refused { .. } => &mut self.refused,
            Done::Unchanged => &mut self.unchanged,
        };
        *count += 1;
    }

    pub(crate) fn add_counts(&mut self, other: Self) {
        self.created += other.created;
        self.changed += other.changed;
        self.unchanged += other.unchanged;
        self.refused += other.refused;
    }

    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.created + self.changed + self.unchanged + self.refused
    }
}
