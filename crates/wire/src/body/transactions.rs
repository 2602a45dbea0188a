//! Replication: requests for transactions, and for a full copy.

use std::borrow::Cow;

use super::Body;
use crate::codec::{Codec, DecodeError, Reader, put_bytes};
use crate::field::wire_form;
use crate::version::Version;

/// The transactions since a point, for one server of a site (`handle-protocol.md` §11.3). Since 2.9
/// it begins with a mode.
///
/// ```
/// use handfast_wire::Version;
/// use handfast_wire::body::{Body, Receiver, ReplicationPoint, RetrieveRequest};
///
/// let request = RetrieveRequest {
///     since: ReplicationPoint::Last { transaction: 41, date: 1_700_000_000_000 },
///     receiver: Receiver { hash_option: 2, server_count: 1, server_number: 0 },
/// };
/// let mut bytes = Vec::new();
/// request.write(Version::CURRENT, &mut bytes);
/// assert_eq!(bytes.len(), 26);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetrieveRequest<'a> {
    /// Since when.
    pub since: ReplicationPoint<'a>,
    /// The receiver.
    pub receiver: Receiver,
}

/// How far a receiver has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplicationPoint<'a> {
    /// Mode 0: in the transactions of one source.
    Last {
        /// The last transaction seen; 0 for none.
        transaction: i64,
        /// The date that the source gave last time, in milliseconds since 1970; 0 for never.
        date: i64,
    },
    /// Mode 1: in those of many sources, as JSON. It can be said since 2.9; to an older source it
    /// is said that nothing has been seen.
    State(Cow<'a, str>),
}

/// A server that receives transactions: which handles are its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receiver {
    /// By what handles are given to the servers of its site: 0 prefix, 1 suffix, 2 whole handle.
    pub hash_option: u8,
    /// How many servers its site has.
    pub server_count: u32,
    /// Which of them it is, from 0.
    pub server_number: u32,
}

wire_form!(Receiver {
    hash_option,
    server_count,
    server_number
});

impl<'a> Body<'a> for RetrieveRequest<'a> {
    fn write(&self, version: Version, out: &mut Vec<u8>) {
        let has_mode = version >= MODE_IS_NAMED;
        match &self.since {
            ReplicationPoint::State(state) if has_mode => {
                out.push(1);
                put_bytes(out, state.as_bytes());
            }
            point => {
                let (transaction, date) = match point {
                    ReplicationPoint::Last { transaction, date } => (*transaction, *date),
                    ReplicationPoint::State(_) => (0, 0),
                };
                if has_mode {
                    out.push(0);
                }
                out.extend_from_slice(&transaction.to_be_bytes());
                out.extend_from_slice(&date.to_be_bytes());
            }
        }
        self.receiver.encode(out);
    }

    fn read(version: Version, reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let at = reader.offset();
        let has_mode = version >= MODE_IS_NAMED;
        let mode = if has_mode { reader.u8()? } else { 0 };
        let since = match mode {
            0 => ReplicationPoint::Last {
                transaction: i64::from_be_bytes(reader.array()?),
                date: i64::from_be_bytes(reader.array()?),
            },
            1 => ReplicationPoint::State(reader.text()?.into()),
            found => {
                let found = found.into();
                return Err(DecodeError::Code { at, found });
            }
        };
        Ok(Self {
            since,
            receiver: Receiver::decode(reader)?,
        })
    }
}

/// The beginning of a stream of transactions (`handle-protocol.md` §11.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetrieveReply {
    /// Whether the connection stays open; deployed software closes it.
    pub keeps_alive: bool,
}

wire_form!(RetrieveReply { keeps_alive });

/// All handles of one server of a site (`handle-protocol.md` §11.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpRequest<'a> {
    /// The receiver.
    pub receiver: Receiver,
    /// Where to go on, since 2.8.
    pub resume: Option<ResumePoint<'a>>,
}

/// Where a dump that broke off is to go on: "continue after this key in that phase".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResumePoint<'a> {
    /// The last key that came.
    pub key: Cow<'a, [u8]>,
    /// 0 dates of handles, 1 dates of prefixes, 2 handles, 3 prefixes.
    pub kind: u32,
}

wire_form!(ResumePoint<'a> { key, kind });

impl<'a> Codec<'a> for DumpRequest<'a> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.receiver.encode(out);
        if let Some(resume) = &self.resume {
            resume.encode(out);
        }
    }

    fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let receiver = Receiver::decode(reader)?;
        let resumes = !reader.rest().is_empty();
        let resume = resumes.then(|| ResumePoint::decode(reader)).transpose()?;
        Ok(Self { receiver, resume })
    }
}

/// The number of the next transaction (`handle-protocol.md` §3.14).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextTransaction(pub i64);

wire_form!(NextTransaction { 0 });

const MODE_IS_NAMED: Version = Version::new(2, 9);

#[cfg(test)]
mod tests {
    use super::*;

    const RECEIVER: Receiver = Receiver {
        hash_option: 2,
        server_count: 1,
        server_number: 0,
    };

    fn read_again(request: &RetrieveRequest<'_>, version: Version) -> ReplicationPoint<'static> {
        let mut bytes = Vec::new();
        request.write(version, &mut bytes);
        let read = RetrieveRequest::read(version, &mut Reader::new(&bytes)).unwrap();
        match read.since {
            ReplicationPoint::State(state) => {
                ReplicationPoint::State(Cow::Owned(state.into_owned()))
            }
            ReplicationPoint::Last { transaction, date } => {
                ReplicationPoint::Last { transaction, date }
            }
        }
    }

    #[test]
    fn the_mode_is_named_since_2_9() {
        let request = RetrieveRequest {
            since: ReplicationPoint::Last {
                transaction: 41,
                date: -1,
            },
            receiver: RECEIVER,
        };
        for (minor, length) in [(8, 25), (9, 26)] {
            let version = Version::new(2, minor);
            let mut bytes = Vec::new();
            request.write(version, &mut bytes);
            assert_eq!(bytes.len(), length);
            assert_eq!(read_again(&request, version), request.since);
        }
    }

    #[test]
    fn a_state_is_nothing_seen_to_older_sources() {
        let request = RetrieveRequest {
            since: ReplicationPoint::State("{}".into()),
            receiver: RECEIVER,
        };
        assert_eq!(read_again(&request, Version::CURRENT), request.since);
        let nothing = ReplicationPoint::Last {
            transaction: 0,
            date: 0,
        };
        assert_eq!(read_again(&request, Version::new(2, 8)), nothing);
    }
}
