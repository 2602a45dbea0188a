//! Files for finding the root, and prefixes without asking it.

use std::borrow::Cow;

use crate::codec::{Codec, DecodeError, Reader, put_bytes, put_length};
use crate::field::Field;
use crate::site::Site;
use crate::value::Value;

/// The file `root_info`: the values of `0.NA/0.NA` (`handle-protocol.md` §6.13). `resolver_service`
/// is alike.
///
/// ```
/// use handfast_wire::{Codec, RootInfo, Value};
///
/// let root = RootInfo(vec![Value::new(1, "HS_SERV", b"0.GHR/20")]);
/// assert_eq!(RootInfo::from_bytes(&root.to_bytes())?, root);
/// # Ok::<_, handfast_wire::DecodeError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RootInfo<'a>(pub Vec<Value<'a>>);

/// "`u32 length of what follows`, `u32 count`, values"
impl<'a> Codec<'a> for RootInfo<'a> {
    fn encode(&self, out: &mut Vec<u8>) {
        let mut values = Vec::new();
        self.0.put(&mut values);
        put_bytes(out, &values);
    }

    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let mut inner = Reader::new(reader.bytes()?);
        let values = Field::get(&mut inner)?;
        inner.finish()?;
        Ok(Self(values))
    }
}

/// The file `local_info`: sites of prefixes that are known without asking the root
/// (`handle-protocol.md` §6.13).
///
/// ```
/// use handfast_wire::{Codec, LocalInfo, LocalSite, Site};
///
/// let site = LocalSite { prefixes: vec!["0.NA/20.1000".into()], site: Site::default() };
/// let local = LocalInfo(vec![site]);
/// assert_eq!(LocalInfo::from_bytes(&local.to_bytes())?, local);
/// # Ok::<_, handfast_wire::DecodeError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalInfo<'a>(pub Vec<LocalSite<'a>>);

/// A site, and the prefixes that it answers for.
///
/// ```
/// use handfast_wire::{LocalSite, Site};
///
/// let local = LocalSite { prefixes: vec![], site: Site::default() };
/// assert!(local.prefixes.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalSite<'a> {
    /// Prefix handles, such as `0.NA/20.1000`.
    pub prefixes: Vec<Cow<'a, str>>,
    /// The site.
    pub site: Site,
}

/// "`u32 total length including itself` (ignored), `u32 site count`; per site: `list<str>` prefix
/// handles, `bytes` site record"
impl<'a> Codec<'a> for LocalInfo<'a> {
    fn encode(&self, out: &mut Vec<u8>) {
        let mut sites = Vec::new();
        put_length(&mut sites, self.0.len());
        for LocalSite { prefixes, site } in &self.0 {
            prefixes.put(&mut sites);
            put_bytes(&mut sites, &site.to_bytes());
        }
        put_length(out, sites.len().saturating_add(4));
        out.extend_from_slice(&sites);
    }

    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.u32()?;
        let site = |reader: &mut Reader<'a>| {
            Ok(LocalSite {
                prefixes: Field::get(reader)?,
                site: Site::from_bytes(reader.bytes()?)?,
            })
        };
        reader.list(8, site).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `handle-protocol.md` B.28
    const VECTOR: &[u8] = b"\0\0\0\x38\0\0\0\x01\0\0\0\x01\x65\x53\xf1\x00\0\0\x01\x51\x80\x0e\
        \0\0\0\x03URL\0\0\0\x17https://example.org/abc\0\0\0\0";

    #[test]
    fn the_container_is_that_of_the_vector() {
        let root = RootInfo::from_bytes(VECTOR).unwrap();
        let expected = Value {
            timestamp: 1_700_000_000,
            ..Value::new(1, "URL", b"https://example.org/abc")
        };
        assert_eq!(root.0, [expected]);
        assert_eq!(root.to_bytes(), VECTOR);
    }

    #[test]
    fn its_length_counts_all_that_follows() {
        let mut bytes = VECTOR.to_vec();
        bytes.push(0);
        assert!(RootInfo::from_bytes(&bytes).is_err());
        assert!(RootInfo::from_bytes(VECTOR.get(..59).unwrap()).is_err());
    }

    #[test]
    fn the_length_of_local_info_counts_itself() {
        let bytes = LocalInfo::default().to_bytes();
        assert_eq!(bytes, [0, 0, 0, 8, 0, 0, 0, 0]);
    }
}
