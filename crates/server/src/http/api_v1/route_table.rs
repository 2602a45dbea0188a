//! All routes of the API, by kind. `operations.md` describes each in words.

use handfast_api::{
    About, AccessRequest, Account, AccountChange, AccountPage, Authority, AuthorityChange,
    AuthorityPage, AuthorityRequest, EventPage, Found, GrantOn, GroupPage, Growth, Holdings,
    Inspection, Invitation, Job, JobDone, JobPage, ListedEventPage, LogKey, Minted, Name,
    NameChange, NamePage, Namespace, NamespaceApproval, NamespaceChange, NamespaceComment,
    NamespaceDone, NamespaceHistory, NamespacePage, NamespacePolicy, NamespaceProposal,
    NamespaceReason, NamespaceRenewal, NewAccessRequest, NewAccount, NewAuthority, NewComment,
    NewDecline, NewGrant, NewGroup, NewInvitation, NewJob, NewLog, NewMint, NewName,
    NewNamespacePolicy, NewPassword, NewToken, NewTombstone, NewUndo, OutcomePage, Person, Proof,
    RoleReason, SignInLink, SignInPage, Statistics, ThisAccount, Token, Transfer, limits,
};
use handfast_registry::{AuthorityAction, NameAction, NamespaceAct};
use schemars::SchemaGenerator;
use serde_json::{Map, Value as Json};

use super::call::{Answer, Call};
use super::jobs::Wanted;
use super::namespaces::with_reason;
use super::problem::Problem;
use super::route::{Group, Handler, Kind, Parameter, RequestBody, ResponseBody, Route};
use super::{
    about, access, accounts, authorities, events, groups, jobs, log, names, namespaces, search,
    sign_in, tokens,
};

/// All of them.
pub(super) static GROUPS: &[Group] = &[
    Group {
        tag: "Server",
        about: "The server itself, identifiers and searching.",
        routes: SERVER,
    },
    Group {
        tag: "Names",
        about: "Names: persistent identifiers with values, such as URLs.",
        routes: NAMES,
    },
    Group {
        tag: "Authorities",
        about: "Authorities, under which names are created, with their policies and grants.",
        routes: AUTHORITIES,
    },
    Group {
        tag: "Namespaces",
        about: "The registry of `info` namespaces.",
        routes: NAMESPACES,
    },
    Group {
        tag: "Accounts",
        about: "Accounts, their tokens, and how people sign in.",
        routes: ACCOUNTS,
    },
    Group {
        tag: "Access",
        about: "Groups of accounts, and requests for access.",
        routes: ACCESS,
    },
    Group {
        tag: "Jobs",
        about: "Changing many names at once, importing and exporting.",
        routes: JOBS,
    },
    Group {
        tag: "Log",
        about: "The log of all events, and proofs that it only grows.",
        routes: LOG,
    },
];

/// Errors of routes that read.
const READ: &[u16] = &[400, 401, 403, 404, 503];
/// Errors of routes that read something by a name, which may be none.
const READ_BY_NAME: &[u16] = &[400, 401, 403, 404, 422, 503];
/// Errors of routes that show something that may be withdrawn, or that the client may have.
const SHOW: &[u16] = &[304, 400, 401, 403, 404, 410, 503];
/// Errors of routes that write.
const WRITE: &[u16] = &[400, 401, 403, 404, 409, 412, 413, 415, 422, 429, 503];

/// Which handler a route has: a function.
type Function = fn(&Call) -> Result<Answer, Problem>;

const fn get(path: &'static str, name: &'static str, handler: Function) -> Route {
    Route::new("GET", path, name, Handler::Plain(handler)).errors(READ)
}

const fn change(
    method: &'static str,
    path: &'static str,
    name: &'static str,
    handler: Function,
) -> Route {
    let route = Route::new(method, path, name, Handler::Plain(handler));
    route.known(true).errors(WRITE)
}

pub(super) const fn post(path: &'static str, name: &'static str, handler: Function) -> Route {
    change("POST", path, name, handler)
}

const fn parameter(name: &'static str, about: &'static str, kind: Kind) -> Parameter {
    Parameter {
        name,
        about,
        is_required: false,
        kind,
    }
}

const fn text(name: &'static str, about: &'static str) -> Parameter {
    parameter(name, about, Kind::Text(0, usize::MAX))
}

const fn flag(name: &'static str, about: &'static str) -> Parameter {
    parameter(name, about, Kind::Flag)
}

const fn number(name: &'static str, about: &'static str) -> Parameter {
    parameter(name, about, Kind::Number(0, u64::MAX))
}

const fn required(parameter: Parameter) -> Parameter {
    Parameter {
        is_required: true,
        ..parameter
    }
}

const fn limit(about: &'static str) -> Parameter {
    parameter("limit", about, Kind::Number(1, limits::PAGE))
}

const AFTER: Parameter = text("after", "The member `next` of the previous page.");
const AFTER_NUMBER: Parameter = number("after", "The member `next` of the previous page.");
const LIMIT: Parameter = limit("How many items the page has at most: by default 100.");
const AT: Parameter = text(
    "at",
    "Show it as it was after the event of this number, or at this time (RFC 3339).",
);
pub(super) const DRY_RUN: Parameter =
    flag("dry-run", "Show what would be done, and write nothing.");
/// Which events.
const EVENTS_QUERY: &[Parameter] = &[
    text(
        "authority",
        "Events of this authority, its names, and the authorities below it.",
    ),
    text("account", "Events of this account, or `INDEX:HANDLE`."),
    text(
        "action",
        "Events with this action, such as `withdraw` or `create authority`.",
    ),
    text(
        "since",
        "Events of this day (2026-11-15) or time (RFC 3339), or later.",
    ),
    text("until", "Events of this day or time, or earlier."),
    text("id", "Events of this name."),
    AFTER_NUMBER,
    LIMIT,
];
const FORMATS: Kind = Kind::OneOf(&["ndjson", "csv", "batch", "json"]);
const GRAMMARS: Kind = Kind::OneOf(&["draft", "rfc4452"]);
const ROLES: Kind = Kind::OneOf(&["read", "write", "lead", "admin"]);
const SCHEMES: Kind = Kind::OneOf(&[
    "any", "ark", "cordra", "doi", "handle", "hdl", "http", "info", "urn",
]);
const STATES: Kind = Kind::OneOf(&["active", "reserved", "withdrawn"]);
const STATUSES: Kind = Kind::OneOf(&[
    "candidate",
    "refused",
    "registered",
    "lapsed",
    "deprecated",
    "withdrawn",
]);

#[rustfmt::skip]
const SERVER: &[Route] = &[
    get("", "about", about::about).gives::<About>(),
    get("/openapi.json", "openapi", about::openapi).gives::<Map<String, Json>>(),
    get("/inspect", "inspect", about::inspect).query(&[
            required(text("id", "The identifier, in any spelling.")),
            parameter("as", "Read it as an identifier of this scheme.", SCHEMES),
            parameter("grammar", "The grammar of `info` URIs.", GRAMMARS),
        ]).gives::<Inspection>(),
    get("/statistics", "statistics", about::statistics).gives::<Statistics>(),
    get("/search", "search", search::search).query(&[
            parameter("q", "Words in a name, its public values, or the title of an authority.",
                Kind::Text(1, limits::SEARCH_WORDS)),
            parameter("prefix", "The beginning of a name, or of the path of an authority.",
                Kind::Text(1, limits::SEARCH_PREFIX)),
            text("url", "A URL that names have."),
            text("value", "Another public value that names have."),
            text("type", "The type of that value."), AFTER, LIMIT,
        ]).gives::<Found>(),
];

#[rustfmt::skip]
const NAMES: &[Route] = &[
    get("/names", "listNames", names::list).known(true).query(&[
            required(text("authority", "The authority.")),
            text("prefix", "The beginning of the local names."),
            flag("children", "List the names of the authorities below it, too."),
            parameter("state", "Names in this state.", STATES),
            parameter("q", "Names that have these words, in the name or in a public value.",
                Kind::Text(1, limits::SEARCH_WORDS)),
            text("changed-since", "Names that were changed at this time or later (RFC 3339)."),
            AFTER, LIMIT,
        ]).gives::<NamePage>().errors(READ_BY_NAME),
    post("/names", "createName", names::create).takes::<NewName>().creates().gives::<Name>(),
    get("/names/{id}", "showName", names::show).query(&[AT]).gives::<Name>().errors(SHOW),
    change("PATCH", "/names/{id}", "changeName", names::change).takes::<NameChange>()
        .gives::<Name>(),
    change("DELETE", "/names/{id}", "eraseName", |call| names::act(call, NameAction::Erase))
        .empty(),
    post("/names/{id}/activate", "activateName", |call| names::act(call, NameAction::Activate))
        .gives::<Name>(),
    post("/names/{id}/withdraw", "withdrawName", names::withdraw).takes::<NewTombstone>()
        .gives::<Name>(),
    post("/names/{id}/restore", "restoreName", |call| names::act(call, NameAction::Restore))
        .gives::<Name>(),
    post("/names/{id}/transfer", "transferName", names::transfer).takes::<Transfer>()
        .gives::<Name>(),
    post("/names/{id}/undo", "undoName", names::undo)
        .takes_body(RequestBody::OptionalJson(SchemaGenerator::subschema_for::<NewUndo>))
        .gives::<Name>(),
    get("/names/{id}/history", "nameHistory", names::history).query(&[
            AT, AFTER, limit("How many events at most: by default 100, fewer if they are long."),
        ]).gives::<EventPage>(),
    get("/names/{id}/proof", "proveName", names::prove).gives::<Proof>().errors(READ_BY_NAME),
    post("/mint", "mint", names::mint).takes::<NewMint>().creates().gives::<Minted>(),
];

#[rustfmt::skip]
const AUTHORITIES: &[Route] = &[
    get("/authorities", "listAuthorities", authorities::list).query(&[AFTER, LIMIT])
        .gives::<AuthorityPage>(),
    post("/authorities", "createAuthority", authorities::create).takes::<NewAuthority>().creates()
        .gives::<Authority>(),
    get("/authorities/{authority}", "showAuthority", authorities::show).gives::<Authority>()
        .errors(&[304, 400, 401, 403, 404, 422, 503]),
    change("PATCH", "/authorities/{authority}", "changeAuthority", authorities::change)
        .takes::<AuthorityChange>().gives::<Authority>(),
    post("/authorities/{authority}/approve", "approveAuthority",
        |call| authorities::act(call, AuthorityAction::Approve)).gives::<Authority>(),
    post("/authorities/{authority}/decline", "declineAuthority", authorities::decline)
        .takes_body(RequestBody::OptionalJson(SchemaGenerator::subschema_for::<NewDecline>))
        .empty(),
    post("/authorities/{authority}/retire", "retireAuthority", authorities::retire).query(&[
            flag("keep-children", "Leave the authorities below it active."),
        ]).gives::<Authority>(),
    post("/authorities/{authority}/transfer", "transferAuthority", authorities::transfer)
        .takes::<Transfer>().gives::<Authority>(),
    change("PUT", "/authorities/{authority}/grants/{who}", "grant", authorities::grant)
        .takes::<NewGrant>().gives::<Authority>(),
    change("DELETE", "/authorities/{authority}/grants/{who}", "revoke", authorities::revoke)
        .query(&[parameter("role", "Revoke only this role.", ROLES)]).gives::<Authority>(),
    get("/authorities/{authority}/grants", "listGrants", authorities::grants)
        .gives::<Vec<GrantOn>>().errors(READ_BY_NAME),
    get("/authorities/{authority}/people", "listPeople", access::people).known(true)
        .gives::<Vec<Person>>().errors(READ_BY_NAME),
    get("/authorities/{authority}/why", "whyRole", access::why).known(true).query(&[
            text("who", "An account, `group:NAME`, or `INDEX:HANDLE`: by default the caller."),
        ]).gives::<Vec<RoleReason>>().errors(READ_BY_NAME),
];

#[rustfmt::skip]
const ACCOUNTS: &[Route] = &[
    get("/accounts", "listAccounts", accounts::list).known(true).query(&[AFTER, LIMIT])
        .gives::<AccountPage>(),
    post("/accounts", "createAccount", accounts::create).takes::<NewAccount>().creates()
        .gives::<Account>(),
    get("/accounts/this", "showThisAccount", accounts::this).known(true).gives::<ThisAccount>(),
    get("/accounts/{account}", "showAccount", accounts::show).known(true).gives::<Account>()
        .errors(READ_BY_NAME),
    change("PATCH", "/accounts/{account}", "changeAccount", accounts::change)
        .takes::<AccountChange>().gives::<Account>(),
    get("/accounts/{account}/holdings", "showHoldings", access::holdings).known(true)
        .gives::<Holdings>().errors(READ_BY_NAME),
    get("/tokens", "listTokens", tokens::list).known(true).gives::<Vec<Token>>(),
    post("/tokens", "createToken", tokens::create).takes::<NewToken>().creates().gives::<Token>(),
    change("DELETE", "/tokens/{token}", "revokeToken", tokens::revoke).empty(),
    post("/accounts/{account}/sign-in-link", "createSignInLink", sign_in::link)
        .gives::<SignInLink>(),
    change("PUT", "/accounts/{account}/password", "setPassword", sign_in::password)
        .takes::<NewPassword>().empty().hashing(),
    get("/accounts/{account}/sessions", "listSessions", sign_in::sessions).known(true)
        .gives::<Vec<handfast_api::Session>>().errors(READ_BY_NAME),
    change("DELETE", "/accounts/{account}/sessions", "endSessions", sign_in::end_sessions)
        .gives::<handfast_api::EndedSessions>(),
    change("DELETE", "/accounts/{account}/sessions/{session}", "endSession", sign_in::end_session)
        .empty(),
    post("/invitations", "invite", sign_in::invite).takes::<NewInvitation>()
        .gives::<Invitation>(),
    get("/sign-ins", "listSignIns", sign_in::list).known(true).query(&[
            text("account", "Only those of this account: by default all, for administrators."),
            AFTER, LIMIT,
        ]).gives::<SignInPage>().errors(READ_BY_NAME),
];

#[rustfmt::skip]
const ACCESS: &[Route] = &[
    get("/groups", "listGroups", groups::list).known(true).query(&[AFTER, LIMIT])
        .gives::<GroupPage>(),
    post("/groups", "createGroup", groups::create).takes::<NewGroup>().creates()
        .gives::<handfast_api::Group>(),
    get("/groups/{group}", "showGroup", groups::show).known(true).gives::<handfast_api::Group>()
        .errors(READ_BY_NAME),
    change("PUT", "/groups/{group}/members/{account}", "addMember", groups::add)
        .gives::<handfast_api::Group>(),
    change("DELETE", "/groups/{group}/members/{account}", "removeMember", groups::remove)
        .gives::<handfast_api::Group>(),
    get("/authority-requests", "listAuthorityRequests", authorities::requests).known(true)
        .gives::<Vec<AuthorityRequest>>(),
    get("/access-requests", "listAccessRequests", access::list).known(true)
        .gives::<Vec<AccessRequest>>(),
    post("/access-requests", "requestAccess", access::request).takes::<NewAccessRequest>()
        .creates().gives::<AccessRequest>(),
    post("/access-requests/{request}/grant", "grantAccess", access::grant).empty(),
    post("/access-requests/{request}/decline", "declineAccess", access::decline)
        .takes_body(RequestBody::OptionalJson(SchemaGenerator::subschema_for::<NewDecline>))
        .empty(),
];

/// Starts long work.
const fn job(
    path: &'static str,
    name: &'static str,
    read: fn(&Call) -> Result<Wanted, Problem>,
) -> Route {
    let route = Route::new("POST", path, name, Handler::Job(read)).long();
    route.known(true).gives::<JobDone>().errors(WRITE)
}

#[rustfmt::skip]
const JOBS: &[Route] = &[
    get("/jobs", "listJobs", jobs::list).known(true).query(&[AFTER_NUMBER, LIMIT])
        .gives::<JobPage>(),
    job("/jobs", "startJob", jobs::start).query(&[DRY_RUN]).takes::<NewJob>(),
    get("/jobs/{job}", "showJob", jobs::show).known(true).gives::<Job>(),
    get("/jobs/{job}/outcomes", "jobOutcomes", jobs::outcomes).known(true)
        .query(&[AFTER_NUMBER, LIMIT]).gives::<OutcomePage>(),
    post("/jobs/{job}/cancel", "cancelJob", jobs::cancel).gives::<Job>(),
    job("/jobs/{job}/resume", "resumeJob", jobs::resume),
    job("/jobs/{job}/undo", "undoJob", jobs::undo).query(&[DRY_RUN]),
    Route::new("POST", "/import", "import", Handler::Import).known(true).query(&[
            parameter("format",
                "The format of the body, if the server cannot see it from its beginning.", FORMATS),
            text("authority", "Create local names under this authority."),
            text("source", "What the input is called; the server stores 200 characters of it."),
            flag("update",
                "Change names that exist and differ: the values that a line has, and no others."),
            flag("replace", "With `update`: also remove the values that a line does not have."),
            flag("migrate", "Accept names of another system that could not be registered here."),
            flag("restart", "Do not continue the same import if it was interrupted."),
            flag("all", "List the outcomes of all lines, not only rejections."), DRY_RUN,
        ]).takes_body(RequestBody::Lines).long().gives_body(ResponseBody::Lines).errors(WRITE),
    Route::new("GET", "/export", "export", Handler::Export).known(true).query(&[
            parameter("format", "The format of the response: by default `ndjson`.", FORMATS),
            text("authority", "Only names of this authority and those below it."),
            number("since", "Only names that were changed after this event."),
        ]).gives_body(ResponseBody::Names).errors(READ_BY_NAME),
];

#[rustfmt::skip]
const LOG: &[Route] = &[
    get("/events", "listEvents", events::list).known(true).query(EVENTS_QUERY)
        .gives::<ListedEventPage>().errors(READ_BY_NAME),
    get("/events.csv", "eventTable", events::table).known(true).query(EVENTS_QUERY)
        .gives_body(ResponseBody::TextOf("text/csv")).errors(READ_BY_NAME),
    get("/events.atom", "eventFeed", events::feed).known(true).query(EVENTS_QUERY)
        .gives_body(ResponseBody::TextOf("application/atom+xml")).errors(READ_BY_NAME),
    get("/log/key", "logKey", log::key).gives::<LogKey>(),
    get("/log/checkpoint", "checkpoint", log::checkpoint).gives_body(ResponseBody::Text),
    post("/log/growth", "proveGrowth", log::growth).known(false).takes_body(RequestBody::Text)
        .gives::<Growth>(),
    get("/log/tile/entries/{+place}", "logEntries", log::entries).gives_body(ResponseBody::Bytes),
    get("/log/tile/{level}/{+place}", "logTile", log::tile).gives_body(ResponseBody::Bytes),
    post("/log/begin", "beginLog", log::begin)
        .takes_body(RequestBody::OptionalJson(SchemaGenerator::subschema_for::<NewLog>)).creates()
        .gives::<LogKey>(),
    Route::new("GET", "/log/export", "exportLog", Handler::LogExport).known(true)
        .gives_body(ResponseBody::Lines).errors(READ_BY_NAME),
];

/// Something that is done with the entry of a namespace.
const fn act(path: &'static str, name: &'static str, handler: Function) -> Route {
    let route = post(path, name, handler).query(&[DRY_RUN]);
    route.takes::<NamespaceReason>().gives::<NamespaceDone>()
}

#[rustfmt::skip]
const NAMESPACES: &[Route] = &[
    get("/namespaces", "listNamespaces", namespaces::list).query(&[
            text("q", "A text in the string, the title, the description or the organisation."),
            parameter("status", "Where the entries are in their life.", STATUSES),
            flag("historical", "Only entries of the original registry, or only others."), AFTER,
            LIMIT,
        ]).gives::<NamespacePage>(),
    act("/namespaces", "proposeNamespace", namespaces::propose).takes::<NamespaceProposal>()
        .creates(),
    get("/namespaces/{namespace}", "showNamespace", namespaces::show).gives::<Namespace>()
        .errors(SHOW),
    change("PATCH", "/namespaces/{namespace}", "changeNamespace", namespaces::change)
        .query(&[DRY_RUN]).takes::<NamespaceChange>().gives::<NamespaceDone>(),
    get("/namespaces/{namespace}/history", "namespaceHistory", namespaces::history).query(&[
            AFTER, limit("How many versions at most: by default, and no more than, 100."),
        ]).gives::<NamespaceHistory>(),
    get("/namespaces/{namespace}/comments", "namespaceComments", namespaces::comments)
        .gives::<Vec<NamespaceComment>>(),
    post("/namespaces/{namespace}/comments", "commentOnNamespace", namespaces::comment)
        .takes::<NewComment>().creates().gives::<NamespaceComment>()
        .errors(&[400, 401, 403, 404, 409, 413, 415, 422, 503]),
    act("/namespaces/{namespace}/approve", "approveNamespace", namespaces::approve)
        .takes::<NamespaceApproval>(),
    act("/namespaces/{namespace}/refuse", "refuseNamespace",
        |call| with_reason(call, NamespaceAct::Refuse)),
    act("/namespaces/{namespace}/claim", "claimNamespace",
        |call| with_reason(call, NamespaceAct::Claim)),
    change("DELETE", "/namespaces/{namespace}/claim", "takeBackClaim", namespaces::take_back)
        .query(&[DRY_RUN]).gives::<NamespaceDone>(),
    act("/namespaces/{namespace}/verify", "verifyNamespace",
        |call| with_reason(call, NamespaceAct::Verify)),
    act("/namespaces/{namespace}/renew", "renewNamespace", namespaces::renew)
        .takes::<NamespaceRenewal>(),
    act("/namespaces/{namespace}/deprecate", "deprecateNamespace",
        |call| with_reason(call, NamespaceAct::Deprecate)),
    act("/namespaces/{namespace}/withdraw", "withdrawNamespace",
        |call| with_reason(call, NamespaceAct::Withdraw)),
    get("/namespace-policy", "showPolicy", namespaces::policy).gives::<NamespacePolicy>()
        .errors(SHOW),
    change("PUT", "/namespace-policy", "setPolicy", namespaces::set_policy)
        .takes::<NewNamespacePolicy>().gives::<NamespacePolicy>(),
];
