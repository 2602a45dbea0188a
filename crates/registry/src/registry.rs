//! The registry: opening, reading, changing and loading it.

use std::fmt;
use std::path::Path;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use handfast_id::RuleBook;
use handfast_store::{Loading, Snapshot, Store, StoreError, Table};

use crate::access::principal::Principal;
use crate::access::quota::{Limits, OpenRequests};
use crate::access::sign_in::SignInState;
use crate::change::change_set::{Call, ChangeSet};
use crate::change::view::View;
use crate::clock::Environment;
use crate::error::RegistryError;
use crate::handle_protocol::unmirrored::UnmirroredEvents;
use crate::jobs::running::RunningJobs;
use crate::lookup::derived::environment::Derived;
use crate::lookup::fast_path::{Prefixes, is_about_prefixes};
use crate::name::url::MalformedUrls;
use crate::namespace::NamespaceRules;
use crate::observed::backup;
use crate::observed::last_seen::Observed;

/// Authorities, names and events, in a data folder.
pub struct Registry {
    pub(crate) store: Store,
    pub(crate) rules: Arc<NamespaceRules>,
    administrators: Arc<[Principal]>,
    environment: Environment,
    /// A cache of the rules of prefixes.
    pub(crate) prefixes: Arc<Prefixes>,
    /// Ranges of events that mean nothing to mirrors.
    pub(crate) unmirrored: UnmirroredEvents,
    /// Locked by the one running import.
    pub(crate) importing: Mutex<()>,
    /// Locked by the one running dry run of an import.
    pub(crate) dry_running: Mutex<()>,
    /// Jobs that run in this process.
    pub(crate) running_jobs: RunningJobs,
    /// The environment of data that follows the events.
    pub(crate) derived: Derived,
    /// The environment of times of last use.
    pub(crate) observed: Observed,
    /// Counts malformed URLs that came by the handle protocol.
    pub(crate) malformed_urls: MalformedUrls,
    /// The limits for one account.
    pub(crate) limits: Limits,
    /// How many authorities each account has requested.
    pub(crate) open_requests: Mutex<OpenRequests>,
    /// Locked while an authority is requested.
    pub(crate) requesting: Mutex<()>,
    /// Passwords that are hashed, failures, and when sessions were last seen.
    pub(crate) sign_in: SignInState,
}

impl Registry {
    /// Creates a registry in a folder that has none.
    pub fn create(folder: &Path, environment: Environment) -> Result<Self, RegistryError> {
        let registry = Self::with(Store::create(folder)?, environment);
        registry.begin_log(&Principal::Operator, None)?;
        Ok(registry)
    }

    /// Opens the registry in a folder.
    pub fn open(folder: &Path, environment: Environment) -> Result<Self, RegistryError> {
        let registry = Self::with(Store::open(folder)?, environment);
        // If the entries of namespaces cannot be read, everything else still can.
        drop(registry.rules.refresh(&registry.store));
        // Finishes the index of values that an interrupted import has left incomplete. If the disk
        // is too full for that, everything else can still be read.
        drop(registry.finish_reverse());
        Ok(registry)
    }

    /// Opens the registry in a folder read-only, also while another process writes it. It writes
    /// nothing, so that a damaged folder stays as it is.
    pub fn open_read_only(folder: &Path, environment: Environment) -> Result<Self, RegistryError> {
        let registry = Self::with(Store::open_read_only(folder)?, environment);
        // If the entries of namespaces cannot be read, everything else still can.
        drop(registry.rules.refresh(&registry.store));
        Ok(registry)
    }

    /// Creates a registry from a backup, in a folder that has none. It begins a new log, which
    /// names the head that it continues from: events published after the backup are not in it. It
    /// has no sessions: people sign in again.
    pub fn restore(
        file: &Path,
        folder: &Path,
        environment: Environment,
    ) -> Result<Self, RegistryError> {
        let registry = Self::with(backup::restore(file, folder)?, environment);
        drop(registry.rules.refresh(&registry.store));
        registry.begin_log(&Principal::Operator, None)?;
        registry.forget_all_sessions()?;
        Ok(registry)
    }

    fn with(store: Store, environment: Environment) -> Self {
        Self {
            store,
            rules: Arc::new(NamespaceRules::new(RuleBook::standard())),
            administrators: Arc::new([]),
            environment,
            prefixes: Arc::new(Prefixes::new()),
            unmirrored: UnmirroredEvents::default(),
            importing: Mutex::new(()),
            dry_running: Mutex::new(()),
            running_jobs: RunningJobs::default(),
            derived: Derived::default(),
            observed: Observed::default(),
            malformed_urls: MalformedUrls::default(),
            limits: Limits::default(),
            open_requests: Mutex::default(),
            requesting: Mutex::new(()),
            sign_in: SignInState::default(),
        }
    }

    /// Replaces the standard rules, for example to add URN profiles.
    #[must_use]
    pub fn with_rules(self, rules: RuleBook) -> Self {
        Self {
            rules: Arc::new(self.rules.with_base(rules)),
            ..self
        }
    }

    /// Sets the identities that may do everything with authorities and names that the operator may:
    /// "server administrators with full access" (`handle-protocol.md` §7.4). Events name them as
    /// the actors. Members of a group in the list are administrators, too.
    ///
    /// ```
    /// # use handfast_registry::{NewAuthority, Operation, Principal, Registry, Environment};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let registry = Registry::create(folder.path(), Environment::new(|| 0, |b| b.fill(1)))?;
    /// let someone = Principal::parse("300:0.SITE/ADMIN").unwrap();
    /// let home = || Operation::Home { prefix: "20.1000".into() };
    /// assert!(registry.perform(&someone, home()).is_err());
    /// let registry = registry.with_administrators(vec![someone.clone()]);
    /// registry.perform(&someone, home())?;
    /// # Ok::<_, handfast_registry::RegistryError>(())
    /// ```
    #[must_use]
    pub fn with_administrators(self, administrators: Vec<Principal>) -> Self {
        Self {
            administrators: administrators.into(),
            ..self
        }
    }

    /// The data folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.store.folder()
    }

    /// Reads from a snapshot.
    pub(crate) fn read<T>(
        &self,
        read: impl FnOnce(&View<'_>) -> Result<T, RegistryError>,
    ) -> Result<T, RegistryError> {
        let outcome = self.store.read(|now| Ok(read(&self.view(now))))?;
        outcome.map_err(|error| self.noted(error))
    }

    /// Passes an error on. If stored data could not be read, the store records the damage.
    pub(crate) fn noted(&self, error: RegistryError) -> RegistryError {
        if matches!(error, RegistryError::Corrupt { .. }) {
            self.store.note_damage();
        }
        error
    }

    /// Decides a change against the current state, and waits until it is on disk or rejected.
    pub(crate) fn change<T: Send + 'static>(
        &self,
        actor: &Principal,
        decide: impl FnOnce(&mut ChangeSet<'_>) -> Result<T, RegistryError> + Send + 'static,
    ) -> Result<T, RegistryError> {
        let call = self.call(actor);
        let time = call.time;
        let (rules, administrators) = (Arc::clone(&self.rules), Arc::clone(&self.administrators));
        let outcome = self.store.change(move |now| {
            let view = View::new(now, &rules).with_administrators(&administrators);
            let mut change_set = ChangeSet::begin(view, call)?;
            let done = decide(&mut change_set)?;
            let touched = (
                change_set.touches(is_about_prefixes),
                change_set.touches(|table_key| table_key.table() == Table::Namespaces),
            );
            Ok::<_, RegistryError>((change_set.into_writes(), (done, touched)))
        });
        let (done, touched) = outcome.map_err(|error| self.noted(error))?;
        let (touches_authorities, touches_namespaces) = touched;
        if touches_authorities {
            self.prefixes.changed();
        }
        if touches_namespaces {
            // The change is committed. If the entries cannot be read back, the next change reports
            // it.
            drop(self.rules.refresh(&self.store));
            // Builds the public rules here, so that no thread that serves sockets has to.
            drop(self.rules.public_rules(time));
        }
        Ok(done)
    }

    /// Decides a change against the current state and writes nothing.
    pub(crate) fn dry_run<T>(
        &self,
        actor: &Principal,
        decide: impl FnOnce(&mut ChangeSet<'_>) -> Result<T, RegistryError>,
    ) -> Result<T, RegistryError> {
        let call = self.call(actor);
        self.store.read(|now| {
            let change_set = ChangeSet::begin(self.view(now), call);
            Ok(change_set.and_then(|mut change_set| decide(&mut change_set)))
        })?
    }

    /// The identities that may do everything.
    pub(crate) fn administrators(&self) -> Arc<[Principal]> {
        Arc::clone(&self.administrators)
    }

    fn view<'n>(&'n self, now: &'n Snapshot<'n>) -> View<'n> {
        View::new(now, &self.rules).with_administrators(&self.administrators)
    }

    fn call(&self, actor: &Principal) -> Call {
        Call {
            actor: actor.clone(),
            time: self.environment.now(),
            node: 1,
            random: self.random(),
        }
    }

    /// Writes many entries, and waits until they are on disk or rejected.
    pub(crate) fn load<T: Send + 'static>(
        &self,
        load: impl FnOnce(&mut Loading<'_>) -> Result<T, RegistryError> + Send + 'static,
    ) -> Result<T, RegistryError> {
        self.begin_load(load).wait()
    }

    /// Runs a load, returns its result and rolls the transaction back.
    pub(crate) fn dry_run_load<T: Send + 'static>(
        &self,
        load: impl FnOnce(&mut Loading<'_>) -> Result<T, RegistryError> + Send + 'static,
    ) -> Result<T, RegistryError> {
        let (answer, answered) = sync_channel(1);
        self.store.load(
            move |loading| match load(loading) {
                // A load that ends in an error is rolled back.
                Ok(done) => Err::<(), _>(DryRun::Done(done)),
                Err(error) => Err(DryRun::Refused(error)),
            },
            move |outcome| drop(answer.send(outcome)),
        );
        match answered.recv() {
            Ok(Err(DryRun::Done(done))) => Ok(done),
            Ok(Err(DryRun::Refused(error))) => Err(error),
            Ok(Ok(())) | Err(_) => Err(StoreError::Closed.into()),
        }
    }

    /// Starts a load; the caller continues and waits for it later.
    pub(crate) fn begin_load<T: Send + 'static>(
        &self,
        load: impl FnOnce(&mut Loading<'_>) -> Result<T, RegistryError> + Send + 'static,
    ) -> PendingLoad<T> {
        let (answer, answered) = sync_channel(1);
        let prefixes = Arc::clone(&self.prefixes);
        let watched = move |loading: &mut Loading<'_>| {
            loading.watch(is_about_prefixes);
            let done = load(loading)?;
            Ok::<_, RegistryError>((done, loading.is_watched_written()))
        };
        self.store.load(watched, move |outcome| {
            let outcome = outcome.map(|(done, touches_prefixes)| {
                // The load is on disk. The cached rules of prefixes are now out of date.
                if touches_prefixes {
                    prefixes.changed();
                }
                done
            });
            // The receiver is gone only if the caller's thread has ended.
            drop(answer.send(outcome));
        });
        PendingLoad(answered)
    }

    pub(crate) fn random(&self) -> [u8; 32] {
        self.environment.random()
    }

    /// The time of the clock, in milliseconds since 1970.
    #[must_use]
    pub fn time(&self) -> u64 {
        self.environment.now()
    }
}

/// Locks a mutex, also after a thread has panicked while it held the lock.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How a dry run of a load ends.
enum DryRun<T> {
    Done(T),
    Refused(RegistryError),
}

impl<T> From<StoreError> for DryRun<T> {
    fn from(error: StoreError) -> Self {
        Self::Refused(error.into())
    }
}

/// The result of a load that is still running.
pub(crate) struct PendingLoad<T>(Receiver<Result<T, RegistryError>>);

impl<T> PendingLoad<T> {
    pub(crate) fn wait(self) -> Result<T, RegistryError> {
        let closed = |_| Err(StoreError::Closed.into());
        self.0.recv().unwrap_or_else(closed)
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("folder", &self.folder())
            .finish_non_exhaustive()
    }
}
