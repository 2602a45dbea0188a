//! The examples of the documents that describe these identifiers.

use handfast_registry::{NewAuthority, NewName, NewValue, Principal, Registry, RegistryError};

const OPERATOR: Principal = Principal::Operator;

/// A handle among the examples.
pub(crate) const EXAMPLE: &str = "10.1045/april2006-paskin";

/// Fills a new registry with examples.
pub(crate) fn fill(registry: &Registry) -> Result<(), RegistryError> {
    cordra(registry)?;
    urns(registry)?;
    handles(registry)
}

/// The two CORDRA documents, whose identifiers and metadata identifiers stand on their first pages,
/// and the example that both use.
fn cordra(registry: &Registry) -> Result<(), RegistryError> {
    for (prefix, title) in [
        ("2000.01", "CORDRA specifications"),
        ("100.102", "Examples in CORDRA specifications"),
    ] {
        let mut new = titled(title);
        new.change.cordra = Some(true);
        registry.create_authority(&OPERATOR, prefix, new)?;
    }
    for (document, metadata, title) in [
        (
            "2000.01/FFEE9F72B00C4189B137ECD34188B94E",
            "2000.01/A3D8BE7457C943FFB66ED4583059A8BA",
            "Encoding CORDRA Identifiers in URI Syntax",
        ),
        (
            "2000.01/EEF4DF17361A42E2B975E554663B70C3",
            "2000.01/F4FBE5D290194191AAD3A1EFE79D6C5A",
            "CORDRA Identifiers",
        ),
    ] {
        let link = |value_type: &str, to: &str| NewValue::new(10, value_type, to.as_bytes());
        let title = NewValue::new(5, "DESC", title.as_bytes());
        for (id, folder, values) in [
            (
                document,
                "documents",
                vec![title, link("METADATA", metadata)],
            ),
            (metadata, "metadata", vec![link("DESCRIBES", document)]),
        ] {
            let local = id.split_once('/').map_or(id, |(_, local)| local);
            let new = NewName {
                values,
                ..NewName::urls(&[&format!("https://cordra.example/{folder}/{local}")])
            };
            registry.create_name(&OPERATOR, id, new)?;
        }
    }
    let example =
        NewName::urls(&["https://cordra.example/objects/F58FB49EB1F848F0A606E84CEF294BE5"]);
    registry
        .create_name(
            &OPERATOR,
            "100.102/F58FB49EB1F848f0A606E84CEF294BE5",
            example,
        )
        .map(|_| ())
}

/// The four URNs in the registration of `urn-3`, each with ordered URLs.
fn urns(registry: &Registry) -> Result<(), RegistryError> {
    let harvard = NewAuthority {
        meaning: "Network-accessible resources delivered through Harvard's library systems".into(),
        contact: "nrsadm@hulmail.harvard.edu".into(),
        ..titled("Harvard University Library")
    };
    registry.create_authority(&OPERATOR, "urn:urn-3", harvard)?;
    for (path, title) in [
        ("FHCL", "Harvard College Library"),
        ("HBS", "Harvard Business School"),
        ("HBS.Baker", "Baker Library"),
        ("HBS.Baker.TC", "Trade catalogs of Baker Library"),
        ("HUL", "Harvard University Library"),
        ("HUL.Eresource", "Electronic resources"),
        ("HUL.OIS", "Office for Information Systems"),
    ] {
        registry.create_authority(&OPERATOR, &format!("urn:urn-3:{path}"), titled(title))?;
    }
    for name in [
        "FHCL:10403",
        "HBS.Baker.TC:1923",
        "HUL.Eresource:holliswb",
        "HUL.OIS:Home",
    ] {
        let urls = ["first", "mirror", "archive"]
            .map(|host| format!("https://{host}.library.example/{name}"));
        let new = NewName::urls(&urls.each_ref().map(String::as_str));
        registry.create_name(&OPERATOR, &format!("urn:urn-3:{name}"), new)?;
    }
    Ok(())
}

/// A DOI, a derived prefix, and a name in each state.
fn handles(registry: &Registry) -> Result<(), RegistryError> {
    for (prefix, title) in [
        ("10.1045", "D-Lib Magazine"),
        ("12345", "A university"),
        ("12345.1", "Its museum, under a derived prefix"),
    ] {
        registry.create_authority(&OPERATOR, prefix, titled(title))?;
    }
    let paskin = NewName::urls(&["https://www.dlib.org/dlib/april06/paskin/04paskin.html"]);
    registry.create_name(&OPERATOR, EXAMPLE, paskin)?;
    let url = |name: &str| NewName::urls(&[&format!("https://museum.example/{name}")]);
    registry.create_name(&OPERATOR, "12345.1/vase-7", url("vase-7"))?;
    registry.create_name(&OPERATOR, "12345.1/vase-8", url("vase-8"))?;
    let reason = "the same vase as 12345.1/vase-7";
    registry.withdraw_name(&OPERATOR, "12345.1/vase-8", reason, Some("12345.1/vase-7"))?;
    let reserved = NewName {
        reserve: true,
        ..url("not-yet-shown")
    };
    registry
        .create_name(&OPERATOR, "12345.1/not-yet-shown", reserved)
        .map(|_| ())
}

fn titled(title: &str) -> NewAuthority {
    NewAuthority {
        title: title.into(),
        ..NewAuthority::default()
    }
}
