#![no_main]

use handfast_wire::body::{Reply, Request};
use handfast_wire::{Codec, Message, Reader};
use libfuzzer_sys::fuzz_target;

// A message that was read is written so that it reads the same again, with correct lengths.
fuzz_target!(|data: &[u8]| {
    let Ok(message) = Message::decode(&mut Reader::new(data)) else {
        return;
    };
    let bytes = message.to_bytes();
    let again = Message::from_bytes(&bytes).expect("what was written");
    assert_eq!(again.to_bytes(), bytes);
    assert_eq!(again.body, message.body);
    assert_eq!(again.credential, message.credential);
    assert!(data[20..].starts_with(&message.signed_part()));
    let _ = message.digest();
    if let Ok(request) = Request::of(&message) {
        let written = request.to_message(message.envelope, message.header.expiration);
        assert_eq!(Request::of(&written).as_ref(), Ok(&request));
    }
    let _ = Reply::of(&message);
});
