//! The cache of values.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;

use handfast_wire::body::ResolutionRequest;
use handfast_wire::{Ttl, Value};

use crate::shared::lock;

/// Public values of handles, until the first of them expires.
///
/// "relative TTL capped at 2 days (…); TTL 0 = do not cache" (`handle-protocol.md` §5). Absolute
/// TTLs are respected, which deployed clients do not do.
#[derive(Debug)]
pub(crate) struct Cache {
    max_answers: usize,
    cached: Mutex<CachedAnswers>,
}

#[derive(Debug, Default)]
struct CachedAnswers {
    answers: HashMap<Key, CachedAnswer>,
    /// In the order of arrival.
    order: VecDeque<(Key, u64)>,
    /// Increased with each answer, so that the order distinguishes an answer from a later one.
    count: u64,
    bytes: usize,
}

/// The request, in one spelling for each question.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    handle: String,
    indexes: Vec<u32>,
    types: Vec<String>,
}

#[derive(Clone, Debug)]
struct CachedAnswer {
    values: Vec<Value<'static>>,
    is_certified: bool,
    /// Seconds since 1970.
    until: u64,
    number: u64,
    bytes: usize,
}

impl Cache {
    /// A cache for so many answers.
    pub(crate) fn new(max_answers: usize) -> Self {
        Self {
            max_answers,
            cached: Mutex::default(),
        }
    }

    /// The cached values for a request; certified ones, if needed.
    pub(crate) fn get(
        &self,
        request: &ResolutionRequest<'_>,
        is_certified: bool,
        now: u64,
    ) -> Option<(Vec<Value<'static>>, bool)> {
        let cached = lock(&self.cached);
        let find = |key: &Key| {
            cached
                .answers
                .get(key)
                .filter(|answer| answer.until > now && (answer.is_certified || !is_certified))
        };
        let exact = find(&Key::of(request));
        // An answer with all values answers every request.
        let answer = exact.or_else(|| find(&Key::of(&ResolutionRequest::all(&*request.handle))))?;
        let values = answer.values.iter().filter(|value| request.selects(value));
        let values: Vec<_> = values.cloned().collect();
        (!values.is_empty()).then_some((values, answer.is_certified))
    }

    /// Caches an answer, if its values may be cached.
    pub(crate) fn put(
        &self,
        request: &ResolutionRequest<'_>,
        values: &[Value<'static>],
        is_certified: bool,
        now: u64,
    ) {
        let until = values.iter().map(|value| until(value, now)).min();
        let Some(until) = until.filter(|until| *until > now && self.max_answers > 0) else {
            return;
        };
        let key = Key::of(request);
        let bytes = values.iter().map(Value::encoded_length).sum::<usize>() + key.handle.len();
        let mut cached = lock(&self.cached);
        cached.count += 1;
        let answer = CachedAnswer {
            values: values.to_vec(),
            is_certified,
            until,
            number: cached.count,
            bytes,
        };
        let number = answer.number;
        cached.bytes += bytes;
        cached.order.push_back((key.clone(), number));
        if let Some(old) = cached.answers.insert(key, answer) {
            cached.bytes = cached.bytes.saturating_sub(old.bytes);
        }
        cached.shrink(self.max_answers);
    }

    /// Removes the values of a handle.
    pub(crate) fn forget(&self, handle: &str) {
        let handle = folded(handle);
        let mut cached = lock(&self.cached);
        let CachedAnswers { answers, bytes, .. } = &mut *cached;
        answers.retain(|key, answer| {
            let stays = key.handle != handle;
            if !stays {
                *bytes = bytes.saturating_sub(answer.bytes);
            }
            stays
        });
    }
}

impl CachedAnswers {
    /// Removes the oldest answers until the limits are met.
    fn shrink(&mut self, max_answers: usize) {
        while self.answers.len() > max_answers
            || self.bytes > MAX_CACHE_BYTES
            || self.order.len() > 2 * max_answers
        {
            let Some((key, number)) = self.order.pop_front() else {
                return;
            };
            // A renewed answer has a later entry in the order, too.
            let is_old = |answer: &CachedAnswer| answer.number == number;
            if self.answers.get(&key).is_some_and(is_old)
                && let Some(old) = self.answers.remove(&key)
            {
                self.bytes = self.bytes.saturating_sub(old.bytes);
            }
        }
    }
}

impl Key {
    fn of(request: &ResolutionRequest<'_>) -> Self {
        let mut indexes = request.indexes.clone();
        indexes.sort_unstable();
        let types = request.types.iter();
        let mut types: Vec<_> = types.map(|kind| kind.to_ascii_uppercase()).collect();
        types.sort_unstable();
        Self {
            handle: folded(&request.handle),
            indexes,
            types,
        }
    }
}

/// "Clients cache by handle with upper-cased prefix", and handles that begin with `0.` have no case
/// at all (`handle-protocol.md` §8.3).
fn folded(handle: &str) -> String {
    match handle.split_once('/') {
        Some((prefix, suffix)) if !prefix.starts_with("0.") => {
            format!("{}/{suffix}", prefix.to_ascii_uppercase())
        }
        _ => handle.to_ascii_uppercase(),
    }
}

/// Until when a value may be cached, in seconds since 1970.
fn until(value: &Value<'_>, now: u64) -> u64 {
    if !value.permissions.public_read() {
        return 0;
    }
    match value.ttl {
        Ttl::Relative(seconds) => now + u64::from(seconds.min(MAX_TTL)),
        Ttl::Absolute(time) => u64::from(time).min(now + u64::from(MAX_TTL)),
    }
}

/// Two days.
const MAX_TTL: u32 = 2 * 86_400;
/// The maximum size of all answers, in bytes.
const MAX_CACHE_BYTES: usize = 64 << 20;

#[cfg(test)]
mod tests {
    use handfast_wire::Permissions;

    use super::*;

    fn value(index: u32, ttl: Ttl) -> Value<'static> {
        Value {
            ttl,
            ..Value::new(index, "URL", b"x")
        }
    }

    fn has(cache: &Cache, handle: &str, now: u64) -> bool {
        let request = ResolutionRequest::all(handle);
        cache.get(&request, false, now).is_some()
    }

    fn put(cache: &Cache, handle: &str, values: &[Value<'static>]) {
        cache.put(&ResolutionRequest::all(handle), values, false, 1_000);
    }

    #[test]
    fn values_are_cached_for_their_ttl_but_no_longer_than_two_days() {
        let cache = Cache::new(10);
        put(&cache, "a/none", &[value(1, Ttl::Relative(0))]);
        put(
            &cache,
            "a/short",
            &[value(1, Ttl::Relative(60)), value(2, Ttl::Relative(90))],
        );
        put(&cache, "a/long", &[value(1, Ttl::Relative(u32::MAX))]);
        put(&cache, "a/absolute", &[value(1, Ttl::Absolute(1_100))]);
        put(&cache, "a/past", &[value(1, Ttl::Absolute(900))]);
        assert!(!has(&cache, "a/none", 1_000) && !has(&cache, "a/past", 1_000));
        assert!(has(&cache, "a/short", 1_059) && !has(&cache, "a/short", 1_060));
        assert!(has(&cache, "a/absolute", 1_099) && !has(&cache, "a/absolute", 1_100));
        let days = 1_000 + 2 * 86_400;
        assert!(has(&cache, "a/long", days - 1) && !has(&cache, "a/long", days));
    }

    #[test]
    fn only_public_values_are_cached() {
        let cache = Cache::new(10);
        let secret = Value {
            permissions: Permissions::SECRET,
            ..value(2, Ttl::default())
        };
        put(&cache, "a/b", &[value(1, Ttl::default()), secret]);
        assert!(!has(&cache, "a/b", 1_000));
    }

    #[test]
    fn prefixes_have_no_case_and_suffixes_have() {
        let cache = Cache::new(10);
        put(&cache, "a/b", &[value(1, Ttl::default())]);
        put(&cache, "0.na/x", &[value(1, Ttl::default())]);
        assert!(has(&cache, "A/b", 1_000) && !has(&cache, "a/B", 1_000));
        assert!(has(&cache, "0.NA/X", 1_000));
        cache.forget("A/b");
        assert!(!has(&cache, "a/b", 1_000));
    }

    #[test]
    fn all_values_answer_for_some_and_certified_ones_for_all() {
        let cache = Cache::new(10);
        let request = ResolutionRequest::all("a/b");
        let values = [value(1, Ttl::default()), value(2, Ttl::default())];
        cache.put(&request, &values, false, 1_000);
        let one = ResolutionRequest {
            indexes: vec![2],
            ..request.clone()
        };
        let (found, _) = cache.get(&one, false, 1_000).unwrap();
        assert_eq!(found, [value(2, Ttl::default())]);
        assert!(cache.get(&one, true, 1_000).is_none());
        cache.put(&request, &values, true, 1_000);
        assert!(cache.get(&one, true, 1_000).is_some());
    }

    #[test]
    fn the_oldest_answers_are_removed() {
        let cache = Cache::new(3);
        for round in 0..20 {
            put(&cache, "a/again", &[value(1, Ttl::default())]);
            put(&cache, &format!("a/{round}"), &[value(1, Ttl::default())]);
        }
        assert!(has(&cache, "a/19", 1_000) && has(&cache, "a/again", 1_000));
        assert!(!has(&cache, "a/1", 1_000));
        assert!(lock(&cache.cached).answers.len() <= 3 && lock(&cache.cached).order.len() <= 6);
        for round in 0..20 {
            cache.forget(&format!("a/{round}"));
        }
        cache.forget("a/again");
        assert_eq!(lock(&cache.cached).bytes, 0);
    }
}
