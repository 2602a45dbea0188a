//! The parameters of a request (`http-interfaces.md` B.2).

use std::net::IpAddr;

use handfast_wire::Value;
use handfast_wire::body::ResolutionRequest;
use percent_encoding::percent_decode_str;

/// The parameters of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResolveOptions {
    pub(crate) action: Action,
    /// Do not follow aliases.
    pub(crate) ignores_aliases: bool,
    /// Send what a redirect would have, with status 200.
    pub(crate) shows_headers: bool,
    /// Types of values; one that ends in a dot stands for its subtypes too.
    types: Vec<String>,
    indexes: Vec<u32>,
    /// Appended to the target.
    pub(crate) append: Vec<u8>,
    /// Preferred locations, by an attribute and perhaps its value.
    pub(crate) attributes: Vec<(String, Option<String>)>,
    /// The country of the client, if the request names it.
    pub(crate) country: Option<String>,
    /// An address in the country of the client.
    pub(crate) address: Option<IpAddr>,
    /// The name, in a form, where a blank is sent as `+`.
    pub(crate) name: Option<String>,
    /// Unknown parameters, as they were written.
    pub(crate) rest: String,
}

impl ResolveOptions {
    /// Reads a query. "Separators are `&` and `;`. Keys and values are percent-decoded, `+` stays.
    /// Most flags count by presence, whatever their value."
    pub(crate) fn read(query: &str) -> Self {
        let mut options = Self::default();
        let mut is_to_show = false;
        let mut action = None;
        let mut is_number = true;
        let mut rest = query;
        let mut separator = "";
        while !rest.is_empty() {
            let end = rest.find(['&', ';']).unwrap_or(rest.len());
            let (pair, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let decoded = |text| percent_decode_str(text).decode_utf8_lossy();
            let text = || decoded(value).into_owned();
            match &*decoded(key) {
                // The only copy there is answers always, and unsigned.
                "" | "auth" | "cert" => {}
                "ip" => options.address = text().trim().parse().ok(),
                "noredirect" => is_to_show = true,
                "ignore_aliases" => options.ignores_aliases = true,
                "redirectionHeaders" => options.shows_headers = true,
                "type" => options.types.push(text()),
                "index" => match text().parse() {
                    Ok(index) => options.indexes.push(index),
                    Err(_) => is_number = false,
                },
                "urlappend" => options.append.extend(percent_decode_str(value)),
                "locatt" => {
                    let text = text();
                    options.attributes.push(match text.split_once(':') {
                        Some((name, value)) => (name.to_string(), Some(value.to_string())),
                        None => (text, None),
                    });
                }
                "country" => options.country = Some(text()),
                "action" => action = Some(text()),
                key => {
                    // In the form of the front page they are the name, behind a name they are
                    // anybody's.
                    if matches!(key, "hdl" | "id") {
                        let typed = value.replace('+', " ");
                        let typed = percent_decode_str(&typed).decode_utf8_lossy();
                        options.name = Some(typed.into_owned());
                    }
                    if !options.rest.is_empty() {
                        options.rest.push_str(separator);
                    }
                    options.rest.push_str(pair);
                }
            }
            separator = after.get(..1).unwrap_or_default();
            rest = after.get(1..).unwrap_or_default();
        }
        // "A non-number makes all index parameters ignored."
        if !is_number {
            options.indexes.clear();
        }
        options.action = match action.as_deref() {
            None if is_to_show => Action::Show,
            Some("showvalues") => Action::Show,
            Some("showurls") => Action::Locations,
            Some("api") => Action::Json,
            Some("label") => Action::Label,
            Some("qr.png") => Action::QrPng,
            Some("qr.svg") => Action::QrSvg,
            Some("metadata") => {
                let role = ("role".to_string(), Some("metadata".to_string()));
                options.attributes.push(role);
                Action::Redirect
            }
            _ => Action::Redirect,
        };
        options
    }

    /// Whether only some values are asked for.
    pub(crate) fn is_selective(&self) -> bool {
        !self.types.is_empty() || !self.indexes.is_empty()
    }

    /// Keeps the values that are asked for.
    pub(crate) fn select(&self, values: &mut Vec<Value<'static>>) {
        let request = ResolutionRequest {
            indexes: self.indexes.clone(),
            types: self.types.iter().map(Into::into).collect(),
            ..ResolutionRequest::all("")
        };
        values.retain(|value| request.selects(value));
    }
}

/// The action for a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Action {
    /// Give its record as JSON.
    Json,
    /// Show a label to print.
    Label,
    /// List all its locations.
    Locations,
    /// Draw the QR code of its citable link.
    QrPng,
    QrSvg,
    /// Go there.
    #[default]
    Redirect,
    /// Show its record.
    Show,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_left_as_it_was_written() {
        for (query, rest) in [
            ("", ""),
            ("x=1", "x=1"),
            ("x=1&y=%20;z", "x=1&y=%20;z"),
            ("noredirect&x=1&auth;y", "x=1;y"),
            ("type=URL", ""),
            ("a&type=URL&b", "a&b"),
            ("id=7", "id=7"),
            ("&&;", ""),
        ] {
            assert_eq!(ResolveOptions::read(query).rest, rest, "{query}");
        }
    }

    #[test]
    fn parameters_count_as_tabled() {
        for (query, action) in [
            ("noredirect=false", Action::Show),
            ("noredirect&action=redirect", Action::Redirect),
            ("action=anything", Action::Redirect),
            ("action=showvalues", Action::Show),
            ("action=qr.svg", Action::QrSvg),
            ("action=label", Action::Label),
        ] {
            assert_eq!(ResolveOptions::read(query).action, action, "{query}");
        }
        let several =
            ResolveOptions::read("index=1;index=7&urlappend=%0D%0Aa+b&locatt=id:1:2&locatt=x");
        assert_eq!(several.indexes, [1, 7]);
        assert_eq!(several.append, b"\r\na+b");
        assert_eq!(several.attributes[0], ("id".into(), Some("1:2".into())));
        assert_eq!(several.attributes[1], ("x".into(), None));
        assert!(!ResolveOptions::read("index=1&index=x").is_selective());
    }

    /// A pasted name with a blank behind it was looked up with a `+` at its end, and never found.
    #[test]
    fn a_form_sends_a_blank_as_plus() {
        for (query, typed) in [
            ("id=+20.1/a+", " 20.1/a "),
            ("hdl=20.1/a%2Bb+c", "20.1/a+b c"),
        ] {
            assert_eq!(
                ResolveOptions::read(query).name.as_deref(),
                Some(typed),
                "{query}"
            );
        }
    }
}
