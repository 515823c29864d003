//! Bodies of requests: bounded in length, time and depth before they are parsed.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, header};
use serde::de::DeserializeOwned;

use crate::limits::Usage;
use crate::problem::{Code, Problem};

/// A body must arrive within this time.
const SLOWEST: Duration = Duration::from_secs(10);

/// Reads a body as JSON.
pub async fn json<T: DeserializeOwned>(
    headers: &HeaderMap,
    body: Body,
    usage: &Usage,
) -> Result<T, Problem> {
    let limits = usage.limits();
    let is_json = |kind: &str| kind.split(';').next().map(str::trim) == Some("application/json");
    if !text(headers, header::CONTENT_TYPE).is_some_and(is_json) {
        return Err(Problem::invalid_request("send application/json"));
    }
    let stated = text(headers, header::CONTENT_LENGTH).and_then(|text| text.parse::<usize>().ok());
    if stated.is_some_and(|length| length > limits.longest_body) {
        return Err(Code::TooLarge.into());
    }
    let bytes = tokio::time::timeout(SLOWEST, to_bytes(body, limits.longest_body)).await;
    let bytes = bytes
        .map_err(|_| Code::TooSlow)?
        .map_err(|_| Code::TooLarge)?;
    usage.body(bytes.len())?;
    if depth(&bytes) > limits.deepest_json {
        return Err(Problem::new(Code::TooLarge).saying("the JSON is nested too deeply"));
    }
    serde_json::from_slice(&bytes).map_err(|error| Problem::unread(&error))
}

/// A header, if it is there once and is text.
pub fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?.to_str().ok()?;
    all.next().is_none().then_some(first)
}

/// How deeply brackets are nested, outside of strings. For anything that is no JSON, some number.
fn depth(json: &[u8]) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0_usize, 0, false, false);
    for byte in json {
        match (in_string, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => in_string = !in_string,
            (false, b'[' | b'{') => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            (false, b']' | b'}') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::depth;

    #[test]
    fn brackets_in_strings_do_not_nest() {
        assert_eq!(depth(br#"{"a": [1, {"b": 2}], "c": []}"#), 3);
        assert_eq!(depth(br#"["[[[[\"[[["]"#), 1);
        assert_eq!(depth(br#""\\"[[]]"#), 2);
        assert_eq!(depth(b"]]]["), 1);
    }
}
