//! What can be asked, by area. From this, requests are matched, and the description is made.

use super::call::{Answer, Call};
use super::problem::Problem;
use super::routes::{Given, Gives, Handler, Kind, Parameter, Route};
use super::{about, accounts, authorities, jobs, log, names, namespaces, search, tokens};

/// All of it.
pub(super) static ROUTES: &[&[Route]] =
    &[GENERAL, NAMES, AUTHORITIES, NAMESPACES, ACCOUNTS, JOBS, LOG];

/// Statuses of what only reads.
const READ: &[u16] = &[400, 401, 403, 404, 503];
/// Statuses of what reads something by a name that may be none.
const READ_BY_NAME: &[u16] = &[400, 401, 403, 404, 422, 503];
/// Statuses of what reads something that may be gone, or that the client may have.
const SHOW: &[u16] = &[304, 400, 401, 403, 404, 410, 503];
/// Statuses of what changes something.
const WRITE: &[u16] = &[400, 401, 403, 404, 409, 412, 413, 415, 422, 429, 503];

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
const GRAMMARS: Kind = Kind::OneOf(&["draft", "rfc4452"]);
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

/// About the server, and finding things.
#[rustfmt::skip]
const GENERAL: &[Route] = &[
    get("", "about", "What this server is", Gives::Json("About"), about::about),
    get("/openapi.json", "openapi", "This description", Gives::Json("OpenApi"), about::openapi),
    Route {
        query: &[
            required("id", "The identifier, in any spelling"),
            Parameter { kind: SCHEMES, ..text("as", "Read it as this scheme, to the letter") },
            Parameter { kind: GRAMMARS, ..text("grammar", "The grammar of info URIs") },
        ],
        ..get("/inspect", "inspect", "What an identifier is", Gives::Json("Inspection"), about::inspect)
    },
    get("/statistics", "statistics", "How much there is", Gives::Json("Statistics"), about::statistics),
    Route {
        query: &[
            text("q", "Words in a name, in its public values, or in the title of an authority"),
            text("prefix", "How a name, or the path of an authority, begins"),
            text("url", "A URL that names hold"), text("value", "Another public value"),
            text("type", "The type of that value"), AFTER, LIMIT,
        ],
        ..get("/search", "search", "Find names by what they hold, by words, or by how they begin", Gives::Json("Found"), search::search)
    },
];

/// Names.
#[rustfmt::skip]
const NAMES: &[Route] = &[
    Route {
        is_known: true,
        query: &[
            required("authority", "The authority"), text("prefix", "How their local parts begin"), AFTER, LIMIT,
        ],
        refusals: READ_BY_NAME,
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
        query: &[AT, AFTER, number("limit", "How many at most, 1 to 1000; fewer are given if they have many bytes")],
        ..get("/names/{id}/history", "nameHistory", "What happened to a name, oldest first, page by page", Gives::Json("EventPage"), names::history)
    },
    Route {
        refusals: READ_BY_NAME,
        ..get("/names/{id}/proof", "proveName", "Proof that the history of a name is in the log", Gives::Json("Proof"), names::prove)
    },
    Route {
        status: 201,
        ..change("POST", "/mint", "mint", "Make new names", Some(Given::Json("NewMint")), Gives::Json("Minted"), names::mint)
    },
];

/// Authorities.
#[rustfmt::skip]
const AUTHORITIES: &[Route] = &[
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
        ..change("POST", "/authorities/{authority}/decline", "declineAuthority", "Decline a request, or take your own back", None, Gives::Nothing, authorities::decline)
    },
    Route {
        query: &[flag("keep-children", "Let the authorities below it go on naming")],
        ..change("POST", "/authorities/{authority}/retire", "retireAuthority", "Retire an authority and those below it: their names keep resolving, nothing new is named", None, AUTHORITY, authorities::retire)
    },
    change("POST", "/authorities/{authority}/transfer", "transferAuthority", "Hand an authority to someone, who becomes its only admin", Some(Given::Json("To")), AUTHORITY, authorities::transfer),
    change("PUT", "/authorities/{authority}/grants/{who}", "grant", "Grant a role on an authority and everything below it", Some(Given::Json("NewGrant")), AUTHORITY, authorities::grant),
    change("DELETE", "/authorities/{authority}/grants/{who}", "revoke", "Take a role away", None, AUTHORITY, authorities::revoke),
    Route {
        refusals: READ_BY_NAME,
        ..get("/authorities/{authority}/grants", "listGrants", "Who has which role on an authority, there or above, for those with a role", Gives::JsonList("Grant"), authorities::grants)
    },
];

/// Accounts and tokens.
#[rustfmt::skip]
const ACCOUNTS: &[Route] = &[
    Route { is_known: true, query: &[AFTER, LIMIT], ..get("/accounts", "listAccounts", "All accounts, by name, for administrators", Gives::Json("AccountPage"), accounts::list) },
    Route {
        status: 201,
        ..change("POST", "/accounts", "createAccount", "Create an account, as an administrator", Some(Given::Json("NewAccount")), Gives::Json("Account"), accounts::create)
    },
    Route { is_known: true, ..get("/accounts/this", "showThisAccount", "Who asks, with which roles, and what their token is for", Gives::Json("ThisAccount"), accounts::this) },
    Route { is_known: true, refusals: READ_BY_NAME, ..get("/accounts/{account}", "showAccount", "An account: one's own, or as an administrator any", Gives::Json("Account"), accounts::show) },
    change("PATCH", "/accounts/{account}", "changeAccount", "Change an account, as an administrator; the tokens of one that is suspended count no more", Some(Given::Json("AccountChange")), Gives::Json("Account"), accounts::change),
    Route { is_known: true, ..get("/tokens", "listTokens", "The tokens of whoever asks", Gives::JsonList("Token"), tokens::list) },
    Route {
        status: 201,
        ..change("POST", "/tokens", "createToken", "Make a token; `secret` is shown this once", Some(Given::Json("NewToken")), Gives::Json("Token"), tokens::create)
    },
    Route {
        status: 204,
        ..change("DELETE", "/tokens/{token}", "revokeToken", "End a token", None, Gives::Nothing, tokens::revoke)
    },
];

/// Long work.
#[rustfmt::skip]
const JOBS: &[Route] = &[
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
        ..get("/jobs/{job}/outcomes", "jobOutcomes", "What a job has refused, the first of it", Gives::Json("OutcomePage"), jobs::outcomes)
    },
    change("POST", "/jobs/{job}/cancel", "cancelJob", "Stop a job at its next batch, for good", None, Gives::Json("Job"), jobs::cancel),
    Route {
        is_long: true,
        ..change("POST", "/jobs/{job}/resume", "resumeJob", "Go on with a job that was cut short", None, Gives::Json("JobDone"), jobs::resume)
    },
    Route {
        query: &[DRY_RUN],
        is_long: true,
        ..change("POST", "/jobs/{job}/undo", "undoJob", "Undo all that a job did, as new changes; names that an import created stay", None, Gives::Json("JobDone"), jobs::undo)
    },
    Route {
        query: &[
            Parameter { kind: FORMATS, ..text("format", "What the lines are, where their beginning does not tell") },
            text("authority", "Put local names under this authority"),
            text("source", "What the input is called"),
            flag("update", "Change names that exist and are different: what a line names, and nothing else"),
            flag("replace", "With `update`: remove the values that a line does not name"),
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
        refusals: READ_BY_NAME,
        handler: Handler::Export,
        ..get("/export", "export", "Give names, line by line", Gives::Names, about::about)
    },
];

/// The proof log.
#[rustfmt::skip]
const LOG: &[Route] = &[
    get("/log/key", "logKey", "The public key of the log", Gives::Json("LogKey"), log::key),
    get("/log/checkpoint", "checkpoint", "The signed head of the log", Gives::Text, log::checkpoint),
    Route {
        is_known: false,
        ..change("POST", "/log/growth", "proveGrowth", "Proof that the log has only grown since a checkpoint", Some(Given::Text), Gives::Json("Growth"), log::growth)
    },
    get("/log/tile/entries/{+place}", "logEntries", "Events, up to 256 of them (C2SP tlog-tiles)", Gives::Bytes, log::entries),
    get("/log/tile/{level}/{+place}", "logTile", "Hashes of the log, up to 256 of them (C2SP tlog-tiles)", Gives::Bytes, log::tile),
    Route {
        status: 201,
        ..change("POST", "/log/begin", "beginLog", "Begin a new log, with a new key, that continues this one; for administrators", Some(Given::OptionalJson("NewLog")), Gives::Json("LogKey"), log::begin)
    },
    Route {
        is_known: true,
        refusals: READ_BY_NAME,
        handler: Handler::LogExport,
        ..get("/log/export", "exportLog", "The whole log, for `handfast log verify --export`", Gives::Lines, about::about)
    },
];

const NAMESPACE: Gives = Gives::Json("NamespaceDone");
const REASON: Option<Given> = Some(Given::Json("NamespaceReason"));
const STATUSES: Kind = Kind::OneOf(&[
    "candidate",
    "refused",
    "registered",
    "lapsed",
    "deprecated",
    "withdrawn",
]);

/// Something that is done with an entry of the registry of namespaces.
const fn act(
    path: &'static str,
    name: &'static str,
    summary: &'static str,
    body: Option<Given>,
    handler: fn(&Call) -> Result<Answer, Problem>,
) -> Route {
    Route {
        query: &[DRY_RUN],
        ..change("POST", path, name, summary, body, NAMESPACE, handler)
    }
}

/// The registry of `info` namespaces.
#[rustfmt::skip]
const NAMESPACES: &[Route] = &[
    Route {
        query: &[
            text("q", "A text in the string, the title, the description or the organisation"),
            Parameter { kind: STATUSES, ..text("status", "Where they are in their life") },
            flag("historical", "Those of the original registry, or the others"), AFTER, LIMIT,
        ],
        ..get("/namespaces", "listNamespaces", "Entries of the registry of info namespaces", Gives::Json("NamespacePage"), namespaces::list)
    },
    Route {
        status: 201,
        query: &[DRY_RUN],
        ..change("POST", "/namespaces", "proposeNamespace", "Propose a namespace: it is open to comments until the operator decides", Some(Given::Json("NamespaceForm")), NAMESPACE, namespaces::propose)
    },
    Route {
        refusals: SHOW,
        ..get("/namespaces/{namespace}", "showNamespace", "An entry, or a proposal", Gives::Json("Namespace"), namespaces::show)
    },
    Route {
        query: &[DRY_RUN],
        ..change("PATCH", "/namespaces/{namespace}", "changeNamespace", "Change what an entry says; what is not given stays", Some(Given::Json("NamespaceChange")), NAMESPACE, namespaces::change)
    },
    Route {
        query: &[AFTER, number("limit", "How many at most, 1 to 1000; no more than 100 are given at once")],
        ..get("/namespaces/{namespace}/history", "namespaceHistory", "How an entry came to be what it is, oldest first", Gives::Json("NamespaceHistory"), namespaces::history)
    },
    get("/namespaces/{namespace}/comments", "namespaceComments", "What was said of a candidate", Gives::JsonList("NamespaceComment"), namespaces::comments),
    Route {
        status: 201,
        refusals: &[400, 401, 403, 404, 409, 413, 415, 422, 503],
        ..change("POST", "/namespaces/{namespace}/comments", "commentOnNamespace", "Say something of a candidate", Some(Given::Json("NewText")), Gives::Json("NamespaceComment"), namespaces::comment)
    },
    act("/namespaces/{namespace}/approve", "approveNamespace", "Register a candidate; make a provisional entry permanent; reinstate a deprecated one", Some(Given::Json("NamespaceApproval")), namespaces::approve),
    act("/namespaces/{namespace}/refuse", "refuseNamespace", "Turn down a candidate, or a claim", REASON, namespaces::refuse),
    act("/namespaces/{namespace}/claim", "claimNamespace", "Say that an entry is yours", REASON, namespaces::claim),
    Route {
        query: &[DRY_RUN],
        ..change("DELETE", "/namespaces/{namespace}/claim", "takeBackClaim", "Take a claim of your own back", None, NAMESPACE, namespaces::take_back)
    },
    act("/namespaces/{namespace}/verify", "verifyNamespace", "Find that a claim is right: whoever made it owns the entry", REASON, namespaces::verify),
    act("/namespaces/{namespace}/renew", "renewNamespace", "Let a provisional entry go on for a while", Some(Given::Json("NamespaceRenewal")), namespaces::renew),
    act("/namespaces/{namespace}/deprecate", "deprecateNamespace", "Say that a namespace should not be used for anything new", REASON, namespaces::deprecate),
    act("/namespaces/{namespace}/withdraw", "withdrawNamespace", "Withdraw an entry, leaving a tombstone, or take back a candidate", REASON, namespaces::withdraw),
    Route {
        refusals: SHOW,
        ..get("/namespace-policy", "showPolicy", "The policy of the registry of namespaces", Gives::Json("NamespacePolicy"), namespaces::policy)
    },
    change("PUT", "/namespace-policy", "setPolicy", "Set the policy of the registry of namespaces", Some(Given::Json("NewText")), Gives::Json("NamespacePolicy"), namespaces::set_policy),
];
