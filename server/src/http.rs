//! The protocol over HTTP.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use axum::middleware::{self, Next};
use axum::routing::{get, post};
use serde::Serialize;

use crate::analyst::{Analyst, Caller};
use crate::body;
use crate::issuer;
use crate::page;
use crate::place::Place;
use crate::problem::{Code, Problem};
use crate::question::{Opening, Ready, Release};
use crate::service::Service;
use crate::view::Ask;

/// What every handler has.
#[derive(Clone)]
pub struct Http {
    pub service: Arc<Service>,
    /// The values of `Host` that are accepted.
    pub hosts: Arc<Vec<String>>,
    /// Replies to questions take a multiple of this time.
    pub quantum: Duration,
}

/// How long a request waits for a thread.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

type Reply = Result<Response<Body>, Problem>;

/// All addresses.
pub fn router(http: Http) -> Router {
    let handled = |handler: Reply| handler.unwrap_or_else(Into::into);
    macro_rules! handle {
        ($handler:path) => {
            move |state: State<Http>, request: Request| async move {
                handled($handler(state.0, request, ()).await)
            }
        };
        ($handler:path, $($name:ident),+) => {
            move |state: State<Http>, Path(name): Path<String>, request: Request| async move {
                handled($handler(state.0, request, name).await)
            }
        };
    }
    Router::new()
        .route("/healthz", get(handle!(healthz)))
        .route("/metrics", get(handle!(metrics)))
        .route("/v1/openapi.json", get(handle!(openapi)))
        .route("/v1/me", get(handle!(me)))
        .route("/v1/datasets", get(handle!(datasets)))
        .route("/v1/datasets/{name}", get(handle!(dataset, name)))
        .route("/v1/datasets/{name}/preview", post(handle!(preview, name)))
        .route("/v1/datasets/{name}/release", post(handle!(release, name)))
        .route("/v1/datasets/{name}/children", post(handle!(open, name)))
        .route("/v1/datasets/{name}/record", get(handle!(record, name)))
        .route("/v1/children", get(handle!(children)))
        .route(
            "/v1/children/{child}",
            get(handle!(child, name)).delete(handle!(close, name)),
        )
        .route("/v1/children/{child}/ask", post(handle!(ask, name)))
        .route(
            "/v1/children/{child}/preview",
            post(handle!(share_preview, name)),
        )
        .route(
            "/v1/children/{child}/release",
            post(handle!(share_release, name)),
        )
        .route(
            "/v1/children/{child}/children",
            post(handle!(share_open, name)),
        )
        .fallback(handle!(elsewhere))
        .method_not_allowed_fallback(|| async {
            Response::from(Problem::new(Code::MethodNotAllowed))
        })
        .layer(middleware::from_fn_with_state(http.clone(), around))
        .with_state(http)
}

/// Around every request: whom it was meant for, and what browsers may do with the response.
async fn around(State(http): State<Http>, request: Request, next: Next) -> Response<Body> {
    let mut response = match addressed(&http, request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into(),
    };
    http.service.metrics.response(response.status().as_u16());
    let headers = response.headers_mut();
    for (name, value) in [
        (
            header::CONTENT_SECURITY_POLICY,
            page::CONTENT_SECURITY_POLICY,
        ),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// A page of another site may know this server's address, and a name of that site may lead here: such a
/// request has another `Host` or `Origin`.
fn addressed(http: &Http, headers: &HeaderMap) -> Result<(), Problem> {
    let accepted = |host: &str| {
        http.hosts
            .iter()
            .any(|known| known.eq_ignore_ascii_case(host))
    };
    let host = body::text(headers, header::HOST).is_some_and(accepted);
    let origin = match headers.contains_key(header::ORIGIN) {
        false => true,
        true => body::text(headers, header::ORIGIN).is_some_and(|origin| {
            let host = origin
                .strip_prefix("http://")
                .or(origin.strip_prefix("https://"));
            host.is_some_and(accepted)
        }),
    };
    match host && origin {
        true => Ok(()),
        false => Err(Problem::new(Code::Forbidden).saying("Host or Origin")),
    }
}

fn caller(http: &Http, headers: &HeaderMap) -> Result<Caller, Problem> {
    let token = body::text(headers, header::AUTHORIZATION);
    let token = token.and_then(|text| text.strip_prefix("Bearer "));
    let token = token
        .filter(|token| token.len() <= issuer::LONGEST)
        .ok_or(Code::Unauthorized)?;
    let caller = http.service.authenticate(token)?;
    if let Caller::Analyst(analyst) = &caller {
        analyst.usage.request()?;
    }
    Ok(caller)
}

fn analyst(http: &Http, headers: &HeaderMap) -> Result<Arc<Analyst>, Problem> {
    match caller(http, headers)? {
        Caller::Analyst(analyst) => Ok(analyst),
        Caller::Curator => {
            Err(Problem::new(Code::Forbidden).saying("the curator's token asks no questions"))
        }
    }
}

fn curator(http: &Http, headers: &HeaderMap) -> Result<(), Problem> {
    match caller(http, headers)? {
        Caller::Curator => Ok(()),
        Caller::Analyst(_) => {
            Err(Problem::new(Code::Forbidden).saying("this needs the curator's token"))
        }
    }
}

fn answer(status: StatusCode, value: &impl Serialize) -> Reply {
    let body = serde_json::to_vec(value).map_err(|_| Code::Failed)?;
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Ok(response)
}

/// Runs a question of an analyst, and waits: the time of a reply tells how long it took only up to the
/// quantum.
async fn question<T: Send + 'static>(
    http: &Http,
    analyst: &Arc<Analyst>,
    work: impl FnOnce(&Service) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let begun = Instant::now();
    let done = run(http, Some(analyst), work).await;
    let (taken, quantum) = (begun.elapsed().as_nanos(), http.quantum.as_nanos());
    if let Some(beyond) = taken.checked_rem(quantum) {
        let rest = u64::try_from(quantum - beyond).unwrap_or(0);
        tokio::time::sleep(Duration::from_nanos(rest)).await;
    }
    done
}

/// Runs on one of the threads for mechanisms, also if the client goes away meanwhile.
async fn run<T: Send + 'static>(
    http: &Http,
    analyst: Option<&Arc<Analyst>>,
    work: impl FnOnce(&Service) -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let mut running = analyst.map(|analyst| analyst.usage.run()).transpose()?;
    let service = Arc::clone(&http.service);
    // Who comes first: a thread that begins, or the end of the wait.
    let taken = Arc::new(AtomicBool::new(false));
    let by_thread = Arc::clone(&taken);
    // The runtime has as many of these threads as the curator has named. Work queues for them.
    let mut work = tokio::task::spawn_blocking(move || {
        if by_thread.swap(true, Ordering::Relaxed) {
            return Err(Code::Busy.into());
        }
        if let Some(running) = &mut running {
            running.start();
        }
        let done = work(&service);
        drop(running);
        done
    });
    let done = match tokio::time::timeout(LONGEST_WAIT, &mut work).await {
        Ok(done) => done,
        Err(_) if taken.swap(true, Ordering::Relaxed) => work.await,
        Err(_) => return Err(Code::Busy.into()),
    };
    // It has panicked: whether it was charged is in the ledger.
    done.map_err(|_| Code::Unavailable)?
}

/// The key of a request, which may be left out.
fn key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    const NAME: &str = "idempotency-key";
    if !headers.contains_key(NAME) {
        return Ok(None);
    }
    let key = body::text(headers, header::HeaderName::from_static(NAME));
    let key = key.filter(|key| (1..=255).contains(&key.len()));
    let key = key.ok_or_else(|| Problem::invalid_request("a key has 1 to 255 visible characters"));
    key.map(|key| Some(key.to_owned()))
}

async fn healthz(_: Http, _: Request, (): ()) -> Reply {
    let mut response = Response::new(Body::from("ok\n"));
    let kind = HeaderValue::from_static("text/plain");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Ok(response)
}

async fn metrics(http: Http, request: Request, (): ()) -> Reply {
    curator(&http, request.headers())?;
    let text = run(&http, None, |service| Ok(service.metrics.text(service))).await?;
    let mut response = Response::new(Body::from(text));
    let kind = HeaderValue::from_static("text/plain; version=0.0.4");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Ok(response)
}

async fn openapi(_: Http, _: Request, (): ()) -> Reply {
    // Made once: nobody needs a token to ask for it.
    static DOCUMENT: LazyLock<Vec<u8>> =
        LazyLock::new(|| serde_json::to_vec(&crate::openapi::document()).unwrap_or_default());
    let mut response = Response::new(Body::from(DOCUMENT.as_slice()));
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Ok(response)
}

async fn me(http: Http, request: Request, (): ()) -> Reply {
    let caller = caller(&http, request.headers())?;
    answer(StatusCode::OK, &caller.me())
}

async fn datasets(http: Http, request: Request, (): ()) -> Reply {
    let caller = caller(&http, request.headers())?;
    let views = run(&http, None, move |service| service.views(&caller)).await?;
    answer(StatusCode::OK, &views)
}

async fn dataset(http: Http, request: Request, name: String) -> Reply {
    let caller = caller(&http, request.headers())?;
    let view = run(&http, None, move |service| {
        service.dataset(&caller, &name)?.view(&caller)
    });
    answer(StatusCode::OK, &view.await?)
}

/// The launch that a preview is about: what answers once, or what is open.
fn previewed(launch: serde_json::Value, place: &Place) -> Result<Ready, Problem> {
    let is_open = launch.as_object().is_some_and(|launch| {
        let mut names = Opening::NAMES.iter();
        names.any(|name| launch.contains_key(*name))
    });
    let invalid = |error: serde_json::Error| Problem::unread(&error);
    if is_open {
        let opening: Opening = serde_json::from_value(launch).map_err(invalid)?;
        return opening.ready(&place.dataset.schema)?.ok_or_else(|| {
            Problem::invalid_query("a share costs its budget: there is nothing to preview")
        });
    }
    let release: Release = serde_json::from_value(launch).map_err(invalid)?;
    release.ready(&place.dataset.schema)
}

async fn preview(http: Http, request: Request, name: String) -> Reply {
    let analyst = analyst(&http, request.headers())?;
    let place = http.service.place(&analyst, &name)?;
    preview_in(http, request, analyst, place).await
}

async fn share_preview(http: Http, request: Request, child: String) -> Reply {
    let analyst = analyst(&http, request.headers())?;
    let place = http.service.share(&analyst, &child)?;
    preview_in(http, request, analyst, place).await
}

async fn preview_in(http: Http, request: Request, analyst: Arc<Analyst>, place: Place) -> Reply {
    let (parts, body) = request.into_parts();
    let launch = body::json(&parts.headers, body, &analyst.usage).await?;
    let who = Arc::clone(&analyst);
    let preview = question(&http, &analyst, move |_| {
        place.preview(&who, &previewed(launch, &place)?)
    });
    answer(StatusCode::OK, &preview.await?)
}

async fn release(http: Http, request: Request, name: String) -> Reply {
    let analyst = analyst(&http, request.headers())?;
    let place = http.service.place(&analyst, &name)?;
    release_in(http, request, analyst, place).await
}

async fn share_release(http: Http, request: Request, child: String) -> Reply {
    let analyst = analyst(&http, request.headers())?;
    let place = http.service.share(&analyst, &child)?;
    release_in(http, request, analyst, place).await
}

async fn release_in(http: Http, request: Request, analyst: Arc<Analyst>, place: Place) -> Reply {
    let (parts, body) = request.into_parts();
    let key = key(&parts.headers)?;
    let asked: Release = body::json(&parts.headers, body, &analyst.usage).await?;
    let who = Arc::clone(&analyst);
    let released = question(&http, &analyst, move |service| {
        service.release(&who, &place, key.as_deref(), &asked)
    });
    answer(StatusCode::OK, &released.await?)
}

async fn open(http: Http, request: Request, name: String) -> Reply {
    let analyst = analyst(&http, request.headers())?;
    let place = http.service.place(&analyst, &name)?;
    open_in(http, request, analyst, place).await
}

async fn share_open(http: Http, request: Request, child: String) -> Reply {
    let analyst = analyst(&http, request.headers())?;
    let place = http.service.share(&analyst, &child)?;
    open_in(http, request, analyst, place).await
}

async fn open_in(http: Http, request: Request, analyst: Arc<Analyst>, place: Place) -> Reply {
    let (parts, body) = request.into_parts();
    let key = key(&parts.headers)?;
    let asked: Opening = body::json(&parts.headers, body, &analyst.usage).await?;
    let who = Arc::clone(&analyst);
    let child = question(&http, &analyst, move |service| {
        service.open(&who, &place, key.as_deref(), &asked)
    });
    answer(StatusCode::CREATED, &child.await?)
}

async fn children(http: Http, request: Request, (): ()) -> Reply {
    let analyst = analyst(&http, request.headers())?;
    let children = run(&http, None, move |service| service.children_of(&analyst));
    answer(StatusCode::OK, &children.await?)
}

async fn child(http: Http, request: Request, child: String) -> Reply {
    let analyst = analyst(&http, request.headers())?;
    let view = run(&http, None, move |service| service.child(&analyst, &child));
    answer(StatusCode::OK, &view.await?)
}

async fn close(http: Http, request: Request, child: String) -> Reply {
    let analyst = analyst(&http, request.headers())?;
    run(&http, None, move |service| service.close(&analyst, &child)).await?;
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    Ok(response)
}

async fn ask(http: Http, request: Request, child: String) -> Reply {
    let analyst = analyst(&http, request.headers())?;
    http.service.children.get(&analyst.name, &child)?;
    let (parts, body) = request.into_parts();
    let asked: Ask = body::json(&parts.headers, body, &analyst.usage).await?;
    let who = Arc::clone(&analyst);
    let answered = question(&http, &analyst, move |service| {
        service.ask(&who, &child, &asked)
    });
    answer(StatusCode::OK, &answered.await?)
}

async fn record(http: Http, request: Request, name: String) -> Reply {
    curator(&http, request.headers())?;
    let dataset = http.service.dataset(&Caller::Curator, &name)?;
    let text = run(&http, None, move |_| {
        let mut text = Vec::new();
        let written = dataset.ledger.export(&mut text);
        written.map_err(|_| Code::Unavailable)?;
        Ok(text)
    });
    let mut response = Response::new(Body::from(text.await?));
    let kind = HeaderValue::from_static("application/jsonl");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    Ok(response)
}

/// The page, or nothing.
async fn elsewhere(_: Http, request: Request, (): ()) -> Reply {
    let file = match *request.method() {
        Method::GET | Method::HEAD => page::file(request.uri().path()),
        _ => None,
    };
    file.ok_or_else(|| Code::NotFound.into())
}
