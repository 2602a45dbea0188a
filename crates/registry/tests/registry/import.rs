//! Imports that were cut short.

use std::io::{self, Read};

use handfast_registry::{Format, Import};

use super::*;

/// An input that fails after its text, as a disk or a network does.
struct CutShort<'t>(&'t [u8]);

impl Read for CutShort<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() {
            return Err(io::Error::other("the line was cut"));
        }
        self.0.read(buffer)
    }
}

/// What had been done of a batch is known by how far it came: if other operations stand there now, going on
/// would leave them out without a word. Asking again does not make it right.
#[test]
fn a_batch_that_was_changed_after_it_was_cut_short_is_refused_until_it_is_begun_anew() {
    let scene = scene();
    authority(&scene, "20.1");
    let url = "x".repeat(1_000);
    let batch = |changed: &str| -> String {
        let operation = |number: u32| {
            let url = if number == 1_500 { changed } else { &url };
            format!("CREATE 20.1/{number}\n1 URL 86400 1110 UTF8 https://{url}\n\n")
        };
        (0..2_500).map(operation).collect()
    };
    let import = |restart: bool| Import {
        format: Some(Format::Batch),
        restart,
        ..Import::default()
    };
    let first = batch("as-it-was");
    let cut = CutShort(&first.as_bytes()[..2_200_000]);
    let outcome = scene.import(&OPERATOR, &import(false), cut, &mut |_| ());
    assert_eq!(code(outcome), "input");

    let changed = batch("corrected");
    for _ in 0..2 {
        let input = changed.as_bytes();
        let outcome = scene.import(&OPERATOR, &import(false), input, &mut |_| ());
        assert_eq!(code(outcome), "other-file");
    }
    let input = changed.as_bytes();
    let imported = scene.import(&OPERATOR, &import(true), input, &mut |_| ());
    let counts = imported.unwrap().counts;
    // What was done is there already; the operation that was corrected is reported.
    assert_eq!(counts.refused, 1);
    assert_eq!(counts.created + counts.unchanged, 2_499);
}
