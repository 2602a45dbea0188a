#![no_main]

use handfast_server::fuzzing::path;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| path(data));
