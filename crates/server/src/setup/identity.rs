//! The identity of the server: its key, its site record, and the key of its administrator.

use std::io;
use std::path::{Path, PathBuf};

use handfast_registry::Principal;
use handfast_wire::crypto::{CryptoError, KeyFileError, SigningKey};
use handfast_wire::{Codec, Permissions, Site, Value};

use crate::listen::Addresses;
use crate::setup::key_files::{
    ADMINISTRATOR_PRIVATE, PRIVATE, administrator_key, public_of, server_key,
};
use crate::setup::site_record::{self, SiteNote};

/// The key of a server, its site record, and the key of its administrator.
#[derive(Debug)]
pub struct Identity {
    key: SigningKey,
    site: Site,
    bytes: Vec<u8>,
    administrator: Vec<u8>,
}

impl Identity {
    /// The handle by which the administrator of a server is known to it. It is the server's own, as
    /// `0.SITE/status` is: no prefix needs to be there, and nobody can change it.
    pub const ADMINISTRATOR: &str = "0.SITE/ADMIN";
    /// The index of the administrator's key, where deployed servers have it.
    pub const ADMINISTRATOR_INDEX: u32 = 300;

    /// The identity in a data folder; keys that are not there are made. The site record is the one
    /// that is stored in the folder, or says where the addresses are.
    pub fn open_or_make(folder: &Path, addresses: Addresses) -> Result<Self, IdentityError> {
        let key = server_key(folder)?;
        let public = public_of(&key)?;
        let administrator = administrator_key(folder)?;
        let site = match site_record::stored(folder)? {
            Some(site) => {
                let servers = &site.servers;
                if servers.iter().all(|server| server.public_key != public) {
                    let path = folder.join(site_record::FILE);
                    return Err(IdentityError::OtherSite { path });
                }
                site
            }
            None => site_record::at(addresses, public),
        };
        Ok(Self {
            key: SigningKey::new(key)?,
            bytes: site.to_bytes(),
            site,
            administrator,
        })
    }

    /// The same, with a site record that says something else about the site, which is stored in the
    /// folder. Its serial number is counted up, if one was stored that said otherwise.
    pub fn say(mut self, folder: &Path, note: &SiteNote) -> Result<Self, IdentityError> {
        let before = site_record::stored(folder)?;
        let mut site = site_record::noted(self.site.clone(), note);
        if before.is_some_and(|before| before != site) {
            site.serial = site.serial.wrapping_add(1);
        }
        site_record::keep_in(folder, &site)?;
        self.bytes = site.to_bytes();
        self.site = site;
        Ok(self)
    }

    /// The same, with the ports of its addresses in the site record, whatever was stored.
    #[must_use]
    pub fn with_ports_of(mut self, addresses: Addresses) -> Self {
        site_record::move_ports(&mut self.site, addresses);
        self.bytes = self.site.to_bytes();
        self
    }

    /// Whether the site record names the ports of the addresses.
    #[must_use]
    pub fn names_ports_of(&self, addresses: Addresses) -> bool {
        site_record::names_ports(&self.site, addresses)
    }

    /// The key that signs.
    #[must_use]
    pub fn key(&self) -> &SigningKey {
        &self.key
    }

    /// The site record.
    #[must_use]
    pub fn site(&self) -> &Site {
        &self.site
    }

    /// The bytes of the site record.
    #[must_use]
    pub fn site_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The key of the administrator.
    #[must_use]
    pub fn administrator() -> Principal {
        Principal::Identity {
            index: Self::ADMINISTRATOR_INDEX,
            handle: Self::ADMINISTRATOR.to_string(),
        }
    }

    /// The public key of the administrator.
    #[must_use]
    pub fn administrator_key(&self) -> &[u8] {
        &self.administrator
    }

    /// The file of the administrator's private key, if it is in the folder.
    #[must_use]
    pub fn administrator_file(folder: &Path) -> Option<PathBuf> {
        Some(folder.join(ADMINISTRATOR_PRIVATE)).filter(|path| path.exists())
    }

    /// What [`Self::ADMINISTRATOR`] resolves to: everybody may read it, nobody may write it.
    pub(crate) fn administrator_value(&self) -> Value<'_> {
        Value {
            // 1010
            permissions: Permissions::from_bits(0x0A),
            ..Value::new(Self::ADMINISTRATOR_INDEX, "HS_PUBKEY", &self.administrator)
        }
    }
}

/// Why a server has no identity.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// A key that is none.
    #[error("the key of the server cannot be used: {0}")]
    Crypto(#[from] CryptoError),
    /// A file that cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A key file that is none.
    #[error("{}: {source}", path.display())]
    KeyFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: KeyFileError,
    },
    /// A public key whose private key is gone.
    #[error("{} is there, but {} is not: put it back", public.display(), private.display())]
    NoPrivateKey {
        /// Where it was.
        private: PathBuf,
        /// The public key.
        public: PathBuf,
    },
    /// Two files that are no pair.
    #[error("{} is not the public key of {}", public.display(), private.display())]
    OtherKey {
        /// The private key.
        private: PathBuf,
        /// The public key of another.
        public: PathBuf,
    },
    /// A site record of another server.
    #[error("{} names another public key than that of {}", path.display(), PRIVATE)]
    OtherSite {
        /// The file.
        path: PathBuf,
    },
    /// A file that is not what its name says.
    #[error("{} cannot be read as {what}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What it should be.
        what: &'static str,
    },
}
