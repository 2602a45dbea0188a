//! Sites in JSON (`http-interfaces.md` A.10, `handle-protocol.md` §6.12).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value as Json, json};

use super::data;
use super::tree::{Tree, Wrong};
use crate::batch::parse::hex;
use crate::{Codec, Site, SiteInterface, SiteServer};

pub(super) fn write(data: &[u8]) -> Option<Json> {
    Site::from_bytes(data).ok().map(|site| tree(&site))
}

/// A site as `siteinfo.json` describes it, on lines for people.
///
/// ```
/// use handfast_wire::{Site, json};
///
/// let site = Site { version: 1, protocol: (2, 11), serial: 1, ..Site::default() };
/// assert_eq!(json::read_site(json::write_site(&site).as_bytes()), Some(site));
/// ```
#[must_use]
pub fn write_site(site: &Site) -> String {
    format!("{:#}\n", tree(site))
}

fn tree(site: &Site) -> Json {
    let mut value = Map::new();
    value.insert("version".into(), site.version.into());
    let (major, minor) = site.protocol;
    value.insert("protocolVersion".into(), format!("{major}.{minor}").into());
    value.insert("serialNumber".into(), site.serial.into());
    value.insert("primarySite".into(), site.is_primary.into());
    value.insert("multiPrimary".into(), site.is_multi_primary.into());
    if site.hash_option != 2 {
        value.insert("hashOption".into(), site.hash_option.into());
    }
    if !site.hash_filter.is_empty() {
        value.insert("hashFilter".into(), site.hash_filter.as_str().into());
    }
    let attributes = site
        .attributes
        .iter()
        .map(|(name, value)| json!({"name": name, "value": value}));
    value.insert("attributes".into(), attributes.collect());
    let servers = site.servers.iter().map(write_server);
    value.insert("servers".into(), servers.collect());
    value.into()
}

fn write_server(server: &SiteServer) -> Json {
    let mut value = Map::new();
    value.insert("serverId".into(), server.id.into());
    value.insert("address".into(), server.ip().to_string().into());
    if !server.public_key.is_empty() {
        let public_key = match data::write_key(&server.public_key) {
            Some(key) => json!({"format": "key", "value": key}),
            None => json!({"format": "base64", "value": STANDARD.encode(&server.public_key)}),
        };
        value.insert("publicKey".into(), public_key);
    }
    let interfaces = server.interfaces.iter().map(|interface| {
        let protocol = PROTOCOLS.get(usize::from(interface.protocol));
        json!({
            "query": interface.query(), "admin": interface.admin(), "port": interface.port,
            "protocol": protocol.map_or(Json::from(interface.protocol), |name| Json::from(*name)),
        })
    });
    value.insert("interfaces".into(), interfaces.collect());
    value.into()
}

const PROTOCOLS: [&str; 4] = ["UDP", "TCP", "HTTP", "HTTPS"];

/// A site that is described in JSON, as in `siteinfo.json`.
///
/// ```
/// assert_eq!(handfast_wire::json::read_site(b"no JSON"), None);
/// ```
#[must_use]
pub fn read_site(text: &[u8]) -> Option<Site> {
    let tree = serde_json::from_slice(text).ok()?;
    read(tree).ok()
}

pub(super) fn read(tree: Tree<'_>) -> Result<Site, Wrong> {
    const KNOWN: &[&str; 9] = &[
        "version",
        "protocolVersion",
        "serialNumber",
        "primarySite",
        "multiPrimary",
        "hashOption",
        "hashFilter",
        "attributes",
        "servers",
    ];
    let [
        version,
        protocol,
        serial,
        is_primary,
        is_multi_primary,
        hash_option,
        hash_filter,
        attributes,
        servers,
    ] = tree.members(SITE, KNOWN, is_spelling_of)?;
    Ok(Site {
        version: number(SITE, "version", version)?,
        protocol: protocol
            .and_then(Tree::text)
            .as_deref()
            .and_then(|text| text.split_once('.'))
            .and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)))
            .ok_or(Wrong::member(
                "site.protocolVersion",
                "text such as \"2.11\"",
            ))?,
        serial: number(SITE, "serialNumber", serial)?,
        is_primary: truth("site.primarySite", is_primary)?,
        is_multi_primary: truth("site.multiPrimary", is_multi_primary)?,
        hash_option: match hash_option {
            None => 2,
            given => number(SITE, "hashOption", given)?,
        },
        hash_filter: match hash_filter {
            None => String::new(),
            Some(tree) => text("site.hashFilter", tree)?,
        },
        attributes: attributes.map_or(Ok(Vec::new()), read_attributes)?,
        servers: list("site.servers", servers, read_server)?,
    })
}

/// A list of names and values, or an object in which a name may have several values.
fn read_attributes(tree: Tree<'_>) -> Result<Vec<(String, String)>, Wrong> {
    const OF: &str = "site.attributes";
    const KNOWN: &[&str; 2] = &["name", "value"];
    match tree {
        Tree::List(list) => list
            .into_iter()
            .map(|tree| {
                let [name, value] = tree.members(OF, KNOWN, is_spelling_of)?;
                let [name, value] = [name, value].map(|tree| text(OF, tree.unwrap_or(Tree::Null)));
                Ok((name?, value?))
            })
            .collect(),
        Tree::Object(members) => {
            let mut attributes = Vec::new();
            for (name, tree) in members {
                let values = match tree {
                    Tree::List(values) => values,
                    value => vec![value],
                };
                for value in values {
                    attributes.push((name.to_string(), text(OF, value)?));
                }
            }
            Ok(attributes)
        }
        _ => Err(Wrong::member(
            OF,
            "a list of names and values, or an object",
        )),
    }
}

fn read_server(tree: Tree<'_>) -> Result<SiteServer, Wrong> {
    const OF: &str = "site.servers";
    const KNOWN: &[&str; 4] = &["serverId", "address", "publicKey", "interfaces"];
    let [id, address, public_key, interfaces] = tree.members(OF, KNOWN, is_spelling_of)?;
    let address = address
        .and_then(Tree::text)
        .and_then(|text| text.parse().ok());
    Ok(SiteServer {
        id: number(OF, "serverId", id)?,
        address: SiteServer::address_of(
            address.ok_or(Wrong::member("site.servers.address", "an IP address"))?,
        ),
        public_key: public_key.map_or(Ok(Vec::new()), read_public_key)?,
        interfaces: list("site.servers.interfaces", interfaces, read_interface)?,
    })
}

/// Data in a format; text alone is hexadecimal, as older files have it.
fn read_public_key(tree: Tree<'_>) -> Result<Vec<u8>, Wrong> {
    const OF: &str = "site.servers.publicKey";
    const KNOWN: &[&str; 2] = &["format", "value"];
    if let Tree::Text(text) = tree {
        return hex(&text).ok_or(Wrong::member(OF, "an object, or hexadecimal digits"));
    }
    let [format, value] = tree.members(OF, KNOWN, is_spelling_of)?;
    let format = format
        .and_then(Tree::text)
        .filter(|format| {
            ["key", "base64", "hex", "string"].contains(&&*format.to_ascii_lowercase())
        })
        .ok_or(Wrong::member(
            "site.servers.publicKey.format",
            "`key`, `base64`, `hex` or `string`",
        ))?;
    data::read(&format, value.unwrap_or(Tree::Null)).map(Into::into)
}

fn read_interface(tree: Tree<'_>) -> Result<SiteInterface, Wrong> {
    const OF: &str = "site.servers.interfaces";
    const KNOWN: &[&str; 4] = &["query", "admin", "protocol", "port"];
    let [query, admin, protocol, port] = tree.members(OF, KNOWN, is_spelling_of)?;
    let protocol = protocol.and_then(|tree| match &tree {
        Tree::Text(text) => PROTOCOLS
            .iter()
            .position(|name| text.eq_ignore_ascii_case(name))
            .and_then(|number| u8::try_from(number).ok())
            .or(tree.number()),
        _ => tree.number(),
    });
    let query = truth("site.servers.interfaces.query", query)?;
    let admin = truth("site.servers.interfaces.admin", admin)?;
    Ok(SiteInterface {
        kind: u8::from(admin) | u8::from(query) << 1,
        protocol: protocol.ok_or(Wrong::member(
            "site.servers.interfaces.protocol",
            "`UDP`, `TCP`, `HTTP`, `HTTPS` or a number up to 255",
        ))?,
        port: number(OF, "port", port)?,
    })
}

const SITE: &str = "site";

/// Older files begin the names of members with a capital letter, and have two other names.
fn is_spelling_of(given: &str, known: &str) -> bool {
    let older = match known {
        "interfaces" => "InterfaceList",
        "servers" => "ServerList",
        known => known,
    };
    given.eq_ignore_ascii_case(known) || given.eq_ignore_ascii_case(older)
}

fn number<T: TryFrom<i128>>(
    of: &'static str,
    member: &'static str,
    tree: Option<Tree<'_>>,
) -> Result<T, Wrong> {
    let tree = tree.ok_or(Wrong::Missing { of, member })?;
    tree.number().ok_or(Wrong::member(
        member,
        "a whole number that the wire form has room for",
    ))
}

fn truth(member: &'static str, tree: Option<Tree<'_>>) -> Result<bool, Wrong> {
    tree.map_or(Some(false), |tree| tree.truth())
        .ok_or(Wrong::member(member, "true or false"))
}

fn text(member: &'static str, tree: Tree<'_>) -> Result<String, Wrong> {
    tree.text()
        .map(Into::into)
        .ok_or(Wrong::member(member, "text"))
}

fn list<T>(
    member: &'static str,
    tree: Option<Tree<'_>>,
    read: impl Fn(Tree<'_>) -> Result<T, Wrong>,
) -> Result<Vec<T>, Wrong> {
    match tree {
        Some(Tree::List(list)) => list.into_iter().map(read).collect(),
        _ => Err(Wrong::member(member, "a list")),
    }
}
