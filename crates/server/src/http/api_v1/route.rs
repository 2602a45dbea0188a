//! What a route is, and how a request finds its route.
//!
//! All routes are in one table ([`table`](super::table)). The server finds the route of a request
//! in it, and makes the `OpenAPI` document from it, so that both always agree.

use crate::http::percent::decode;
use hyper::Method;
use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::call::{Answer, Call};
use super::jobs::Wanted;
use super::problem::Problem;

/// Routes of one kind, which the description shows together.
pub(super) struct Group {
    pub(super) tag: &'static str,
    pub(super) about: &'static str,
    pub(super) routes: &'static [Route],
}

/// A method and a path that the server answers.
pub(super) struct Route {
    pub(super) method: &'static str,
    /// Below `/api/v1`; braces stand for one segment, percent-encoded.
    pub(super) path: &'static str,
    /// The name that programs know it by.
    pub(super) name: &'static str,
    /// Whether a request needs a token.
    pub(super) is_known: bool,
    pub(super) query: &'static [Parameter],
    pub(super) body: Option<RequestBody>,
    /// The status of success.
    pub(super) status: u16,
    pub(super) gives: ResponseBody,
    /// Whether a client need not wait for it: `Prefer: respond-async`.
    pub(super) is_long: bool,
    /// Whether it hashes a password, which needs much memory.
    pub(super) hashes_password: bool,
    /// The statuses of errors, and 304.
    pub(super) errors: &'static [u16],
    pub(super) handler: Handler,
}

/// The function that answers.
pub(super) enum Handler {
    Export,
    Import,
    /// Long work: reads what is to be done.
    Job(fn(&Call) -> Result<Wanted, Problem>),
    LogExport,
    Plain(fn(&Call) -> Result<Answer, Problem>),
}

/// A parameter of the query.
#[derive(Clone, Copy)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) is_required: bool,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy)]
pub(super) enum Kind {
    Flag,
    /// A number from one to another.
    Number(u64, u64),
    OneOf(&'static [&'static str]),
    /// A text of so many bytes: from, to.
    Text(usize, usize),
}

/// Makes the schema of a type of the API.
pub(super) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// The body of a request.
#[derive(Clone, Copy)]
pub(super) enum RequestBody {
    /// JSON.
    Json(SchemaOf),
    /// JSON, or nothing.
    OptionalJson(SchemaOf),
    /// Lines, read one by one.
    Lines,
    /// A text.
    Text,
}

/// The body of a response.
#[derive(Clone, Copy)]
pub(super) enum ResponseBody {
    Bytes,
    Json(SchemaOf),
    Lines,
    /// Names, in the format of the request.
    Names,
    Nothing,
    Text,
    /// Text of a media type.
    TextOf(&'static str),
}

impl Route {
    pub(super) const fn new(
        method: &'static str,
        path: &'static str,
        name: &'static str,
        handler: Handler,
    ) -> Self {
        Self {
            method,
            path,
            name,
            is_known: false,
            query: &[],
            body: None,
            status: 200,
            gives: ResponseBody::Nothing,
            is_long: false,
            hashes_password: false,
            errors: &[],
            handler,
        }
    }

    /// Whether a request needs a token.
    pub(super) const fn known(mut self, is_known: bool) -> Self {
        self.is_known = is_known;
        self
    }

    pub(super) const fn query(mut self, query: &'static [Parameter]) -> Self {
        self.query = query;
        self
    }

    /// The type of the request.
    pub(super) const fn takes<T: JsonSchema>(mut self) -> Self {
        self.body = Some(RequestBody::Json(SchemaGenerator::subschema_for::<T>));
        self
    }

    pub(super) const fn takes_body(mut self, body: RequestBody) -> Self {
        self.body = Some(body);
        self
    }

    /// The type of the response.
    pub(super) const fn gives<T: JsonSchema>(mut self) -> Self {
        self.gives = ResponseBody::Json(SchemaGenerator::subschema_for::<T>);
        self
    }

    pub(super) const fn gives_body(mut self, body: ResponseBody) -> Self {
        self.gives = body;
        self
    }

    /// Something is new.
    pub(super) const fn creates(mut self) -> Self {
        self.status = 201;
        self
    }

    /// The response is empty.
    pub(super) const fn empty(mut self) -> Self {
        self.status = 204;
        self
    }

    /// A client need not wait.
    pub(super) const fn long(mut self) -> Self {
        self.is_long = true;
        self
    }

    /// It hashes a password.
    pub(super) const fn hashing(mut self) -> Self {
        self.hashes_password = true;
        self
    }

    pub(super) const fn errors(mut self, errors: &'static [u16]) -> Self {
        self.errors = errors;
        self
    }
}

/// The route of a request.
pub(super) enum Found {
    /// A route, with the segments that stand for its braces.
    Route(&'static Route, Vec<String>),
    /// The path has other methods.
    Methods(Vec<&'static str>),
    Nothing,
    /// A segment is not UTF-8.
    Unreadable,
}

/// Finds the route of a request.
pub(super) fn find(groups: &'static [Group], method: &Method, path: &str) -> Found {
    let path = path.trim_end_matches('/');
    let mut methods = Vec::new();
    for route in groups.iter().flat_map(|group| group.routes) {
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
        let decoded = given.into_iter().map(decode);
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
    use super::super::route_table::GROUPS;
    use super::*;

    fn find(method: &Method, path: &str) -> Found {
        super::find(GROUPS, method, path)
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
        let all = GROUPS.iter().flat_map(|group| group.routes);
        let mut names: Vec<_> = all.map(|route| route.name).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
