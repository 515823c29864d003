//! The edge: accepts connections, bounds how long they take, and ends in time.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

use crate::http::{self, Http};
use crate::service::Service;
use crate::write_timeout::WriteTimeout;

/// A TLS handshake, and the head of a request, must arrive within this time, also on a connection that is kept.
const SLOWEST_HEAD: Duration = Duration::from_secs(10);
/// A client that reads takes some bytes of a reply within this time.
const SLOWEST_READER: Duration = Duration::from_secs(10);
/// Connections at the same time. Others wait to be accepted.
const MOST_CONNECTIONS: usize = 512;
/// The largest head of a request.
const LARGEST_HEAD: usize = 16 << 10;
/// What runs at SIGTERM has this time to finish, connections and mechanisms together.
const LONGEST_END: Duration = Duration::from_secs(20);
/// How often children that nobody asks are looked for.
const SWEEP: Duration = Duration::from_secs(1);

/// Where to listen, and who may be meant.
pub struct Edge {
    pub address: SocketAddr,
    /// None is plain HTTP.
    pub tls: Option<TlsAcceptor>,
    pub hosts: Vec<String>,
    pub threads: usize,
    pub quantum: Duration,
}

/// Serves until SIGTERM or SIGINT. `ready` hears the address when it listens.
pub fn serve(
    service: Service,
    edge: Edge,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), std::io::Error> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        // Mechanisms run there, and nothing else.
        .max_blocking_threads(edge.threads)
        .enable_all()
        .build()?;
    let service = Arc::new(service);
    let served = runtime.block_on(accept(Arc::clone(&service), edge, ready));
    let end = served?;
    runtime.shutdown_timeout(end.saturating_duration_since(Instant::now()));
    // Here, and not on a thread of the runtime: a store may block while it is closed.
    drop(service);
    Ok(())
}

/// Serves until a signal, and returns until when what still runs may go on.
async fn accept(
    service: Arc<Service>,
    edge: Edge,
    ready: impl FnOnce(SocketAddr),
) -> Result<Instant, std::io::Error> {
    let listener = TcpListener::bind(edge.address).await?;
    let address = listener.local_addr()?;
    let router = http::router(Http {
        service: Arc::clone(&service),
        hosts: Arc::new(hosts(address, edge.hosts)),
        quantum: edge.quantum,
    });
    let (mut term, mut interrupt) = (
        signal(SignalKind::terminate())?,
        signal(SignalKind::interrupt())?,
    );
    tokio::spawn(async move {
        let mut ticks = tokio::time::interval(SWEEP);
        loop {
            ticks.tick().await;
            service.end_idle_children();
        }
    });
    ready(address);
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let place = Arc::clone(&places).acquire_owned();
        let accepted = async {
            let place = place.await;
            (listener.accept().await, place)
        };
        let (stream, place) = tokio::select! {
            (stream, place) = accepted => (stream, place),
            _ = term.recv() => break,
            _ = interrupt.recv() => break,
        };
        let Ok((stream, _)) = stream else {
            // No more files, for example: others are waiting to be closed.
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        let stream = WriteTimeout::new(stream, SLOWEST_READER);
        let (router, watcher, tls) = (router.clone(), graceful.watcher(), edge.tls.clone());
        tokio::spawn(async move {
            match tls {
                None => connect(stream, router, watcher).await,
                Some(tls) => {
                    let shaken = tokio::time::timeout(SLOWEST_HEAD, tls.accept(stream)).await;
                    if let Ok(Ok(stream)) = shaken {
                        connect(stream, router, watcher).await;
                    }
                }
            }
            drop(place);
        });
    }
    tracing::info!("ending: no more requests are accepted");
    let end = Instant::now() + LONGEST_END;
    tokio::select! {
        () = graceful.shutdown() => {}
        () = tokio::time::sleep(LONGEST_END) => tracing::warn!("some requests did not end in time"),
    }
    Ok(end)
}

/// One connection, to its end.
async fn connect<S>(stream: S, router: Router, watcher: Watcher)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(SLOWEST_HEAD)
        .max_buf_size(LARGEST_HEAD)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    // A connection that ends badly concerns the client only.
    let _ = watcher.watch(connection).await;
}

/// The values of `Host` for an address, and those that the curator names.
fn hosts(address: SocketAddr, named: Vec<String>) -> Vec<String> {
    let port = address.port();
    let mut hosts = named;
    hosts.push(address.to_string());
    if address.ip().is_loopback() {
        let names = ["localhost", "127.0.0.1", "[::1]"];
        hosts.extend(names.map(|name| format!("{name}:{port}")));
    }
    hosts
}
