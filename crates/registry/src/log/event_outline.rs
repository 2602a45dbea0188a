//! The fields of an event that counts and lists need, borrowed from its bytes.

use handfast_wire::Reader;

use crate::log::event::Action;

/// A part of an event. Reading it neither copies nor hashes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EventOutline<'b> {
    pub(crate) action: Action,
    /// Milliseconds since 1970.
    pub(crate) time: u64,
    pub(crate) actor: [u8; 16],
    /// The key of the name, if the event shows it.
    pub(crate) key: Option<&'b str>,
    /// The key of the authority.
    pub(crate) authority: &'b str,
}

impl<'b> EventOutline<'b> {
    /// Reads the bytes of an event; its leaf hash may follow them. `None` if they are damaged.
    pub(crate) fn read(bytes: &'b [u8]) -> Option<Self> {
        let reader = &mut Reader::new(bytes);
        reader.u8().ok()?;
        let action = Action::from_code(reader.u8().ok()?)?;
        // The number.
        reader.u64().ok()?;
        let time = reader.u64().ok()?;
        let actor = reader.array().ok()?;
        // The node.
        reader.u32().ok()?;
        let key = match reader.u8().ok()? {
            0 => None,
            1 => Some(text(reader)?),
            2 => {
                reader.take(32).ok()?;
                None
            }
            3 => {
                let key = text(reader)?;
                reader.take(32).ok()?;
                Some(key)
            }
            _ => return None,
        };
        Some(Self {
            action,
            time,
            actor,
            key,
            authority: text(reader)?,
        })
    }
}

fn text<'b>(reader: &mut Reader<'b>) -> Option<&'b str> {
    let length = reader.u16().ok()?;
    str::from_utf8(reader.take(usize::from(length)).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::event::{Commitments, Event, Subject};

    #[test]
    fn an_outline_has_the_fields_of_its_event() {
        let key = "hdl:20.1000/x".to_string();
        for (subject, shown) in [
            (Subject::None, None),
            (Subject::Open(key.clone()), Some(key.as_str())),
            (Subject::hide(&key, &[1; 32]), None),
            (
                Subject::Opened {
                    key: key.clone(),
                    salt: [1; 32],
                },
                Some(key.as_str()),
            ),
        ] {
            let event = Event {
                action: Action::Change,
                number: 7,
                time: 8,
                actor: [9; 16],
                node: 1,
                subject,
                authority: "hdl:20.1000".to_string(),
                version: 2,
                commitments: Commitments::Each(vec![(1, [3; 32])]),
            };
            let bytes = event.to_bytes();
            let outline = EventOutline::read(&bytes).unwrap();
            assert_eq!(outline.action, event.action);
            assert_eq!((outline.time, outline.actor), (8, [9; 16]));
            assert_eq!((outline.key, outline.authority), (shown, "hdl:20.1000"));
            assert!((0..bytes.len()).all(|end| {
                let short = EventOutline::read(&bytes[..end]);
                short.is_none_or(|short| short == outline)
            }));
        }
    }
}
