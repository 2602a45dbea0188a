//! Resolution for people and browsers: `/{identifier}` redirects, or shows the record.

use std::sync::Arc;

use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode};

use crate::web::reply::{Body, plain};
use crate::web::{Caller, Web};

pub(crate) async fn answer(_: &Arc<Web>, _: &Arc<Caller>, _: Request<Incoming>) -> Response<Body> {
    plain(StatusCode::NOT_FOUND, "nothing is here yet\n")
}
