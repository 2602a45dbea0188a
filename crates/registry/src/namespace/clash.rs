//! Strings with which a new namespace could be confused (`INFO-10`: no URI form of its own).

/// Well-known URI schemes; namespaces of these names would be confused with them.
const SCHEMES: [&str; 40] = [
    "about",
    "acct",
    "ark",
    "cid",
    "coap",
    "data",
    "dav",
    "dns",
    "doi",
    "file",
    "ftp",
    "geo",
    "git",
    "go",
    "hdl",
    "http",
    "https",
    "imap",
    "info",
    "ipp",
    "irc",
    "jar",
    "javascript",
    "ldap",
    "mailto",
    "mid",
    "news",
    "nfs",
    "nntp",
    "pop",
    "rtsp",
    "sftp",
    "sip",
    "sips",
    "sms",
    "ssh",
    "tag",
    "tel",
    "urn",
    "xmpp",
];

/// Registered URN namespaces (IANA, formal).
const NIDS: [&str; 75] = [
    "3gpp",
    "adid",
    "alert",
    "bbf",
    "broadband-forum-org",
    "cablelabs",
    "ccsds",
    "cgi",
    "clei",
    "ddi",
    "dgiwg",
    "dslforum",
    "dvb",
    "ebu",
    "eic",
    "eidr",
    "epc",
    "epcglobal",
    "eppn",
    "etsi",
    "eurosystem",
    "example",
    "fdc",
    "fipa",
    "fsc",
    "geant",
    "globus",
    "gsma",
    "hbbtv",
    "ieee",
    "ietf",
    "infores",
    "iptc",
    "isan",
    "isbn",
    "iso",
    "issn",
    "itu",
    "ivis",
    "liberty",
    "mace",
    "mef",
    "meta",
    "mpeg",
    "mrn",
    "nato",
    "nbn",
    "nena",
    "newsml",
    "nfc",
    "nzl",
    "oasis",
    "ocpp",
    "ogc",
    "ogf",
    "oid",
    "oma",
    "onem2m",
    "onf",
    "openmobilealliance",
    "pin",
    "publicid",
    "reso",
    "s1000d",
    "schac",
    "service",
    "smpte",
    "swift",
    "tva",
    "uci",
    "ucode",
    "uuid",
    "virtualid",
    "web3d",
    "xmpp",
];

/// In strings of this length, such as `oai` and `ofi`, another letter makes another word, but an
/// added or removed letter does not. Shorter strings are not compared.
const MAX_SHORT_NAME: usize = 3;

/// What a string could be confused with: a URI scheme, a URN namespace, or an entry that differs in
/// one character.
pub(super) fn clashes<'e>(name: &str, entries: impl Iterator<Item = &'e str>) -> Vec<String> {
    let mut found = Vec::new();
    if SCHEMES.contains(&name) {
        found.push(format!("the URI scheme {name}"));
    }
    if NIDS.contains(&name) || name.starts_with("urn-") {
        found.push(format!("the URN namespace urn:{name}"));
    }
    let plain = |text: &str| text.replace(['-', '.', '+'], "");
    let similar = entries.filter(|other| {
        let shorter = other.len().min(name.len());
        let is_compared =
            shorter > MAX_SHORT_NAME || shorter == MAX_SHORT_NAME && other.len() != name.len();
        *other != name && (plain(other) == plain(name) || is_compared && is_one_apart(other, name))
    });
    found.extend(similar.map(|other| format!("info:{other}")));
    found
}

/// Whether two texts differ in one added, removed or replaced character.
fn is_one_apart(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() <= other.len() {
        (one.as_bytes(), other.as_bytes())
    } else {
        (other.as_bytes(), one.as_bytes())
    };
    if long.len() - short.len() > 1 {
        return false;
    }
    let start = short.iter().zip(long).take_while(|(a, b)| a == b).count();
    let (rest, longer) = (short.get(start..), long.get(start..));
    let (rest, longer) = (rest.unwrap_or_default(), longer.unwrap_or_default());
    if short.len() == long.len() {
        rest.get(1..).unwrap_or_default() == longer.get(1..).unwrap_or_default()
    } else {
        rest == longer.get(1..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn info_10_strings_that_mean_something_else_are_found() {
        let of = |name: &str| clashes(name, ["lccn", "sici", "oai"].into_iter()).len();
        for name in [
            "urn", "http", "isbn", "urn-7", "lccn2", "lcc", "lccm", "l-ccn", "sic", "oaii",
        ] {
            assert_eq!(of(name), 1, "{name}");
        }
        let http = clashes("http", std::iter::empty());
        assert_eq!(http, ["the URI scheme http"]);
        for name in ["lccn", "fresh", "oab2", "si", "oaj", "oa"] {
            assert_eq!(of(name), 0, "{name}");
        }
    }
}
