//! All that can be asked, in one table: requests are matched against it, and the description for programs is made
//! from it, so that neither knows of anything that the other does not.

use hyper::Method;

use super::call::{Answer, Call};
use super::problem::Problem;
use super::{about, authorities, jobs, names, tokens};

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
    /// JSON of a schema.
    Json(&'static str),
    /// A list of them.
    JsonList(&'static str),
    Lines,
    Nothing,
    Text,
}

/// Statuses of what only reads.
const READ: &[u16] = &[400, 401, 403, 404, 503];
/// Statuses of what reads something that may be gone, or that the client may have.
const SHOW: &[u16] = &[304, 400, 401, 403, 404, 410, 503];
/// Statuses of what changes something.
const WRITE: &[u16] = &[400, 401, 403, 404, 409, 412, 413, 415, 422, 503];

const fn text(name: &'static str, about: &'static str) -> Parameter {
    Parameter {
        name,
        about,
        is_required: false,
        kind: Kind::Text,
    }
}

const fn required(name: &'static str, about: &'static str) -> Parameter {
    Parameter {
        is_required: true,
        ..text(name, about)
    }
}

const fn flag(name: &'static str, about: &'static str) -> Parameter {
    Parameter {
        kind: Kind::Flag,
        ..text(name, about)
    }
}

const fn number(name: &'static str, about: &'static str) -> Parameter {
    Parameter {
        kind: Kind::Number,
        ..text(name, about)
    }
}

const AFTER: Parameter = text("after", "What `next` of the page before said");
const LIMIT: Parameter = number("limit", "How many at most, 1 to 1000");
const AT: Parameter = text(
    "at",
    "As it was after this event, or at this time (RFC 3339)",
);
const DRY_RUN: Parameter = flag("dry-run", "Say what would be done, and do nothing");
const FORMATS: Kind = Kind::OneOf(&["ndjson", "csv", "batch", "json"]);
const SCHEMES: Kind = Kind::OneOf(&[
    "any", "ark", "cordra", "doi", "handle", "hdl", "http", "info", "urn",
]);

/// One that reads.
const fn get(
    path: &'static str,
    name: &'static str,
    summary: &'static str,
    gives: Gives,
    handler: fn(&Call) -> Result<Answer, Problem>,
) -> Route {
    Route {
        method: "GET",
        path,
        name,
        summary,
        is_known: false,
        query: &[],
        body: None,
        status: 200,
        gives,
        is_long: false,
        refusals: READ,
        handler: Handler::Plain(handler),
    }
}

/// One that changes something.
const fn change(
    method: &'static str,
    path: &'static str,
    name: &'static str,
    summary: &'static str,
    body: Option<Given>,
    gives: Gives,
    handler: fn(&Call) -> Result<Answer, Problem>,
) -> Route {
    Route {
        method,
        path,
        name,
        summary,
        is_known: true,
        query: &[],
        body,
        status: 200,
        gives,
        is_long: false,
        refusals: WRITE,
        handler: Handler::Plain(handler),
    }
}

const NAME: Gives = Gives::Json("Name");
const AUTHORITY: Gives = Gives::Json("Authority");

/// All of them.
#[rustfmt::skip]
pub(super) static ROUTES: &[Route] = &[
    get("", "about", "What this server is", Gives::Json("About"), about::about),
    get("/openapi.json", "openapi", "This description", Gives::Json("OpenApi"), about::openapi),
    Route {
        query: &[
            required("id", "The identifier, in any spelling"),
            Parameter { kind: SCHEMES, ..text("as", "Read it as this scheme, to the letter") },
        ],
        ..get("/inspect", "inspect", "What an identifier is", Gives::Json("Inspection"), about::inspect)
    },
    get("/statistics", "statistics", "How much there is", Gives::Json("Statistics"), about::statistics),
    Route {
        query: &[
            text("url", "A URL that names hold"), text("value", "Another public value"),
            text("type", "The type of that value"), AFTER, LIMIT,
        ],
        ..get("/search", "search", "Find names by what they hold", Gives::Json("NamePage"), names::search)
    },
    Route {
        is_known: true,
        query: &[
            required("authority", "The authority"), text("prefix", "How their local parts begin"), AFTER, LIMIT,
        ],
        ..get("/names", "listNames", "Names under an authority, in the order of their keys", Gives::Json("NamePage"), names::list)
    },
    Route {
        status: 201,
        ..change("POST", "/names", "createName", "Create a name, or reserve it", Some(Given::Json("NewName")), NAME, names::create)
    },
    Route {
        query: &[AT],
        refusals: SHOW,
        ..get("/names/{id}", "showName", "A name, now or as it was", NAME, names::show)
    },
    change("PATCH", "/names/{id}", "changeName", "Change the values of a name; `urls` replaces all its URLs", Some(Given::Json("NameChange")), NAME, names::change),
    Route {
        status: 204,
        ..change("DELETE", "/names/{id}", "eraseName", "Erase a name, under an authority where that is allowed", None, Gives::Nothing, names::erase)
    },
    change("POST", "/names/{id}/activate", "activateName", "Make a reserved name active", None, NAME, names::activate),
    change("POST", "/names/{id}/withdraw", "withdrawName", "Withdraw a name, leaving a tombstone", Some(Given::Json("NewTombstone")), NAME, names::withdraw),
    change("POST", "/names/{id}/restore", "restoreName", "Make a withdrawn name active again", None, NAME, names::restore),
    change("POST", "/names/{id}/transfer", "transferName", "Hand the administration of a name to someone", Some(Given::Json("To")), NAME, names::transfer),
    change("POST", "/names/{id}/undo", "undoName", "Undo a change of a name, as a new change", Some(Given::OptionalJson("NewUndo")), NAME, names::undo),
    Route {
        query: &[AT],
        ..get("/names/{id}/history", "nameHistory", "What happened to a name, oldest first", Gives::JsonList("Event"), names::history)
    },
    Route {
        refusals: &[400, 401, 403, 404, 422, 503],
        ..get("/names/{id}/proof", "proveName", "Proof that the history of a name is in the log", Gives::Json("Proof"), names::prove)
    },
    Route {
        status: 201,
        ..change("POST", "/mint", "mint", "Make new names", Some(Given::Json("NewMint")), Gives::Json("Minted"), names::mint)
    },
    Route {
        query: &[AFTER, LIMIT],
        ..get("/authorities", "listAuthorities", "All authorities, by key", Gives::Json("AuthorityPage"), authorities::list)
    },
    Route {
        status: 201,
        ..change("POST", "/authorities", "createAuthority", "Create an authority, or ask for one", Some(Given::Json("NewAuthority")), AUTHORITY, authorities::create)
    },
    Route {
        refusals: &[304, 400, 401, 403, 404, 422, 503],
        ..get("/authorities/{authority}", "showAuthority", "An authority; its grants to those with a role there", AUTHORITY, authorities::show)
    },
    change("PATCH", "/authorities/{authority}", "changeAuthority", "Change title, contact or policy", Some(Given::Json("AuthorityChange")), AUTHORITY, authorities::change),
    change("POST", "/authorities/{authority}/approve", "approveAuthority", "Approve a request: whoever asked becomes its admin", None, AUTHORITY, authorities::approve),
    Route {
        status: 204,
        ..change("POST", "/authorities/{authority}/decline", "declineAuthority", "Decline a request", None, Gives::Nothing, authorities::decline)
    },
    change("POST", "/authorities/{authority}/retire", "retireAuthority", "Retire an authority: its names keep resolving, nothing new is named", None, AUTHORITY, authorities::retire),
    change("POST", "/authorities/{authority}/transfer", "transferAuthority", "Hand an authority to someone, who becomes its only admin", Some(Given::Json("To")), AUTHORITY, authorities::transfer),
    change("PUT", "/authorities/{authority}/grants/{who}", "grant", "Grant a role on an authority and everything below it", Some(Given::Json("NewGrant")), AUTHORITY, authorities::grant),
    change("DELETE", "/authorities/{authority}/grants/{who}", "revoke", "Take a role away", None, AUTHORITY, authorities::revoke),
    Route { is_known: true, ..get("/tokens", "listTokens", "The tokens of whoever asks", Gives::JsonList("Token"), tokens::list) },
    Route {
        status: 201,
        ..change("POST", "/tokens", "createToken", "Make a token; `secret` is shown this once", Some(Given::Json("NewToken")), Gives::Json("Token"), tokens::create)
    },
    Route {
        status: 204,
        ..change("DELETE", "/tokens/{token}", "revokeToken", "End a token", None, Gives::Nothing, tokens::revoke)
    },
    Route {
        is_known: true,
        query: &[number("after", "The job before the first"), LIMIT],
        ..get("/jobs", "listJobs", "The jobs of whoever asks, imports included", Gives::Json("JobPage"), jobs::list)
    },
    Route {
        query: &[DRY_RUN],
        is_long: true,
        ..change("POST", "/jobs", "startJob", "Change many names at once", Some(Given::Json("NewJob")), Gives::Json("JobDone"), jobs::start)
    },
    Route { is_known: true, ..get("/jobs/{job}", "showJob", "A job, and how far it has come", Gives::Json("Job"), jobs::show) },
    Route {
        is_known: true,
        query: &[number("after", "What `next` of the page before said"), LIMIT],
        ..get("/jobs/{job}/outcomes", "jobOutcomes", "What a job has refused, the first 10,000", Gives::Json("OutcomePage"), jobs::outcomes)
    },
    change("POST", "/jobs/{job}/cancel", "cancelJob", "Stop a job at its next batch, for good", None, Gives::Json("Job"), jobs::cancel),
    Route {
        is_long: true,
        ..change("POST", "/jobs/{job}/resume", "resumeJob", "Go on with a job that was cut short", None, Gives::Json("JobDone"), jobs::resume)
    },
    Route {
        query: &[DRY_RUN],
        is_long: true,
        ..change("POST", "/jobs/{job}/undo", "undoJob", "Undo all that a job did, as new changes", None, Gives::Json("JobDone"), jobs::undo)
    },
    Route {
        query: &[
            Parameter { kind: FORMATS, ..text("format", "What the lines are, where their beginning does not tell") },
            text("authority", "Put local names under this authority"),
            text("source", "What the input is called"),
            flag("update", "Change names that exist and are different"),
            flag("migrate", "Take names that could not be registered here"),
            flag("restart", "Do not go on with the same import that was cut short"),
            flag("all", "Tell of all lines, and not only of those that were refused"),
            DRY_RUN,
        ],
        handler: Handler::Import,
        is_long: true,
        ..change("POST", "/import", "import", "Take names; a line for each outcome, and one for all at the end", Some(Given::Lines), Gives::Lines, about::about)
    },
    Route {
        is_known: true,
        query: &[
            Parameter { kind: FORMATS, ..text("format", "How they are given") },
            text("authority", "Only what is under an authority, and below it"),
            number("since", "Only names that were given or changed after this event"),
        ],
        refusals: &[400, 401, 403, 404, 422, 503],
        handler: Handler::Export,
        ..get("/export", "export", "Give names, line by line", Gives::Lines, about::about)
    },
    get("/log/key", "logKey", "The public key of the log", Gives::Json("LogKey"), about::log_key),
    get("/log/checkpoint", "checkpoint", "The signed head of the log", Gives::Text, about::checkpoint),
    Route {
        is_known: false,
        ..change("POST", "/log/growth", "proveGrowth", "Proof that the log has only grown since a checkpoint", Some(Given::Text), Gives::Json("Growth"), about::growth)
    },
];

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
pub(super) fn find(method: &Method, path: &str) -> Found {
    let path = path.trim_end_matches('/');
    let mut methods = Vec::new();
    for route in ROUTES {
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
    use super::*;

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
    }

    #[test]
    fn names_of_operations_are_their_own() {
        let mut names: Vec<_> = ROUTES.iter().map(|route| route.name).collect();
        names.sort_unstable();
        let all = names.len();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
