//! All routes of the API, by kind.

use handfast_api::{
    About, Account, AccountChange, AccountPage, Authority, AuthorityChange, AuthorityPage,
    EventPage, Found, GrantOn, Growth, Inspection, Job, JobDone, JobPage, LogKey, Minted, Name,
    NameChange, NamePage, Namespace, NamespaceApproval, NamespaceChange, NamespaceComment,
    NamespaceDone, NamespaceHistory, NamespacePage, NamespacePolicy, NamespaceProposal,
    NamespaceReason, NamespaceRenewal, NewAccount, NewAuthority, NewComment, NewGrant, NewJob,
    NewLog, NewMint, NewName, NewNamespacePolicy, NewToken, NewTombstone, NewUndo, OutcomePage,
    Proof, Statistics, ThisAccount, Token, Transfer, limits,
};
use schemars::SchemaGenerator;
use serde_json::{Map, Value as Json};

use super::call::{Answer, Call};
use super::jobs::Wanted;
use super::problem::Problem;
use super::routes::{Group, Handler, Kind, Parameter, RequestBody, ResponseBody, Route};
use super::{about, accounts, authorities, jobs, log, names, namespaces, search, tokens};

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
        about: "Accounts and their tokens.",
        routes: ACCOUNTS,
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
const FORMATS: Kind = Kind::OneOf(&["ndjson", "csv", "batch", "json"]);
const GRAMMARS: Kind = Kind::OneOf(&["draft", "rfc4452"]);
const ROLES: Kind = Kind::OneOf(&["read", "write", "lead", "admin"]);
const SCHEMES: Kind = Kind::OneOf(&[
    "any", "ark", "cordra", "doi", "handle", "hdl", "http", "info", "urn",
]);
const STATUSES: Kind = Kind::OneOf(&[
    "candidate",
    "refused",
    "registered",
    "lapsed",
    "deprecated",
    "withdrawn",
]);

const SERVER: &[Route] = &[
    get("", "about", about::about)
        .says(
            "Show what this server is",
            "Shows the version of the program, how it resolves identifiers, and who the caller is.",
        )
        .gives::<About>(),
    get("/openapi.json", "openapi", about::openapi)
        .says("Show this description", "Shows this document.")
        .gives::<Map<String, Json>>(),
    get("/inspect", "inspect", about::inspect)
        .says(
            "Show what an identifier is",
            "Reads an identifier and shows its scheme, canonical form, parts and other spellings. \
             The identifier need not be registered.",
        )
        .query(&[
            Parameter {
                is_required: true,
                ..parameter(
                    "id",
                    "The identifier, in any spelling.",
                    Kind::Text(0, limits::INSPECTED),
                )
            },
            parameter("as", "Read it as an identifier of this scheme.", SCHEMES),
            parameter("grammar", "The grammar of `info` URIs.", GRAMMARS),
        ])
        .gives::<Inspection>(),
    get("/statistics", "statistics", about::statistics)
        .says(
            "Show how much there is",
            "Counts names, authorities, accounts, events and jobs. Names by scheme and state are \
             counted in the background, at most every ten minutes.",
        )
        .gives::<Statistics>(),
    get("/search", "search", search::search)
        .says(
            "Find names and authorities",
            "Finds names by words (`q`), by how they begin (`prefix`), by a URL (`url`), or by \
             another public value (`value` and `type`). Words and beginnings also find \
             authorities.",
        )
        .query(&[
            parameter(
                "q",
                "Words in a name, in its public values, or in the title of an authority.",
                Kind::Text(1, limits::SEARCH_WORDS),
            ),
            parameter(
                "prefix",
                "The beginning of a name, or of the path of an authority.",
                Kind::Text(1, limits::SEARCH_PREFIX),
            ),
            text("url", "A URL that names have."),
            text("value", "Another public value that names have."),
            text("type", "The type of that value."),
            AFTER,
            LIMIT,
        ])
        .gives::<Found>(),
];

const NAMES: &[Route] = &[
    get("/names", "listNames", names::list)
        .says(
            "List names under an authority",
            "Lists names in the order of their keys. The caller needs the role `read`.",
        )
        .known(true)
        .query(&[
            Parameter {
                is_required: true,
                ..text("authority", "The authority.")
            },
            text("prefix", "The beginning of the local names."),
            AFTER,
            LIMIT,
        ])
        .gives::<NamePage>()
        .errors(READ_BY_NAME),
    post("/names", "createName", names::create)
        .says(
            "Create a name",
            "Creates a name, or reserves it. A name that exists, or existed under an authority \
             whose names are permanent, is rejected.",
        )
        .takes::<NewName>()
        .creates()
        .gives::<Name>(),
    get("/names/{id}", "showName", names::show)
        .says(
            "Show a name",
            "Shows a name with the values that the caller may read, now or in the past.",
        )
        .query(&[AT])
        .gives::<Name>()
        .errors(SHOW),
    change("PATCH", "/names/{id}", "changeName", names::change)
        .says(
            "Change the values of a name",
            "Adds, replaces and removes values. `urls` replaces all URLs of the name.",
        )
        .takes::<NameChange>()
        .gives::<Name>(),
    change("DELETE", "/names/{id}", "eraseName", names::erase)
        .says(
            "Erase a name",
            "Erases a name, under an authority whose policy allows it.",
        )
        .empty(),
    post("/names/{id}/activate", "activateName", names::activate)
        .says("Activate a name", "Makes a reserved name active.")
        .gives::<Name>(),
    post("/names/{id}/withdraw", "withdrawName", names::withdraw)
        .says(
            "Withdraw a name",
            "Withdraws a name. A tombstone says why, and the name is never created again.",
        )
        .takes::<NewTombstone>()
        .gives::<Name>(),
    post("/names/{id}/restore", "restoreName", names::restore)
        .says("Restore a name", "Makes a withdrawn name active again.")
        .gives::<Name>(),
    post("/names/{id}/transfer", "transferName", names::transfer)
        .says(
            "Transfer a name",
            "Hands the administration of a name to another account.",
        )
        .takes::<Transfer>()
        .gives::<Name>(),
    post("/names/{id}/undo", "undoName", names::undo)
        .says(
            "Undo a change of a name",
            "Undoes a change by a new change: nothing is removed from the history.",
        )
        .takes_body(RequestBody::OptionalJson(
            SchemaGenerator::subschema_for::<NewUndo>,
        ))
        .gives::<Name>(),
    get("/names/{id}/history", "nameHistory", names::history)
        .says(
            "Show the history of a name",
            "Shows the events of a name, oldest first.",
        )
        .query(&[
            AT,
            AFTER,
            limit(
                "How many events the page has at most: by default 100. It has fewer if they have \
                 many bytes.",
            ),
        ])
        .gives::<EventPage>(),
    get("/names/{id}/proof", "proveName", names::prove)
        .says(
            "Prove the history of a name",
            "Gives the proof that the log holds the history of a name, which anybody can verify \
             without the server.",
        )
        .gives::<Proof>()
        .errors(READ_BY_NAME),
    post("/mint", "mint", names::mint)
        .says(
            "Make new names",
            "Creates names whose local parts the server chooses.",
        )
        .takes::<NewMint>()
        .creates()
        .gives::<Minted>(),
];

const AUTHORITIES: &[Route] = &[
    get("/authorities", "listAuthorities", authorities::list)
        .says("List authorities", "Lists all authorities, by key.")
        .query(&[AFTER, LIMIT])
        .gives::<AuthorityPage>(),
    post("/authorities", "createAuthority", authorities::create)
        .says(
            "Create an authority",
            "Creates an authority, or with `request` asks for one, which somebody approves.",
        )
        .takes::<NewAuthority>()
        .creates()
        .gives::<Authority>(),
    get(
        "/authorities/{authority}",
        "showAuthority",
        authorities::show,
    )
    .says(
        "Show an authority",
        "Shows an authority. Callers with a role there also see its grants.",
    )
    .gives::<Authority>()
    .errors(&[304, 400, 401, 403, 404, 422, 503]),
    change(
        "PATCH",
        "/authorities/{authority}",
        "changeAuthority",
        authorities::change,
    )
    .says(
        "Change an authority",
        "Changes title, meaning, contact or policy. Whatever is left out stays.",
    )
    .takes::<AuthorityChange>()
    .gives::<Authority>(),
    post(
        "/authorities/{authority}/approve",
        "approveAuthority",
        authorities::approve,
    )
    .says(
        "Approve a request for an authority",
        "Creates a requested authority. The account that asked for it becomes its admin.",
    )
    .gives::<Authority>(),
    post(
        "/authorities/{authority}/decline",
        "declineAuthority",
        authorities::decline,
    )
    .says(
        "Decline a request for an authority",
        "Removes a request for an authority. Callers can take back their own request.",
    )
    .empty(),
    post(
        "/authorities/{authority}/retire",
        "retireAuthority",
        authorities::retire,
    )
    .says(
        "Retire an authority",
        "Retires an authority and those below it: their names keep resolving, and nothing new is \
         named.",
    )
    .query(&[flag(
        "keep-children",
        "Leave the authorities below it active.",
    )])
    .gives::<Authority>(),
    post(
        "/authorities/{authority}/transfer",
        "transferAuthority",
        authorities::transfer,
    )
    .says(
        "Transfer an authority",
        "Hands an authority to another account, which becomes its only admin.",
    )
    .takes::<Transfer>()
    .gives::<Authority>(),
    change(
        "PUT",
        "/authorities/{authority}/grants/{who}",
        "grant",
        authorities::grant,
    )
    .says(
        "Grant a role",
        "Grants a role on an authority and everything below it.",
    )
    .takes::<NewGrant>()
    .gives::<Authority>(),
    change(
        "DELETE",
        "/authorities/{authority}/grants/{who}",
        "revoke",
        authorities::revoke,
    )
    .says(
        "Revoke a role",
        "Takes away the role that an account has on an authority.",
    )
    .query(&[parameter("role", "Revoke only this role.", ROLES)])
    .gives::<Authority>(),
    get(
        "/authorities/{authority}/grants",
        "listGrants",
        authorities::grants,
    )
    .says(
        "List the roles on an authority",
        "Lists who has which role on an authority, by a grant there or above. The caller needs a \
         role there.",
    )
    .gives::<Vec<GrantOn>>()
    .errors(READ_BY_NAME),
];

const ACCOUNTS: &[Route] = &[
    get("/accounts", "listAccounts", accounts::list)
        .says(
            "List accounts",
            "Lists all accounts, by name. For administrators.",
        )
        .known(true)
        .query(&[AFTER, LIMIT])
        .gives::<AccountPage>(),
    post("/accounts", "createAccount", accounts::create)
        .says(
            "Create an account",
            "Creates an account. For administrators.",
        )
        .takes::<NewAccount>()
        .creates()
        .gives::<Account>(),
    get("/accounts/this", "showThisAccount", accounts::this)
        .says(
            "Show the account of the caller",
            "Shows who the caller is, with which roles, and what the token is limited to.",
        )
        .known(true)
        .gives::<ThisAccount>(),
    get("/accounts/{account}", "showAccount", accounts::show)
        .says(
            "Show an account",
            "Shows the caller's own account, or to administrators any account.",
        )
        .known(true)
        .gives::<Account>()
        .errors(READ_BY_NAME),
    change(
        "PATCH",
        "/accounts/{account}",
        "changeAccount",
        accounts::change,
    )
    .says(
        "Change an account",
        "Changes, suspends or activates an account. The server rejects the tokens of a suspended \
         account. For administrators.",
    )
    .takes::<AccountChange>()
    .gives::<Account>(),
    get("/tokens", "listTokens", tokens::list)
        .says("List tokens", "Lists the tokens of the caller's account.")
        .known(true)
        .gives::<Vec<Token>>(),
    post("/tokens", "createToken", tokens::create)
        .says(
            "Create a token",
            "Creates a token. The response is the only place that shows its `secret`.",
        )
        .takes::<NewToken>()
        .creates()
        .gives::<Token>(),
    change("DELETE", "/tokens/{token}", "revokeToken", tokens::revoke)
        .says(
            "Revoke a token",
            "Ends a token. The server rejects it from then on.",
        )
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

const JOBS: &[Route] = &[
    get("/jobs", "listJobs", jobs::list)
        .says(
            "List jobs",
            "Lists the jobs of the caller, imports included.",
        )
        .known(true)
        .query(&[AFTER_NUMBER, LIMIT])
        .gives::<JobPage>(),
    job("/jobs", "startJob", jobs::start)
        .says(
            "Start a job",
            "Changes many names at once, and answers when all of them are done, unless the \
             request says `Prefer: respond-async`.",
        )
        .query(&[DRY_RUN])
        .takes::<NewJob>(),
    get("/jobs/{job}", "showJob", jobs::show)
        .says("Show a job", "Shows a job, and how far it has come.")
        .known(true)
        .gives::<Job>(),
    get("/jobs/{job}/outcomes", "jobOutcomes", jobs::outcomes)
        .says(
            "List the rejections of a job",
            "Lists the names that a job rejected, the first 10,000 of them.",
        )
        .known(true)
        .query(&[AFTER_NUMBER, LIMIT])
        .gives::<OutcomePage>(),
    post("/jobs/{job}/cancel", "cancelJob", jobs::cancel)
        .says(
            "Cancel a job",
            "Stops a job at its next batch, for good. What it has done stays.",
        )
        .gives::<Job>(),
    job("/jobs/{job}/resume", "resumeJob", jobs::resume).says(
        "Resume a job",
        "Continues a job that was interrupted, for example by a restart of the server.",
    ),
    job("/jobs/{job}/undo", "undoJob", jobs::undo)
        .says(
            "Undo a job",
            "Undoes all changes of a job by new changes. Names that an import created stay.",
        )
        .query(&[DRY_RUN]),
    Route::new("POST", "/import", "import", Handler::Import)
        .says(
            "Import names",
            "Imports names from lines. Each line of the response is an `Outcome`, and the last \
             line an `ImportSummary`.",
        )
        .known(true)
        .query(&[
            parameter(
                "format",
                "The format of the body, if the server cannot see it from its beginning.",
                FORMATS,
            ),
            text("authority", "Create local names under this authority."),
            text(
                "source",
                "What the input is called; the server stores 200 characters of it.",
            ),
            flag(
                "update",
                "Change names that exist and differ: the values that a line has, and no others.",
            ),
            flag(
                "replace",
                "With `update`: also remove the values that a line does not have.",
            ),
            flag(
                "migrate",
                "Accept names of another system that could not be registered here.",
            ),
            flag(
                "restart",
                "Do not continue the same import if it was interrupted.",
            ),
            flag(
                "all",
                "List the outcomes of all lines, not only rejections.",
            ),
            DRY_RUN,
        ])
        .takes_body(RequestBody::Lines)
        .long()
        .gives_body(ResponseBody::Lines)
        .errors(WRITE),
    Route::new("GET", "/export", "export", Handler::Export)
        .says(
            "Export names",
            "Exports names and authorities as lines. The trailer `Handfast-Summary` of the \
             response is an `ExportSummary`.",
        )
        .known(true)
        .query(&[
            parameter(
                "format",
                "The format of the response: by default `ndjson`.",
                FORMATS,
            ),
            text(
                "authority",
                "Only names of this authority and those below it.",
            ),
            number("since", "Only names that were changed after this event."),
        ])
        .gives_body(ResponseBody::Names)
        .errors(READ_BY_NAME),
];

const LOG: &[Route] = &[
    get("/log/key", "logKey", log::key)
        .says(
            "Show the public key of the log",
            "Shows the key that verifies checkpoints.",
        )
        .gives::<LogKey>(),
    get("/log/checkpoint", "checkpoint", log::checkpoint)
        .says(
            "Show the head of the log",
            "Gives the signed head of the log, as C2SP tlog-checkpoint describes it.",
        )
        .gives_body(ResponseBody::Text),
    post("/log/growth", "proveGrowth", log::growth)
        .says(
            "Prove that the log has only grown",
            "Gives the proof that the log has only grown since the checkpoint in the request.",
        )
        .known(false)
        .takes_body(RequestBody::Text)
        .gives::<Growth>(),
    get("/log/tile/entries/{+place}", "logEntries", log::entries)
        .says(
            "Get events",
            "Gives up to 256 events, as C2SP tlog-tiles describes it.",
        )
        .gives_body(ResponseBody::Bytes),
    get("/log/tile/{level}/{+place}", "logTile", log::tile)
        .says(
            "Get hashes",
            "Gives up to 256 hashes of the log, as C2SP tlog-tiles describes it.",
        )
        .gives_body(ResponseBody::Bytes),
    post("/log/begin", "beginLog", log::begin)
        .says(
            "Begin a new log",
            "Begins a new log with a new key, which continues this one. For administrators.",
        )
        .takes_body(RequestBody::OptionalJson(
            SchemaGenerator::subschema_for::<NewLog>,
        ))
        .creates()
        .gives::<LogKey>(),
    Route::new("GET", "/log/export", "exportLog", Handler::LogExport)
        .says(
            "Export the log",
            "Exports the whole log as lines, for `handfast log verify --export`. The trailer \
             `Handfast-Summary` of the response is a `LogExportSummary`.",
        )
        .known(true)
        .gives_body(ResponseBody::Lines)
        .errors(READ_BY_NAME),
];

/// Something that is done with the entry of a namespace.
const fn act(path: &'static str, name: &'static str, handler: Function) -> Route {
    let route = post(path, name, handler).query(&[DRY_RUN]);
    route.takes::<NamespaceReason>().gives::<NamespaceDone>()
}

const NAMESPACES: &[Route] = &[
    get("/namespaces", "listNamespaces", namespaces::list)
        .says(
            "List namespaces",
            "Lists entries of the registry of namespaces, by their strings.",
        )
        .query(&[
            text(
                "q",
                "A text in the string, the title, the description or the organisation.",
            ),
            parameter("status", "Where the entries are in their life.", STATUSES),
            flag(
                "historical",
                "Only entries of the original registry, or only others.",
            ),
            AFTER,
            LIMIT,
        ])
        .gives::<NamespacePage>(),
    act("/namespaces", "proposeNamespace", namespaces::propose)
        .says(
            "Propose a namespace",
            "Proposes a namespace. It is open to comments until the operator decides.",
        )
        .takes::<NamespaceProposal>()
        .creates(),
    get("/namespaces/{namespace}", "showNamespace", namespaces::show)
        .says("Show a namespace", "Shows an entry, or a proposal.")
        .gives::<Namespace>()
        .errors(SHOW),
    change(
        "PATCH",
        "/namespaces/{namespace}",
        "changeNamespace",
        namespaces::change,
    )
    .says(
        "Change a namespace",
        "Changes an entry (RFC 7396). Whatever is left out stays.",
    )
    .query(&[DRY_RUN])
    .takes::<NamespaceChange>()
    .gives::<NamespaceDone>(),
    get(
        "/namespaces/{namespace}/history",
        "namespaceHistory",
        namespaces::history,
    )
    .says(
        "Show the history of a namespace",
        "Shows all versions of an entry, oldest first.",
    )
    .query(&[
        AFTER,
        limit("How many versions the page has at most: by default, and at most, 100."),
    ])
    .gives::<NamespaceHistory>(),
    get(
        "/namespaces/{namespace}/comments",
        "namespaceComments",
        namespaces::comments,
    )
    .says(
        "List comments on a candidate",
        "Lists the comments on a proposal, oldest first.",
    )
    .gives::<Vec<NamespaceComment>>(),
    post(
        "/namespaces/{namespace}/comments",
        "commentOnNamespace",
        namespaces::comment,
    )
    .says(
        "Comment on a candidate",
        "Comments on a proposal, while it is open to comments.",
    )
    .takes::<NewComment>()
    .creates()
    .gives::<NamespaceComment>()
    .errors(&[400, 401, 403, 404, 409, 413, 415, 422, 503]),
    act(
        "/namespaces/{namespace}/approve",
        "approveNamespace",
        namespaces::approve,
    )
    .says(
        "Approve a namespace",
        "Registers a candidate, makes a provisional entry permanent, or reinstates a deprecated \
         one.",
    )
    .takes::<NamespaceApproval>(),
    act(
        "/namespaces/{namespace}/refuse",
        "refuseNamespace",
        namespaces::refuse,
    )
    .says("Reject a namespace", "Rejects a candidate, or a claim."),
    act(
        "/namespaces/{namespace}/claim",
        "claimNamespace",
        namespaces::claim,
    )
    .says(
        "Claim a namespace",
        "Says that an entry belongs to the caller, which the operator verifies.",
    ),
    change(
        "DELETE",
        "/namespaces/{namespace}/claim",
        "takeBackClaim",
        namespaces::take_back,
    )
    .says(
        "Take back a claim",
        "Takes back the caller's own claim on an entry.",
    )
    .query(&[DRY_RUN])
    .gives::<NamespaceDone>(),
    act(
        "/namespaces/{namespace}/verify",
        "verifyNamespace",
        namespaces::verify,
    )
    .says(
        "Verify a claim",
        "Records that a claim is right: the account that made it owns the entry from then on.",
    ),
    act(
        "/namespaces/{namespace}/renew",
        "renewNamespace",
        namespaces::renew,
    )
    .says(
        "Renew a provisional namespace",
        "Moves the end of a provisional entry.",
    )
    .takes::<NamespaceRenewal>(),
    act(
        "/namespaces/{namespace}/deprecate",
        "deprecateNamespace",
        namespaces::deprecate,
    )
    .says(
        "Deprecate a namespace",
        "Says that a namespace should not be used for anything new.",
    ),
    act(
        "/namespaces/{namespace}/withdraw",
        "withdrawNamespace",
        namespaces::withdraw,
    )
    .says(
        "Withdraw a namespace",
        "Withdraws an entry and leaves a tombstone, or takes back a candidate.",
    ),
    get("/namespace-policy", "showPolicy", namespaces::policy)
        .says(
            "Show the policy of the registry",
            "Shows the policy of the registry of namespaces.",
        )
        .gives::<NamespacePolicy>()
        .errors(SHOW),
    change(
        "PUT",
        "/namespace-policy",
        "setPolicy",
        namespaces::set_policy,
    )
    .says(
        "Set the policy of the registry",
        "Sets the policy of the registry of namespaces. For its maintainer.",
    )
    .takes::<NewNamespacePolicy>()
    .gives::<NamespacePolicy>(),
];
