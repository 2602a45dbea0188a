//! Arithmetic on large numbers in big-endian bytes. In constant time for the exponent.

use crypto_bigint::modular::{BoxedMontyForm, BoxedMontyParams};
use crypto_bigint::{BoxedUint, Odd};
use zeroize::Zeroizing;

use super::CryptoError;
pub(super) use crate::public_key::{canonical, trim};

/// How many bits a number has.
pub(super) fn bits(number: &[u8]) -> usize {
    let number = trim(number);
    let unused = number.first().map_or(0, |first| first.leading_zeros());
    number.len() * 8 - usize::try_from(unused).unwrap_or(0)
}

/// Whether 1 < a < b - 1. Not in constant time: for public numbers.
pub(super) fn is_within(a: &[u8], b: &[u8]) -> bool {
    let (a, b) = (trim(a), trim(b));
    let Some((last, head)) = b.split_last() else {
        return false;
    };
    // b is an odd modulus, so that b - 1 differs in its last octet only.
    let below = [head, &[last.saturating_sub(1)]].concat();
    let order = a
        .len()
        .cmp(&below.len())
        .then_with(|| a.cmp(below.as_slice()));
    order.is_lt() && !matches!(a, [] | [1])
}

/// `base` to the power of `exponent`, modulo an odd `modulus`; as long as the modulus. The base is
/// smaller than the modulus.
pub(super) fn power(
    base: &[u8],
    exponent: &[u8],
    modulus: &[u8],
) -> Result<Zeroizing<Vec<u8>>, CryptoError> {
    let modulus = trim(modulus);
    let length = modulus.len();
    let precision = modulus_bits(length)?;
    let number = |bytes: &[u8]| BoxedUint::from_be_slice(bytes, precision);
    let modulus = number(modulus).map_err(|_| CryptoError::Key)?;
    let base = number(trim(base)).map_err(|_| CryptoError::Key)?;
    if base >= modulus {
        return Err(CryptoError::Key);
    }
    let modulus = Option::<Odd<BoxedUint>>::from(Odd::new(modulus)).ok_or(CryptoError::Key)?;
    let exponent = BoxedUint::from_be_slice(exponent, modulus_bits(exponent.len())?);
    let exponent = Zeroizing::new(exponent.map_err(|_| CryptoError::Key)?);
    let params = BoxedMontyParams::new_vartime(modulus);
    let result = Zeroizing::new(BoxedMontyForm::new(base, &params).pow(&exponent).retrieve());
    let bytes = Zeroizing::new(result.to_be_bytes().into_vec());
    let start = bytes.len().saturating_sub(length);
    Ok(Zeroizing::new(
        bytes.get(start..).unwrap_or_default().to_vec(),
    ))
}

/// A number that may be used in arithmetic with a modulus, whose width it gets.
pub(super) fn boxed(number: &[u8], modulus: &[u8]) -> Result<BoxedUint, CryptoError> {
    let width = modulus_bits(trim(modulus).len())?;
    BoxedUint::from_be_slice(trim(number), width).map_err(|_| CryptoError::Key)
}

/// The precision for a number of so many octets.
fn modulus_bits(octets: usize) -> Result<u32, CryptoError> {
    let is_usable = (1..=MAX_OCTETS).contains(&octets);
    let bits = u32::try_from(octets * 8).map_err(|_| CryptoError::Key)?;
    is_usable.then_some(bits).ok_or(CryptoError::Key)
}

/// Numbers of more than 8192 bits cost too much.
pub(super) const MAX_OCTETS: usize = 1024;
