//! Public comments on a candidate.

use handfast_store::Table;
use serde::{Deserialize, Serialize};

use super::entry::{Capacity, NamespaceEntry, NamespaceStatus};
use super::read::bare;
use super::validate::check_filled;
use crate::access::principal::Principal;
use crate::authority::path::AuthorityPath;
use crate::authority::policy::Role;
use crate::change::change_set::ChangeSet;
use crate::change::view::View;
use crate::error::RegistryError;
use crate::log::event::{Action, Commitments, Subject};
use crate::registry::Registry;

/// The maximum length of a comment, in bytes.
const MAX_COMMENT_BYTES: usize = handfast_api::limits::NAMESPACE_COMMENT;
/// The most comments on an entry.
const MAX_COMMENTS: usize = 500;
/// The most comments of one account on an entry.
const MAX_COMMENTS_PER_ACCOUNT: usize = 20;

/// A comment on a candidate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamespaceComment {
    /// 1, 2, 3 …
    pub number: u64,
    /// The version of the entry.
    pub version: u64,
    /// When it was made, in milliseconds since 1970.
    pub time: u64,
    /// The account of its author.
    pub author: Principal,
    /// The text.
    pub text: String,
    /// The event.
    pub event: u64,
    /// The random bytes of the commitment in that event.
    pub seed: [u8; 32],
}

/// A comment as a principal sees it: accounts are personal data and not public.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamespaceRemark {
    /// The comment.
    pub comment: NamespaceComment,
    /// The capacity of the author: `authority`, `operator` or `maintainer`, or `account` for all
    /// others.
    pub by: &'static str,
    /// Whether the principal may see the account.
    pub is_signed: bool,
}

/// The start of the keys of comments in the table `namespaces`.
pub(crate) const COMMENT: &str = "comment:";

impl Registry {
    /// Comments on a candidate. This takes an account.
    pub fn comment_on_namespace(
        &self,
        who: &Principal,
        name: &str,
        text: &str,
    ) -> Result<NamespaceRemark, RegistryError> {
        check_filled("comment", text, MAX_COMMENT_BYTES, "empty-comment")?;
        let (name, text) = (bare(name), text.to_string());
        self.change(who, move |change_set| {
            let entry = change_set.namespace_entry(&name)?;
            let comment = change_set.comment(&name, text)?;
            change_set.remark(comment, &entry, true)
        })
    }

    /// All comments on an entry, oldest first. Principals with a role on the registry, and the
    /// authors themselves, see the accounts.
    pub fn namespace_comments(
        &self,
        who: &Principal,
        name: &str,
    ) -> Result<Vec<NamespaceRemark>, RegistryError> {
        let name = bare(name);
        self.read(|view| {
            let entry = view.namespace_entry(&name)?;
            let sees_all = view.role(who, &AuthorityPath::info_root())? >= Some(Role::Read);
            let comments = view.comments(&name)?.into_iter();
            comments
                .map(|comment| {
                    let is_own = comment.author == *who;
                    view.remark(comment, &entry, sees_all || is_own)
                })
                .collect()
        })
    }
}

impl View<'_> {
    fn remark(
        &self,
        comment: NamespaceComment,
        entry: &NamespaceEntry,
        is_signed: bool,
    ) -> Result<NamespaceRemark, RegistryError> {
        let role = self.role(&comment.author, &AuthorityPath::info_root())?;
        let by = if entry.owner.as_ref() == Some(&comment.author) {
            Capacity::Authority.as_str()
        } else if role >= Some(Role::Admin) {
            Capacity::Maintainer.as_str()
        } else if role >= Some(Role::Lead) {
            Capacity::Operator.as_str()
        } else {
            "account"
        };
        Ok(NamespaceRemark {
            comment,
            by,
            is_signed,
        })
    }

    fn comments(&self, name: &str) -> Result<Vec<NamespaceComment>, RegistryError> {
        let start = format!("{COMMENT}{name}:");
        let what = format!("a comment on namespace {name}");
        self.decode_all(Table::Namespaces, start.as_bytes(), &what)
    }
}

impl ChangeSet<'_> {
    fn comment(&mut self, name: &str, text: String) -> Result<NamespaceComment, RegistryError> {
        let entry = self.namespace_entry(name)?;
        self.may_ask(name)?;
        if entry.status != NamespaceStatus::Candidate {
            return Err(entry.in_state(self.time(), "comments are for candidates"));
        }
        let before = self.comments(name)?;
        let author = self.who().lasting();
        let own = before.iter().filter(|comment| comment.author == author);
        if before.len() >= MAX_COMMENTS || own.count() >= MAX_COMMENTS_PER_ACCOUNT {
            let problem = format!(
                "there are at most {MAX_COMMENTS} comments on an entry, {MAX_COMMENTS_PER_ACCOUNT} \
                 of one account"
            );
            return Err(RegistryError::policy("too-many-comments", problem));
        }
        let number = before.last().map_or(0, |last| last.number) + 1;
        let comment = NamespaceComment {
            number,
            version: entry.version,
            time: self.time(),
            author,
            text,
            event: self.next_event(),
            seed: self.random("seed"),
        };
        let authority = format!("info:{name}");
        let commitments = comment.commitments();
        self.add_event(
            Action::CommentNamespace,
            Subject::None,
            &authority,
            number,
            commitments,
        );
        self.store_encoded(Table::Namespaces, &comment.key(name), &comment)?;
        Ok(comment)
    }
}

impl NamespaceComment {
    pub(crate) fn commitments(&self) -> Commitments {
        Commitments::to(&self.seed, [(0, self.text.as_bytes())].into_iter())
    }

    fn key(&self, name: &str) -> Vec<u8> {
        let start = format!("{COMMENT}{name}:");
        [start.as_bytes(), &self.number.to_be_bytes()].concat()
    }
}
