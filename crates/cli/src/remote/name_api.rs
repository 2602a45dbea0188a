//! `handfast --url … name`: the same at a server elsewhere.

use std::io::{self, Write};

use handfast_registry::{NewValue, json};
use handfast_wire::{Ttl, Value, json as wire_json};
use serde_json::{Value as Json, json};

use crate::commands::inspect_view::Shown as Safe;
use crate::commands::name::{Command, On, Values, for_people, moment_text};
use crate::commands::name_history;
use crate::exit::Answer;
use crate::remote::api::{Elsewhere, Problem, encode, unreadable};
use crate::terminal::console;
use crate::terminal::output::Output;

impl Command {
    pub(crate) fn run_elsewhere(&self, server: &Elsewhere) -> anyhow::Result<Answer> {
        let output = self.output();
        if self.is_elsewhere() || self.acts_as_someone() {
            let problem = "--url knows who asks by a token: leave out --as, --server, --key and --secret-file";
            return Ok(output.misused(problem));
        }
        match self {
            Self::Create {
                on,
                values,
                reserve,
                ..
            } => {
                let values_json = match given(values) {
                    Ok(values) => values,
                    Err(error) => return Ok(output.misused(&format!("{error:#}"))),
                };
                let state = if *reserve { "reserved" } else { "active" };
                let body = json!({"id": on.id, "urls": values.urls, "values": values_json, "state": state});
                on.tell(server.ask("POST", "/names", Some(&body)), "created")
            }
            Self::Show { on, at, .. } => {
                let query = at.map(|at| format!("?at={}", encode(&moment_text(at))));
                let path = format!("/names/{}{}", encode(&on.id), query.unwrap_or_default());
                match server.ask("GET", &path, None) {
                    Ok(said) => {
                        let shown = json::read_name(&said).ok_or_else(unreadable);
                        output.print(shown, |_| said.clone(), for_people)
                    }
                    Err(problem) => problem.tell(output),
                }
            }
            Self::List { authority, .. } => list(server, authority, output),
            Self::Set {
                on, values, remove, ..
            } => {
                let put = match given(values) {
                    Ok(put) => put,
                    Err(error) => return Ok(output.misused(&format!("{error:#}"))),
                };
                let mut body = json!({"values": put, "remove": remove});
                if !values.urls.is_empty()
                    && let Json::Object(body) = &mut body
                {
                    body.insert("urls".into(), values.urls.clone().into());
                }
                on.tell(server.ask("PATCH", &on.path(""), Some(&body)), "changed")
            }
            Self::Activate { on } => on.act(server, "activate", None, "activated"),
            Self::Withdraw {
                on,
                reason,
                successor,
                ..
            } => {
                let mut body = json!({ "reason": reason });
                if let (Some(successor), Json::Object(body)) = (successor, &mut body) {
                    body.insert("successor".into(), successor.as_str().into());
                }
                on.act(server, "withdraw", Some(&body), "withdrew")
            }
            Self::Restore { on } => on.act(server, "restore", None, "restored"),
            Self::Transfer { on, to, create } => {
                let body = json!({"to": to.to_string(), "create": create});
                on.act(server, "transfer", Some(&body), "transferred")
            }
            Self::Undo { on, event } => {
                let body = event.map(|event| json!({ "event": event }));
                on.act(server, "undo", body.as_ref(), "undid the change of")
            }
            Self::Erase { on } => match server.ask("DELETE", &on.path(""), None) {
                Ok(_) => output.print(
                    Ok(()),
                    |()| json!({"erased": on.id}),
                    |(), out| writeln!(out, "erased {}", on.id),
                ),
                Err(problem) => problem.tell(output),
            },
            Self::History { on, at } => name_history::of_server(server, on, *at),
        }
    }
}

impl On {
    fn path(&self, rest: &str) -> String {
        format!("/names/{}{rest}", encode(&self.id))
    }

    fn act(
        &self,
        server: &Elsewhere,
        what: &str,
        body: Option<&Json>,
        done: &str,
    ) -> anyhow::Result<Answer> {
        let path = self.path(&format!("/{what}"));
        self.tell(server.ask("POST", &path, body), done)
    }

    fn tell(&self, said: Result<Json, Problem>, done: &str) -> anyhow::Result<Answer> {
        match said {
            Ok(said) => {
                let shown = json::read_name(&said).ok_or_else(unreadable);
                self.output.print(
                    shown,
                    |_| said.clone(),
                    |shown, out| {
                        let (text, state) = (&shown.record.text, shown.record.state.as_str());
                        writeln!(out, "{done} {} ({state})", Safe(text))
                    },
                )
            }
            Err(problem) => problem.tell(self.output),
        }
    }
}

/// Page after page.
fn list(server: &Elsewhere, authority: &str, output: Output) -> anyhow::Result<Answer> {
    let mut out = io::BufWriter::new(console::stdout());
    let mut after = String::new();
    loop {
        let authority = encode(authority);
        let path = format!("/names?authority={authority}&limit=1000{after}");
        let page = match server.ask("GET", &path, None) {
            Ok(page) => page,
            Err(problem) => return problem.tell(output),
        };
        let text = |name: &Json, field: &str| -> String {
            let found = name.get(field).and_then(Json::as_str);
            found.unwrap_or_default().to_string()
        };
        for name in page
            .get("names")
            .and_then(Json::as_array)
            .into_iter()
            .flatten()
        {
            if output.is_json() {
                writeln!(out, "{name}")?;
            } else {
                let (id, state) = (text(name, "id"), text(name, "state"));
                writeln!(out, "{state:<9}  {}", Safe(&id))?;
            }
        }
        match page.get("next").and_then(Json::as_str) {
            Some(next) => after = format!("&after={}", encode(next)),
            None => break,
        }
    }
    out.flush()?;
    Ok(Answer::Done)
}

/// Values as the API takes them.
fn given(values: &Values) -> anyhow::Result<Vec<Json>> {
    let as_json = |new: &NewValue| {
        let value = wire_json::value(&Value::new(new.index, &new.value_type, &new.data));
        let mut said = json!({
            "index": new.index,
            "type": new.value_type,
            "data": value.get("data"),
        });
        if let Json::Object(said) = &mut said {
            if let Some(permissions) = new.permissions {
                said.insert("permissions".into(), permissions.to_string().into());
            }
            if let Some(Ttl::Relative(seconds)) = new.ttl {
                said.insert("ttl".into(), seconds.into());
            }
        }
        said
    };
    Ok(values.read()?.iter().map(as_json).collect())
}
