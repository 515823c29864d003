//! Requests of the terminal: one at a time, each on a connection of its own.

use std::fmt::{self, Display};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, StatusCode, Uri, header, uri::Authority};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::time::{sleep, timeout};

/// How often a request is sent, if its reply is lost or the server is busy.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_secs(1);
const SLOWEST: Duration = Duration::from_secs(60);
/// The largest reply that is read: a table of a million groups is smaller.
const LARGEST: usize = 256 << 20;

/// A server, and a token for it.
pub struct Client {
    authority: Authority,
    token: String,
    runtime: Runtime,
}

/// Why there is no reply.
#[derive(Debug)]
pub enum Failure {
    /// The server says why.
    Problem(Value),
    /// There was none.
    Lost(String),
}

impl Failure {
    /// The code of the problem; empty if it is none.
    pub fn code(&self) -> &str {
        match self {
            Self::Problem(problem) => problem["code"].as_str().unwrap_or_default(),
            Self::Lost(_) => "",
        }
    }
}

impl Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problem = match self {
            Self::Problem(problem) => problem,
            Self::Lost(why) => return write!(formatter, "the server cannot be reached: {why}"),
        };
        let text = |name: &str| problem[name].as_str();
        write!(formatter, "{}", text("code").unwrap_or("unknown"))?;
        if let Some(title) = text("title") {
            write!(formatter, ": {title}")?;
        }
        if let Some(detail) = text("detail") {
            write!(formatter, "\n  {detail}")?;
        }
        if let Some(numbers) = problem["refused"].as_object() {
            for (name, number) in numbers {
                write!(
                    formatter,
                    "\n  {name} {}",
                    number.as_str().unwrap_or_default()
                )?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}

impl Client {
    /// The error says what is wrong with the address.
    pub fn new(address: &str, token: &str, plain_on_network: bool) -> Result<Self, String> {
        let uri: Uri = address
            .parse()
            .map_err(|error| format!("{address}: {error}"))?;
        let authority = match (uri.scheme_str(), uri.authority()) {
            (Some("http"), Some(authority)) => authority.clone(),
            _ => return Err(format!("{address}: an address begins with http://")),
        };
        if !plain_on_network && !is_loopback(authority.host()) {
            return Err(format!(
                "{address} is not this machine: the token would be sent in the clear. \
                 Use a tunnel, or --plain-on-network"
            ));
        }
        let runtime = Builder::new_current_thread().enable_all().build();
        Ok(Self {
            authority,
            token: token.to_owned(),
            runtime: runtime.map_err(|error| error.to_string())?,
        })
    }

    pub fn get(&self, path: &str) -> Result<Value, Failure> {
        self.request(&Method::GET, path, None, None)
    }

    pub fn post(&self, path: &str, body: &Value, key: Option<&str>) -> Result<Value, Failure> {
        self.request(&Method::POST, path, Some(body), key)
    }

    pub fn delete(&self, path: &str) -> Result<Value, Failure> {
        self.request(&Method::DELETE, path, None, None)
    }

    /// Sends it again with the same key or number: nothing is charged twice.
    fn request(
        &self,
        method: &Method,
        path: &str,
        body: Option<&Value>,
        key: Option<&str>,
    ) -> Result<Value, Failure> {
        let mut failure = Failure::Lost(String::new());
        for attempt in 0..TRIES {
            if attempt > 0 {
                // A timer belongs to the runtime in which it is made.
                self.runtime.block_on(async { sleep(PAUSE).await });
            }
            let sent = async { timeout(SLOWEST, self.send(method, path, body, key)).await };
            let sent = self.runtime.block_on(sent);
            failure = match sent {
                Ok(Ok((status, value))) if status.is_success() => return Ok(value),
                Ok(Ok((_, problem))) => Failure::Problem(problem),
                Ok(Err(error)) => Failure::Lost(error.to_string()),
                Err(_) => Failure::Lost("no reply in time".to_owned()),
            };
            let again = matches!(failure.code(), "" | "busy" | "too_many" | "unavailable");
            if !again {
                break;
            }
        }
        Err(failure)
    }

    async fn send(
        &self,
        method: &Method,
        path: &str,
        body: Option<&Value>,
        key: Option<&str>,
    ) -> Result<(StatusCode, Value), Box<dyn std::error::Error + Send + Sync>> {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, self.authority.as_str())
            .header(header::AUTHORIZATION, format!("Bearer {}", self.token));
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        if let Some(key) = key {
            request = request.header("Idempotency-Key", key);
        }
        let body = body.map(ToString::to_string).unwrap_or_default();
        let request = request.body(Body::from(body))?;
        let host = self.authority.host().trim_matches(['[', ']']);
        let port = self.authority.port_u16().unwrap_or(80);
        let stream = TcpStream::connect((host, port)).await?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let reply = async {
            let response = sender.send_request(request).await?;
            let status = response.status();
            let body = to_bytes(Body::new(response.into_body()), LARGEST).await?;
            let value = match body.is_empty() {
                true => Value::Null,
                false => serde_json::from_slice(&body)?,
            };
            Ok((status, value))
        };
        tokio::select! {
            reply = reply => reply,
            ended = connection => Err(ended.err().map_or_else(|| "closed".into(), Into::into)),
        }
    }
}

fn is_loopback(host: &str) -> bool {
    let host = host.trim_matches(['[', ']']);
    let address = host.parse::<std::net::IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

/// A name as one part of a path. Names that need it are no names of datasets: the server says so.
pub fn encoded(name: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    name.bytes()
        .map(|byte| match plain(&byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_stays_on_this_machine_by_default() {
        for address in [
            "http://127.0.0.1:8400",
            "http://localhost",
            "http://[::1]:1",
        ] {
            assert!(Client::new(address, "token", false).is_ok(), "{address}");
        }
        for address in ["http://10.0.0.1:8400", "http://localhost.example.org"] {
            let said = Client::new(address, "token", false).err().unwrap();
            assert!(
                said.contains("the token would be sent in the clear"),
                "{said}"
            );
            assert!(Client::new(address, "token", true).is_ok(), "{address}");
        }
        let said = Client::new("https://localhost", "token", false).err();
        let wanted = "https://localhost: an address begins with http://";
        assert_eq!(said.as_deref(), Some(wanted));
    }

    #[test]
    fn a_name_is_one_part_of_a_path() {
        assert_eq!(encoded("census-2.0"), "census-2.0");
        assert_eq!(encoded("a/é"), "a%2F%C3%A9");
    }
}
