//! The operations of the protocol.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::ControlFlow;

use handfast_id::MAX_HANDLE;
use handfast_registry::{
    NewValue, Operation, Performed, Principal, Record, State, is_public_write, prefix_of,
    with_slash,
};
use handfast_wire::body::{
    CreateReply, HandleRequest, ListReply, Referral, RemoveRequest, ResolutionReply,
    ResolutionRequest, ValuesRequest,
};
use handfast_wire::{Codec, Message, OpFlags, Opcode, ResponseCode, Value};

use crate::auth::administrator::is_administrator;
use crate::auth::login::Authenticated;
use crate::error::{Fault, wrong};
use crate::handles::stop_if;
use crate::native::fast_path::put_resolution;
use crate::native::feed::Feed;
use crate::native::{Native, delegated, read, understands_referrals};
use crate::status::{is_status, value as status_value};

/// The reply to a request, or why it is not done.
pub(crate) type OperationResult = Result<OperationReply, NotDone>;

/// Why a request is not done.
pub(crate) enum NotDone {
    Fault(Fault),
    /// The caller has to log in.
    LoginNeeded,
}

impl<F: Into<Fault>> From<F> for NotDone {
    fn from(fault: F) -> Self {
        Self::Fault(fault.into())
    }
}

/// The client; anonymous ones have to log in.
pub(crate) fn known(who: Option<&Authenticated>) -> Result<&Authenticated, NotDone> {
    who.ok_or(NotDone::LoginNeeded)
}

/// The reply to a request that was done.
pub(crate) struct OperationReply {
    /// Success, or a referral.
    pub(crate) code: ResponseCode,
    /// The bodies of the messages of the reply.
    pub(crate) bodies: Vec<Vec<u8>>,
    /// Flags that say something about it.
    pub(crate) flags: OpFlags,
    /// Whether not everybody may read it.
    pub(crate) is_private: bool,
    /// The stream that follows the reply.
    pub(crate) feed: Option<Feed>,
}

impl OperationReply {
    pub(crate) fn with(body: Vec<u8>) -> Self {
        Self {
            code: ResponseCode::Success,
            bodies: vec![body],
            flags: OpFlags::NONE,
            is_private: false,
            feed: None,
        }
    }

    /// A reply that a stream follows.
    pub(crate) fn followed(body: Vec<u8>, feed: Feed) -> Self {
        Self {
            feed: Some(feed),
            ..Self::with(body)
        }
    }

    /// A reply without a body.
    pub(crate) fn empty() -> Self {
        Self::with(Vec::new())
    }

    /// The values that a handle resolves to.
    pub(crate) fn resolution(asked: ResolutionRequest<'_>, values: Vec<Value<'_>>) -> Self {
        let is_private = values.iter().any(|value| !value.permissions.public_read());
        let handle = asked.handle;
        Self {
            is_private,
            ..Self::with(ResolutionReply { handle, values }.to_bytes())
        }
    }
}

/// The principal for changes that the public may make.
const PUBLIC: &str = "0:0.SITE/PUBLIC";

impl Native {
    /// Processes a request of a known or an anonymous client.
    pub(crate) fn dispatch(
        &self,
        request: &Message<'_>,
        who: Option<&Authenticated>,
    ) -> OperationResult {
        let opcode = request.header.opcode;
        if opcode.is_about_a_handle()
            && opcode != Opcode::Resolution
            && let Ok(asked) = request.read::<HandleRequest<'_>>()
            && let Some(referral) = self.referral(request, &with_slash(&asked.handle))?
        {
            return Ok(referral);
        }
        match opcode {
            Opcode::Resolution => self.resolve(request, who),
            Opcode::GetSiteInfo => Ok(OperationReply::with(
                self.context.identity.site_bytes().to_vec(),
            )),
            Opcode::CreateHandle => self.create(request, who),
            Opcode::DeleteHandle => self.delete(request, who),
            Opcode::AddValue => self.add(request, who),
            Opcode::RemoveValue => self.remove(request, who),
            Opcode::ModifyValue => self.modify(request, who),
            Opcode::ListHandles | Opcode::ListDerivedPrefixes => self.list(request, who),
            Opcode::HomePrefix | Opcode::UnhomePrefix => self.home(request, who),
            Opcode::ListHomedPrefixes => self.list_prefixes(who),
            Opcode::RetrieveTransactions => self.retrieve(request, who),
            Opcode::DumpHandles => self.dump(request, who),
            Opcode::BackupServer => self.checkpoint(who),
            Opcode::Reserved => Err(Fault::plain(ResponseCode::ProtocolError).into()),
            _ => Err(Fault::plain(ResponseCode::OperationNotSupported).into()),
        }
    }

    /// §3.2 and §7.7.
    fn resolve(&self, request: &Message<'_>, who: Option<&Authenticated>) -> OperationResult {
        let asked: ResolutionRequest<'_> = read(request)?;
        if asked.is_excessive() {
            return Err(wrong("more indexes or types than a record has values").into());
        }
        let whole = with_slash(&asked.handle);
        if is_status(&whole) {
            return self.resolve_status(request, asked, who);
        }
        if is_administrator(&whole) {
            return Ok(self.resolve_administrator(asked)?);
        }
        let is_public_only = request.header.flags.contains(OpFlags::PO);
        // The record of a prefix has values that are computed.
        if is_public_only
            && prefix_of(&whole).is_none()
            && !self.context.has_source(&whole)
            && let Some(done) = self.resolve_stored(&asked, &whole)?
        {
            return Ok(done);
        }
        if let Some(referral) = self.referral(request, &whole)? {
            return Ok(referral);
        }
        let given = self.context.values_for(&asked, &whole, is_public_only, who);
        // "PO clear with a non-zero session id always requires authentication", and what may be
        // read is not looked at before.
        let is_unknown = who.is_none() && request.envelope.session_id != 0;
        let needs_login = |fault: &Fault| match fault.code {
            ResponseCode::AuthenticationNeeded => true,
            ResponseCode::InsufficientPermissions => is_unknown && !is_public_only,
            _ => false,
        };
        match given {
            Ok(_) if is_unknown && !is_public_only => Err(NotDone::LoginNeeded),
            Ok(values) => Ok(OperationReply::resolution(asked, values)),
            Err(fault) if needs_login(&fault) => Err(NotDone::LoginNeeded),
            Err(fault) => Err(fault.into()),
        }
    }

    /// The public values of a stored handle. `None` if the handle is not stored.
    fn resolve_stored(
        &self,
        asked: &ResolutionRequest<'_>,
        whole: &str,
    ) -> Result<Option<OperationReply>, Fault> {
        let body = self.context.public_values(asked, whole, |values| {
            let mut body = Vec::new();
            put_resolution(&mut body, asked, &values).then_some(body)
        })?;
        Ok(body.map(OperationReply::with))
    }

    /// The status, over the handle protocol: its values are for administrators, so others are asked
    /// who they are.
    pub(crate) fn resolve_status(
        &self,
        request: &Message<'_>,
        asked: ResolutionRequest<'_>,
        who: Option<&Authenticated>,
    ) -> OperationResult {
        // Counting takes time, and is done for nobody else.
        let is_selected = asked.selects(&status_value(""));
        if !is_selected || request.header.flags.contains(OpFlags::PO) {
            return Err(Fault::plain(ResponseCode::ValuesNotFound).into());
        }
        self.context.need_administrator(known(who)?)?;
        Ok(OperationReply::resolution(
            asked,
            vec![self.context.status()],
        ))
    }

    /// The administrator's public key, for everybody.
    fn resolve_administrator(&self, asked: ResolutionRequest<'_>) -> Result<OperationReply, Fault> {
        let value = self.context.identity.administrator_value();
        if !asked.selects(&value) {
            return Err(Fault::plain(ResponseCode::ValuesNotFound));
        }
        Ok(OperationReply::resolution(asked, vec![value]))
    }

    /// §8.6: where the record of a derived prefix is that is not here. Who is too old to be sent
    /// there is not.
    pub(crate) fn referral(
        &self,
        request: &Message<'_>,
        handle: &str,
    ) -> Result<Option<OperationReply>, Fault> {
        let opcode = request.header.opcode;
        let is_read = matches!(opcode, Opcode::Resolution | Opcode::VerifyChallenge);
        let is_old = !understands_referrals(&request.envelope);
        // In older versions, 303 has another meaning.
        let is_unable = is_old && !(is_read && self.context.remote_servers.is_some());
        if is_unable || request.header.flags.contains(OpFlags::DNR) {
            return Ok(None);
        }
        let Some(values) = self.context.registry.delegation(handle)? else {
            return Ok(None);
        };
        if let Some(remote) = self.context.remote_servers.as_ref().filter(|_| is_old) {
            return delegated::answer(remote, request, &values).map(Some);
        }
        let referral = Referral {
            handle: Cow::Borrowed(""),
            values,
        };
        Ok(Some(OperationReply {
            code: ResponseCode::PrefixReferral,
            ..OperationReply::with(referral.to_bytes())
        }))
    }

    /// §3.3 and §9.
    fn create(&self, request: &Message<'_>, who: Option<&Authenticated>) -> OperationResult {
        let asked: ValuesRequest<'_> = read_handle(request)?;
        let flags = request.header.flags;
        let (overwrite, mint) = (flags.contains(OpFlags::OWE), flags.contains(OpFlags::MNS));
        let handle = if mint {
            asked.handle.to_string()
        } else {
            with_slash(&asked.handle)
        };
        if handle.len() > MAX_HANDLE {
            let text = "the handle is too long";
            return Err(Fault::new(ResponseCode::InvalidHandle, text).into());
        }
        self.context.need_responsible(&handle)?;
        check_indexes(&asked.values)?;
        if !mint && !overwrite && self.context.registry.is_known(&handle)? {
            return Err(Fault::plain(ResponseCode::HandleAlreadyExists).into());
        }
        let operation = Operation::Create {
            handle,
            values: new_values(asked.values),
            overwrite,
            mint,
        };
        let creator = self.context.creator(&operation, who)?;
        let performed = self.perform(operation, creator.as_ref().or(who))?;
        let reply = CreateReply {
            handle: Some(Cow::Owned(performed.handle)),
        };
        let mut done = OperationReply::with(reply.to_bytes());
        if performed.overwrote {
            done.flags = done.flags | OpFlags::OWE;
        }
        if mint {
            done.flags = done.flags | OpFlags::MNS;
        }
        Ok(done)
    }

    /// §3.4.
    fn delete(&self, request: &Message<'_>, who: Option<&Authenticated>) -> OperationResult {
        let asked: HandleRequest<'_> = read_handle(request)?;
        let handle = with_slash(&asked.handle);
        self.context.found(&handle)?;
        self.change(Operation::Delete { handle }, who)
    }

    fn add(&self, request: &Message<'_>, who: Option<&Authenticated>) -> OperationResult {
        let (handle, values, record) = self.read_values(request)?;
        let overwrite = request.header.flags.contains(OpFlags::OWE);
        // That a value is there which not everybody may read, the registry says to those who may
        // know.
        let shows = |value: &&Value<'_>| public(&record, value.index).is_some();
        if let Some(taken) = values.iter().find(shows).filter(|_| !overwrite) {
            return Err(Fault::index_conflict(taken.index).into());
        }
        let operation = Operation::Add {
            handle,
            values: new_values(values),
            overwrite,
        };
        let mut done = OperationReply::empty();
        if self.perform(operation, who)?.overwrote {
            done.flags = OpFlags::OWE;
        }
        Ok(done)
    }

    fn remove(&self, request: &Message<'_>, who: Option<&Authenticated>) -> OperationResult {
        let asked: RemoveRequest<'_> = read_handle(request)?;
        let handle = with_slash(&asked.handle);
        self.context.found(&handle)?;
        if asked.indexes.is_empty() {
            return Err(Fault::plain(ResponseCode::InvalidValue).into());
        }
        let indexes = asked.indexes;
        self.change(Operation::Remove { handle, indexes }, who)
    }

    fn modify(&self, request: &Message<'_>, who: Option<&Authenticated>) -> OperationResult {
        let (handle, values, record) = self.read_values(request)?;
        let mut is_public = true;
        for value in &values {
            // Of values that not everybody may read, the registry says to those who may know that
            // they are missing, or read-only.
            let shown = public(&record, value.index);
            let is_locked =
                |old: &Value<'_>| !old.permissions.admin_write() && !old.permissions.public_write();
            if shown.is_some_and(is_locked) {
                let text = "Value is read-only";
                return Err(Fault::new(ResponseCode::InsufficientPermissions, text).into());
            }
            let old = record.values.iter().find(|old| old.index == value.index);
            is_public &= old.is_some_and(|old| is_public_write(old, value));
        }
        let operation = Operation::Modify {
            handle,
            values: new_values(values),
        };
        if let (None, true) = (who, is_public) {
            // Values that the public may write need no login.
            let public =
                Principal::parse(PUBLIC).map_err(|_| Fault::plain(ResponseCode::InvalidAdmin))?;
            self.context.registry.perform(&public, operation)?;
            return Ok(OperationReply::empty());
        }
        self.change(operation, who)
    }

    /// The handle and the values of a request, and the record that is there.
    fn read_values<'m>(
        &self,
        request: &'m Message<'_>,
    ) -> Result<(String, Vec<Value<'m>>, Record), Fault> {
        let asked: ValuesRequest<'_> = read_handle(request)?;
        let handle = with_slash(&asked.handle);
        if asked.values.is_empty() {
            return Err(Fault::plain(ResponseCode::InvalidValue));
        }
        check_indexes(&asked.values)?;
        let record = self.context.found(&handle)?;
        Ok((handle, asked.values, record))
    }

    /// §3.9. `0.NA/0.NA/PREFIX` stands for the records of the prefixes that derive from one.
    fn list(&self, request: &Message<'_>, who: Option<&Authenticated>) -> OperationResult {
        let asked: HandleRequest<'_> = read_handle(request)?;
        let whole = with_slash(&asked.handle);
        let Some(named) = prefix_of(&whole) else {
            return Err(Fault::plain(ResponseCode::InvalidHandle).into());
        };
        let of_derived = prefix_of(named);
        let lists_derived =
            of_derived.is_some() || request.header.opcode == Opcode::ListDerivedPrefixes;
        let prefix = of_derived.unwrap_or(named);
        self.context.need_in_force(prefix)?;
        let who = known(who)?;
        // First whether they may, and only then the work.
        let mut stop = |_| ControlFlow::Break(());
        self.context
            .registry
            .names(&who.who, prefix, None, &mut stop)?;
        let (mut handles, mut bytes) = (Vec::new(), 0);
        self.context
            .registry
            .names(&who.who, prefix, None, &mut |shown| {
                if lists_derived {
                    return ControlFlow::Break(());
                }
                if shown.record.state == State::Active {
                    let key = shown.key.strip_prefix("hdl:").unwrap_or(&shown.key);
                    bytes += key.len() + size_of::<String>();
                    handles.push(key.to_string());
                }
                stop_if(bytes > MAX_LIST_BYTES)
            })?;
        // A list that ends too soon would look whole.
        if bytes > MAX_LIST_BYTES {
            let text = "there are too many handles for one list: use `handfast export` or GET \
                /api/v1/names";
            return Err(Fault::new(ResponseCode::Error, text).into());
        }
        if lists_derived {
            let below = format!("0.NA/{prefix}.").to_ascii_uppercase();
            handles = self.context.prefix_handles()?;
            handles.retain(|handle| handle.to_ascii_uppercase().starts_with(&below));
        }
        Ok(pages(&handles))
    }

    fn list_prefixes(&self, who: Option<&Authenticated>) -> OperationResult {
        self.context.need_administrator(known(who)?)?;
        Ok(pages(&self.context.prefix_handles()?))
    }

    /// §3.10.
    fn home(&self, request: &Message<'_>, who: Option<&Authenticated>) -> OperationResult {
        let asked: HandleRequest<'_> = read_handle(request)?;
        let whole = with_slash(&asked.handle);
        let Some(prefix) = prefix_of(&whole) else {
            return Err(Fault::plain(ResponseCode::InvalidHandle).into());
        };
        let who = known(who)?;
        self.context.need_administrator(who)?;
        // A prefix includes the records of the prefixes that derive from it.
        let prefix = prefix_of(prefix).unwrap_or(prefix).to_string();
        let operation = if request.header.opcode == Opcode::HomePrefix {
            Operation::Home { prefix }
        } else {
            Operation::Unhome { prefix }
        };
        let actor = self.context.acting(&who.who)?;
        self.context.registry.perform(&actor, operation)?;
        Ok(OperationReply::empty())
    }

    fn change(&self, operation: Operation, who: Option<&Authenticated>) -> OperationResult {
        self.perform(operation, who)?;
        Ok(OperationReply::empty())
    }

    /// Performs an operation for a client that has logged in.
    fn perform(
        &self,
        operation: Operation,
        who: Option<&Authenticated>,
    ) -> Result<Performed, NotDone> {
        let registry = &self.context.registry;
        Ok(registry.perform(&known(who)?.who, operation)?)
    }

    /// `BACKUP_SERVER`: deployed servers write a checkpoint of their storage. Here there is nothing
    /// to do, and administrators hear that it is done: every change is on disk before it is
    /// acknowledged, and a copy of the folder is made by `handfast backup`.
    fn checkpoint(&self, who: Option<&Authenticated>) -> OperationResult {
        self.context.need_administrator(known(who)?)?;
        Ok(OperationReply::empty())
    }
}

/// A handle that is no UTF-8 is no handle.
fn read_handle<'m, T: handfast_wire::body::Body<'m>>(message: &'m Message<'_>) -> Result<T, Fault> {
    message.read().map_err(|error| {
        let code = match error {
            handfast_wire::DecodeError::NotUtf8 { .. } => ResponseCode::InvalidHandle,
            _ => ResponseCode::ProtocolError,
        };
        Fault::new(code, error.to_string())
    })
}

/// A value of a record, if everybody may read it.
fn public(record: &Record, index: u32) -> Option<&Value<'static>> {
    let mut values = record.values.iter();
    values.find(|value| value.index == index && value.permissions.public_read())
}

/// Every index greater than 0 (202), and none twice (201).
fn check_indexes(values: &[Value<'_>]) -> Result<(), Fault> {
    if values
        .iter()
        .any(|value| value.index == 0 || value.index > 0x7FFF_FFFF)
    {
        return Err(Fault::plain(ResponseCode::InvalidValue));
    }
    let mut seen = HashSet::new();
    if values.iter().all(|value| seen.insert(value.index)) {
        return Ok(());
    }
    Err(Fault::plain(ResponseCode::ValueAlreadyExists))
}

/// "Timestamps in the request are ignored."
fn new_values(values: Vec<Value<'_>>) -> Vec<NewValue> {
    let new = |value: Value<'_>| NewValue {
        permissions: Some(value.permissions),
        ttl: Some(value.ttl),
        references: value
            .references
            .into_iter()
            .map(handfast_wire::Reference::into_owned)
            .collect(),
        ..NewValue::new(value.index, &value.value_type, &value.data)
    };
    values.into_iter().map(new).collect()
}

/// Fifty in a message.
fn pages(handles: &[String]) -> OperationReply {
    let page = |handles: &[String]| {
        let handles = handles.iter().map(|handle| Cow::Borrowed(handle.as_str()));
        ListReply {
            handles: handles.collect(),
        }
        .to_bytes()
    };
    let mut bodies: Vec<_> = handles.chunks(ListReply::PER_MESSAGE).map(page).collect();
    if bodies.is_empty() {
        bodies.push(page(&[]));
    }
    OperationReply {
        bodies,
        ..OperationReply::empty()
    }
}

/// How many bytes the handles of one list have: some hundred thousand handles.
const MAX_LIST_BYTES: usize = 16 << 20;
