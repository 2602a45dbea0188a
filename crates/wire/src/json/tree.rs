//! Parsed JSON that is not checked yet.
//!
//! Unlike `serde_json::Value` it borrows text, rejects repeated members, preserves their order, and
//! never puts its content into a message: it may be a secret.

use std::borrow::Cow;
use std::fmt;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Any JSON.
pub(super) enum Tree<'a> {
    Bool(bool),
    /// A number that is not whole, or too large to be stored exactly.
    Fraction,
    Integer(i128),
    List(Vec<Tree<'a>>),
    Null,
    Object(Vec<(Cow<'a, str>, Tree<'a>)>),
    Text(Cow<'a, str>),
}

impl<'a> Tree<'a> {
    /// A whole number, or text that is one, if it fits.
    pub(super) fn number<T: TryFrom<i128>>(&self) -> Option<T> {
        let number = match self {
            Self::Integer(number) => *number,
            Self::Text(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => {
                text.parse().ok()?
            }
            _ => return None,
        };
        T::try_from(number).ok()
    }

    /// Text, or the text of a whole number or a truth value.
    pub(super) fn text(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Bool(truth) => Some(if truth { "true" } else { "false" }.into()),
            Self::Integer(number) => Some(number.to_string().into()),
            Self::Text(text) => Some(text),
            Self::Fraction | Self::List(_) | Self::Null | Self::Object(_) => None,
        }
    }

    /// `true` or `false`.
    pub(super) fn truth(&self) -> Option<bool> {
        match self {
            Self::Bool(truth) => Some(*truth),
            _ => None,
        }
    }

    /// Whether a script would take it for true.
    pub(super) fn is_truthy(&self) -> bool {
        match self {
            Self::Bool(truth) => *truth,
            Self::Integer(number) => *number != 0,
            Self::Null => false,
            Self::Text(text) => !text.is_empty(),
            Self::Fraction | Self::List(_) | Self::Object(_) => true,
        }
    }

    /// The members of an object, in the order of `known`; `is` tells whether a name is a known one.
    pub(super) fn members<const N: usize>(
        self,
        of: &'static str,
        known: &'static [&'static str; N],
        is: impl Fn(&str, &str) -> bool,
    ) -> Result<[Option<Tree<'a>>; N], Wrong> {
        let Self::Object(given) = self else {
            return Err(Wrong::member(of, "an object"));
        };
        let mut found = [const { None }; N];
        for (name, tree) in given {
            let mut slots = known.iter().zip(&mut found);
            let Some((known, slot)) = slots.find(|(known, _)| is(&name, known)) else {
                let member = name.into_owned();
                return Err(Wrong::Unknown { of, member, known });
            };
            if slot.replace(tree).is_some() {
                return Err(Wrong::Twice { of, member: known });
            }
        }
        Ok(found)
    }
}

impl<'de> Deserialize<'de> for Tree<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Self::Value, E> {
        Ok(Tree::Bool(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Tree::Integer(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Tree::Integer(number.into()))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Tree::Fraction)
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Tree::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Tree::Text(Cow::Owned(text.to_string())))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Tree::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(seq)).map(Tree::List)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some((Name(name), tree)) = map.next_entry()? {
            members.push((name, tree));
        }
        // Sorted, because comparing each with each would let a long object take minutes.
        let mut names: Vec<_> = members.iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        for (name, next) in names.iter().zip(names.iter().skip(1)) {
            if name == next {
                return Err(A::Error::custom(format_args!("duplicate field `{name}`")));
            }
        }
        Ok(Tree::Object(members))
    }
}

/// The name of a member, borrowed where it can be.
struct Name<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.deserialize_str(TreeVisitor)? {
            Tree::Text(name) => Ok(Self(name)),
            _ => Err(D::Error::custom("a member's name is text")),
        }
    }
}

/// An error in JSON. It names members and never contains their content.
#[derive(Debug, thiserror::Error)]
pub(super) enum Wrong {
    #[error("`{member}` should be {expected}")]
    Member {
        member: &'static str,
        expected: &'static str,
    },
    #[error("`{of}` lacks `{member}`")]
    Missing {
        of: &'static str,
        member: &'static str,
    },
    #[error("`{of}` has `{member}` twice")]
    Twice {
        of: &'static str,
        member: &'static str,
    },
    #[error("`{of}` has an unknown member `{member}`; known are {}", quoted(.known))]
    Unknown {
        of: &'static str,
        member: String,
        known: &'static [&'static str],
    },
}

impl Wrong {
    pub(super) const fn member(member: &'static str, expected: &'static str) -> Self {
        Self::Member { member, expected }
    }
}

fn quoted(names: &[&str]) -> String {
    let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
