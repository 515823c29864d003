//! The desk: the page that the binary contains.

use axum::body::Body;
use axum::http::{HeaderValue, Response, header};

macro_rules! files {
    ($($name:literal: $kind:literal),* $(,)?) => {
        /// The files of the page: address, type, contents.
        const FILES: &[(&str, &str, &[u8])] = &[
            ("/", "text/html; charset=utf-8", include_bytes!("../page/index.html")),
            $((concat!("/", $name), $kind, include_bytes!(concat!("../page/", $name))),)*
        ];
    };
}

files! {
    "icon.svg": "image/svg+xml",
    "desk.css": "text/css; charset=utf-8",
    "ask.js": "text/javascript; charset=utf-8",
    "budget.js": "text/javascript; charset=utf-8",
    "chart.js": "text/javascript; charset=utf-8",
    "conversations.js": "text/javascript; charset=utf-8",
    "desk.js": "text/javascript; charset=utf-8",
    "dom.js": "text/javascript; charset=utf-8",
    "export.js": "text/javascript; charset=utf-8",
    "history.js": "text/javascript; charset=utf-8",
    "launch.js": "text/javascript; charset=utf-8",
    "problem.js": "text/javascript; charset=utf-8",
    "protocol.js": "text/javascript; charset=utf-8",
    "question.js": "text/javascript; charset=utf-8",
    "record.js": "text/javascript; charset=utf-8",
    "snippets.js": "text/javascript; charset=utf-8",
    "words.js": "text/javascript; charset=utf-8",
}

/// Nothing is loaded from elsewhere, nothing is run that is not a file of the page, and no other page
/// may show this one. Browsers that know trusted types also refuse to read text as markup.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'";

/// The file at this address.
pub fn file(path: &str) -> Option<Response<Body>> {
    let (_, kind, contents) = FILES.iter().find(|(address, ..)| *address == path)?;
    let mut response = Response::new(Body::from(*contents));
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Some(response)
}
