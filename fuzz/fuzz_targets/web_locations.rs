#![no_main]

use handfast_server::fuzzing::locations;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| locations(data));
