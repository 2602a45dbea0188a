#![no_main]

use handfast_server::fuzzing::authorization;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| authorization(data));
