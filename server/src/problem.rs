//! Errors of the protocol: one shape, and a code from a fixed list.

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use queryables::mechanisms::MechanismError;
use queryables::table::TableError;
use serde::Serialize;
use utoipa::ToSchema;

use crate::question::Opening;

macro_rules! codes {
    ($($Code:ident = $status:literal, $text:literal;)*) => {
        /// Why a request was not done. The list is fixed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum Code {
            $(#[doc = $text] $Code,)*
        }

        impl Code {
            /// All of them, with their status and what they mean.
            pub const ALL: &[(Self, u16, &'static str)] = &[$((Self::$Code, $status, $text),)*];
        }
    };
}

codes! {
    Refused = 409, "The budget does not allow it. Nothing was charged; a smaller launch may be admitted.";
    OverQuota = 409, "The analyst's quota does not allow it. Nothing was charged.";
    InvalidQuery = 422, "The question is not in the vocabulary, or does not fit the schema. Nothing was charged.";
    UnknownColumn = 422, "The question names a column that the schema does not have. Nothing was charged.";
    InvalidRequest = 400, "The request is not one of this protocol. Nothing was charged.";
    Conflict = 409, "The key or the number was used with another body. Nothing was charged.";
    Interrupted = 409, "A launch with this key was charged before, and its answer is lost. Nothing was charged again.";
    Failed = 500, "The mechanism failed. Its loss is charged.";
    Closed = 409, "It answers no more.";
    Gone = 410, "There is no such child: it has ended, or never was.";
    UnknownDataset = 404, "There is no such dataset.";
    NotFound = 404, "There is nothing at this address.";
    MethodNotAllowed = 405, "This address takes other methods.";
    Unauthorized = 401, "A valid token is needed.";
    Forbidden = 403, "This token does not allow it, or the Host or Origin is not one of this server.";
    TooLarge = 413, "The request is larger or deeper than is allowed.";
    TooSlow = 408, "The request did not arrive in time.";
    TooMany = 429, "The analyst is at a limit: try again later.";
    Busy = 503, "The server is busy, or is answering the same request: try again.";
    Unavailable = 503, "The data or the ledger cannot be reached. What was asked for may have been charged: try again with the same key.";
}

impl Code {
    fn entry(self) -> (u16, &'static str) {
        let entry = Self::ALL.iter().find(|(code, ..)| *code == self);
        entry.map_or((500, ""), |(_, status, text)| (*status, text))
    }

    /// As it is written in JSON.
    pub fn name(self) -> String {
        match serde_json::to_value(self) {
            Ok(serde_json::Value::String(name)) => name,
            _ => String::new(),
        }
    }
}

/// An error, as it is sent: `application/problem+json` (RFC 9457).
///
/// Nothing in it depends on data: it says what the caller wrote, what is public, and the budget's own
/// numbers.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Problem {
    /// Names the code, as a URI.
    #[serde(rename = "type")]
    pub kind: String,
    /// What the code means.
    pub title: &'static str,
    /// That of the response.
    pub status: u16,
    pub code: Code,
    /// About this request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// Where in the text of the question, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<usize>,
    /// The numbers of a refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<Box<Refused>>,
}

/// The numbers of a refusal, as texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Refused {
    pub spent: String,
    pub requested: String,
    pub remaining: String,
    pub limit: String,
}

/// A message of a parser, with what to write instead where it only names types.
pub fn advised(message: &str) -> String {
    let number = ["integer `", "floating point `"].map(|kind| format!("invalid type: {kind}"));
    let wants_text = message.contains("expected a string");
    match wants_text && number.iter().any(|kind| message.starts_with(kind)) {
        true => format!("{message}: write it in quotes"),
        false => message.to_owned(),
    }
}

/// Whether something was sent to `release` that is opened.
fn is_to_be_opened(message: &str) -> bool {
    let rest = message.strip_prefix("unknown variant `");
    let found = rest.and_then(|rest| rest.split_once("`, expected one of `count`"));
    found.is_some_and(|(name, _)| Opening::NAMES.contains(&name))
}

impl Problem {
    pub fn new(code: Code) -> Self {
        let (status, title) = code.entry();
        Self {
            kind: format!("urn:queryables:problem:{}", code.name()),
            title,
            status,
            code,
            detail: None,
            place: None,
            refused: None,
        }
    }

    #[must_use]
    pub fn saying(self, detail: impl Into<String>) -> Self {
        Self {
            detail: Some(detail.into()),
            ..self
        }
    }

    #[must_use]
    pub fn with_numbers(self, refused: Refused) -> Self {
        Self {
            refused: Some(Box::new(refused)),
            ..self
        }
    }

    pub fn invalid_request(detail: impl Into<String>) -> Self {
        Self::new(Code::InvalidRequest).saying(detail)
    }

    /// A request that is not read. What the parser says is about the text that was sent.
    pub fn unread(error: &serde_json::Error) -> Self {
        let message = error.to_string();
        Self::invalid_request(match is_to_be_opened(&message) {
            true => format!("{message}: this is opened at `children`"),
            false => advised(&message),
        })
    }

    pub fn invalid_query(detail: impl Into<String>) -> Self {
        Self::new(Code::InvalidQuery).saying(detail)
    }
}

impl From<Code> for Problem {
    fn from(code: Code) -> Self {
        Self::new(code)
    }
}

impl From<TableError> for Problem {
    /// What it says is public: what the caller wrote, and the schema.
    fn from(error: TableError) -> Self {
        let problem = match &error {
            TableError::UnknownColumn { .. } => Self::new(Code::UnknownColumn),
            TableError::Syntax { place, .. } => Self {
                place: Some(*place),
                ..Self::new(Code::InvalidQuery)
            },
            _ => Self::new(Code::InvalidQuery),
        };
        problem.saying(error.to_string())
    }
}

impl From<MechanismError> for Problem {
    fn from(error: MechanismError) -> Self {
        match error {
            MechanismError::Table(error) => error.into(),
            error => Self::invalid_query(error.to_string()),
        }
    }
}

impl From<Problem> for Response<Body> {
    fn from(problem: Problem) -> Self {
        let body = serde_json::to_vec(&problem).unwrap_or_default();
        let mut response = Response::new(Body::from(body));
        *response.status_mut() =
            StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        let kind = HeaderValue::from_static("application/problem+json");
        headers.insert(header::CONTENT_TYPE, kind);
        if problem.code == Code::Unauthorized {
            let scheme = HeaderValue::from_static("Bearer");
            headers.insert(header::WWW_AUTHENTICATE, scheme);
        }
        if matches!(problem.code, Code::Busy | Code::TooMany) {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
