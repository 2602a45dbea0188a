//! The fields of an entry, as arguments.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use handfast_registry::{
    NamespaceCase, NamespaceDeclaration, NamespaceForm, NamespaceSample, bare_namespace,
};
use serde_json::Value as Json;

use crate::exit::misused;
use crate::files::read_input;
use crate::terminal::words::one_of;

/// What an entry says. What a file says comes first, options after it.
#[derive(Args)]
pub(crate) struct FormOptions {
    /// Take the fields from a JSON file, such as `namespace show --json` prints; - for standard
    /// input
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// A title
    #[arg(long)]
    title: Option<String>,
    /// The organisation that owns the namespace
    #[arg(long)]
    organisation: Option<String>,
    /// Its postal address
    #[arg(long)]
    address: Option<String>,
    /// Its web address
    #[arg(long)]
    url: Option<String>,
    /// How the public reaches it
    #[arg(long)]
    contact: Option<String>,
    /// Scope, history, policy
    #[arg(long)]
    description: Option<String>,
    /// The syntax of identifiers, in words
    #[arg(long)]
    syntax: Option<String>,
    /// What a normalised, decoded identifier must match; an empty one lifts the demand
    #[arg(long, value_name = "RE")]
    pattern: Option<String>,
    /// Whether case counts, and if not, which one is canonical
    #[arg(long, value_parser = one_of::<NamespaceCase>(&["sensitive", "lower", "upper"]))]
    case: Option<NamespaceCase>,
    /// Punctuation that does not count
    #[arg(long, value_name = "CHARS")]
    strip: Option<String>,
    /// Normalisation steps in JSON, in place of --case and --strip; empty for none
    #[arg(long, value_name = "JSON")]
    steps: Option<String>,
    /// The normalisation, in words
    #[arg(long)]
    normalisation: Option<String>,
    /// Where identifiers lead: a URL with {id}; empty for nowhere
    #[arg(long, value_name = "URL")]
    mechanism: Option<String>,
    /// The security considerations of the mechanism
    #[arg(long)]
    security: Option<String>,
    /// Whether people see a page before they are sent on
    #[arg(long, value_name = "BOOL")]
    page_first: Option<bool>,
    /// An example and its canonical form; repeat it for more, which replace those that are there
    #[arg(long = "example", num_args = 2, value_names = ["URI", "CANONICAL"])]
    examples: Vec<String>,
    /// Declare that the namespace is public, has no URI form of its own, and is in use or planned
    #[arg(long)]
    declare: Option<Declared>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Declared {
    InUse,
    Planned,
}

impl FormOptions {
    /// The form with what is said here.
    pub(crate) fn over(&self, form: NamespaceForm) -> anyhow::Result<NamespaceForm> {
        let Some(file) = &self.file else {
            return self.set(form).map_err(misused);
        };
        let name = form.namespace;
        let mut form = NamespaceForm::from_json(&read_input(file)?)
            .map_err(|error| misused(error.to_string()))?;
        if form.namespace.is_empty() {
            form.namespace = name;
        } else if bare_namespace(&form.namespace) != bare_namespace(&name) {
            let (file, of) = (file.display(), form.namespace);
            return Err(misused(format!("{file} is of {of}, not of {name}")));
        }
        self.set(form).map_err(misused)
    }

    fn set(&self, mut form: NamespaceForm) -> Result<NamespaceForm, String> {
        let say = |field: &mut String, said: &Option<String>| {
            if let Some(said) = said {
                field.clone_from(said);
            }
        };
        say(&mut form.title, &self.title);
        say(&mut form.authority.organisation, &self.organisation);
        say(&mut form.authority.address, &self.address);
        say(&mut form.authority.url, &self.url);
        say(&mut form.authority.contact, &self.contact);
        say(&mut form.description, &self.description);
        say(&mut form.syntax.summary, &self.syntax);
        say(&mut form.normalisation.summary, &self.normalisation);
        say(&mut form.normalisation.strip, &self.strip);
        let may_go = |field: &mut Option<String>, said: &Option<String>| {
            if let Some(said) = said {
                *field = Some(said.clone()).filter(|said| !said.is_empty());
            }
        };
        may_go(&mut form.syntax.pattern, &self.pattern);
        may_go(&mut form.resolution.mechanism, &self.mechanism);
        may_go(&mut form.resolution.security, &self.security);
        if let Some(case) = self.case {
            form.normalisation.case = case;
        }
        match self.steps.as_deref() {
            Some("") => form.normalisation.steps = None,
            Some(steps) => {
                let steps: Vec<Json> = serde_json::from_str(steps)
                    .map_err(|error| format!("--steps is a list in JSON: {error}"))?;
                form.normalisation.steps = Some(steps);
            }
            // Were they to stay, they would stand in place of what is said now.
            None if self.case.is_some() || self.strip.is_some() => form.normalisation.steps = None,
            None => {}
        }
        form.resolution.page_first = self.page_first.unwrap_or(form.resolution.page_first);
        if !self.examples.is_empty() {
            let pairs = self.examples.chunks(2).filter_map(|pair| match pair {
                [input, canonical] => Some(NamespaceSample {
                    native: None,
                    input: input.clone(),
                    canonical: canonical.clone(),
                }),
                _ => None,
            });
            form.examples = pairs.collect();
        }
        if let Some(declared) = self.declare {
            form.declaration = Some(NamespaceDeclaration {
                public: true,
                in_use: matches!(declared, Declared::InUse),
                without_uri_form: true,
            });
        }
        Ok(form)
    }
}
