//! The key pairs in a data folder: of the server, and of its administrator. The files have the
//! names and the format of deployed handle servers (`handle-protocol.md` §6.8).

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use handfast_registry::sync_name;
use handfast_wire::crypto::{
    CryptoError, KeyFileError, PrivateKey, read_private_key, write_private_key,
};
use handfast_wire::{Codec, PublicKey};

use crate::setup::identity::IdentityError;

/// The private key of the server.
pub(crate) const PRIVATE: &str = "privkey.bin";
/// The public key of the server.
pub(crate) const PUBLIC: &str = "pubkey.bin";
/// The private key of the administrator. The server never needs it, so it may be moved to
/// another machine.
pub(crate) const ADMINISTRATOR_PRIVATE: &str = "admpriv.bin";
/// The public key of the administrator.
pub(crate) const ADMINISTRATOR_PUBLIC: &str = "admpub.bin";

/// The server's key, which is made if there is none.
pub(crate) fn server_key(folder: &Path) -> Result<PrivateKey, IdentityError> {
    let (private, public) = (folder.join(PRIVATE), folder.join(PUBLIC));
    let published = read(&public)?;
    let Some(bytes) = read(&private)? else {
        // A new key would be another server, in the eyes of everybody who knows this one.
        if published.is_some() {
            return Err(IdentityError::NoPrivateKey { private, public });
        }
        let key = PrivateKey::generate()?;
        keep_private(&private, &key)?;
        keep(&public, &public_of(&key)?, 0o644)?;
        return Ok(key);
    };
    let key = read_private_key(&bytes, None).map_err(bad_key(&private))?;
    match published {
        Some(published) if published != public_of(&key)? => {
            return Err(IdentityError::OtherKey { private, public });
        }
        Some(_) => {}
        None => keep(&public, &public_of(&key)?, 0o644)?,
    }
    Ok(key)
}

/// The public key of the administrator; a pair is made if there is none.
pub(crate) fn administrator_key(folder: &Path) -> Result<Vec<u8>, IdentityError> {
    let private = folder.join(ADMINISTRATOR_PRIVATE);
    let public = folder.join(ADMINISTRATOR_PUBLIC);
    if let Some(bytes) = read(&public)? {
        return check_public(&public, bytes);
    }
    let key = if let Some(bytes) = read(&private)? {
        read_private_key(&bytes, None).map_err(bad_key(&private))?
    } else {
        let key = PrivateKey::generate()?;
        keep_private(&private, &key)?;
        key
    };
    let bytes = public_of(&key)?;
    keep(&public, &bytes, 0o644)?;
    Ok(bytes)
}

/// A private key, without a passphrase: the server starts when nobody is there to say one.
pub(crate) fn keep_private(path: &Path, key: &PrivateKey) -> Result<(), IdentityError> {
    let bytes = write_private_key(key, None).map_err(bad_key(path))?;
    keep(path, &bytes, 0o600)
}

/// The bytes of a file, if they are a public key.
pub(crate) fn check_public(path: &Path, bytes: Vec<u8>) -> Result<Vec<u8>, IdentityError> {
    let (path, what) = (path.to_path_buf(), "a public key");
    match PublicKey::from_bytes(&bytes) {
        Ok(_) => Ok(bytes),
        Err(_) => Err(IdentityError::Unreadable { path, what }),
    }
}

/// The error for a key file that is none.
pub(crate) fn bad_key(path: &Path) -> impl Fn(KeyFileError) -> IdentityError + use<> {
    let path = path.to_path_buf();
    move |source| IdentityError::KeyFile {
        path: path.clone(),
        source,
    }
}

/// The bytes of the public key of a private one.
pub(crate) fn public_of(key: &PrivateKey) -> Result<Vec<u8>, IdentityError> {
    Ok(key.public_key().ok_or(CryptoError::Key)?.to_bytes())
}

/// A whole file, or `None` if there is none.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>, IdentityError> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(failed(path)(source)),
    };
    let mut bytes = Vec::new();
    let mut limited = io::Read::take(file, MAX_KEY_FILE);
    io::Read::read_to_end(&mut limited, &mut bytes).map_err(failed(path))?;
    Ok(Some(bytes))
}

/// Writes a file that is whole or not there, in place of one that has its name.
pub(crate) fn keep(path: &Path, bytes: &[u8], mode: u32) -> Result<(), IdentityError> {
    let mut half = path.as_os_str().to_os_string();
    half.push(".part");
    let half = PathBuf::from(half);
    // A file from an earlier attempt might be readable by others.
    drop(fs::remove_file(&half));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(mode);
    let written = options.open(&half).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&half, path)?;
        sync_name(path)
    });
    written.map_err(failed(path))
}

pub(crate) fn failed(path: &Path) -> impl Fn(io::Error) -> IdentityError + use<> {
    let path = path.to_path_buf();
    move |source| IdentityError::File {
        path: path.clone(),
        source,
    }
}

/// The longest file that is read: keys, site records and configurations are far shorter.
const MAX_KEY_FILE: u64 = 16 << 20;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn keys_are_made_once_and_are_readable_by_their_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let first = public_of(&server_key(folder.path()).unwrap()).unwrap();
        let administrator = administrator_key(folder.path()).unwrap();
        assert_eq!(
            public_of(&server_key(folder.path()).unwrap()).unwrap(),
            first
        );
        assert_eq!(administrator_key(folder.path()).unwrap(), administrator);
        assert_ne!(first, administrator);
        for (name, mode) in [(PRIVATE, 0o600), (ADMINISTRATOR_PRIVATE, 0o600)] {
            let found = fs::metadata(folder.path().join(name)).unwrap();
            assert_eq!(found.permissions().mode() & 0o777, mode, "{name}");
        }
        // The administrator's private key may be on another machine, and its public key be lost.
        fs::remove_file(folder.path().join(ADMINISTRATOR_PUBLIC)).unwrap();
        assert_eq!(administrator_key(folder.path()).unwrap(), administrator);
        fs::remove_file(folder.path().join(ADMINISTRATOR_PRIVATE)).unwrap();
        assert_eq!(administrator_key(folder.path()).unwrap(), administrator);
        // A lost key of the server is not replaced by another one.
        fs::write(folder.path().join(PUBLIC), &administrator).unwrap();
        let other = server_key(folder.path()).err().unwrap();
        assert!(matches!(other, IdentityError::OtherKey { .. }), "{other}");
        fs::remove_file(folder.path().join(PRIVATE)).unwrap();
        let gone = server_key(folder.path()).err().unwrap();
        assert!(matches!(gone, IdentityError::NoPrivateKey { .. }), "{gone}");
    }
}
