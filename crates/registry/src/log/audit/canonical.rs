//! Checks that keys are canonical, as far as a key alone shows it.
//!
//! Which characters of a name count may depend on the policy of its authority, on configured URN
//! profiles and on the rules of `info` namespaces, which a log does not contain. The audit checks
//! everything that is the same everywhere: the tag, the prefix, suffixes under `10`, `10.*` and
//! `0.*`, `urn-3`, ARKs, and percent-encoding.

use handfast_id::{Ark, Handle, InfoUri, MAX_TEXT, Namespace, Prefix, Standard, Urn};

use crate::authority::path::{AuthorityPath, begins_with_scheme};

/// The form of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Canonical,
    /// Canonical, but the name could only be migrated and not be registered.
    Irregular,
    Wrong(&'static str),
}

/// The form of the key of a name.
pub(super) fn form_of(key: &str) -> Form {
    let Some((tag, rest)) = key.split_once(':') else {
        return Form::Wrong("it has no scheme");
    };
    let is_same = match tag {
        "hdl" => return form_of_handle(rest),
        "ark" => Ark::parse(key).is_ok_and(|ark| ark.to_string() == key),
        "urn" => Urn::parse(key).is_ok_and(|urn| urn.to_string() == key),
        "info" => {
            let uri = InfoUri::parse(key).ok();
            if uri.as_ref().is_some_and(|uri| is_named_by_other(uri)) {
                return Form::Wrong("handles, DOIs and ARKs have keys of their own scheme");
            }
            uri.is_some_and(|uri| uri.to_string() == key)
        }
        _ => return Form::Wrong("its scheme is not hdl, urn, ark or info, in lower case"),
    };
    if is_same {
        Form::Canonical
    } else {
        Form::Wrong("its canonical form is another")
    }
}

fn is_named_by_other(uri: &InfoUri<'_>) -> bool {
    ["ark", "doi", "hdl"].contains(&uri.namespace())
}

fn form_of_handle(handle: &str) -> Form {
    let Some((prefix, suffix)) = handle.split_once('/') else {
        return Form::Wrong("a handle has a prefix and a suffix");
    };
    let is_upper = |text: &str| !text.bytes().any(|byte| byte.is_ascii_lowercase());
    if handle.len() > MAX_TEXT {
        return Form::Wrong("it is longer than any name");
    }
    let Ok(parsed) = Prefix::parse(prefix) else {
        return Form::Wrong("its prefix is not valid");
    };
    if !is_upper(prefix) {
        return Form::Wrong("its prefix is not in upper case");
    }
    if parsed.is_always_insensitive() && !is_upper(suffix) {
        return Form::Wrong("its suffix is not in upper case, though case never counts there");
    }
    // Earlier programs took the `hdl:` of `hdl:20.9` for a part of the prefix.
    if begins_with_scheme(prefix) || Handle::parse(handle).is_err() {
        return Form::Irregular;
    }
    Form::Canonical
}

/// Whether a name may be under an authority, both given by their keys.
pub(super) fn fits(key: &str, authority: &str) -> bool {
    let Some((tag, rest)) = key.split_once(':') else {
        return false;
    };
    let Some((own_tag, own)) = authority.split_once(':') else {
        return false;
    };
    if own_tag != tag {
        return false;
    }
    match tag {
        "hdl" => match rest.split_once('/') {
            // The record of a prefix belongs to that prefix.
            Some(("0.NA", named)) if Prefix::parse(named).is_ok() => own == named,
            Some((prefix, _)) => own == prefix,
            None => false,
        },
        "urn" if rest.starts_with("urn-3:") => Urn::parse(key).is_ok_and(|urn| {
            let path = AuthorityPath::of(&handfast_id::Identifier::Urn(urn), &Standard);
            path.key() == authority
        }),
        // The configuration decides whether a namespace delegates: the authority is its root, or a
        // path in it.
        "urn" => {
            let nid = rest.split(':').next().unwrap_or_default();
            let is_in_nid = own.split(':').next() == Some(nid);
            is_in_nid
                && own.split(':').count() <= 2
                && rest
                    .strip_prefix(own)
                    .is_some_and(|name| name.starts_with(':'))
        }
        _ => rest.split('/').next() == Some(own),
    }
}

/// Checks that the key of an authority is canonical.
pub(super) fn is_authority(key: &str) -> bool {
    let Some((tag, rest)) = key.split_once(':') else {
        return false;
    };
    match tag {
        "hdl" => {
            let is_upper = !rest.bytes().any(|byte| byte.is_ascii_lowercase());
            is_upper && Prefix::parse(rest).is_ok()
        }
        "info" => rest.is_empty() || is_namespace(rest),
        // The configuration decides which namespaces delegate, except that `urn-3` does. A name
        // follows a second colon.
        "urn" if !rest.starts_with("urn-3:") && rest.contains(':') => {
            if rest.split(':').count() > 2 {
                return false;
            }
            let name = format!("{key}:x");
            Urn::parse(&name).is_ok_and(|urn| urn.to_string() == name)
        }
        "urn" | "ark" => {
            let path = AuthorityPath::parse(key, &Standard);
            path.is_ok_and(|path| path.key() == key)
        }
        _ => false,
    }
}

/// Whether a text is the canonical name of an `info` namespace.
pub(super) fn is_namespace(name: &str) -> bool {
    Namespace::new(name).is_ok_and(|namespace| namespace.name() == name)
}

/// Whether an authority can have names at all. The roots of `info` and of `urn-3` have none, and
/// the names of `info:ark`, `info:doi` and `info:hdl` are ARKs and handles.
pub(super) fn has_names(authority: &str) -> bool {
    !["info:", "info:ark", "info:doi", "info:hdl", "urn:urn-3"].contains(&authority)
}

/// The key of an `info` URI as the original registry normalises it; `None` if it cannot.
pub(super) fn as_registered(key: &str) -> Option<String> {
    let uri = InfoUri::parse(key).ok()?;
    let canonical = uri.canonical(&Standard).ok()?;
    Some(canonical.as_str().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four spellings of one name counted as four names.
    #[test]
    #[rustfmt::skip] // A row is a line.
    fn only_canonical_keys_pass() {
        for key in [
            "hdl:20.9/THESIS", "hdl:20.9/thesis", "hdl:10.1000/ABC", "hdl:0.NA/20.9", "hdl:20.9/É",
            "urn:urn-3:hul.ois:home", "urn:isbn:978X", "urn:example:a%2Cb", "ark:12025/654xz321/s3",
            "ark:b5072/a%2D", "info:lccn/n78890351", "info:pmid/1#F", "info:x/a%20b",
            "hdl:20.9/a%2fb",
        ] {
            assert_eq!(form_of(key), Form::Canonical, "{key}");
        }
        for key in ["hdl:20.9/A\0B", "hdl:20.9/ A", "hdl:20.9/", "hdl:20.9/A\n", "hdl:HDL:20.9/A"] {
            assert_eq!(form_of(key), Form::Irregular, "{key:?}");
        }
        for key in [
            "", "hdl", "HDL:20.9/THESIS", "Hdl:20.9/X", "doi:10.1000/X", "hdl:20.a/X",
            "hdl:10.1000/abc",
            "hdl:0.na/20.9", "hdl:0.NA/20.a", "hdl:0.SITE/Admin", "hdl: 20.9/X", "hdl:/X",
            "hdl:20.9",
            "urn:urn-3:HUL.OIS:Home", "urn:urn-3:hul.ois:Home", "URN:isbn:1", "urn:ISBN:1",
            "urn:example:a%2cb",
            "urn:example:a?=q", "urn:example:a#f", "urn:example:%00", "ark:/12025/x",
            "ark:12025/a-b",
            "ark:12025/a.", "ark:B5072/x", "info:LCCN/1", "info:x/a%41", "info:x/a%2fb",
            "info:doi/10.1000/x",
            "info:hdl/20.9/x", "info:ark/12025/x", "info:x/a b", "info:x",
        ] {
            assert!(matches!(form_of(key), Form::Wrong(_)), "{key:?}");
        }
    }

    #[test]
    #[rustfmt::skip] // A row is a line.
    fn a_name_is_under_its_own_authority_alone() {
        for (key, authority) in [
            ("hdl:20.9/X", "hdl:20.9"), ("hdl:0.NA/20.9", "hdl:20.9"),
            ("hdl:0.NA/0.NA", "hdl:0.NA"),
            ("urn:urn-3:hul.ois:home", "urn:urn-3:hul.ois"), ("urn:isbn:1", "urn:isbn"),
            ("urn:x1:a.b:c", "urn:x1:a.b"),
            ("urn:x1:a.b:c", "urn:x1"), ("ark:12025/x", "ark:12025"), ("info:lccn/1", "info:lccn"),
        ] {
            assert!(fits(key, authority), "{key} {authority}");
            assert!(is_authority(authority), "{authority}");
        }
        for (key, authority) in [
            ("hdl:20.9/X", "hdl:20.91"), ("hdl:20.9/X", "hdl:20"), ("hdl:20.9/X", ""),
            ("hdl:0.NA/20.9", "hdl:0.NA"),
            ("urn:urn-3:hul.ois:home", "urn:urn-3:hul"), ("urn:urn-3:hul.ois:home", "urn:urn-3"),
            ("urn:isbn:1", "urn:issn"), ("urn:isbn:1", "urn:isb"), ("urn:x1:a:b:c", "urn:x1:a:b"),
            ("ark:12025/x", "hdl:12025"), ("info:lccn/1", "info:"),
        ] {
            assert!(!fits(key, authority), "{key} {authority}");
        }
        for authority in ["", "hdl:20.a", "HDL:20.9", "hdl:20.9/X", "urn:urn-3:HUL", "urn:ISBN",
            "info:LCCN", "x:1", "ark:B1", "urn:x1:a:b"] {
            assert!(!is_authority(authority), "{authority}");
        }
        assert!(is_authority("info:"));
        assert!(has_names("urn:urn-3:hul") && has_names("info:lccn") && !has_names("urn:urn-3"));
        for key in ["info:lccn/n78890351", "info:lccn/n78-890351"] {
            assert_eq!(as_registered(key).unwrap(), "info:lccn/n78890351");
        }
    }
}
