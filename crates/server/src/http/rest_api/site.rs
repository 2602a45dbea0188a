//! The site record (`http-interfaces.md` A.10).

use handfast_wire::{ResponseCode, json};
use hyper::StatusCode;
use serde_json::Value as Json;

use super::answer::{RestAnswer, put_member, start};
use crate::http::Web;

pub(crate) fn show(web: &Web) -> RestAnswer {
    let text = json::write_site(web.context.identity.site());
    let site: Json = serde_json::from_str(&text).unwrap_or_default();
    let mut out = start(ResponseCode::Success);
    put_member(&mut out, "site", &site);
    out.push(b'}');
    RestAnswer::new(StatusCode::OK, out)
}
