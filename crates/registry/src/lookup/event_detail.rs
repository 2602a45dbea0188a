//! What the events of a list did with people: which account, group, token or role.
//!
//! The public log has only commitments. The private text of an event, and the versions of an
//! authority, tell more to principals who may read them.

use std::collections::HashMap;

use crate::access::principal::Principal;
use crate::authority::policy::{Authority, Grant};
use crate::change::view::View;
use crate::error::RegistryError;
use crate::log::event::{Action, Event};
use crate::lookup::event_list::ListedEvent;

impl View<'_> {
    /// Adds to each event of a list what it did, as far as the principal may know it. The list has
    /// events of authorities only if the principal has the role `read` there, which also shows who
    /// has a role.
    pub(crate) fn add_details(
        &self,
        who: &Principal,
        events: &mut [ListedEvent],
    ) -> Result<(), RegistryError> {
        let may_all = self.may_do_all(who)?;
        let mut labels = None;
        for listed in events {
            let action = listed.event.action;
            listed.detail = match action {
                Action::Grant | Action::Revoke | Action::TransferAuthority => {
                    self.changed_grants(&listed.event)?
                }
                _ if action.is_of_people() => match self.event_note(listed.event.number)? {
                    Some(note)
                        if may_all || note.names(who) || listed.who.as_ref() == Some(who) =>
                    {
                        let labels = match &mut labels {
                            Some(labels) => labels,
                            None => labels.insert(self.token_labels(who, may_all)?),
                        };
                        Some(in_words(&note.text, labels))
                    }
                    _ => None,
                },
                _ => None,
            };
        }
        Ok(())
    }

    /// The labels of the tokens that a principal may see, by their ids.
    fn token_labels(
        &self,
        who: &Principal,
        may_all: bool,
    ) -> Result<HashMap<String, String>, RegistryError> {
        let tokens = self.tokens_of(Some(who).filter(|_| !may_all))?;
        let labels = tokens.into_iter().map(|(_, token)| (token.id, token.title));
        Ok(labels.filter(|(_, title)| !title.is_empty()).collect())
    }

    /// What an event changed in the grants of an authority: `write to ann`.
    fn changed_grants(&self, event: &Event) -> Result<Option<String>, RegistryError> {
        let version = |version: u64| -> Result<Vec<Grant>, RegistryError> {
            let found = match version {
                0 => None,
                version => self.authority_at(&event.authority, version)?,
            };
            Ok(found.map_or_else(Vec::new, |found: Authority| found.grants))
        };
        let before = version(event.version.saturating_sub(1))?;
        let after = version(event.version)?;
        let differ = |these: &[Grant], others: &[Grant], preposition: &str| {
            let is_other = |grant: &&Grant| {
                let is_same = |other: &Grant| other.to == grant.to && other.role == grant.role;
                !others.iter().any(is_same)
            };
            let words = |grant: &Grant| format!("{} {preposition} {}", grant.role, grant.to);
            these.iter().filter(is_other).map(words).collect::<Vec<_>>()
        };
        let mut parts = differ(&after, &before, "to");
        // A grant replaces another role of the same principal.
        if event.action != Action::Grant {
            parts.extend(differ(&before, &after, "from"));
        }
        Ok(Some(parts.join(", ")).filter(|text| !text.is_empty()))
    }
}

/// The private text of an event, as people read it.
fn in_words(text: &str, labels: &HashMap<String, String>) -> String {
    let words: Vec<_> = text.split(' ').collect();
    match words.as_slice() {
        [account] => name(account).to_string(),
        [group, "create"] if group.starts_with("group:") => format!("{}: created", name(group)),
        [group, action, account] if group.starts_with("group:") => {
            let done = match *action {
                "add" => "added",
                "remove" => "removed",
                other => other,
            };
            format!("{}: {} {done}", name(group), name(account))
        }
        [token, action, account] if token.starts_with("token:") => {
            let (id, done) = (
                name(token),
                if *action == "create" {
                    "created"
                } else {
                    "revoked"
                },
            );
            match labels.get(id) {
                Some(label) => format!("{done} for {}: {label} ({id})", name(account)),
                None => format!("{done} for {}: {id}", name(account)),
            }
        }
        [_, "request" | "decline", account, role, authority] => {
            format!("{}: {role} on {authority}", name(account))
        }
        _ => text.to_string(),
    }
}

/// A name without its kind.
fn name(word: &str) -> &str {
    word.split_once(':').map_or(word, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_texts_are_read_by_people() {
        let labels = HashMap::from([("1f".to_string(), "Backup".to_string())]);
        for (text, words) in [
            ("account:ann", "ann"),
            ("group:editors create", "editors: created"),
            ("group:editors add account:ann", "editors: ann added"),
            (
                "token:1f create account:ann",
                "created for ann: Backup (1f)",
            ),
            ("token:2e revoke account:ann", "revoked for ann: 2e"),
            (
                "access-request:9 request account:ann write 20.1000",
                "ann: write on 20.1000",
            ),
            ("of a later version of it", "of a later version of it"),
        ] {
            assert_eq!(in_words(text, &labels), words);
        }
    }
}
