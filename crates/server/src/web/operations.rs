//! What operators ask: whether the server lives, whether it is ready, and how much it does.

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode};

use crate::web::Web;
use crate::web::reply::{Body, plain};

pub(crate) fn answer(_: &Arc<Web>, _: &Request<Incoming>) -> Response<Body> {
    plain(StatusCode::NOT_FOUND, "nothing is here yet\n")
}
