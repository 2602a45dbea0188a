//! Finding names that new rules would lose.
//!
//! A name is stored under the canonical form that it had when it was created. Rules that give it
//! another form are rejected: a lookup would not find it any more, or two names would become one.

use handfast_id::{InfoUri, Namespace, RuleBook};
use handfast_store::{Table, TableKey};

use crate::change::view::View;
use crate::error::RegistryError;
use crate::name::record::{Record, State};

/// The maximum number of listed names.
const MAX_LISTED_NAMES: usize = 10;
/// The maximum number of events that are read to find names created since.
const MAX_EVENTS: u64 = 10_000;

/// The result of a scan of the names of a namespace.
#[derive(Clone, Copy, Debug)]
pub(super) struct LookedThrough {
    /// The last event at that time.
    event: u64,
}

/// Scans all names of a namespace, however many they are.
pub(super) fn look_through(
    view: &View<'_>,
    rules: &Namespace,
) -> Result<LookedThrough, RegistryError> {
    let start = format!("info:{}/", rules.name());
    let book = RuleBook::standard().with_namespace(rules.clone());
    let stays = |text: &str, key: &str| {
        let canonical = InfoUri::parse(text).and_then(|uri| uri.canonical(&book));
        canonical.is_ok_and(|canonical| canonical.as_str() == key)
    };
    let mut moved = Vec::new();
    let mut count = 0_u64;
    view.scan_names(&TableKey::record(start.as_bytes()), |table_key, bytes| {
        let key = String::from_utf8_lossy(table_key.name());
        let text = Record::name_in(bytes).unwrap_or(&key);
        if !stays(text, &key) || !stays(&key, &key) {
            count += 1;
            // A reserved name is not public.
            let is_open =
                Record::from_bytes(bytes).is_ok_and(|record| record.state != State::Reserved);
            if is_open && moved.len() < MAX_LISTED_NAMES {
                moved.push(text.to_string());
            }
        }
        Ok(())
    })?;
    if count == 0 {
        let event = view.now.count(Table::Events)?;
        return Ok(LookedThrough { event });
    }
    let more = match count - u64::try_from(moved.len()).unwrap_or(count) {
        0 => String::new(),
        more if moved.is_empty() => format!("{more} of them"),
        more => format!(" and {more} more"),
    };
    Err(RegistryError::policy(
        "moves-names",
        format!(
            "these rules would change or merge the keys of stored names: {}{more}",
            moved.join(", ")
        ),
    ))
}

/// Scans again only if names were created since: the writer must not wait for millions of names
/// each time.
pub(super) fn look_again(
    view: &View<'_>,
    rules: &Namespace,
    before: LookedThrough,
) -> Result<(), RegistryError> {
    let authority = format!("info:{}", rules.name());
    let last = view.now.count(Table::Events)?;
    let mut is_settled = last.saturating_sub(before.event) <= MAX_EVENTS;
    for number in before.event + 1..=last {
        if !is_settled {
            break;
        }
        let event = view.event(number)?;
        is_settled = event.is_some_and(|event| event.authority != authority);
    }
    if is_settled {
        return Ok(());
    }
    look_through(view, rules).map(|_| ())
}
