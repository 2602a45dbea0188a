#![no_main]

use handfast_server::fuzzing::accept;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| accept(data));
