#![no_main]

use handfast_server::fuzzing::countries;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| countries(data));
