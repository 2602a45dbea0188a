//! What several test programs share.

/// Fills bytes with a number, again and again: "random" bytes that differ from number to number.
pub(crate) fn fill_with(bytes: &mut [u8], number: u64) {
    let number = number.to_be_bytes();
    for (byte, digit) in bytes.iter_mut().zip(number.iter().cycle()) {
        *byte = *digit;
    }
}
