//! The page that the binary contains.

use axum::body::Body;
use axum::http::{HeaderValue, Response, header};

/// The files of the page: address, type, contents.
const FILES: &[(&str, &str, &[u8])] = &[(
    "/",
    "text/html; charset=utf-8",
    include_bytes!("../page/index.html"),
)];

/// Nothing is loaded from elsewhere, nothing is run that is not a file of the page, and no other page
/// may show this one.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The file at this address.
pub fn file(path: &str) -> Option<Response<Body>> {
    let (_, kind, contents) = FILES.iter().find(|(address, ..)| *address == path)?;
    let mut response = Response::new(Body::from(*contents));
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Some(response)
}
