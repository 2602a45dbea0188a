//! Listing the handles of a prefix (`http-interfaces.md` A.8), and what all listings share.

use handfast_registry::State;
use handfast_wire::ResponseCode;
use hyper::StatusCode;

use super::answer::{RestAnswer, RestResult, put_member, start};
use super::credentials::login;
use super::parameters::Parameters;
use super::request::RestRequest;
use crate::error::Fault;
use crate::handles::stop_if;
use crate::http::Web;

pub(crate) fn list(web: &Web, request: &RestRequest) -> RestResult {
    let login = login(web, request)?;
    let page = ListingPage::read(&request.parameters)?;
    let asked = request.parameters.first("prefix").unwrap_or_default();
    let prefix = bare(asked);
    web.context.need_in_force(prefix)?;
    let who = login.need()?;
    let mut listed = Listed::new(page);
    web.registry().names(&who.who, prefix, None, &mut |shown| {
        if shown.record.state == State::Active {
            listed.add(|| {
                let key = shown.key.strip_prefix("hdl:").unwrap_or(&shown.key);
                key.to_string()
            });
        }
        stop_if(listed.is_too_long())
    })?;
    if listed.is_too_long() {
        let problem = "the list is too long: ask for less with page and pageSize";
        return Err(Fault::new(ResponseCode::Error, problem).into());
    }
    let mut out = start(ResponseCode::Success);
    put_member(&mut out, "prefix", asked);
    listed.put(&mut out, "handles");
    Ok(RestAnswer::new(StatusCode::OK, out))
}

/// "The prefix may be given as `21.T14999` or `0.NA/21.T14999`, in any case."
pub(crate) fn bare(prefix: &str) -> &str {
    handfast_registry::prefix_of(prefix).unwrap_or(prefix)
}

/// Which part of a list is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListingPage {
    number: u64,
    size: u64,
}

impl ListingPage {
    /// "If either parameter is missing or negative the whole list comes."
    pub(crate) fn read(parameters: &Parameters) -> Result<Option<Self>, Fault> {
        let (number, size) = (parameters.number("page")?, parameters.number("pageSize")?);
        let positive = |number: Option<i64>| number.and_then(|number| u64::try_from(number).ok());
        let page = positive(number).zip(positive(size));
        Ok(page.map(|(number, size)| Self { number, size }))
    }
}

/// A part of a list, and how long all of it is.
pub(crate) struct Listed {
    page: Option<ListingPage>,
    count: u64,
    names: Vec<String>,
    bytes: usize,
}

/// How many bytes the names of one answer have: some hundred thousand names.
const MAX_LIST_BYTES: usize = 16 << 20;

/// The memory of a name beside its text.
const OVERHEAD: usize = 32;

impl Listed {
    /// Whether there is more than one answer has.
    pub(crate) fn is_too_long(&self) -> bool {
        self.bytes > MAX_LIST_BYTES
    }

    pub(crate) fn new(page: Option<ListingPage>) -> Self {
        Self {
            page,
            count: 0,
            names: Vec::new(),
            bytes: 0,
        }
    }

    pub(crate) fn add(&mut self, name: impl FnOnce() -> String) {
        let is_in = self.page.is_none_or(|page| {
            let first = page.number.saturating_mul(page.size);
            (first..first.saturating_add(page.size)).contains(&self.count)
        });
        self.count += 1;
        if is_in && !self.is_too_long() {
            let name = name();
            self.bytes += name.len() + OVERHEAD;
            self.names.push(name);
        }
    }

    /// "`totalCount` is a JSON **string**. Keep it so."
    pub(crate) fn put(&self, out: &mut Vec<u8>, name: &str) {
        put_member(out, "totalCount", &self.count.to_string());
        if let Some(page) = self.page {
            put_member(out, "page", &page.number);
            put_member(out, "pageSize", &page.size);
        }
        put_member(out, name, &self.names);
        out.push(b'}');
    }
}
