#![no_main]

use handfast_server::fuzzing::query;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| query(data));
