//! The arguments of a request, and the errors in them (OAI-PMH §3.6, §4).

use crate::http::oai::date::OaiDate;
use crate::http::oai::token;

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    GetRecord { identifier: String, format: Format },
    Identify,
    ListIdentifiers(Selection),
    ListMetadataFormats { identifier: Option<String> },
    ListRecords(Selection),
    ListSets,
}

/// Which records are asked for, and where in their list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    pub(crate) format: Format,
    pub(crate) set: Option<Set>,
    /// In milliseconds since 1970.
    pub(crate) from: Option<u64>,
    pub(crate) until: Option<u64>,
    /// The last record that was given: its time and namespace.
    pub(crate) after: Option<(u64, String)>,
    /// How many were given before.
    pub(crate) cursor: usize,
}

/// A form that records have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Dublin Core, which every repository has.
    OaiDc,
    /// All that the original registry had.
    Reg,
}

impl Format {
    pub(crate) const ALL: [Self; 2] = [Self::OaiDc, Self::Reg];

    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Self::OaiDc => "oai_dc",
            Self::Reg => "reg",
        }
    }

    pub(crate) fn of(prefix: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|format| format.prefix() == prefix)
    }
}

/// A set. No entry ever leaves its own, so that a client that harvests one set sees all changes
/// of its entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Set {
    Historical,
    Later,
}

impl Set {
    pub(crate) const ALL: [Self; 2] = [Self::Historical, Self::Later];

    pub(crate) fn of(is_historical: bool) -> Self {
        if is_historical {
            Self::Historical
        } else {
            Self::Later
        }
    }

    pub(crate) fn spec(self) -> &'static str {
        match self {
            Self::Historical => "historical",
            Self::Later => "later",
        }
    }

    pub(crate) fn named(spec: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|set| set.spec() == spec)
    }
}

/// An error of the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OaiError {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl OaiError {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, message }
    }

    fn argument(message: impl Into<String>) -> Self {
        Self::new("badArgument", message)
    }

    /// Whether what was asked could be understood, so that it can be said again in the answer: "no
    /// attributes must be provided" for these two.
    pub(crate) fn is_of_form(&self) -> bool {
        matches!(self.code, "badArgument" | "badVerb")
    }
}

/// Verbs, and their arguments: those that must be there, those that may be, and whether a token may
/// stand in place of all of them.
const VERBS: [(&str, &[&str], &[&str], bool); 6] = [
    ("GetRecord", &["identifier", "metadataPrefix"], &[], false),
    ("Identify", &[], &[], false),
    (
        "ListIdentifiers",
        &["metadataPrefix"],
        &["from", "until", "set"],
        true,
    ),
    ("ListMetadataFormats", &[], &["identifier"], false),
    (
        "ListRecords",
        &["metadataPrefix"],
        &["from", "until", "set"],
        true,
    ),
    ("ListSets", &[], &[], true),
];

impl Request {
    pub(crate) fn read(arguments: &[(String, String)]) -> Result<Self, OaiError> {
        let given = OaiArguments(arguments);
        let mut verbs = arguments.iter().filter(|(name, _)| name == "verb");
        let (verb, second) = (verbs.next(), verbs.next());
        let verb = match (verb, second) {
            (Some((_, verb)), None) => verb.as_str(),
            (None, _) => return Err(OaiError::new("badVerb", "there is no verb")),
            _ => return Err(OaiError::new("badVerb", "there are two verbs")),
        };
        let known = VERBS.iter().find(|(name, ..)| *name == verb);
        let Some((verb, required, optional, is_resumed)) = known else {
            let all = VERBS.map(|(name, ..)| name).join(", ");
            return Err(OaiError::new("badVerb", format!("the verbs are {all}")));
        };
        given.check_names(required, optional, *is_resumed)?;
        let resumed = given.find("resumptionToken");
        if let Some(text) = resumed {
            if arguments.len() > 2 {
                return Err(OaiError::argument(
                    "beside a resumptionToken, there is nothing but the verb",
                ));
            }
            let selection = token::read(text).ok_or_else(|| {
                let message = "this server has not given this resumptionToken";
                OaiError::new("badResumptionToken", message)
            })?;
            return match *verb {
                "ListIdentifiers" => Ok(Self::ListIdentifiers(selection)),
                "ListRecords" => Ok(Self::ListRecords(selection)),
                _ => Err(OaiError::new(
                    "badResumptionToken",
                    "the list of sets comes in one piece",
                )),
            };
        }
        if let Some(missing) = required.iter().find(|name| given.find(name).is_none()) {
            return Err(OaiError::argument(format!("{missing} is missing")));
        }
        Ok(match *verb {
            "GetRecord" => Self::GetRecord {
                identifier: given.find("identifier").unwrap_or_default().to_string(),
                format: given.format()?,
            },
            "Identify" => Self::Identify,
            "ListIdentifiers" => Self::ListIdentifiers(given.selection()?),
            "ListMetadataFormats" => Self::ListMetadataFormats {
                identifier: given.find("identifier").map(str::to_string),
            },
            "ListRecords" => Self::ListRecords(given.selection()?),
            _ => Self::ListSets,
        })
    }
}

struct OaiArguments<'a>(&'a [(String, String)]);

impl<'a> OaiArguments<'a> {
    fn find(&self, name: &str) -> Option<&'a str> {
        let found = self.0.iter().find(|(given, _)| given == name);
        found.map(|(_, value)| value.as_str())
    }

    /// "The request includes illegal arguments, is missing required arguments, includes a repeated
    /// argument, or values for arguments have an illegal syntax."
    fn check_names(
        &self,
        required: &[&str],
        optional: &[&str],
        is_resumed: bool,
    ) -> Result<(), OaiError> {
        for (at, (name, _)) in self.0.iter().enumerate() {
            let word = name.as_str();
            let is_known = word == "verb"
                || required.contains(&word)
                || optional.contains(&word)
                || is_resumed && word == "resumptionToken";
            if !is_known {
                return Err(OaiError::argument(format!(
                    "{name} is no argument of the verb"
                )));
            }
            if self.0.iter().skip(at + 1).any(|(other, _)| other == name) {
                return Err(OaiError::argument(format!("{name} is given twice")));
            }
        }
        Ok(())
    }

    fn format(&self) -> Result<Format, OaiError> {
        let prefix = self.find("metadataPrefix").unwrap_or_default();
        if prefix.is_empty() || !prefix.bytes().all(is_of_words) {
            return Err(OaiError::argument("that is no metadataPrefix"));
        }
        Format::of(prefix).ok_or_else(|| {
            let all = Format::ALL.map(Format::prefix).join(" and ");
            let message = format!("the formats are {all}");
            OaiError::new("cannotDisseminateFormat", message)
        })
    }

    fn selection(&self) -> Result<Selection, OaiError> {
        let (from, until) = (self.date("from")?, self.date("until")?);
        if let (Some(from), Some(until)) = (from, until) {
            if from.length != until.length {
                return Err(OaiError::argument("from and until are not equally fine"));
            }
            if from.start() > until.end() {
                return Err(OaiError::argument("from is later than until"));
            }
        }
        let set = match self.find("set") {
            None => None,
            Some(spec) => {
                let is_part = |part: &str| !part.is_empty() && part.bytes().all(is_of_words);
                if !spec.split(':').all(is_part) {
                    return Err(OaiError::argument("that is no set"));
                }
                let unknown = || OaiError::new("noRecordsMatch", "there is no such set");
                Some(Set::named(spec).ok_or_else(unknown))
            }
        };
        let format = self.format()?;
        Ok(Selection {
            format,
            set: set.transpose()?,
            from: from.map(OaiDate::start),
            until: until.map(OaiDate::end),
            after: None,
            cursor: 0,
        })
    }

    fn date(&self, name: &str) -> Result<Option<OaiDate>, OaiError> {
        let read = |text: &str| {
            OaiDate::parse(text).ok_or_else(|| {
                let message = format!("{name} is YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ");
                OaiError::argument(message)
            })
        };
        self.find(name).map(read).transpose()
    }
}

/// What prefixes of formats and names of sets are made of, by the schema of the protocol.
fn is_of_words(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the error for a query, without `verb` in front of it.
    fn check(query: &str, code: &str) {
        let query = query.strip_prefix('=').map(|rest| format!("verb={rest}"));
        let pairs = crate::http::form::pairs(&query.unwrap_or_default()).unwrap();
        assert_eq!(Request::read(&pairs).unwrap_err().code, code, "{pairs:?}");
    }

    #[test]
    fn whatever_is_wrong_has_its_code() {
        for (query, code) in [
            ("", "badVerb"),
            ("=", "badVerb"),
            ("=identify", "badVerb"),
            ("=Identify&verb=Identify", "badVerb"),
            ("=Identify&x=1", "badArgument"),
            ("=Identify&resumptionToken=x", "badArgument"),
            ("=GetRecord", "badArgument"),
            ("=GetRecord&identifier=info:hdl/", "badArgument"),
            ("=GetRecord&identifier=a&metadataPrefix=", "badArgument"),
            (
                "=GetRecord&identifier=a&metadataPrefix=a%20b",
                "badArgument",
            ),
            (
                "=GetRecord&identifier=a&metadataPrefix=marc",
                "cannotDisseminateFormat",
            ),
            ("=ListRecords", "badArgument"),
            ("=ListRecords&resumptionToken=x", "badResumptionToken"),
            ("=ListSets&resumptionToken=x", "badResumptionToken"),
            ("=ListSets&metadataPrefix=reg", "badArgument"),
            ("=ListMetadataFormats&metadataPrefix=reg", "badArgument"),
        ] {
            check(query, code);
        }
        for (query, code) in [
            ("=reg&metadataPrefix=reg", "badArgument"),
            ("=reg&from=yesterday", "badArgument"),
            (
                "=reg&from=2026-01-01&until=2026-01-01T00:00:00Z",
                "badArgument",
            ),
            ("=reg&from=2026-01-02&until=2026-01-01", "badArgument"),
            ("=reg&set=a::b", "badArgument"),
            ("=reg&set=a:b", "noRecordsMatch"),
            ("=marc&set=later", "cannotDisseminateFormat"),
            ("=reg&resumptionToken=x", "badArgument"),
        ] {
            check(&format!("=ListRecords&metadataPrefix{query}"), code);
        }
    }

    #[test]
    fn a_day_lasts_until_its_end() {
        let pairs = crate::http::form::pairs(
            "verb=ListIdentifiers&metadataPrefix=oai_dc&from=1970-01-02&until=1970-01-02&set=later",
        );
        let Ok(Request::ListIdentifiers(read)) = Request::read(&pairs.unwrap()) else {
            panic!("not read");
        };
        assert_eq!(
            (read.from, read.until),
            (Some(86_400_000), Some(172_799_999))
        );
        assert_eq!((read.set, read.format), (Some(Set::Later), Format::OaiDc));
    }
}
