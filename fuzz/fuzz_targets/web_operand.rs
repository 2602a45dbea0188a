#![no_main]

use handfast_server::fuzzing::operand;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| operand(data));
