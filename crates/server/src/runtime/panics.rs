//! Panics in the log.
//!
//! A panic fails only the request, change or connection in which it happens. Operators find its
//! place in the log, as one line like all others.

use std::any::Any;
use std::panic::{self, PanicHookInfo};
use std::thread;

/// Logs every panic of the process from now on as one line, instead of the words of the standard
/// library.
pub fn log_panics() {
    panic::set_hook(Box::new(log));
}

fn log(panic: &PanicHookInfo<'_>) {
    let place = panic.location().map(ToString::to_string);
    let place = place.unwrap_or_default();
    let thread = thread::current();
    let thread = thread.name().unwrap_or_default();
    let message = message(panic.payload());
    tracing::error!(
        place,
        thread,
        message,
        "a panic: a bug of this program, please report it"
    );
}

/// The longest message that is logged.
const MAX_MESSAGE: usize = 200;

/// What a panic says, without data: the standard library puts texts that it quotes behind a
/// backquote, and errors behind a colon. Either may hold a secret of somebody.
fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or_default();
    let end = text.find(['`', ':', '"', '\'']).unwrap_or(text.len());
    let plain = text.get(..end).unwrap_or_default().trim_end();
    plain
        .chars()
        .filter(|c| !c.is_control())
        .take(MAX_MESSAGE)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against a secret in the log: a panic of the standard library quotes the text that was
    /// cut wrongly.
    #[test]
    fn a_message_is_logged_without_what_it_quotes() {
        let secret = "sésame";
        let cut = panic::catch_unwind(|| secret[..2].len()).unwrap_err();
        let parsed = secret.parse::<u8>().map_err(|_| secret);
        let unwrapped = panic::catch_unwind(|| parsed.unwrap()).unwrap_err();
        for payload in [cut, unwrapped] {
            let message = message(&*payload);
            assert!(!message.contains("same"), "{message}");
        }
        let plain: Box<dyn Any + Send> = Box::new("attempt to subtract with overflow");
        assert_eq!(message(&*plain), "attempt to subtract with overflow");
    }
}
