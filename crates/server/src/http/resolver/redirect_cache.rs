//! The redirect cache: where paths lead that were asked for lately.
//!
//! A lookup in the store touches a dozen places in memory, one after the other, and for a name that
//! nobody asked for lately none of them is in the caches of the processor: that is a third of the
//! cost of a redirect. An entry of this cache holds all that a redirect is made of in one place.
//!
//! # Invalidation
//!
//! Every commit empties the cache. Nothing is deleted: the registry raises its generation with each
//! commit, and an entry of another generation [is invalid](CacheEntry::is_invalid). So the cache
//! never answers what the store would not.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};

/// How many slots a segment has. The cache begins with one segment.
const SEGMENT_SLOTS: usize = 256;
/// How many entries a slot has. With fewer, more paths displace each other while other slots are
/// free; with four, a cache that is three quarters full misses one of ten paths instead of one of
/// five.
const SLOT_ENTRIES: usize = 4;
/// How many segments there may be: 16 MiB. This number, and that of the segments in use, is a
/// power of two.
const MAX_SEGMENTS: usize = 128;
/// How many bytes path, location and registered spelling of one entry may have.
const MAX_ENTRY_BYTES: usize = 104;

/// A redirect, as it was looked up.
pub(crate) struct CachedRedirect<'r> {
    pub(crate) location: &'r [u8],
    pub(crate) seconds: u64,
    /// Where in the path the handle begins.
    pub(crate) start: usize,
    /// The handle as it is registered, if the path spells it in another case.
    pub(crate) registered: Option<&'r str>,
}

/// One path and where it leads.
struct CacheEntry {
    /// The generation of the registry in which it was looked up.
    generation: u64,
    seconds: u32,
    start: u8,
    path: u8,
    location: u8,
    /// The length of the registered spelling; 0 if the path has it.
    registered: u8,
    /// Path, location and registered spelling.
    octets: [u8; MAX_ENTRY_BYTES],
}

impl CacheEntry {
    const EMPTY: Self = Self {
        generation: u64::MAX,
        seconds: 0,
        start: 0,
        path: 0,
        location: 0,
        registered: 0,
        octets: [0; MAX_ENTRY_BYTES],
    };

    fn new(path: &[u8], generation: u64, found: &CachedRedirect<'_>) -> Option<Self> {
        let registered = found.registered.unwrap_or_default();
        let mut entry = Self {
            generation,
            seconds: found.seconds.try_into().ok()?,
            start: found.start.try_into().ok()?,
            path: path.len().try_into().ok()?,
            location: found.location.len().try_into().ok()?,
            registered: registered.len().try_into().ok()?,
            ..Self::EMPTY
        };
        let (head, rest) = entry.octets.split_at_mut_checked(path.len())?;
        head.copy_from_slice(path);
        let (location, rest) = rest.split_at_mut_checked(found.location.len())?;
        location.copy_from_slice(found.location);
        rest.get_mut(..registered.len())?
            .copy_from_slice(registered.as_bytes());
        Some(entry)
    }

    /// Whether something was committed since the entry was made.
    fn is_invalid(&self, generation: u64) -> bool {
        self.generation != generation
    }

    fn is_of_same_path(&self, other: &Self) -> bool {
        let path = |entry: &Self| usize::from(entry.path);
        path(self) == path(other)
            && self.octets.get(..path(self)) == other.octets.get(..path(other))
    }

    fn found(&self, path: &str, generation: u64) -> Option<CachedRedirect<'_>> {
        if self.is_invalid(generation) || usize::from(self.path) != path.len() {
            return None;
        }
        let rest = self.octets.strip_prefix(path.as_bytes())?;
        let (location, rest) = rest.split_at_checked(self.location.into())?;
        let registered = match self.registered {
            0 => None,
            length => Some(str::from_utf8(rest.get(..length.into())?).ok()?),
        };
        Some(CachedRedirect {
            location,
            seconds: self.seconds.into(),
            start: self.start.into(),
            registered,
        })
    }
}

/// The last redirects of a slot.
pub(crate) struct Bucket {
    /// A part of the hash of each path, so that a lookup reads the memory of one entry.
    tags: [u32; SLOT_ENTRIES],
    entries: [CacheEntry; SLOT_ENTRIES],
}

impl Bucket {
    const EMPTY: Self = Self {
        tags: [0; SLOT_ENTRIES],
        entries: [CacheEntry::EMPTY; SLOT_ENTRIES],
    };

    /// Where a path leads, if it is cached and valid.
    fn found(&self, tag: u32, path: &str, generation: u64) -> Option<CachedRedirect<'_>> {
        self.tags
            .iter()
            .zip(&self.entries)
            .filter(|(own, _)| **own == tag)
            .find_map(|(_, entry)| entry.found(path, generation))
    }

    /// Stores an entry; says whether it displaced a valid one.
    fn put(&mut self, tag: u32, entry: CacheEntry) -> bool {
        let mut entries = self.entries.iter();
        let free = entries
            .position(|other| other.is_invalid(entry.generation) || other.is_of_same_path(&entry));
        // The newest entry is in front, so that a full slot displaces the oldest.
        let end = free.unwrap_or(SLOT_ENTRIES - 1);
        if let (Some(tags), Some(entries)) =
            (self.tags.get_mut(..=end), self.entries.get_mut(..=end))
        {
            tags.rotate_right(1);
            entries.rotate_right(1);
        }
        let [own, ..] = &mut self.tags;
        let [old, ..] = &mut self.entries;
        (*own, *old) = (tag, entry);
        free.is_none()
    }
}

/// The slot of a path, which no other thread uses meanwhile.
pub(crate) struct LockedSlot<'c> {
    bucket: MutexGuard<'c, Bucket>,
    tag: u32,
}

impl LockedSlot<'_> {
    /// Where a path leads, if it is cached and valid.
    pub(crate) fn found(&self, path: &str, generation: u64) -> Option<CachedRedirect<'_>> {
        self.bucket.found(self.tag, path, generation)
    }
}

/// A slot, in cache lines of its own.
#[repr(align(128))]
struct Slot(Mutex<Bucket>);

/// Redirects by path. A path has one slot, which it shares with others.
pub(crate) struct RedirectCache {
    segments: [OnceLock<Box<[Slot]>>; MAX_SEGMENTS],
    /// How many segments are in use.
    used: AtomicUsize,
    /// How many valid entries were displaced since the cache has that many segments.
    displaced: AtomicUsize,
}

impl RedirectCache {
    pub(crate) fn new() -> Self {
        Self {
            segments: [const { OnceLock::new() }; MAX_SEGMENTS],
            used: AtomicUsize::new(1),
            displaced: AtomicUsize::new(0),
        }
    }

    /// The slot of a path; `None` if another thread uses it, because nobody waits here.
    pub(crate) fn at(&self, path: &str) -> Option<LockedSlot<'_>> {
        let (segment, place, tag) = self.place(path);
        let segment = self.segments.get(segment)?.get()?;
        let bucket = segment.get(place)?.0.try_lock().ok()?;
        Some(LockedSlot { bucket, tag })
    }

    /// Caches a redirect that was looked up in this generation of the registry.
    pub(crate) fn put(&self, path: &str, generation: u64, found: &CachedRedirect<'_>) {
        let Some(entry) = CacheEntry::new(path.as_bytes(), generation, found) else {
            return;
        };
        let (segment, place, tag) = self.place(path);
        let Some(segment) = self.segments.get(segment) else {
            return;
        };
        let segment = segment.get_or_init(|| {
            let empty = || Slot(Mutex::new(Bucket::EMPTY));
            std::iter::repeat_with(empty).take(SEGMENT_SLOTS).collect()
        });
        if let Some(Ok(mut place)) = segment.get(place).map(|place| place.0.try_lock())
            && place.put(tag, entry)
        {
            drop(place);
            self.grow();
        }
    }

    /// Counts a displaced entry, and doubles the cache once that happens often. Half of the entries
    /// then have another slot, and are looked up again. Threads that do this at the same time may
    /// grow the cache once too often.
    fn grow(&self) {
        let used = self.used.load(Ordering::Relaxed);
        if used < MAX_SEGMENTS
            && self.displaced.fetch_add(1, Ordering::Relaxed)
                >= used * SEGMENT_SLOTS * SLOT_ENTRIES / 8
        {
            self.used.store(used * 2, Ordering::Relaxed);
            self.displaced.store(0, Ordering::Relaxed);
        }
    }

    /// The number of a segment, that of a slot in it, and the tag of the path.
    fn place(&self, path: &str) -> (usize, usize, u32) {
        let mut hasher = DefaultHasher::new();
        path.hash(&mut hasher);
        // Half of the hash is enough for all slots, and half for the tag.
        let hash = hasher.finish();
        let tag = u32::try_from(hash & u64::from(u32::MAX)).unwrap_or_default();
        let hash = usize::try_from(hash >> 32).unwrap_or_default();
        let used = self.used.load(Ordering::Relaxed);
        let segment = (hash / SEGMENT_SLOTS) & (used - 1);
        (segment, hash % SEGMENT_SLOTS, tag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(cache: &RedirectCache, path: &str, location: &str, generation: u64) {
        let found = CachedRedirect {
            location: location.as_bytes(),
            seconds: 86_400,
            start: 1,
            registered: None,
        };
        cache.put(path, generation, &found);
    }

    fn location(cache: &RedirectCache, path: &str, generation: u64) -> Option<String> {
        let bucket = cache.at(path)?;
        let found = bucket.found(path, generation)?;
        assert_eq!((found.seconds, found.start), (86_400, 1));
        Some(String::from_utf8(found.location.to_vec()).unwrap())
    }

    #[test]
    fn a_commit_invalidates_every_entry() {
        let cache = RedirectCache::new();
        assert_eq!(location(&cache, "/20.1/a", 7), None);
        put(&cache, "/20.1/a", "https://a.example/", 7);
        let entry = location(&cache, "/20.1/a", 7);
        assert_eq!(entry.as_deref(), Some("https://a.example/"));
        assert_eq!(location(&cache, "/20.1/a", 8), None);
        for _ in 0..3 * SEGMENT_SLOTS {
            put(&cache, "/20.1/a", "https://b.example/", 8);
        }
        assert_eq!(cache.used.load(Ordering::Relaxed), 1);
        let entry = location(&cache, "/20.1/a", 8);
        assert_eq!(entry.as_deref(), Some("https://b.example/"));
        for other in ["/20.1/A", "/20.1/", "/20.1/ab", ""] {
            assert_eq!(location(&cache, other, 8), None, "{other}");
        }
    }

    #[test]
    fn a_full_slot_displaces_its_oldest_entry() {
        let mut slot = Bucket::EMPTY;
        let paths = ["/20.1/a", "/20.1/b", "/20.1/c", "/20.1/d", "/20.1/e"];
        for (tag, path) in (1..).zip(paths) {
            let found = CachedRedirect {
                location: path.as_bytes(),
                seconds: 1,
                start: 1,
                registered: None,
            };
            let entry = CacheEntry::new(path.as_bytes(), 7, &found).unwrap();
            assert_eq!(slot.put(tag, entry), path == "/20.1/e");
        }
        let is_found = |(tag, path): (u32, &&str)| slot.found(tag, path, 7).is_some();
        let found: Vec<_> = (1..).zip(&paths).map(is_found).collect();
        assert_eq!(found, [false, true, true, true, true]);
    }

    #[test]
    fn long_redirects_are_not_cached() {
        let cache = RedirectCache::new();
        let long = "x".repeat(MAX_ENTRY_BYTES - 7);
        put(&cache, "/20.1/a", &long, 0);
        assert_eq!(location(&cache, "/20.1/a", 0), Some(long));
        for (path, location) in [
            (7, MAX_ENTRY_BYTES - 6),
            (MAX_ENTRY_BYTES, 1),
            (1, 300),
            (300, 1),
        ] {
            let path = "p".repeat(path);
            put(&cache, &path, &"x".repeat(location), 0);
            assert_eq!(super::tests::location(&cache, &path, 0), None);
        }
    }

    #[test]
    fn the_cache_stays_within_its_limit_and_confuses_no_paths() {
        let cache = RedirectCache::new();
        let paths: Vec<_> = (0..3 * SLOT_ENTRIES * SEGMENT_SLOTS * MAX_SEGMENTS)
            .map(|n| format!("/{n}"))
            .collect();
        for path in &paths {
            put(&cache, path, path, 0);
        }
        assert_eq!(cache.used.load(Ordering::Relaxed), MAX_SEGMENTS);
        let found: Vec<_> = paths
            .iter()
            .filter_map(|path| Some((path, location(&cache, path, 0)?)))
            .collect();
        assert!(found.iter().all(|(path, location)| *path == location));
        let capacity = SLOT_ENTRIES * SEGMENT_SLOTS * MAX_SEGMENTS;
        assert!(
            (capacity * 3 / 4..=capacity).contains(&found.len()),
            "{}",
            found.len()
        );
    }
}
