//! Signing in to the console: links, passwords and invitations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::authority::Role;
use crate::limits;
use crate::words::words;

/// A one-time link, by which a person signs in to the console.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SignInLink {
    /// The account that signs in with it.
    #[schemars(example = &"ann")]
    pub account: String,
    /// When the link ends (RFC 3339).
    #[schemars(example = &"2026-11-15T06:32:16Z")]
    pub expires: String,
    /// The link. Only this response has it.
    #[schemars(example = &"https://pid.example.org/console/enter/…")]
    pub link: String,
}

/// A password to set.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPassword {
    /// The password: at least 15 characters, at most 1,024 bytes, and not made of common words.
    #[schemars(
        length(min = limits::PASSWORD_MINIMUM, max = limits::PASSWORD),
        example = &"correct horse battery staple"
    )]
    pub password: String,
}

/// An invitation to make.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewInvitation {
    /// The name of the account: letters, digits and `. _ @ -`.
    #[schemars(length(min = 1, max = limits::ACCOUNT_NAME), example = &"ann")]
    pub account: String,
    /// The authority on which a role is granted. Without it, only administrators may invite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"20.1000")]
    pub authority: Option<String>,
    /// The e-mail address of the person, at most 254 bytes; nothing is sent there.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = limits::ACCOUNT_EMAIL), example = &"ann@example.org")]
    pub email: String,
    /// The role, if there is an authority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Role>")]
    pub role: Option<String>,
    /// Who that is, for people; at most 1,000 bytes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = limits::ACCOUNT_TITLE), example = &"Ann Example")]
    pub title: String,
}

/// An invitation that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Invitation {
    /// The account.
    #[schemars(example = &"ann")]
    pub account: String,
    /// The authority on which a role was granted.
    #[schemars(example = &"20.1000")]
    pub authority: Option<String>,
    /// When the link ends (RFC 3339).
    #[schemars(example = &"2026-11-22T06:17:16Z")]
    pub expires: Option<String>,
    /// The link by which the person signs in first; `null` if the account existed before. Only this
    /// response has it.
    #[schemars(example = &"https://pid.example.org/console/enter/…")]
    pub link: Option<String>,
    /// The role.
    pub role: Option<Role>,
}

words! {
    /// How a person proved who they are.
    SignInMeans {
        /// The link of an invitation.
        Invitation = "invitation",
        /// A one-time link.
        Link = "link",
        /// A password.
        Password = "password",
    }
}

words! {
    /// What happened.
    SignInOutcome {
        /// The person in a session proved again who they are.
        Confirmed = "confirmed",
        /// The password was wrong, or there is no such account.
        Failed = "failed",
        /// A one-time link was created.
        LinkCreated = "link-created",
        /// The password was set.
        PasswordSet = "password-set",
        /// A session was started.
        SignedIn = "signed-in",
    }
}

/// An entry in the audit of sign-ins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SignIn {
    /// The account; `null` if there is no such account.
    #[schemars(example = &"ann")]
    pub account: Option<String>,
    /// Who created the link or set the password.
    pub by: Option<String>,
    /// How.
    pub means: SignInMeans,
    /// The network of the client; `null` if it was a command.
    #[schemars(example = &"192.0.2.7")]
    pub network: Option<String>,
    /// What happened.
    pub outcome: SignInOutcome,
    /// When (RFC 3339).
    #[schemars(example = &"2026-11-15T06:17:16Z")]
    pub time: String,
    /// How many failures before this one were not recorded, because there were too many.
    pub unrecorded: u64,
}

/// A page of the audit of sign-ins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SignInPage {
    /// The parameter `after` of the next page; `null` on the last page.
    pub next: Option<String>,
    /// The entries, the newest first.
    #[serde(rename = "sign-ins")]
    pub sign_ins: Vec<SignIn>,
}

/// A session: a person is signed in, in one browser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Session {
    /// The browser, as it calls itself.
    pub agent: String,
    /// When it began (RFC 3339).
    #[schemars(example = &"2026-11-15T06:17:16Z")]
    pub created: String,
    /// When it ends, however much it is used (RFC 3339).
    #[schemars(example = &"2026-11-29T06:17:16Z")]
    pub expires: String,
    /// Its id, which is no secret.
    pub id: String,
    /// When it was last used (RFC 3339).
    #[schemars(example = &"2026-11-15T09:02:00Z")]
    pub last_seen: String,
    /// How the person last proved who they are.
    pub means: SignInMeans,
    /// The network that it was started from.
    #[schemars(example = &"192.0.2.7")]
    pub network: String,
}

/// Sessions that have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EndedSessions {
    /// How many.
    pub ended: u64,
}
