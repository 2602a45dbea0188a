//! `handfast --url … authority`: the same at a server elsewhere.
use std::io::Write;

use handfast_id::Standard;
use handfast_registry::{Authority, json};
use serde_json::{Map, Value as Json, json};

use crate::commands::authority::{About, Command, On, PolicyOptions, declined_request, for_people};
use crate::commands::inspect_view::Shown as Safe;
use crate::exit::Answer;
use crate::remote::api::{Elsewhere, Problem, encode, unreadable};
use crate::terminal::output::Output;

impl Command {
    pub(crate) fn run_elsewhere(&self, server: &Elsewhere) -> anyhow::Result<Answer> {
        match self {
            Self::List { output } => return list(server, *output),
            Self::Create { on, .. }
            | Self::Show { on }
            | Self::Request { on, .. }
            | Self::Approve { on }
            | Self::Decline { on }
            | Self::Grant { on, .. }
            | Self::Revoke { on, .. }
            | Self::Policy { on, .. }
            | Self::Transfer { on, .. }
            | Self::Retire { on, .. } => {
                if on.is_someone() {
                    let problem = "--url knows who asks by a token: leave out --as";
                    return Ok(on.output.misused(problem));
                }
            }
        }
        let ask = |on: &On, method: &str, rest: &str, body: Option<&Json>| {
            let path = format!("/authorities/{}{rest}", encode(&on.authority));
            server.ask(method, &path, body)
        };
        match self {
            Self::List { .. } => Ok(Answer::Done),
            Self::Create { on, about, policy } => {
                let body = described(about, policy, Some((&on.authority, false)));
                let said = server.ask("POST", "/authorities", Some(&body));
                let declined = said.as_ref().ok();
                let declined = declined.and_then(|said| said.get("declined-request-of")?.as_str());
                if let Some(by) = declined {
                    on.output.note(&declined_request(by));
                }
                on.tell(said, "created")
            }
            Self::Request {
                on, about, policy, ..
            } => {
                let body = described(about, policy, Some((&on.authority, true)));
                on.tell(server.ask("POST", "/authorities", Some(&body)), "requested")
            }
            Self::Show { on } => match ask(on, "GET", "", None) {
                Ok(said) => {
                    let authority = json::read_authority(&said, &Standard);
                    let authority = authority.ok_or_else(unreadable);
                    let show = |authority: &Authority, out: &mut dyn Write| {
                        // As the server says.
                        let case = authority.policy.case_rule();
                        for_people(authority, case, out)
                    };
                    on.output.print(authority, |_| said.clone(), show)
                }
                Err(problem) => problem.tell(on.output),
            },
            Self::Approve { on } => on.tell(ask(on, "POST", "/approve", None), "approved"),
            Self::Decline { on } => on.tell(ask(on, "POST", "/decline", None), "declined"),
            Self::Retire { on, keep_children } => {
                let rest = if *keep_children {
                    "/retire?keep-children=true"
                } else {
                    "/retire"
                };
                on.tell(ask(on, "POST", rest, None), "retired")
            }
            Self::Policy { on, about, policy } => {
                let body = described(about, policy, None);
                on.tell(ask(on, "PATCH", "", Some(&body)), "changed")
            }
            Self::Transfer { on, to, create } => {
                let body = json!({"to": to.to_string(), "create": create});
                on.tell(ask(on, "POST", "/transfer", Some(&body)), "transferred")
            }
            Self::Grant {
                on,
                to,
                role,
                create,
            } => {
                let rest = format!("/grants/{}", encode(&to.to_string()));
                let body = json!({"role": role.as_str(), "create": create});
                on.tell(ask(on, "PUT", &rest, Some(&body)), "granted")
            }
            Self::Revoke {
                on, role: Some(_), ..
            } => {
                let problem = "--role cannot be said to a server: whatever role is there goes";
                Ok(on.output.misused(problem))
            }
            Self::Revoke { on, from, .. } => {
                let rest = format!("/grants/{}", encode(&from.to_string()));
                on.tell(ask(on, "DELETE", &rest, None), "revoked")
            }
        }
    }
}

impl On {
    fn tell(&self, said: Result<Json, Problem>, done: &str) -> anyhow::Result<Answer> {
        let gone = || json!({"authority": self.authority, "status": "declined"});
        match said {
            Ok(said) => self.output.print(
                Ok(said),
                |said| if said.is_null() { gone() } else { said.clone() },
                |said, out| {
                    let path = said.get("authority").and_then(Json::as_str);
                    writeln!(out, "{done} {}", path.unwrap_or(&self.authority))
                },
            ),
            Err(problem) => problem.tell(self.output),
        }
    }
}

fn list(server: &Elsewhere, output: Output) -> anyhow::Result<Answer> {
    let all = match server.pages("/authorities", "authorities") {
        Ok(all) => all,
        Err(problem) => return problem.tell(output),
    };
    output.print(
        Ok(all),
        |all| Json::Array(all.clone()),
        |all, out| {
            let text = |authority: &Json, field: &str| -> String {
                let found = authority.get(field).and_then(Json::as_str);
                found.unwrap_or_default().to_string()
            };
            all.iter().try_for_each(|authority| {
                let (path, status) = (text(authority, "authority"), text(authority, "status"));
                let title = text(authority, "title");
                writeln!(out, "{path:<32}  {status:<9}  {}", Safe(&title))
            })
        },
    )
}

/// What is said of an authority, as the API takes it.
fn described(about: &About, policy: &PolicyOptions, new: Option<(&str, bool)>) -> Json {
    let mut body = Map::new();
    let texts = [
        ("title", &about.title),
        ("meaning", &about.meaning),
        ("contact", &about.contact),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            body.insert(name.into(), text.as_str().into());
        }
    }
    let policy = policy.as_json();
    if !policy.is_empty() {
        body.insert("policy".into(), policy.into());
    }
    if let Some((authority, is_request)) = new {
        body.insert("authority".into(), authority.into());
        body.insert("request".into(), is_request.into());
    }
    Json::Object(body)
}
