//! The clock and the source of random bytes of a client.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// The clock and the source of random bytes. They are passed in, so that tests can set them.
///
/// ```
/// use handfast_client::Environment;
///
/// let environment = Environment::new(|| 1_800_000_000_000, |bytes| bytes.fill(7));
/// assert_eq!(environment.now(), 1_800_000_000_000);
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

    /// The clock and the random source of this machine.
    #[must_use]
    pub fn system() -> Self {
        Self::new(
            || {
                #[expect(
                    clippy::disallowed_methods,
                    reason = "the one place where the clock is read"
                )]
                let now = SystemTime::now();
                let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
                u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
            },
            |bytes| {
                // Without random numbers there are no secrets.
                if getrandom::fill(bytes).is_err() {
                    std::process::abort();
                }
            },
        )
    }

    /// Milliseconds since 1970.
    #[must_use]
    pub fn now(&self) -> u64 {
        (self.now)()
    }

    /// Seconds since 1970.
    pub(crate) fn seconds(&self) -> u64 {
        self.now() / 1_000
    }

    /// Random bytes.
    pub(crate) fn random<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill(&mut bytes);
        bytes
    }

    /// Fills with random bytes.
    pub fn fill(&self, bytes: &mut [u8]) {
        (self.random)(bytes);
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Environment")
    }
}
