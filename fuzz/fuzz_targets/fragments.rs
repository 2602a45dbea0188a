#![no_main]

use handfast_wire::{Envelope, MAX_PACKET, Reassembly, packets};
use libfuzzer_sys::fuzz_target;

// Packets, each after its length in two bytes. A reassembled message is split into the same packets
// again; nothing is stored beyond the limit.
fuzz_target!(|data: &[u8]| {
    let mut rest = data;
    let mut reassembly: Option<Reassembly> = None;
    while let Some(([high, low], after)) = rest.split_first_chunk() {
        let length = usize::from(u16::from_be_bytes([*high, *low])).min(after.len());
        let (packet, after) = after.split_at(length);
        rest = after;
        match &mut reassembly {
            None => reassembly = Reassembly::begin(packet).ok(),
            Some(reassembly) => {
                let _ = reassembly.add(packet);
                assert!(reassembly.buffered_bytes() <= 262_144);
            }
        }
    }
    if let Some((envelope, payload)) = reassembly.and_then(Reassembly::finish) {
        assert_eq!(usize::try_from(envelope.length), Ok(payload.len()));
        let sent: Vec<_> = packets(&envelope, &payload).collect();
        assert!(sent.iter().all(|packet| packet.len() <= MAX_PACKET));
        let pieces: Vec<_> = sent
            .iter()
            .map(|packet| &packet[Envelope::LENGTH..])
            .collect();
        assert_eq!(pieces.concat(), payload);
    }
});
