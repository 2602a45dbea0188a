//! Patterns of local names, compiled once.
//!
//! Compiling a pattern takes up to some milliseconds, and the one writer matches each new name
//! against the pattern of its authority. So the compiled pattern is cached by its text, which is
//! the same as long as the authority has the same version of its policy.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use handfast_id::{Pattern, PatternError};

use crate::registry::locked;

/// The maximum number of cached patterns; the least recently used one is removed first.
const MAX_CACHED_PATTERNS: usize = 64;

/// The maximum memory of a new pattern when it is compiled, in bytes. The cost of compiling and
/// matching grows with it. `\w` and `\d` stand for all letters and digits of Unicode and take much
/// more than `[A-Za-z0-9_]` and `[0-9]`.
const MAX_NEW_PATTERN_BYTES: usize = 128 << 10;

struct Cached {
    pattern: Arc<Pattern>,
    /// Whether it is within the limit for new patterns. Patterns that earlier versions accepted
    /// need not be.
    is_within_limit: bool,
    last_used: u64,
}

#[derive(Default)]
struct Cache {
    patterns: HashMap<String, Cached>,
    uses: u64,
}

static CACHE: LazyLock<Mutex<Cache>> = LazyLock::new(Mutex::default);

impl Cache {
    fn get(&mut self, text: &str) -> Option<&Cached> {
        self.uses += 1;
        let found = self.patterns.get_mut(text)?;
        found.last_used = self.uses;
        Some(found)
    }

    fn insert(&mut self, text: &str, pattern: Arc<Pattern>, is_within_limit: bool) {
        if self.patterns.len() >= MAX_CACHED_PATTERNS {
            let oldest = self
                .patterns
                .iter()
                .min_by_key(|(_, cached)| cached.last_used);
            if let Some(oldest) = oldest.map(|(text, _)| text.clone()) {
                self.patterns.remove(&oldest);
            }
        }
        let last_used = self.uses;
        let cached = Cached {
            pattern,
            is_within_limit,
            last_used,
        };
        self.patterns.insert(text.to_string(), cached);
    }
}

fn with_cache<T>(run: impl FnOnce(&mut Cache) -> T) -> T {
    run(&mut locked(&CACHE))
}

/// Returns the compiled pattern of an authority.
pub(crate) fn compiled(text: &str) -> Result<Arc<Pattern>, PatternError> {
    let cached = with_cache(|cache| cache.get(text).map(|cached| Arc::clone(&cached.pattern)));
    if let Some(pattern) = cached {
        return Ok(pattern);
    }
    let pattern = Arc::new(Pattern::new(text)?);
    with_cache(|cache| cache.insert(text, Arc::clone(&pattern), false));
    Ok(pattern)
}

/// Checks that a new pattern is valid, and cheap to compile and to match.
pub(crate) fn check_new(text: &str) -> Result<(), PatternError> {
    if with_cache(|cache| cache.get(text).is_some_and(|cached| cached.is_within_limit)) {
        return Ok(());
    }
    let pattern = Pattern::within(text, MAX_NEW_PATTERN_BYTES)?;
    with_cache(|cache| cache.insert(text, Arc::new(pattern), true));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The one writer compiled the pattern again for each name.
    #[test]
    fn a_pattern_is_compiled_once() {
        let text = "[a-f]{7}-compiled-once";
        let first = compiled(text).unwrap();
        assert!(Arc::ptr_eq(&first, &compiled(text).unwrap()));
        check_new(text).unwrap();
        let checked = compiled(text).unwrap();
        assert!(Arc::ptr_eq(&checked, &compiled(text).unwrap()));
    }

    /// An authority with many patterns must not evict the patterns of others, nor fill the memory.
    #[test]
    fn the_cache_is_bounded_and_keeps_what_is_used() {
        let hot = "hot[0-9]+";
        let first = compiled(hot).unwrap();
        for number in 0..3 * MAX_CACHED_PATTERNS {
            compiled(&format!("cold{number}")).unwrap();
            assert!(Arc::ptr_eq(&first, &compiled(hot).unwrap()));
        }
        assert!(with_cache(|cache| cache.patterns.len()) <= MAX_CACHED_PATTERNS);
    }

    #[test]
    fn patterns_that_cost_much_are_not_taken() {
        for text in [r"\w{20}x*|.*", r"[0-9]{4}|(a?){2000}", r"(\pL{10}){5}"] {
            assert!(check_new(text).is_err(), "{text}");
        }
        for text in [
            r"[0-9]+",
            r"[A-Z]{2}[0-9]{6}",
            r"\d{4}-\d{2}",
            r"[a-z0-9.]{1,64}",
            r"(thesis|map|book)-[0-9]{4}-[0-9a-hjkmnp-tv-z]{4,10}",
            r"\w+",
            r"[^/]{1,32}",
        ] {
            check_new(text).unwrap();
        }
    }
}
