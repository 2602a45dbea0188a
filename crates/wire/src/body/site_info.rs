//! The site of a server.

use crate::codec::{Codec, DecodeError, Reader};
use crate::site::Site;

/// A site record "with no length prefix; its end is the end of the body" (`handle-protocol.md`
/// §3.11).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteInfoReply {
    /// The site.
    pub site: Site,
}

impl Codec<'_> for SiteInfoReply {
    fn encode(&self, out: &mut Vec<u8>) {
        self.site.encode(out);
    }

    /// Nothing may follow.
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let site = Site::decode(reader)?;
        reader.finish()?;
        Ok(Self { site })
    }
}
