//! Who the server is: its key, and the site record that says where it is.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::net::IpAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use handfast_wire::crypto::{
    CryptoError, KeyFileError, PrivateKey, SigningKey, read_private_key, write_private_key,
};
use handfast_wire::{Codec, Site, SiteInterface, SiteServer};

use crate::native::Addresses;

/// The file of the private key, in the data folder, as handle servers have it.
const PRIVATE_KEY: &str = "privkey.bin";
/// The file of the public key.
const PUBLIC_KEY: &str = "pubkey.bin";

/// The key of a server, and its site record.
#[derive(Debug)]
pub struct Identity {
    key: SigningKey,
    site: Site,
    bytes: Vec<u8>,
}

impl Identity {
    /// The identity in a data folder, which is made if there is none. The site says where its doors are.
    pub fn open_or_make(folder: &Path, doors: Addresses) -> Result<Self, IdentityError> {
        let path = folder.join(PRIVATE_KEY);
        let key = match fs::read(&path) {
            Ok(bytes) => read_private_key(&bytes, None)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => make_key(folder)?,
            Err(source) => return Err(IdentityError::File { path, source }),
        };
        let key = SigningKey::new(key)?;
        let public = key.public_key().ok_or(CryptoError::Key)?.to_bytes();
        let (query, both) = (2, 3);
        let interface = |kind: u8, protocol: u8, port: u16| SiteInterface {
            kind,
            protocol,
            port: u32::from(port),
        };
        let (native, web) = (doors.native.port(), doors.web.port());
        let site = Site {
            version: 1,
            protocol: (2, 11),
            serial: 1,
            is_primary: true,
            is_multi_primary: false,
            hash_option: 2,
            hash_filter: String::new(),
            attributes: Vec::new(),
            servers: vec![SiteServer {
                id: 1,
                address: octets(doors.native.ip()),
                public_key: public,
                interfaces: vec![
                    interface(query, 0, native),
                    interface(both, 1, native),
                    interface(both, 2, web),
                ],
            }],
        };
        let bytes = site.to_bytes();
        Ok(Self { key, site, bytes })
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
}

/// A new key in the folder, readable by its owner alone.
fn make_key(folder: &Path) -> Result<PrivateKey, IdentityError> {
    let key = PrivateKey::generate()?;
    let public = key.public_key().ok_or(CryptoError::Key)?.to_bytes();
    let file = write_private_key(&key, None)?;
    write(&folder.join(PUBLIC_KEY), &public, 0o644)?;
    write(&folder.join(PRIVATE_KEY), &file, 0o600)?;
    Ok(key)
}

fn write(path: &Path, bytes: &[u8], mode: u32) -> Result<(), IdentityError> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(mode);
    let written = options.open(path).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.map_err(|source| IdentityError::File {
        path: path.to_path_buf(),
        source,
    })
}

/// An address in the sixteen bytes that a site record has for it.
fn octets(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => {
            let mut octets = [0; 16];
            if let Some(end) = octets.last_chunk_mut::<4>() {
                *end = address.octets();
            }
            octets
        }
        IpAddr::V6(address) => address.octets(),
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
    #[error("the key of the server cannot be read: {0}")]
    KeyFile(#[from] KeyFileError),
}
