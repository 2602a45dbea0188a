//! `handfast --url … job`: the same at a server elsewhere.

use handfast_registry::json;
use serde_json::{Value as Json, json};

use crate::commands::job::{
    Command, Running, field, follow, line, names_in, number, show, tell_cancelled,
};
use crate::commands::user::said;
use crate::exit::Answer;
use crate::remote::api::{Elsewhere, NO_AS, Problem, unreadable};

impl Command {
    pub(crate) fn run_elsewhere(&self, server: &Elsewhere) -> anyhow::Result<Answer> {
        let replace = |authority: &str, from: &str, to: &str, host: bool| json!({"kind": "replace-url", "authority": authority, "from": from, "to": to, "host": host});
        match self {
            Self::ReplaceUrl {
                from,
                to,
                run,
                under,
            } => run.start(server, &replace(&under.authority, from, to, false)),
            Self::ReplaceHost {
                from,
                to,
                run,
                under,
            } => run.start(server, &replace(&under.authority, from, to, true)),
            Self::SetTtl {
                seconds,
                value_type,
                run,
                under,
            } => {
                let kind = json!({"kind": "set-ttl", "authority": under.authority, "seconds": seconds, "type": value_type});
                run.start(server, &kind)
            }
            Self::Withdraw { file, reason, run } => {
                let names = names_in(file)?;
                run.start(
                    server,
                    &json!({"kind": "withdraw", "names": names, "reason": reason}),
                )
            }
            Self::Undo { job, run } => {
                run.run_elsewhere(server, &format!("/jobs/{job}/undo"), None)
            }
            Self::Resume { job, run } => {
                run.run_elsewhere(server, &format!("/jobs/{job}/resume"), None)
            }
            Self::Cancel { job, output } => {
                let job = server.ask("POST", &format!("/jobs/{job}/cancel"), None);
                said(*output, job, |job| {
                    output.print(Ok(job), Json::clone, tell_cancelled)
                })
            }
            Self::List { output } => said(*output, server.pages("/jobs", "jobs"), |jobs| {
                output.print(
                    Ok(jobs),
                    |jobs| Json::Array(jobs.clone()),
                    |jobs, out| {
                        let mut jobs = jobs.iter();
                        jobs.try_for_each(|job| writeln!(out, "{}", line(job)))
                    },
                )
            }),
            Self::Show {
                job,
                follow: is_followed,
                output,
            } => {
                let look = || server.ask("GET", &format!("/jobs/{job}"), None);
                let found = if *is_followed {
                    follow(&mut { look })
                } else {
                    look()
                };
                said(*output, found, |job| {
                    output.print(Ok(job), Json::clone, show)
                })
            }
        }
    }
}

impl Running {
    fn start(&self, server: &Elsewhere, kind: &Json) -> anyhow::Result<Answer> {
        if ["from", "to"].iter().any(|name| field(kind, name) == "") {
            let problem = "say both what is there and what is to be";
            return Ok(self.output.misused(problem));
        }
        self.run_elsewhere(server, "/jobs", Some(kind))
    }

    fn run_elsewhere(
        &self,
        server: &Elsewhere,
        path: &str,
        body: Option<&Json>,
    ) -> anyhow::Result<Answer> {
        if self.who.is_some() {
            return Ok(self.output.misused(NO_AS));
        }
        let done = if self.dry_run {
            let path = format!("{path}?dry-run=true");
            server.ask("POST", &path, body)
        } else {
            begin_and_follow(server, path, body)
                .and_then(|done| with_what_stays(server, path, done))
        };
        let mut done = match done {
            Ok(done) => done,
            Err(problem) => return problem.tell(self.output),
        };
        let outcomes = done
            .as_object_mut()
            .and_then(|done| done.remove("outcomes"));
        let untold = number(&done, "untold");
        for outcome in outcomes.iter().filter_map(Json::as_array).flatten() {
            match json::read_outcome(outcome) {
                Some(outcome) => self.tell(&outcome),
                None => return Ok(self.output.refuse(&unreadable())),
            }
        }
        if untold > 0 {
            let note = format!("the server does not tell of {untold} names more");
            self.output.note(&note);
        } else if let Json::Object(done) = &mut done {
            // On a folder nothing is left untold.
            done.remove("untold");
        }
        self.tell_done(Ok(done))
    }
}

/// Nobody waits for the server; what it refused is asked for at the end.
fn begin_and_follow(server: &Elsewhere, path: &str, body: Option<&Json>) -> Result<Json, Problem> {
    let begun = server.begin(path, body)?;
    let place = format!("/jobs/{}", number(&begun, "job"));
    let mut job = follow(&mut || server.ask("GET", &place, None))?;
    let outcomes = server.pages(&format!("{place}/outcomes"), "outcomes")?;
    let told = u64::try_from(outcomes.len()).unwrap_or(u64::MAX);
    let untold = number(&job, "refused").saturating_sub(told);
    if let Json::Object(job) = &mut job {
        job.insert("untold".into(), untold.into());
        job.insert("outcomes".into(), outcomes.into());
    }
    Ok(job)
}

/// How many names an import had created that was undone, as a server says that does not wait for the end.
fn with_what_stays(server: &Elsewhere, path: &str, mut done: Json) -> Result<Json, Problem> {
    let Some(undone) = path.strip_suffix("/undo") else {
        return Ok(done);
    };
    let undone = server.ask("GET", undone, None)?;
    let created = number(&undone, "created");
    if field(&undone, "kind") == "import"
        && created > 0
        && let Json::Object(done) = &mut done
    {
        done.insert("stay".into(), created.into());
    }
    Ok(done)
}
