//! Handfast's own API: `/api/v1/…`.

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode};

use crate::web::reply::{Body, plain};
use crate::web::{Caller, Web};

#[derive(Default)]
pub(crate) struct Api;

pub(crate) async fn answer(_: &Arc<Web>, _: &Arc<Caller>, _: Request<Incoming>) -> Response<Body> {
    plain(StatusCode::NOT_FOUND, "nothing is here yet\n")
}
