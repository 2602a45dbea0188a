//! Replication: mirrors ask for the transactions since a point, or for everything
//! (`handle-protocol.md` §11).
//!
//! A stream follows an ordinary reply on the same connection: a [`Feed`]. It contains all
//! values, secret ones too, so only the principals that the configuration names may read it.

use std::sync::Arc;

use handfast_registry::LogStart;
use handfast_wire::body::{
    DumpRequest, Receiver, ReplicationPoint, ResumePoint, RetrieveReply, RetrieveRequest,
};
use handfast_wire::{Codec, Message, Opcode, ResponseCode};
use tokio::sync::OwnedSemaphorePermit;

use crate::auth::login::Authenticated;
use crate::error::{Fault, wrong};
use crate::native::feed::{Feed, Phase};
use crate::native::operations::{NotDone, OperationReply, OperationResult, known};
use crate::native::{Native, read};

/// How many streams go on at once: each of them signs all the time.
pub(crate) const MAX_STREAMS: usize = 4;
/// A day, in milliseconds.
const DAY_MILLIS: i64 = 86_400_000;

/// How far a mirror has come in the transactions of this server.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Point {
    /// The last transaction it has; 0 for none.
    transaction: i64,
    /// The date of its last answer, in milliseconds since 1970; 0 for never.
    date: i64,
    /// Its name for this server, if it mirrors several.
    queue: Option<String>,
}

impl Native {
    /// §11.3.
    pub(crate) fn retrieve(
        &self,
        request: &Message<'_>,
        who: Option<&Authenticated>,
    ) -> OperationResult {
        let asked: RetrieveRequest<'_> = read(request)?;
        check_receiver(asked.receiver)?;
        let place = self.admit(who)?;
        let homed = self.context.registry.homed()?;
        let point = point(&asked.since, homed.first().map(String::as_str))?;
        let after = u64::try_from(point.transaction).unwrap_or(0);
        let transactions = self.context.registry.transactions(after)?;
        let last = transactions.last();
        let now = signed(self.context.world.now());
        let start = self.context.registry.log_start()?;
        let feed = if needs_copy(start, last, &point, now) {
            Feed::copy_anew(asked.receiver, point.queue.is_some(), point.date, place)
        } else {
            let date = self.date_after(last, now)?;
            Feed::transactions(
                asked.receiver,
                transactions,
                point.queue.as_deref(),
                date,
                place,
            )
        };
        let reply = RetrieveReply { keeps_alive: false };
        Ok(OperationReply::followed(reply.to_bytes(), feed))
    }

    /// §11.4.
    pub(crate) fn dump(
        &self,
        request: &Message<'_>,
        who: Option<&Authenticated>,
    ) -> OperationResult {
        let asked: DumpRequest<'_> = read(request)?;
        check_receiver(asked.receiver)?;
        let phase = phase(asked.resume.as_ref())?;
        let place = self.admit(who)?;
        // "Record 0 is taken before the handles are scanned." A copy that goes on keeps the point
        // it was begun at: what changed in between among the handles it has would be lost with a
        // later one.
        let point = if asked
            .resume
            .as_ref()
            .is_some_and(|resume| !resume.key.is_empty())
        {
            None
        } else {
            let last = self.context.registry.event_count()?;
            let date = self.date_after(last, signed(self.context.world.now()))?;
            Some((date, last))
        };
        let feed = Feed::dump(asked.receiver, phase, point, place);
        Ok(OperationReply::followed(Vec::new(), feed))
    }

    /// A permit for a stream, if the client may mirror the server.
    fn admit(&self, who: Option<&Authenticated>) -> Result<OwnedSemaphorePermit, NotDone> {
        let (context, who) = (&self.context, known(who)?);
        if !context.registry.is_one_of(&who.who, &context.replicators)? {
            context.need_administrator(who)?;
        }
        let place = Arc::clone(&self.streams).try_acquire_owned();
        place.map_err(|_| {
            let text = "too many mirrors are served: try later";
            Fault::new(ResponseCode::ServerTooBusy, text).into()
        })
    }

    /// Now, and never before the last event: a clock that was set back would make mirrors copy
    /// anew.
    fn date_after(&self, last: u64, now: i64) -> Result<i64, Fault> {
        let time = self.context.registry.event_time(last)?;
        Ok(time.map_or(now, |time| signed(time).max(now)))
    }
}

/// Whether a reply is followed by a stream.
pub(crate) fn is_streamed(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::RetrieveTransactions | Opcode::DumpHandles)
}

/// §11.3: "When is a redump demanded (log with first entry date F, client last id L, last date T)?"
///
/// A log that continues another, as after a restore, gives nothing to a mirror that asked last
/// before it began: the mirror may have records that are no longer true. A mirror that has more
/// transactions than exist has them from another server.
fn needs_copy(start: Option<LogStart>, last: u64, point: &Point, now: i64) -> bool {
    if point.transaction > signed(last) {
        return true;
    }
    let Some(start) = start else {
        return false;
    };
    let first = signed(start.time);
    if first <= point.date {
        return false;
    }
    let is_whole = start.number == 1;
    let is_recent = first > now.saturating_sub(10 * DAY_MILLIS)
        || first <= point.date.saturating_add(DAY_MILLIS);
    !(point.transaction <= 0 && is_whole && is_recent)
}

/// How far a mirror has come. One that keeps the transactions of many servers names them as it
/// likes: ours are those that are called as we would, or the only ones of a first server that is
/// not the mirror itself.
fn point(since: &ReplicationPoint<'_>, homed: Option<&str>) -> Result<Point, Fault> {
    let state = match since {
        ReplicationPoint::Last { transaction, date } => {
            return Ok(Point {
                transaction: *transaction,
                date: *date,
                queue: None,
            });
        }
        ReplicationPoint::State(state) => state,
    };
    let malformed = || wrong("the replication state is no JSON");
    let state: serde_json::Value = serde_json::from_str(state).map_err(|_| malformed())?;
    let state = state.as_object().ok_or_else(malformed)?;
    let own_name = state.get("ownName").and_then(serde_json::Value::as_str);
    let none = serde_json::Map::new();
    let queues = state
        .get("replicationServerStates")
        .and_then(serde_json::Value::as_object)
        .unwrap_or(&none);
    let mut name = format!("0:1:{}", homed.unwrap_or("0.NA/0.NA"));
    if !queues.contains_key(&name) {
        let is_other = |queue: &&String| match queue.split_once(':') {
            Some(("0", site)) => Some(site) != own_name,
            _ => false,
        };
        let mut others = queues.keys().filter(is_other);
        if let (Some(only), None) = (others.next(), others.next()) {
            name.clone_from(only);
        }
    }
    let number = |field: &str| {
        let queue = queues.get(&name)?;
        queue.get(field)?.as_i64()
    };
    Ok(Point {
        transaction: number("lastTxnId").unwrap_or(0),
        date: number("lastTimestamp").unwrap_or(0),
        queue: Some(name),
    })
}

/// "Continue after this key in that phase." This server has no dates of handles and prefixes: a
/// mirror that has some from another server begins with the handles.
fn phase(resume: Option<&ResumePoint<'_>>) -> Result<Phase, Fault> {
    let after = |resume: &ResumePoint<'_>| {
        let key = String::from_utf8_lossy(&resume.key).into_owned();
        Some(key).filter(|key| !key.is_empty())
    };
    match resume.map(|resume| (resume.kind, resume)) {
        None | Some((0 | 1, _)) => Ok(Phase::Handles(None)),
        Some((2, resume)) => Ok(Phase::Handles(after(resume))),
        Some((3, resume)) => Ok(Phase::Prefixes(after(resume))),
        Some(_) => Err(wrong("there is no such phase to go on in")),
    }
}

/// A server that is none of its site could be given nothing.
fn check_receiver(receiver: Receiver) -> Result<(), Fault> {
    if receiver.server_number < receiver.server_count {
        return Ok(());
    }
    Err(wrong("the receiver is not one of its site's servers"))
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_800_000_000_000;

    fn at(transaction: i64, date: i64) -> Point {
        Point {
            transaction,
            date,
            queue: None,
        }
    }

    fn copies(first: u64, began: i64, last: u64, point: &Point) -> bool {
        let start = LogStart {
            number: first,
            time: u64::try_from(began).unwrap_or(0),
        };
        needs_copy(Some(start), last, point, NOW)
    }

    #[test]
    fn who_was_here_since_the_log_began_goes_on() {
        let old = NOW - 100 * DAY_MILLIS;
        assert!(!copies(1, old, 50, &at(41, NOW - 1)));
        assert!(!copies(1, old, 50, &at(41, old)));
        assert!(!copies(41, old, 50, &at(45, NOW - 1)));
        assert!(!needs_copy(None, 0, &at(0, 0), NOW));
    }

    #[test]
    fn who_has_nothing_follows_a_young_log_and_copies_an_old_one() {
        assert!(!copies(1, NOW - 9 * DAY_MILLIS, 50, &at(0, 0)));
        assert!(copies(1, NOW - 11 * DAY_MILLIS, 50, &at(0, 0)));
        assert!(copies(1, NOW - 9 * DAY_MILLIS, 50, &at(1, 0)));
    }

    /// Events that the old log had after the backup may have reached a mirror, and are no longer
    /// so.
    #[test]
    fn who_was_here_before_a_restore_copies_anew() {
        for transaction in [0, 39, 40, 41, 50] {
            let before = at(transaction, NOW - DAY_MILLIS);
            assert!(copies(41, NOW - 1, 50, &before));
        }
    }

    #[test]
    fn who_has_more_than_there_is_copies_anew() {
        assert!(copies(1, NOW - DAY_MILLIS, 50, &at(51, NOW)));
        assert!(needs_copy(None, 0, &at(1, NOW), NOW));
    }

    fn state(text: &str) -> Point {
        let since = ReplicationPoint::State(text.into());
        point(&since, Some("0.NA/20.500")).unwrap_or_else(|fault| panic!("{fault:?}"))
    }

    #[test]
    fn a_mirror_of_many_is_found_its_place() {
        let text = r#"{"replicationServerStates":{"0:1:0.NA/20.500.12345":{"lastTxnId":41,
            "lastTimestamp":1700000000000}},"ownName":"2:0.NA/20.500.12345"}"#;
        let queue = Some("0:1:0.NA/20.500.12345".to_string());
        let expected = Point {
            queue,
            ..at(41, 1_700_000_000_000)
        };
        assert_eq!(state(text), expected);
        // Its own transactions are not ours, nor are those of a second server.
        let text = r#"{"replicationServerStates":{"0:2:0.NA/X":{"lastTxnId":7},
            "1:1:0.NA/Y":{"lastTxnId":8}},"ownName":"2:0.NA/X"}"#;
        let queue = Some("0:1:0.NA/20.500".to_string());
        assert_eq!(state(text), Point { queue, ..at(0, 0) });
        assert_eq!(state("{}").transaction, 0);
        for text in ["", "[]", "{"] {
            let since = ReplicationPoint::State(text.into());
            assert!(point(&since, None).is_err());
        }
    }

    #[test]
    fn copies_go_on_where_they_were() {
        let resume = |kind| ResumePoint {
            key: b"20.1/x"[..].into(),
            kind,
        };
        let key = Some("20.1/x".to_string());
        let at = |kind| phase(Some(&resume(kind))).ok();
        assert_eq!(at(1), Some(Phase::Handles(None)));
        assert_eq!(at(2), Some(Phase::Handles(key.clone())));
        assert_eq!(at(3), Some(Phase::Prefixes(key)));
        assert_eq!(at(4), None);
    }
}
