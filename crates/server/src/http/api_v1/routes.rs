//! All that can be asked, in one table: requests are matched against it, and the description for programs is made
//! from it, so that neither knows of anything that the other does not.

use hyper::Method;

use super::call::{Answer, Call};
use super::jobs::Wanted;
use super::problem::Problem;

/// Something that can be asked.
pub(super) struct Route {
    pub(super) method: &'static str,
    /// Below `/api/v1`; braces stand for one segment, percent-encoded.
    pub(super) path: &'static str,
    /// A name that programs know it by.
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    /// Whether only those who are known may ask.
    pub(super) is_known: bool,
    pub(super) query: &'static [Parameter],
    /// The schema of the body, if there is one.
    pub(super) body: Option<Given>,
    /// What is answered when all is well.
    pub(super) status: u16,
    pub(super) gives: Gives,
    /// Whether a client need not wait for it: `Prefer: respond-async`.
    pub(super) is_long: bool,
    /// The other statuses.
    pub(super) refusals: &'static [u16],
    pub(super) handler: Handler,
}

/// What does it.
pub(super) enum Handler {
    Export,
    Import,
    /// Long work: reads what is to be done.
    Job(fn(&Call) -> Result<Wanted, Problem>),
    LogExport,
    Plain(fn(&Call) -> Result<Answer, Problem>),
}

/// A parameter of the query.
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) is_required: bool,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Flag,
    Number,
    OneOf(&'static [&'static str]),
    Text,
}

/// A body that is sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    /// JSON of a schema.
    Json(&'static str),
    /// The same, which may be left out.
    OptionalJson(&'static str),
    /// Lines, as they come.
    Lines,
    /// A text.
    Text,
}

/// A body that is answered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Gives {
    Bytes,
    /// JSON of a schema.
    Json(&'static str),
    /// A list of them.
    JsonList(&'static str),
    Lines,
    /// Names, in the format that is asked for.
    Names,
    Nothing,
    Text,
}

/// What a path leads to.
pub(super) enum Found {
    /// Something, with what stands for its braces.
    Route(&'static Route, Vec<String>),
    /// Something, but by other methods.
    Methods(Vec<&'static str>),
    Nothing,
    /// A segment that cannot be read.
    Unreadable,
}

/// Finds what a request asks for.
pub(super) fn find(tables: &'static [&'static [Route]], method: &Method, path: &str) -> Found {
    let path = path.trim_end_matches('/');
    let mut methods = Vec::new();
    for route in tables.iter().copied().flatten() {
        let Some(given) = matched(route.path, path) else {
            continue;
        };
        let asked = match method.as_str() {
            "HEAD" => "GET",
            asked => asked,
        };
        if route.method != asked {
            methods.push(route.method);
            continue;
        }
        let decoded = given
            .into_iter()
            .map(|text| super::call::decode(text, false));
        return match decoded.collect::<Option<Vec<_>>>() {
            Some(path) => Found::Route(route, path),
            None => Found::Unreadable,
        };
    }
    if methods.is_empty() {
        Found::Nothing
    } else {
        Found::Methods(methods)
    }
}

fn matched<'p>(pattern: &str, path: &'p str) -> Option<Vec<&'p str>> {
    let mut given = Vec::new();
    let (mut of_pattern, mut of_path) = (pattern.split('/'), path.split('/'));
    loop {
        match (of_pattern.next(), of_path.next()) {
            (None, None) => return Some(given),
            // `{+…}` is all that follows.
            (Some(brace), Some(segment)) if brace.starts_with("{+") => {
                let rest = of_path.fold(segment.len(), |length, more| length + 1 + more.len());
                let start = path.len().checked_sub(rest)?;
                given.push(path.get(start..).filter(|rest| !rest.is_empty())?);
                return Some(given);
            }
            (Some(brace), Some(segment)) if brace.starts_with('{') && !segment.is_empty() => {
                given.push(segment);
            }
            (Some(word), Some(segment)) if word == segment => {}
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::ROUTES;
    use super::*;

    fn find(method: &Method, path: &str) -> Found {
        super::find(ROUTES, method, path)
    }

    #[test]
    fn a_name_is_one_segment() {
        let Found::Route(route, path) = find(&Method::GET, "/names/20.1000%2Fa/history") else {
            panic!("nothing is found");
        };
        assert_eq!(
            (route.name, path),
            ("nameHistory", vec!["20.1000/a".to_string()])
        );
        assert!(matches!(
            find(&Method::GET, "/names/20.1000/a"),
            Found::Nothing
        ));
        assert!(matches!(find(&Method::PUT, "/names/x"), Found::Methods(_)));
        assert!(matches!(
            find(&Method::GET, "/names/%FF"),
            Found::Unreadable
        ));
        assert!(matches!(find(&Method::GET, "/"), Found::Route(_, _)));
        for (tile, given) in [("x001/234.p/5", "x001/234.p/5"), ("x001%2F234", "x001/234")] {
            let Found::Route(route, path) = find(&Method::GET, &format!("/log/tile/0/{tile}"))
            else {
                panic!("{tile} is not found");
            };
            assert_eq!((route.name, path[1].as_str()), ("logTile", given));
        }
    }

    #[test]
    fn names_of_operations_are_their_own() {
        let mut names: Vec<_> = ROUTES
            .iter()
            .copied()
            .flatten()
            .map(|route| route.name)
            .collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
