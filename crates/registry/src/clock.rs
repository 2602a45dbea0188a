//! The clock, the source of random bytes, and times in RFC 3339.

use std::fmt;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The clock and the source of random bytes. They are passed in, so that tests can set them.
///
/// ```
/// use handfast_registry::Environment;
///
/// let environment = Environment::new(|| 1_800_000_000_000, |bytes| bytes.fill(0));
/// ```
pub struct Environment {
    now: NowSource,
    random: RandomSource,
}

type NowSource = Box<dyn Fn() -> u64 + Send + Sync>;
type RandomSource = Box<dyn Fn(&mut [u8]) + Send + Sync>;

impl Environment {
    /// A clock in milliseconds since 1970, and a source of random bytes fit for secrets.
    #[must_use]
    pub fn new(
        now: impl Fn() -> u64 + Send + Sync + 'static,
        random: impl Fn(&mut [u8]) + Send + Sync + 'static,
    ) -> Self {
        Self {
            now: Box::new(now),
            random: Box::new(random),
        }
    }

    /// Milliseconds since 1970.
    #[must_use]
    pub fn now(&self) -> u64 {
        (self.now)()
    }

    /// Random bytes.
    #[must_use]
    pub fn random<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        (self.random)(&mut bytes);
        bytes
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Environment")
    }
}

/// Milliseconds since 1970 as RFC 3339.
///
/// ```
/// assert_eq!(handfast_registry::rfc3339(1_794_723_436_500), "2026-11-15T06:17:16.5Z");
/// ```
#[must_use]
pub fn rfc3339(milliseconds: u64) -> String {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(milliseconds) * 1_000_000)
        .ok()
        .and_then(|time| time.format(&Rfc3339).ok())
        .unwrap_or_default()
}

/// Reads a time in RFC 3339, as milliseconds since 1970.
///
/// ```
/// assert_eq!(handfast_registry::parse_rfc3339("1970-01-01T00:00:01Z"), Some(1_000));
/// ```
#[must_use]
pub fn parse_rfc3339(text: &str) -> Option<u64> {
    let time = OffsetDateTime::parse(text, &Rfc3339).ok()?;
    u64::try_from(time.unix_timestamp_nanos() / 1_000_000).ok()
}
