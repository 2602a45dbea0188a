//! The bundle that an operator sends to a prefix registrar: the identity and the addresses of
//! the server.

use std::fs;
use std::path::{Path, PathBuf};

use handfast_wire::{Codec, Dct, json};

use crate::setup::identity::{Identity, IdentityError};
use crate::setup::key_files::{ADMINISTRATOR_PUBLIC, PUBLIC, failed, keep, read};
use crate::setup::site_record;
use crate::setup::zip::archive;

/// The folder of the bundle, in the data folder.
const FOLDER: &str = "registration";
/// The file that is sent, under the name that registrars know.
const ARCHIVE: &str = "sitebndl.zip";
const CONTACT: &str = "contactdata.dct";

/// The contact for a registrar. Missing fields keep their earlier value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contact {
    /// The organisation.
    pub organisation: Option<String>,
    /// The responsible person.
    pub name: Option<String>,
    /// How to reach them.
    pub email: Option<String>,
    /// And otherwise.
    pub phone: Option<String>,
}

/// A registration bundle: the site record, the public key of the administrator, and the contact, as
/// files and as one archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// The folder of its files.
    pub folder: PathBuf,
    /// The one that is sent.
    pub archive: PathBuf,
}

impl Bundle {
    /// Writes the bundle of a server to its data folder, in place of an earlier one. There is
    /// nothing secret in it.
    pub fn write(
        data: &Path,
        identity: &Identity,
        contact: &Contact,
    ) -> Result<Self, IdentityError> {
        let folder = data.join(FOLDER);
        fs::create_dir_all(&folder).map_err(failed(&folder))?;
        let contact = contact.over(&folder.join(CONTACT))?;
        let site = identity.site();
        let servers = site.servers.first();
        let key = servers.map_or(&[][..], |server| &server.public_key);
        let described = json::write_site(site);
        let archive_file = folder.join(ARCHIVE);
        // Exactly the files that registrars expect.
        let sent = archive(&[
            ("siteinfo.bin", &site.to_bytes()),
            (ADMINISTRATOR_PUBLIC, identity.administrator_key()),
            (CONTACT, contact.as_bytes()),
        ]);
        for (name, bytes) in [
            ("siteinfo.bin", &site.to_bytes()[..]),
            (site_record::FILE, described.as_bytes()),
            (PUBLIC, key),
            (ADMINISTRATOR_PUBLIC, identity.administrator_key()),
            (CONTACT, contact.as_bytes()),
            ("README.txt", README.as_bytes()),
            (ARCHIVE, &sent),
        ] {
            keep(&folder.join(name), bytes, 0o644)?;
        }
        Ok(Self {
            folder,
            archive: archive_file,
        })
    }
}

impl Contact {
    /// As the file says it, over what it said before.
    fn over(&self, file: &Path) -> Result<String, IdentityError> {
        let text = read(file)?.unwrap_or_default();
        let before = Dct::parse(&String::from_utf8_lossy(&text)).ok();
        let said = [
            ("org_name", &self.organisation),
            ("contact_name", &self.name),
            ("contact_email", &self.email),
            ("contact_phone", &self.phone),
        ];
        let entries = said.into_iter().filter_map(|(key, said)| {
            let earlier = || before.as_ref()?.get(key)?.text().map(str::to_string);
            let text = said.clone().or_else(earlier)?;
            Some((key.to_string(), Dct::Text(text)))
        });
        Ok(format!("{}\n", Dct::Table(entries.collect())))
    }
}

const README: &str = "\
Send sitebndl.zip to the registrar from whom you get a prefix. It holds

  siteinfo.bin      where the server is, and its public key (siteinfo.json says the same for people)
  admpub.bin        the public key of its administrator
  contactdata.dct   whom to ask

Nothing in this folder is secret. The private keys privkey.bin and admpriv.bin stay in the
folder above.
When you have the prefix:  handfast authority create PREFIX
";
