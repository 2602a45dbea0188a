#![no_main]

use handfast_fuzz::laws;
use handfast_id::Scheme;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| laws(data, Scheme::Doi));
