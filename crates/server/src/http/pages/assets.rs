//! `/static/…`: the files that pages load.

use hyper::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, X_CONTENT_TYPE_OPTIONS};
use hyper::{Method, Request, Response, StatusCode};

use crate::http::Web;
use crate::http::connection::request_body::Incoming;
use crate::http::pages::site::SCRIPT;
use crate::http::response::{Body, WithHeader, not_allowed, plain, reply};

/// A mark for browsers' tabs, which is nobody's logo.
const ICON: &str = include_str!("../../../static/icon.svg");
/// The accessibility report, `docs/openacr.yaml`.
const REPORT: &str = include_str!("../../../static/openacr.yaml");

pub(crate) fn answer(web: &Web, request: &Request<Incoming>) -> Response<Body> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return not_allowed("GET, HEAD", "files are only read\n");
    }
    let site = &web.site;
    let response = match request.uri().path().trim_start_matches('/') {
        "static/style.css" => file("text/css; charset=utf-8", site.style.clone()),
        "static/app.js" => file("text/javascript; charset=utf-8", SCRIPT),
        "static/icon.svg" => file("image/svg+xml", ICON),
        "static/openacr.yaml" => file("application/yaml", REPORT),
        "static/logo" => match &site.logo {
            Some((kind, bytes)) => file(kind, bytes.clone()),
            None => return missing(),
        },
        _ => return missing(),
    };
    // The address of a file with a version changes with its bytes.
    let is_versioned = request.uri().query().is_some();
    let lasting = "public, max-age=31536000, immutable";
    response.with(
        CACHE_CONTROL,
        if is_versioned {
            lasting
        } else {
            "max-age=3600"
        },
    )
}

fn missing() -> Response<Body> {
    plain(StatusCode::NOT_FOUND, "there is no such file\n")
}

fn file(content_type: &'static str, bytes: impl Into<hyper::body::Bytes>) -> Response<Body> {
    reply(StatusCode::OK, content_type, bytes)
        .with(X_CONTENT_TYPE_OPTIONS, "nosniff")
        // A logo that is opened on its own runs no script.
        .with(
            CONTENT_SECURITY_POLICY,
            "default-src 'none'; style-src 'unsafe-inline'; sandbox",
        )
}
