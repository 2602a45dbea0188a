//! `[web.acme]`: a certificate that the server obtains by ACME.

use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use handfast_server::{Acme, AcmeChallenge};
use serde::{Deserialize, Serialize};

#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct AcmeSection {
    domains: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    contact: Vec<String>,
    #[serde(default = "lets_encrypt")]
    directory: String,
    #[serde(default)]
    agree_terms: bool,
    #[serde(default)]
    challenge: Challenge,
    root_certificate: Option<PathBuf>,
}

#[derive(Clone, Copy, Default, Deserialize, Serialize)]
enum Challenge {
    #[default]
    #[serde(rename = "http-01")]
    Http01,
    #[serde(rename = "tls-alpn-01")]
    TlsAlpn01,
}

fn lets_encrypt() -> String {
    "https://acme-v02.api.letsencrypt.org/directory".to_string()
}

/// How many names one certificate may have.
const MAX_DOMAINS: usize = 100;
/// The folder of account and certificate, in the data folder.
const FOLDER: &str = "acme";

impl AcmeSection {
    pub(super) fn settings(self, folder: &Path) -> anyhow::Result<Acme> {
        if !self.agree_terms {
            bail!(
                "the authority at {} wants its terms to be agreed to: read them, and say \
                 agree-terms = true",
                self.directory
            );
        }
        ensure!(!self.domains.is_empty(), "[web.acme] needs domains");
        ensure!(
            self.domains.len() <= MAX_DOMAINS,
            "[web.acme] takes at most {MAX_DOMAINS} domains"
        );
        for domain in &self.domains {
            ensure!(
                is_domain(domain),
                "{domain} is no name that a certificate can be got for here"
            );
        }
        ensure!(
            self.directory.starts_with("https://"),
            "[web.acme] directory is an https URL"
        );
        let contact = self.contact.into_iter().map(|who| {
            if who.contains(':') {
                who
            } else {
                format!("mailto:{who}")
            }
        });
        Ok(Acme {
            domains: self.domains,
            contact: contact.collect(),
            directory: self.directory,
            challenge: match self.challenge {
                Challenge::Http01 => AcmeChallenge::Http01,
                Challenge::TlsAlpn01 => AcmeChallenge::TlsAlpn01,
            },
            root_certificate: self.root_certificate.map(|file| folder.join(file)),
            folder: folder.join(FOLDER),
        })
    }
}

/// A full host name: HTTP and TLS challenges prove neither addresses nor wildcards.
fn is_domain(text: &str) -> bool {
    let is_label = |label: &str| {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        (1..=63).contains(&label.len())
            && label.bytes().all(fits)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.len() <= 253
        && text.contains('.')
        && text.split('.').all(is_label)
        && text.parse::<std::net::IpAddr>().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &str) -> anyhow::Result<Acme> {
        toml::from_str::<AcmeSection>(lines)?.settings(Path::new("/data"))
    }

    #[test]
    fn an_authority_is_asked_only_for_names_and_with_consent() {
        let names = "domains = [\"pid.example\", \"www.pid.example\"]\n";
        let acme = read(&format!(
            "{names}agree-terms = true\ncontact = [\"ops@pid.example\"]"
        ))
        .unwrap();
        assert_eq!(acme.contact, ["mailto:ops@pid.example"]);
        assert_eq!(acme.challenge, AcmeChallenge::Http01);
        assert_eq!(acme.folder, Path::new("/data/acme"));
        for (lines, named) in [
            (names, "agree-terms"),
            ("agree-terms = true\ndomains = []", "needs domains"),
            ("agree-terms = true\ndomains = [\"*.pid.example\"]", "*.pid"),
            ("agree-terms = true\ndomains = [\"192.0.2.1\"]", "192.0.2.1"),
            ("agree-terms = true\ndomains = [\"localhost\"]", "localhost"),
            ("agree-terms = true\ndomains = [\"a.-b\"]", "a.-b"),
            (
                "agree-terms = true\ndomains = [\"a.b\"]\ndirectory = \"http://x\"",
                "https",
            ),
            (
                "agree-terms = true\ndomains = [\"a.b\"]\nchallenge = \"dns-01\"",
                "dns-01",
            ),
        ] {
            let error = read(lines).err().unwrap();
            assert!(format!("{error:#}").contains(named), "{error:#}");
        }
    }
}
