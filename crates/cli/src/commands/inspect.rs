//! `handfast inspect`: what is this identifier?

use std::ffi::OsString;
use std::fs;
use std::io::{self, BufReader, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use anyhow::{Context, anyhow};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use handfast_id::{
    Explanation, HttpResolver, InfoGrammar, Inspection, Namespaces, ParseError, RuleBook, Rules,
    Scheme, explain, inspect,
};
use handfast_registry::{LiveRules, Registry};
use serde::Serialize;

use crate::commands::inspect_view;
use crate::exit::{Answer, UnreadableInput, is_broken_pipe};
use crate::folder::Data;
use crate::terminal::lines::{self, Line};

const EXAMPLES: &str = "\
Examples:
  handfast inspect 10.1045/april2006-paskin
  handfast inspect --explain info:lccn/n78-89035
  handfast inspect --json --as hdl hdl:20.1000/a%2Fb
  handfast inspect --json - < identifiers.txt

Exit status: 0 if all could be read, 1 if any could not, 2 wrong usage, 3 the system failed.";

/// Say what an identifier is: its parts, canonical form and other spellings
///
/// Reads identifiers from the command line or, with `-`, one a line from standard input, and
/// answers in the same order.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of the command"
)]
pub(crate) struct Inspect {
    /// The identifiers; `-` reads them from standard input, one a line
    #[arg(value_name = "ID", required = true)]
    ids: Vec<OsString>,

    /// Read them as this scheme, to the letter; `any` recognises what a person would paste
    #[arg(
        long = "as",
        value_name = "SCHEME",
        default_value = "any",
        value_parser = scheme_parser()
    )]
    scheme: Scheme,

    /// The grammar of info URIs; rfc4452 unless the configuration of a data folder says otherwise
    #[arg(long, value_name = "GRAMMAR", value_parser = grammar_parser())]
    grammar: Option<InfoGrammar>,

    /// An HTTP resolver to read and, the first one, to print; its path is the first segment. May be
    /// repeated. The well-known resolvers are always read
    #[arg(
        long = "resolver",
        value_name = "URL",
        value_hint = ValueHint::Url,
        value_parser = resolver
    )]
    resolvers: Vec<HttpResolver>,

    /// Do without a registry of info namespaces: assume nothing about them
    #[arg(long, conflicts_with = "registry")]
    no_registry: bool,

    /// A JSON file of info namespaces to use in place of the registry that ships with the program
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    registry: Option<PathBuf>,

    /// Take the rules of the data folder: of its authorities, its registry of info namespaces and
    /// its configuration
    #[arg(long, conflicts_with_all = ["registry", "no_registry"])]
    live: bool,

    /// Show each step on the way to the canonical form
    #[arg(long)]
    explain: bool,

    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

impl Inspect {
    pub(crate) fn run(&self, data: &Data) -> anyhow::Result<Answer> {
        let registry = self.live.then(|| data.open_to_read()).transpose()?;
        let rules = self.rules(registry.as_ref())?;
        let mut answering = Answering {
            command: self,
            rules: &*rules,
            out: BufWriter::with_capacity(1 << 16, io::stdout().lock()),
            all_read: true,
        };
        match answering.run(&self.ids) {
            Err(error) if is_broken_pipe(&error) => {}
            outcome => outcome?,
        }
        Ok(Answer::all(answering.all_read))
    }

    fn rules<'r>(&self, registry: Option<&'r Registry>) -> anyhow::Result<Box<dyn Rules + 'r>> {
        let resolvers = self.resolvers.iter().cloned();
        if let Some(registry) = registry {
            // The grammar of the configuration holds unless another is asked for.
            let mut rules = registry.rules();
            if let Some(grammar) = self.grammar {
                rules = rules.with_info_grammar(grammar);
            }
            let rules = resolvers.fold(rules, LiveRules::with_resolver);
            return Ok(Box::new(rules));
        }
        let mut rules = RuleBook::standard().with_info_grammar(self.grammar.unwrap_or_default());
        if self.no_registry {
            rules = rules.without_registry();
        }
        if let Some(file) = &self.registry {
            let json = fs::read_to_string(file).with_context(|| UnreadableInput::new(file))?;
            let namespaces = Namespaces::from_json(&json)
                .with_context(|| format!("cannot use the registry {}", file.display()))?;
            rules = rules.with_registry(namespaces);
        }
        Ok(Box::new(resolvers.fold(rules, RuleBook::with_resolver)))
    }
}

/// One run of the command: where it writes, and whether all could be read so far.
struct Answering<'a, W: Write> {
    command: &'a Inspect,
    rules: &'a dyn Rules,
    out: BufWriter<W>,
    all_read: bool,
}

impl<W: Write> Answering<'_, W> {
    fn run(&mut self, ids: &[OsString]) -> anyhow::Result<()> {
        for id in ids {
            if id == "-" {
                self.standard_input()?;
            } else {
                self.answer(Line::Whole(id.as_bytes()))?;
            }
        }
        Ok(self.out.flush()?)
    }

    fn standard_input(&mut self) -> anyhow::Result<()> {
        let mut reader = BufReader::with_capacity(1 << 16, io::stdin());
        lines::for_each(
            &mut reader,
            self,
            |answering| answering.out.flush(),
            Self::answer,
        )
        .context("standard input, or output, failed")
    }

    fn answer(&mut self, line: Line<'_>) -> io::Result<()> {
        let (inspection, bytes) = match line {
            Line::Whole(bytes) => (inspect(bytes, self.command.scheme, self.rules), bytes),
            Line::Beginning(bytes) => (Inspection::too_long(bytes, self.command.scheme), bytes),
        };
        self.all_read &= inspection.outcome.is_ok();
        let steps = self.explain(&inspection, bytes);
        if self.command.json {
            let object = Explained {
                inspection: &inspection,
                steps: steps.as_deref(),
            };
            match steps {
                Some(_) => serde_json::to_writer(&mut self.out, &object)?,
                None => serde_json::to_writer(&mut self.out, &inspection)?,
            }
            return self.out.write_all(b"\n");
        }
        match &inspection.outcome {
            Ok(found) => inspect_view::found(
                &mut self.out,
                &inspection.input,
                found,
                steps.as_deref(),
                self.rules,
            ),
            Err(error) => {
                // In the order in which they were asked for, also where both go to one terminal.
                self.out.flush()?;
                inspect_view::refused(&mut io::stderr().lock(), bytes, error)
            }
        }
    }

    fn explain(&self, inspection: &Inspection<'_>, bytes: &[u8]) -> Option<Vec<Explanation>> {
        if !self.command.explain || inspection.outcome.is_err() {
            return None;
        }
        let text = str::from_utf8(bytes).ok()?;
        explain(text, self.command.scheme, self.rules).ok()
    }
}

#[derive(Serialize)]
struct Explained<'a> {
    #[serde(flatten)]
    inspection: &'a Inspection<'a>,
    steps: Option<&'a [Explanation]>,
}

fn scheme_parser() -> impl TypedValueParser<Value = Scheme> {
    PossibleValuesParser::new(Scheme::ALL.map(Scheme::as_str))
        .try_map(|name| name.parse::<Scheme>())
}

fn grammar_parser() -> impl TypedValueParser<Value = InfoGrammar> {
    PossibleValuesParser::new(["draft", "rfc4452"]).map(|name| match name.as_str() {
        "draft" => InfoGrammar::Draft,
        _ => InfoGrammar::Rfc4452,
    })
}

fn resolver(text: &str) -> anyhow::Result<HttpResolver> {
    HttpResolver::parse(text).map_err(|error: ParseError| {
        anyhow!(
            "{error}; write http[s]://host[:port][/segment], for example https://hdl.handle.net"
        )
    })
}
