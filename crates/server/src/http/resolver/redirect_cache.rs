//! Redirects that were found lately.
//!
//! Looking a name up in the store touches a dozen places in memory one after the other, and of names that nobody asked
//! for lately none of them is in the processor's caches: that is a third of what a redirect costs this program. Here all that a
//! redirect is made of lies together. Whatever is committed makes all of it void, so that nothing is answered from here
//! that the store would not say.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};

/// How many places a segment has: at first there is one segment.
const SEGMENT: usize = 512;
/// How many segments there may be: 16 MiB of them. It is a power of two, as is the number of those that are in use.
const SEGMENTS: usize = 128;
/// How many octets path, location and registered spelling may have together.
const OCTETS: usize = 104;

/// A redirect, as it was found.
pub(crate) struct Found<'r> {
    pub(crate) location: &'r [u8],
    pub(crate) seconds: u64,
    /// Where in the path the handle begins.
    pub(crate) start: usize,
    /// The handle as it is registered, if the path spells it in another case.
    pub(crate) registered: Option<&'r str>,
}

/// One path and where it leads.
struct Kept {
    /// Of which edition of the registry it is.
    edition: u64,
    seconds: u32,
    start: u8,
    path: u8,
    location: u8,
    /// The length of the registered spelling; 0 if the path has it.
    registered: u8,
    /// Path, location and registered spelling.
    octets: [u8; OCTETS],
}

impl Kept {
    const NOTHING: Self = Self {
        edition: u64::MAX,
        seconds: 0,
        start: 0,
        path: 0,
        location: 0,
        registered: 0,
        octets: [0; OCTETS],
    };

    fn new(path: &[u8], edition: u64, found: &Found<'_>) -> Option<Self> {
        let registered = found.registered.unwrap_or_default();
        let mut kept = Self {
            edition,
            seconds: found.seconds.try_into().ok()?,
            start: found.start.try_into().ok()?,
            path: path.len().try_into().ok()?,
            location: found.location.len().try_into().ok()?,
            registered: registered.len().try_into().ok()?,
            ..Self::NOTHING
        };
        let (head, rest) = kept.octets.split_at_mut_checked(path.len())?;
        head.copy_from_slice(path);
        let (location, rest) = rest.split_at_mut_checked(found.location.len())?;
        location.copy_from_slice(found.location);
        rest.get_mut(..registered.len())?
            .copy_from_slice(registered.as_bytes());
        Some(kept)
    }

    fn is_of_same_path(&self, other: &Self) -> bool {
        let path = |kept: &Self| usize::from(kept.path);
        path(self) == path(other)
            && self.octets.get(..path(self)) == other.octets.get(..path(other))
    }

    fn found(&self, path: &str, edition: u64) -> Option<Found<'_>> {
        if self.edition != edition || usize::from(self.path) != path.len() {
            return None;
        }
        let rest = self.octets.strip_prefix(path.as_bytes())?;
        let (location, rest) = rest.split_at_checked(self.location.into())?;
        let registered = match self.registered {
            0 => None,
            length => Some(str::from_utf8(rest.get(..length.into())?).ok()?),
        };
        Some(Found {
            location,
            seconds: self.seconds.into(),
            start: self.start.into(),
            registered,
        })
    }
}

/// What one place keeps: the last two redirects, the later first.
pub(crate) struct Pair([Kept; 2]);

impl Pair {
    /// Where a path leads, if it is here, and of this edition.
    pub(crate) fn found(&self, path: &str, edition: u64) -> Option<Found<'_>> {
        self.0.iter().find_map(|kept| kept.found(path, edition))
    }

    /// Keeps a redirect; whether one had to go that was still good.
    fn put(&mut self, kept: Kept) -> bool {
        let [first, second] = &mut self.0;
        let is_free = |other: &Kept| other.edition != kept.edition || other.is_of_same_path(&kept);
        if is_free(first) {
            *first = kept;
            return false;
        }
        let displaces = !is_free(second);
        *second = std::mem::replace(first, kept);
        displaces
    }
}

/// A place, in lines of a cache that it shares with no other.
#[repr(align(128))]
struct Place(Mutex<Pair>);

/// Redirects by path. A path has one place, which it shares with others.
pub(crate) struct Recent {
    segments: [OnceLock<Box<[Place]>>; SEGMENTS],
    /// How many segments are in use.
    used: AtomicUsize,
    /// How many redirects have had to go since there are that many.
    displaced: AtomicUsize,
}

impl Recent {
    pub(crate) fn new() -> Self {
        Self {
            segments: [const { OnceLock::new() }; SEGMENTS],
            used: AtomicUsize::new(1),
            displaced: AtomicUsize::new(0),
        }
    }

    /// What is at the place of a path. Nobody waits: where another thread is looking there is nothing.
    pub(crate) fn at(&self, path: &str) -> Option<MutexGuard<'_, Pair>> {
        let (segment, place) = self.place(path);
        let segment = self.segments.get(segment)?.get()?;
        segment.get(place)?.0.try_lock().ok()
    }

    /// Keeps a redirect that was found in an edition, instead of what had its place.
    pub(crate) fn put(&self, path: &str, edition: u64, found: &Found<'_>) {
        let Some(kept) = Kept::new(path.as_bytes(), edition, found) else {
            return;
        };
        let (segment, place) = self.place(path);
        let Some(segment) = self.segments.get(segment) else {
            return;
        };
        let segment = segment.get_or_init(|| {
            let empty = || Place(Mutex::new(Pair([Kept::NOTHING; 2])));
            std::iter::repeat_with(empty).take(SEGMENT).collect()
        });
        if let Some(Ok(mut place)) = segment.get(place).map(|place| place.0.try_lock())
            && place.put(kept)
        {
            drop(place);
            self.grow();
        }
    }

    /// Counts a redirect that had to go while it was still good, and makes room for twice as many once that happens often. Half of
    /// what is kept has another place then, and is found anew. Threads that do this at the same time do it once too often at
    /// worst.
    fn grow(&self) {
        let used = self.used.load(Ordering::Relaxed);
        if used < SEGMENTS && self.displaced.fetch_add(1, Ordering::Relaxed) >= used * SEGMENT / 4 {
            self.used.store(used * 2, Ordering::Relaxed);
            self.displaced.store(0, Ordering::Relaxed);
        }
    }

    /// The number of a segment, and of a place in it.
    fn place(&self, path: &str) -> (usize, usize) {
        let mut hasher = DefaultHasher::new();
        path.hash(&mut hasher);
        // Half of it is enough for all of them.
        let hash = usize::try_from(hasher.finish() >> 32).unwrap_or_default();
        let used = self.used.load(Ordering::Relaxed);
        ((hash / SEGMENT) & (used - 1), hash % SEGMENT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(recent: &Recent, path: &str, location: &str, edition: u64) {
        let found = Found {
            location: location.as_bytes(),
            seconds: 86_400,
            start: 1,
            registered: None,
        };
        recent.put(path, edition, &found);
    }

    fn location(recent: &Recent, path: &str, edition: u64) -> Option<String> {
        let pair = recent.at(path)?;
        let found = pair.found(path, edition)?;
        assert_eq!((found.seconds, found.start), (86_400, 1));
        Some(String::from_utf8(found.location.to_vec()).unwrap())
    }

    #[test]
    fn what_is_kept_is_found_until_something_is_committed() {
        let recent = Recent::new();
        assert_eq!(location(&recent, "/20.1/a", 7), None);
        put(&recent, "/20.1/a", "https://a.example/", 7);
        let kept = location(&recent, "/20.1/a", 7);
        assert_eq!(kept.as_deref(), Some("https://a.example/"));
        assert_eq!(location(&recent, "/20.1/a", 8), None);
        for _ in 0..3 * SEGMENT {
            put(&recent, "/20.1/a", "https://b.example/", 8);
        }
        assert_eq!(recent.used.load(Ordering::Relaxed), 1);
        let kept = location(&recent, "/20.1/a", 8);
        assert_eq!(kept.as_deref(), Some("https://b.example/"));
        for other in ["/20.1/A", "/20.1/", "/20.1/ab", ""] {
            assert_eq!(location(&recent, other, 8), None, "{other}");
        }
    }

    #[test]
    fn what_is_too_long_is_not_kept() {
        let recent = Recent::new();
        let longest = "x".repeat(OCTETS - 7);
        put(&recent, "/20.1/a", &longest, 0);
        assert_eq!(location(&recent, "/20.1/a", 0), Some(longest));
        for (path, location) in [(7, OCTETS - 6), (OCTETS, 1), (1, 300), (300, 1)] {
            let path = "p".repeat(path);
            put(&recent, &path, &"x".repeat(location), 0);
            assert_eq!(super::tests::location(&recent, &path, 0), None);
        }
    }

    #[test]
    fn there_is_no_more_room_than_is_said_and_nothing_is_mistaken() {
        let recent = Recent::new();
        let paths: Vec<_> = (0..6 * SEGMENT * SEGMENTS)
            .map(|n| format!("/{n}"))
            .collect();
        for path in &paths {
            put(&recent, path, path, 0);
        }
        assert_eq!(recent.used.load(Ordering::Relaxed), SEGMENTS);
        let found: Vec<_> = paths
            .iter()
            .filter_map(|path| Some((path, location(&recent, path, 0)?)))
            .collect();
        assert!(found.iter().all(|(path, location)| *path == location));
        let room = 2 * SEGMENT * SEGMENTS;
        assert!(
            (room * 3 / 4..=room).contains(&found.len()),
            "{}",
            found.len()
        );
    }
}
