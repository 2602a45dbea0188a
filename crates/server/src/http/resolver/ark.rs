//! ARKs (`http-interfaces.md` E): parts of a named whole, and inflections.

use askama::Template;
use handfast_registry::{Persistence, Principal};
use hyper::{Response, StatusCode};

use crate::http::Web;
use crate::http::pages::{Frame, MenuPlace, filters};
use crate::http::resolver::accept::Accept;
use crate::http::resolver::name_lookup::Name;
use crate::http::resolver::page::fresh;
use crate::http::resolver::path::strip;
use crate::http::resolver::target::escaped_text;
use crate::http::response::Body;

/// "Value unavailable", in the words of ERC.
const UNAVAILABLE: &str = "(:unav)";
/// How many parts of a name are taken off, at most.
const MAX_ANCESTORS: usize = 32;

/// The ARKs that an ARK may be a part of, longest first, each with the remainder.
pub(crate) fn ancestors(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let start = name_at(text).unwrap_or(text.len());
    let behind = text.get(start..).unwrap_or_default();
    let cuts = behind.rmatch_indices(['/', '.']);
    cuts.map(move |(at, _)| start + at)
        .filter(move |at| *at > start)
        .take(MAX_ANCESTORS)
        .filter_map(|at| text.split_at_checked(at))
}

/// Whether a name is written as an ARK.
pub(crate) fn is_ark(text: &str) -> bool {
    name_at(text).is_some()
}

/// The start of the name, behind the number of its authority.
fn name_at(text: &str) -> Option<usize> {
    let behind = strip(text, "ark:").or_else(|| strip(text, "info:ark/"))?;
    let bare = behind.trim_start_matches('/');
    let slash = bare.find('/')?;
    Some(text.len() - bare.len() + slash + 1)
}

/// `?`: a short record. `??` and `?info`: the record with the persistence statement.
pub(crate) fn description(
    web: &Web,
    name: &Name,
    base: &str,
    is_full: bool,
    accept: &Accept,
) -> Response<Body> {
    let place = format!("{base}{}", name.path());
    let said = |types: &[&str]| {
        let mut found = types.iter().filter_map(|one| {
            let is_one = |own: &str| own.eq_ignore_ascii_case(one);
            let value = name.values.iter().find(|value| is_one(&value.value_type))?;
            value.text().map(on_one_line)
        });
        found.next().unwrap_or_else(|| UNAVAILABLE.to_string())
    };
    let who = said(&["erc.who", "who", "dc.creator", "creator", "author"]);
    let what = said(&["erc.what", "what", "dc.title", "title", "desc"]);
    let when = said(&["erc.when", "when", "dc.date", "date"]);
    let place_of_name = place.clone();
    let erc = vec![
        ("who", who),
        ("what", what),
        ("when", when),
        ("where", place_of_name),
    ];
    let mut sections = vec![("erc", erc)];
    if is_full {
        let authority = name.authority();
        let authority =
            authority.and_then(|path| web.registry().authority(&Principal::nobody(), path).ok());
        let promise = authority.as_ref().map(|one| match one.policy.persistence {
            Persistence::Permanent => "(:permanent) a name that has existed is never given again",
            Persistence::Erasable => "(:erasable) a name may be erased, and then given again",
        });
        let who = authority.as_ref().into_iter();
        let mut who = who.flat_map(|one| [&one.title, &one.contact].map(|text| on_one_line(text)));
        let who = who.find(|who| !who.is_empty());
        let support = vec![
            ("who", who.unwrap_or_else(|| UNAVAILABLE.to_string())),
            ("what", promise.unwrap_or(UNAVAILABLE).to_string()),
            ("where", place),
        ];
        sections.push(("erc-support", support));
    }
    if accept.page() > 0 {
        let page = DescriptionPage {
            frame: Frame::new(web, &name.text, MenuPlace::Registry),
            text: &name.text,
            path: escaped_text(name.path().as_bytes()),
            sections,
        };
        return page.frame.respond(StatusCode::OK, &page);
    }
    let mut out = String::new();
    for (section, lines) in sections {
        out.extend([section, ":\n"]);
        for (label, text) in lines {
            out.extend([label, ": ", &text, "\n"]);
        }
    }
    fresh(StatusCode::OK, "text/plain; charset=utf-8", out)
}

/// A section of a description, with its labels and texts.
type ErcSection = (&'static str, Vec<(&'static str, String)>);

#[derive(Template)]
#[template(path = "resolver/description.html")]
struct DescriptionPage<'a> {
    frame: Frame<'a>,
    text: &'a str,
    path: String,
    sections: Vec<ErcSection>,
}

/// A text that stays in its line.
fn on_one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_variants_are_taken_off_from_the_right() {
        let all = |text| ancestors(text).collect::<Vec<_>>();
        assert_eq!(
            all("ark:/12025/x5abc/p3.v2.tiff"),
            [
                ("ark:/12025/x5abc/p3.v2", ".tiff"),
                ("ark:/12025/x5abc/p3", ".v2.tiff"),
                ("ark:/12025/x5abc", "/p3.v2.tiff"),
            ]
        );
        assert_eq!(all("info:ark/12025/x/y"), [("info:ark/12025/x", "/y")]);
        for none in [
            "ark:12025/x5abc",
            "ark:12025/",
            "ark:12025",
            "ark:",
            "info:lccn/1/2",
            "",
            "ark:1//x",
        ] {
            assert_eq!(
                all(none).first().filter(|(base, _)| !base.ends_with('/')),
                None,
                "{none}"
            );
        }
        assert!(ancestors(&format!("ark:1/{}", "a/".repeat(4_000))).count() <= MAX_ANCESTORS);
    }
}
