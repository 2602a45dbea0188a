//! The operations of the protocol.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::ControlFlow;

use handfast_registry::{
    NewValue, Operation, Performed, Principal, Record, RegistryError, State, ValueProblem,
    is_public_write, prefix_of, with_slash,
};
use handfast_wire::body::{
    CreateReply, HandleRequest, ListReply, Referral, RemoveRequest, ResolutionReply,
    ResolutionRequest, ValuesRequest,
};
use handfast_wire::{Codec, Message, OpFlags, Opcode, ResponseCode, Value};

use crate::auth::administrator::is_administrator;
use crate::auth::login::Authenticated;
use crate::error::Fault;
use crate::handles::ReadableValues;
use crate::native::fast_path::put_resolution;
use crate::native::feed::Feed;
use crate::native::{Native, delegated, read, understands_referrals};
use crate::status::{is_status, value as status_value};

/// The outcome of a request.
pub(crate) enum Outcome {
    Done(OperationReply),
    /// The caller has to log in.
    LoginNeeded,
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
}

impl From<OperationReply> for Outcome {
    fn from(done: OperationReply) -> Self {
        Self::Done(done)
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
    ) -> Result<Outcome, Fault> {
        let opcode = request.header.opcode;
        if opcode.is_about_a_handle()
            && opcode != Opcode::Resolution
            && let Ok(asked) = request.read::<HandleRequest<'_>>()
            && let Some(referral) = self.referral(request, &with_slash(&asked.handle))?
        {
            return Ok(referral.into());
        }
        match opcode {
            Opcode::Resolution => self.resolve(request, who),
            Opcode::GetSiteInfo => {
                Ok(OperationReply::with(self.context.identity.site_bytes().to_vec()).into())
            }
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
            Opcode::Reserved => Err(Fault::plain(ResponseCode::ProtocolError)),
            _ => Err(Fault::plain(ResponseCode::OperationNotSupported)),
        }
    }

    /// §3.2 and §7.7.
    fn resolve(
        &self,
        request: &Message<'_>,
        who: Option<&Authenticated>,
    ) -> Result<Outcome, Fault> {
        let asked: ResolutionRequest<'_> = read(request)?;
        if asked.is_excessive() {
            let text = "more indexes or types than a record has values";
            return Err(Fault::new(ResponseCode::ProtocolError, text));
        }
        let whole = with_slash(&asked.handle);
        if is_status(&whole) {
            return self.resolve_status(request, asked, who);
        }
        if is_administrator(&whole) {
            return self.resolve_administrator(asked).map(Into::into);
        }
        let is_public_only = request.header.flags.contains(OpFlags::PO);
        // The record of a prefix has values that are computed.
        if is_public_only
            && prefix_of(&whole).is_none()
            && !self.context.has_source(&whole)
            && let Some(done) = self.resolve_stored(&asked, &whole)?
        {
            return Ok(done.into());
        }
        if let Some(referral) = self.referral(request, &whole)? {
            return Ok(referral.into());
        }
        let given = self.context.values_for(&asked, &whole, is_public_only, who);
        // "PO clear with a non-zero session id always requires authentication", and what may be
        // read is not looked at before.
        let is_unknown = who.is_none() && request.envelope.session_id != 0;
        let is_hidden = |fault: &Fault| fault.code == ResponseCode::InsufficientPermissions;
        if is_unknown && !is_public_only && given.as_ref().err().is_none_or(is_hidden) {
            return Ok(Outcome::LoginNeeded);
        }
        let ReadableValues::Values(given) = given? else {
            return Ok(Outcome::LoginNeeded);
        };
        let is_private = given.iter().any(|value| !value.permissions.public_read());
        let reply = ResolutionReply {
            handle: asked.handle,
            values: given,
        };
        let done = OperationReply {
            is_private,
            ..OperationReply::with(reply.to_bytes())
        };
        Ok(done.into())
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
    ) -> Result<Outcome, Fault> {
        // Counting takes time, and is done for nobody else.
        let is_selected = asked.selects(&status_value(""));
        if !is_selected || request.header.flags.contains(OpFlags::PO) {
            return Err(Fault::plain(ResponseCode::ValuesNotFound));
        }
        let Some(who) = who else {
            return Ok(Outcome::LoginNeeded);
        };
        self.context.need_administrator(who)?;
        let reply = ResolutionReply {
            handle: asked.handle,
            values: vec![self.context.status()],
        };
        let done = OperationReply {
            is_private: true,
            ..OperationReply::with(reply.to_bytes())
        };
        Ok(done.into())
    }

    /// The administrator's public key, for everybody.
    fn resolve_administrator(&self, asked: ResolutionRequest<'_>) -> Result<OperationReply, Fault> {
        let value = self.context.identity.administrator_value();
        if !asked.selects(&value) {
            return Err(Fault::plain(ResponseCode::ValuesNotFound));
        }
        let reply = ResolutionReply {
            handle: asked.handle,
            values: vec![value],
        };
        Ok(OperationReply::with(reply.to_bytes()))
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
    fn create(&self, request: &Message<'_>, who: Option<&Authenticated>) -> Result<Outcome, Fault> {
        let asked: ValuesRequest<'_> = read_handle(request)?;
        let flags = request.header.flags;
        let (overwrite, mint) = (flags.contains(OpFlags::OWE), flags.contains(OpFlags::MNS));
        let handle = if mint {
            asked.handle.to_string()
        } else {
            with_slash(&asked.handle)
        };
        if handle.len() > 2_048 {
            return Err(Fault::new(
                ResponseCode::InvalidHandle,
                "the handle is too long",
            ));
        }
        self.context.need_responsible(&handle)?;
        check_indexes(&asked.values)?;
        if !mint && !overwrite && self.context.registry.is_known(&handle)? {
            return Err(Fault::plain(ResponseCode::HandleAlreadyExists));
        }
        let operation = Operation::Create {
            handle,
            values: new_values(asked.values),
            overwrite,
            mint,
        };
        let creator = self.context.creator(&operation, who)?;
        let Some(performed) = self.perform(operation, creator.as_ref().or(who))? else {
            return Ok(Outcome::LoginNeeded);
        };
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
        Ok(done.into())
    }

    /// §3.4.
    fn delete(&self, request: &Message<'_>, who: Option<&Authenticated>) -> Result<Outcome, Fault> {
        let asked: HandleRequest<'_> = read_handle(request)?;
        let handle = with_slash(&asked.handle);
        self.context.found(&handle)?;
        self.change(Operation::Delete { handle }, who)
    }

    fn add(&self, request: &Message<'_>, who: Option<&Authenticated>) -> Result<Outcome, Fault> {
        let asked: ValuesRequest<'_> = read_handle(request)?;
        let handle = with_slash(&asked.handle);
        if asked.values.is_empty() {
            return Err(Fault::plain(ResponseCode::InvalidValue));
        }
        check_indexes(&asked.values)?;
        let record = self.context.found(&handle)?;
        let overwrite = request.header.flags.contains(OpFlags::OWE);
        // That a value is there which not everybody may read, the registry says to those who may
        // know.
        let shows = |value: &&Value<'_>| public(&record, value.index).is_some();
        if let Some(taken) = asked.values.iter().find(shows).filter(|_| !overwrite) {
            return Err(index_conflict(taken.index));
        }
        let operation = Operation::Add {
            handle,
            values: new_values(asked.values),
            overwrite,
        };
        let Some(performed) = self.perform(operation, who)? else {
            return Ok(Outcome::LoginNeeded);
        };
        let mut done = OperationReply::empty();
        if performed.overwrote {
            done.flags = OpFlags::OWE;
        }
        Ok(done.into())
    }

    fn remove(&self, request: &Message<'_>, who: Option<&Authenticated>) -> Result<Outcome, Fault> {
        let asked: RemoveRequest<'_> = read_handle(request)?;
        let handle = with_slash(&asked.handle);
        self.context.found(&handle)?;
        if asked.indexes.is_empty() {
            return Err(Fault::plain(ResponseCode::InvalidValue));
        }
        let indexes = asked.indexes;
        self.change(Operation::Remove { handle, indexes }, who)
    }

    fn modify(&self, request: &Message<'_>, who: Option<&Authenticated>) -> Result<Outcome, Fault> {
        let asked: ValuesRequest<'_> = read_handle(request)?;
        let handle = with_slash(&asked.handle);
        if asked.values.is_empty() {
            return Err(Fault::plain(ResponseCode::InvalidValue));
        }
        check_indexes(&asked.values)?;
        let record = self.context.found(&handle)?;
        let mut is_public = true;
        for value in &asked.values {
            // Of values that not everybody may read, the registry says to those who may know that
            // they are missing, or read-only.
            let shown = public(&record, value.index);
            let is_locked =
                |old: &Value<'_>| !old.permissions.admin_write() && !old.permissions.public_write();
            if shown.is_some_and(is_locked) {
                let text = "Value is read-only";
                return Err(Fault::new(ResponseCode::InsufficientPermissions, text));
            }
            let old = record.values.iter().find(|old| old.index == value.index);
            is_public &= old.is_some_and(|old| is_public_write(old, value));
        }
        let operation = Operation::Modify {
            handle,
            values: new_values(asked.values),
        };
        if let (None, true) = (who, is_public) {
            // Values that the public may write need no login.
            let public =
                Principal::parse(PUBLIC).map_err(|_| Fault::plain(ResponseCode::InvalidAdmin))?;
            self.context.registry.perform(&public, operation)?;
            return Ok(OperationReply::empty().into());
        }
        self.change(operation, who)
    }

    /// §3.9. `0.NA/0.NA/PREFIX` stands for the records of the prefixes that derive from one.
    fn list(&self, request: &Message<'_>, who: Option<&Authenticated>) -> Result<Outcome, Fault> {
        let asked: HandleRequest<'_> = read_handle(request)?;
        let whole = with_slash(&asked.handle);
        let Some(named) = prefix_of(&whole) else {
            return Err(Fault::plain(ResponseCode::InvalidHandle));
        };
        let of_derived = prefix_of(named);
        let lists_derived =
            of_derived.is_some() || request.header.opcode == Opcode::ListDerivedPrefixes;
        let prefix = of_derived.unwrap_or(named);
        let authority = self
            .context
            .registry
            .authority(&Principal::Operator, prefix);
        if !authority.is_ok_and(|authority| authority.status.is_in_force()) {
            return Err(Fault::plain(ResponseCode::ServerNotResponsible));
        }
        let Some(who) = who else {
            return Ok(Outcome::LoginNeeded);
        };
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
                if bytes > MAX_LIST_BYTES {
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            })?;
        // A list that ends too soon would look whole.
        if bytes > MAX_LIST_BYTES {
            let text = "there are too many handles for one list: use `handfast export` or GET \
                /api/v1/names";
            return Err(Fault::new(ResponseCode::Error, text));
        }
        if lists_derived {
            let below = format!("0.NA/{prefix}.").to_ascii_uppercase();
            handles = self.context.prefix_handles()?;
            handles.retain(|handle| handle.to_ascii_uppercase().starts_with(&below));
        }
        Ok(pages(&handles).into())
    }

    fn list_prefixes(&self, who: Option<&Authenticated>) -> Result<Outcome, Fault> {
        let Some(who) = who else {
            return Ok(Outcome::LoginNeeded);
        };
        self.context.need_administrator(who)?;
        Ok(pages(&self.context.prefix_handles()?).into())
    }

    /// §3.10.
    fn home(&self, request: &Message<'_>, who: Option<&Authenticated>) -> Result<Outcome, Fault> {
        let asked: HandleRequest<'_> = read_handle(request)?;
        let whole = with_slash(&asked.handle);
        let Some(prefix) = prefix_of(&whole) else {
            return Err(Fault::plain(ResponseCode::InvalidHandle));
        };
        let Some(who) = who else {
            return Ok(Outcome::LoginNeeded);
        };
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
        Ok(OperationReply::empty().into())
    }

    fn change(&self, operation: Operation, who: Option<&Authenticated>) -> Result<Outcome, Fault> {
        Ok(match self.perform(operation, who)? {
            Some(_) => OperationReply::empty().into(),
            None => Outcome::LoginNeeded,
        })
    }

    /// Performs an operation for a client that has logged in.
    fn perform(
        &self,
        operation: Operation,
        who: Option<&Authenticated>,
    ) -> Result<Option<Performed>, Fault> {
        let Some(who) = who else {
            return Ok(None);
        };
        match self.context.registry.perform(&who.who, operation) {
            Ok(performed) => Ok(Some(performed)),
            Err(RegistryError::Value {
                index,
                problem: ValueProblem::Exists,
            }) => Err(index_conflict(index)),
            Err(error) => Err(error.into()),
        }
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

fn index_conflict(index: u32) -> Fault {
    let text = format!("Index conflict for {index}");
    Fault::new(ResponseCode::ValueAlreadyExists, text)
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
