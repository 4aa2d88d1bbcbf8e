//! The server that a Prometheus server asks: one thread of its own for as long as the run lasts. Nobody who asks can hold up the run
//! or its end: there are at most so many connections, none lasts for long, and all are closed when the work is done.

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::select;
use futures_util::stream::FuturesUnordered;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use super::{Address, Exposition, Format};

#[cfg(test)]
mod tests;

/// Others wait until one of these has ended.
const MOST_CONNECTIONS: usize = 16;
/// How long a client has for its question and for taking the answer.
const LONGEST_CONNECTION: Duration = Duration::from_secs(5);
/// The head of a request is shorter.
const MOST_BUFFERED: usize = 16 * 1024;
/// How long to wait where no connection can be taken, such as when too many files are open.
const PAUSE: Duration = Duration::from_millis(200);

const METRICS: &str = "/metrics";

/// Where questions come in. Nobody answers yet.
pub struct Door {
    runtime: Runtime,
    listener: TcpListener,
    address: SocketAddr,
}

impl Door {
    /// Listens there.
    ///
    /// # Errors
    /// When somebody else does, or the host is not one of this machine.
    pub fn open(address: &Address) -> std::io::Result<Door> {
        let listener = std::net::TcpListener::bind((address.host.as_str(), address.port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        let listener = {
            let _inside = runtime.enter();
            TcpListener::from_std(listener)?
        };
        Ok(Door { runtime, listener, address })
    }

    /// Where to ask.
    pub fn url(&self) -> String {
        format!("http://{}{METRICS}", self.address)
    }

    /// Whether only programs on this machine reach it.
    pub fn is_for_this_machine(&self) -> bool {
        self.address.ip().to_canonical().is_loopback()
    }

    /// Does something, and answers meanwhile.
    pub fn serve<T>(self, exposition: &Exposition<'_>, work: impl FnOnce() -> T) -> T {
        std::thread::scope(|scope| {
            // Dropped when the work has ended, also by a panic.
            let (_end, ended) = oneshot::channel::<()>();
            let answering = std::thread::Builder::new().name("metrics".into());
            let Door { runtime, listener, .. } = self;
            let answer = move || {
                runtime.block_on(async {
                    select(ended, pin!(accept(&listener, exposition))).await;
                });
            };
            if let Err(error) = answering.spawn_scoped(scope, answer) {
                log::warn!("metrics are not shown: cannot start a thread: {error}");
            }
            work()
        })
    }
}

/// Answers everybody who comes, for ever.
async fn accept(listener: &TcpListener, exposition: &Exposition<'_>) -> Infallible {
    let mut connections = FuturesUnordered::new();
    loop {
        let accepted = poll_fn(|context| {
            // Those that have ended leave.
            while let Poll::Ready(Some(())) = connections.poll_next_unpin(context) {}
            match connections.len() < MOST_CONNECTIONS {
                true => listener.poll_accept(context),
                false => Poll::Pending,
            }
        });
        match accepted.await {
            Ok((stream, _)) => connections.push(converse(stream, exposition)),
            Err(error) => {
                log::debug!("nobody can be answered: {error}");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// Answers one question. A client that keeps silent, sends nonsense or takes nothing is no business of the run.
async fn converse(stream: TcpStream, exposition: &Exposition<'_>) {
    let service = service_fn(async |request: Request<Incoming>| Ok::<_, Infallible>(answer(&request, exposition)));
    let connection = http1::Builder::new()
        .keep_alive(false)
        .max_buf_size(MOST_BUFFERED)
        .serve_connection(TokioIo::new(stream), service);
    let _ = tokio::time::timeout(LONGEST_CONNECTION, connection).await;
}

/// The answer to a question; that to `HEAD` loses its body on the way.
fn answer<B>(request: &Request<B>, exposition: &Exposition<'_>) -> Response<String> {
    let path = request.uri().path();
    if path != METRICS && path != "/" {
        return response(StatusCode::NOT_FOUND, PLAIN, format!("there is nothing here: metrics are at {METRICS}\n"));
    }
    if ![Method::GET, Method::HEAD].contains(request.method()) {
        let mut refusal = response(StatusCode::METHOD_NOT_ALLOWED, PLAIN, "metrics can only be read\n".into());
        refusal.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return refusal;
    }
    if path == "/" {
        return response(StatusCode::OK, PLAIN, format!("a run of transship: its metrics are at {METRICS}\n"));
    }
    let accepts = request.headers().get_all(ACCEPT).iter().filter_map(|header| header.to_str().ok());
    let format = Format::accepted(accepts);
    response(StatusCode::OK, format.content_type(), exposition.text(format))
}

const PLAIN: &str = "text/plain; charset=utf-8";

fn response(status: StatusCode, content_type: &'static str, body: String) -> Response<String> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
