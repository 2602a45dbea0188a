//! Taking over a deployed handle server from its folder: its key, its site record, the key of
//! its administrator, and the settings of its `config.dct` that have a meaning here.
//!
//! Everything is read and checked before anything is written.

mod settings;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use handfast_registry::{
    AuthorityChange, NewAuthority, NewValue, Operation, Principal, Registry, RegistryError,
};
use handfast_wire::crypto::{
    PrivateKey, SigningKey, is_encrypted, read_private_key, write_private_key,
};
use handfast_wire::{Codec, DctError, Site, json};
use zeroize::Zeroizing;

use self::settings::Settings;
use crate::listen::Addresses;
use crate::setup::identity::{Identity, IdentityError};
use crate::setup::key_files::{
    ADMINISTRATOR_PRIVATE, ADMINISTRATOR_PUBLIC, PRIVATE, PUBLIC, bad_key, check_public, keep,
    public_of, read,
};
use crate::setup::site_record;

/// A handle server, as its folder describes it.
pub struct HandleServer {
    settings: Settings,
    site: Site,
    /// The private key, as it is stored here: without a passphrase.
    key: Zeroizing<Vec<u8>>,
    public_key: Vec<u8>,
    administrator: Option<Administrator>,
    was_encrypted: bool,
    left: Vec<String>,
}

/// The key files of the administrator.
struct Administrator {
    public: Vec<u8>,
    /// As it is, with a passphrase or without: the server never needs it.
    private: Option<Zeroizing<Vec<u8>>>,
}

/// Asks the operator for the passphrase of a file.
type Ask<'a> = &'a mut dyn FnMut(&Path) -> io::Result<String>;

impl HandleServer {
    /// Reads and checks the folder of a server. Passphrases are asked for where a key needs one.
    pub fn read(folder: &Path, passphrase: Ask<'_>) -> Result<Self, TakeoverError> {
        let path = folder.join("config.dct");
        let text = read(&path)?.ok_or(TakeoverError::Missing { path: path.clone() })?;
        let config = handfast_wire::Dct::parse(&String::from_utf8_lossy(&text))
            .map_err(|source| TakeoverError::Config { path, source })?;
        let mut settings = Settings::of(&config)?;
        let mut left = std::mem::take(&mut settings.left);

        let path = folder.join(PRIVATE);
        let bytes = read(&path)?.ok_or(TakeoverError::Missing { path: path.clone() })?;
        let was_encrypted = is_encrypted(&bytes);
        let key = private_key(&path, &bytes, passphrase)?;
        let public_key = public_of(&key)?;
        let public = folder.join(PUBLIC);
        if read(&public)?.is_some_and(|published| published != public_key) {
            let private = path;
            return Err(IdentityError::OtherKey { private, public }.into());
        }
        let file = write_private_key(&key, None).map_err(bad_key(&path))?;
        // A key that cannot sign is of no use to a server.
        SigningKey::new(key).map_err(IdentityError::from)?;

        let site = read_site(folder, &public_key, &mut left)?;
        let administrator = administrator(folder, passphrase)?;
        Ok(Self {
            settings,
            site,
            key: file,
            public_key,
            administrator,
            was_encrypted,
            left,
        })
    }

    /// Writes the identity to a new data folder.
    pub fn keep_identity(&self, folder: &Path) -> Result<(), IdentityError> {
        keep(&folder.join(PRIVATE), &self.key, 0o600)?;
        keep(&folder.join(PUBLIC), &self.public_key, 0o644)?;
        if let Some(administrator) = &self.administrator {
            let path = folder.join(ADMINISTRATOR_PUBLIC);
            keep(&path, &administrator.public, 0o644)?;
            if let Some(private) = &administrator.private {
                keep(&folder.join(ADMINISTRATOR_PRIVATE), private, 0o600)?;
            }
        }
        site_record::keep_in(folder, &self.site)
    }

    /// Makes the prefixes authorities of a registry. Where an administrator is `300:0.NA/PREFIX`,
    /// as registrars have it, the administrator's public key is put there, so that they can go on
    /// logging in by that name: those who could are returned.
    pub fn keep_prefixes(&self, registry: &Registry) -> Result<Vec<Principal>, RegistryError> {
        let operator = Principal::Operator;
        let mut known = Vec::new();
        for prefix in &self.settings.prefixes {
            let never_counts = handfast_id::Prefix::parse(prefix)
                .is_ok_and(|prefix| prefix.is_always_insensitive());
            let new = NewAuthority {
                change: AuthorityChange {
                    case_sensitive: Some(self.settings.is_case_sensitive && !never_counts),
                    ..AuthorityChange::default()
                },
                ..NewAuthority::default()
            };
            registry.create_authority(&operator, prefix, new)?;
            let handle = format!("0.NA/{prefix}");
            let who = Principal::Identity {
                index: Identity::ADMINISTRATOR_INDEX,
                handle: handle.clone(),
            };
            let Some(administrator) = &self.administrator else {
                continue;
            };
            if self.settings.administrators.contains(&who)
                || self.settings.replication.contains(&who)
            {
                let index = Identity::ADMINISTRATOR_INDEX;
                let operation = Operation::Add {
                    handle,
                    values: vec![NewValue::new(index, "HS_PUBKEY", &administrator.public)],
                    overwrite: false,
                };
                registry.perform(&operator, operation)?;
                known.push(who);
            }
        }
        Ok(known)
    }

    /// Its addresses.
    #[must_use]
    pub fn addresses(&self) -> Addresses {
        let any = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        Addresses {
            native: self.settings.native.unwrap_or_else(|| any(2641)),
            web: self.settings.web.unwrap_or_else(|| any(8000)),
        }
    }

    /// Its site record.
    #[must_use]
    pub fn site(&self) -> &Site {
        &self.site
    }

    /// Its administrators.
    #[must_use]
    pub fn administrators(&self) -> &[Principal] {
        &self.settings.administrators
    }

    /// Whether they may do everything, beside homing prefixes.
    #[must_use]
    pub fn has_full_access(&self) -> bool {
        self.settings.has_full_access
    }

    /// The principals that may mirror it.
    #[must_use]
    pub fn replication(&self) -> &[Principal] {
        &self.settings.replication
    }

    /// The prefixes that its configuration names.
    #[must_use]
    pub fn prefixes(&self) -> &[String] {
        &self.settings.prefixes
    }

    /// Whether its key had a passphrase, which the one that is stored here has not.
    #[must_use]
    pub fn was_encrypted(&self) -> bool {
        self.was_encrypted
    }

    /// Whether the folder has a key of its administrator.
    #[must_use]
    pub fn has_administrator_key(&self) -> bool {
        self.administrator.is_some()
    }

    /// What is not taken over, a line each. Values of settings are not told: some are secret.
    #[must_use]
    pub fn left(&self) -> &[String] {
        &self.left
    }
}

impl std::fmt::Debug for HandleServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HandleServer")
            .field("site", &self.site)
            .finish_non_exhaustive()
    }
}

fn private_key(
    path: &Path,
    bytes: &[u8],
    passphrase: Ask<'_>,
) -> Result<PrivateKey, TakeoverError> {
    let said = if is_encrypted(bytes) {
        let asked = passphrase(path).map_err(|source| TakeoverError::Passphrase {
            path: path.to_path_buf(),
            source,
        })?;
        Some(Zeroizing::new(asked))
    } else {
        None
    };
    let said = said.as_ref().map(|said| said.as_bytes());
    Ok(read_private_key(bytes, said).map_err(bad_key(path))?)
}

/// `siteinfo.bin` before `siteinfo.json`, as deployed servers have it; each may hold either form.
fn read_site(
    folder: &Path,
    public_key: &[u8],
    left: &mut Vec<String>,
) -> Result<Site, TakeoverError> {
    let binary = folder.join("siteinfo.bin");
    let (path, bytes) = if let Some(bytes) = read(&binary)? {
        (binary, bytes)
    } else {
        let path = folder.join(site_record::FILE);
        let bytes = read(&path)?.ok_or(TakeoverError::Missing { path: path.clone() })?;
        (path, bytes)
    };
    let site = Site::from_bytes(&bytes)
        .ok()
        .or_else(|| json::read_site(&bytes));
    let Some(mut site) = site else {
        let what = "a site record";
        return Err(IdentityError::Unreadable { path, what }.into());
    };
    let servers = site.servers.len();
    let [server] = &mut site.servers[..] else {
        return Err(TakeoverError::ManyServers { path, servers });
    };
    if server.public_key.is_empty() {
        left.push("the site record had no public key; now it has the one of the server".into());
        server.public_key = public_key.to_vec();
    } else if server.public_key != public_key {
        return Err(IdentityError::OtherSite { path }.into());
    }
    let https = server.interfaces.iter().filter(|one| one.protocol == 3);
    left.extend(https.map(|one| {
        let port = one.port;
        format!("the site record names HTTPS at port {port}, which is not served yet")
    }));
    if !site.is_primary {
        return Err(TakeoverError::Mirror { path });
    }
    Ok(site)
}

fn administrator(
    folder: &Path,
    passphrase: Ask<'_>,
) -> Result<Option<Administrator>, TakeoverError> {
    let private = folder.join(ADMINISTRATOR_PRIVATE);
    let public = folder.join(ADMINISTRATOR_PUBLIC);
    let (stored, published) = (read(&private)?.map(Zeroizing::new), read(&public)?);
    // With a passphrase it stays as it is, and need not be opened if its public key is there.
    let derived = match &stored {
        Some(bytes) if published.is_none() || !is_encrypted(bytes) => {
            Some(public_of(&private_key(&private, bytes, passphrase)?)?)
        }
        _ => None,
    };
    let public_key = match (published, derived) {
        (Some(published), Some(derived)) if published != derived => {
            return Err(IdentityError::OtherKey { private, public }.into());
        }
        (Some(published), _) => published,
        (None, Some(derived)) => derived,
        (None, None) => return Ok(None),
    };
    Ok(Some(Administrator {
        public: check_public(&public, public_key)?,
        private: stored,
    }))
}

/// Why the identity of a server cannot be taken over.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TakeoverError {
    /// A configuration that is none.
    #[error("{}: {source}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: DctError,
    },
    /// A file that cannot be used.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// A site that this program cannot be.
    #[error("{}: the site has {servers} servers; only sites of one server are taken \
        over", path.display())]
    ManyServers {
        /// The file.
        path: PathBuf,
        /// How many there are.
        servers: usize,
    },
    /// A site that copies another.
    #[error("{}: the site is a mirror; the identity of a primary site is taken \
        over", path.display())]
    Mirror {
        /// The file.
        path: PathBuf,
    },
    /// A file that every handle server has.
    #[error("{} is not there: is this the folder of a handle server?", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The passphrase is missing.
    #[error("the passphrase of {} is needed: {source}", path.display())]
    Passphrase {
        /// The file.
        path: PathBuf,
        /// Why it was not said.
        source: io::Error,
    },
    /// A setting that cannot be what it is.
    #[error("config.dct: {key} is not {expected}")]
    Setting {
        /// Its name.
        key: String,
        /// What it should be.
        expected: &'static str,
    },
}
