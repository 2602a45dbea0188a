//! MD5 and DES, which only old clients and old key files use. Nothing else may.

use des::TdesEde3;
use des::cipher::{Array, BlockCipherDecrypt, BlockCipherEncrypt, KeyInit};
use md5::{Digest, Md5};
use zeroize::Zeroizing;

use super::CryptoError;

/// The MD5 digest of the parts, one behind the other.
pub(super) fn md5(parts: &[&[u8]]) -> [u8; 16] {
    let mut hash = Md5::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

/// DES with a key of 8 octets, triple DES with one of 24. DES is triple DES with the same key three
/// times: the second, which decrypts, undoes the first.
pub(super) struct OldCipher(TdesEde3);

/// The octets of a block.
pub(super) const BLOCK: usize = 8;

type Block = [u8; BLOCK];

impl OldCipher {
    pub(super) fn new(key: &[u8]) -> Result<Self, CryptoError> {
        let times = if key.len() == 8 { 3 } else { 1 };
        let des = TdesEde3::new_from_slice(&Zeroizing::new(key.repeat(times)));
        des.map(Self).map_err(|_| CryptoError::Key)
    }

    /// With padding (PKCS #5); CBC with a first block, else ECB.
    pub(super) fn encrypt(&self, first: Option<Block>, plain: &[u8]) -> Vec<u8> {
        let (blocks, rest) = plain.as_chunks::<BLOCK>();
        let missing = BLOCK - rest.len();
        let mut last = [u8::try_from(missing).unwrap_or(0); BLOCK];
        last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        let mut before = first;
        let mut out = Vec::with_capacity(plain.len() + missing);
        for block in blocks.iter().chain([&last]) {
            let mut block = xor(*block, before.unwrap_or_default());
            self.0.encrypt_block(Array::cast_from_core_mut(&mut block));
            before = before.map(|_| block);
            out.extend_from_slice(&block);
        }
        out
    }

    /// The reverse of [`Self::encrypt`].
    pub(super) fn decrypt(
        &self,
        first: Option<Block>,
        cipher: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>, CryptoError> {
        let (blocks, []) = cipher.as_chunks::<BLOCK>() else {
            return Err(CryptoError::Decrypt);
        };
        let mut before = first;
        let mut out = Zeroizing::new(Vec::with_capacity(cipher.len()));
        for block in blocks {
            let mut plain = *block;
            self.0.decrypt_block(Array::cast_from_core_mut(&mut plain));
            out.extend_from_slice(&xor(plain, before.unwrap_or_default()));
            before = before.map(|_| *block);
        }
        let count = out.last().copied().map_or(0, usize::from);
        let length = out
            .len()
            .checked_sub(count)
            .filter(|_| (1..=BLOCK).contains(&count));
        let length = length.ok_or(CryptoError::Decrypt)?;
        if !out
            .iter()
            .skip(length)
            .all(|octet| usize::from(*octet) == count)
        {
            return Err(CryptoError::Decrypt);
        }
        out.truncate(length);
        Ok(out)
    }
}

fn xor(a: Block, b: Block) -> Block {
    (u64::from_be_bytes(a) ^ u64::from_be_bytes(b)).to_be_bytes()
}

/// Each octet with an odd number of bits, as DES keys have them.
pub(super) fn odd_parity(key: &mut [u8]) {
    for octet in key {
        let is_even = (*octet & 0xFE).count_ones() % 2 == 0;
        *octet = (*octet & 0xFE) | u8::from(is_even);
    }
}
