//! Requests and answers: sends one, waits as long as the job says and no longer than the engine wants, tries again where that can
//! help, and says in words what went wrong.
//! Not here: what is in a request (`reader`, `writer`, `lookup`), when to try again (`retry`).

mod failure;
mod retry;
mod settings;

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{Either, select};
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use reqwest::{Client, Method, Response, StatusCode, Url};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use transship_plugin_api::{CancelHandle, Error, HostRef, Result};

pub(crate) use failure::{Again, Failure};
pub(crate) use retry::Retry;
pub(crate) use settings::{PARAMETERS, Settings};

use crate::secret::shown;

/// A request, which can be sent more than once.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Body>,
}

/// What a request carries.
#[derive(Debug, Clone)]
pub(crate) struct Body {
    pub(crate) bytes: Bytes,
    pub(crate) content_type: &'static str,
}

impl Body {
    pub(crate) fn json(bytes: impl Into<Bytes>) -> Body {
        Body { bytes: bytes.into(), content_type: "application/json" }
    }
}

impl Ask {
    /// Sends it once. The answer's head is there then, and its body still to come.
    pub(crate) async fn send(&self, client: &Client, patience: Duration) -> Result<Response, Failure> {
        let mut request = client.request(self.method.clone(), self.url.clone()).headers(self.headers.clone());
        if let Some(body) = &self.body {
            if !self.headers.contains_key(CONTENT_TYPE) {
                request = request.header(CONTENT_TYPE, body.content_type);
            }
            request = request.body(body.bytes.clone());
        }
        match tokio::time::timeout(patience, request.send()).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(Failure::of_transport(&self.url, error)),
            Err(_) => Err(Failure::too_slow(&self.url, patience)),
        }
    }

    /// Sends it once, and takes an answer with another status than these for a failure.
    pub(crate) async fn ask(
        &self,
        client: &Client,
        patience: Duration,
        is_good: impl Fn(StatusCode) -> bool,
    ) -> Result<Response, Failure> {
        let response = self.send(client, patience).await?;
        match is_good(response.status()) {
            true => Ok(response),
            false => Err(Failure::of_status(&self.url, response, patience).await),
        }
    }
}

/// The next piece of an answer; `None` at its end.
pub(crate) async fn next_piece(
    url: &Url,
    response: &mut Response,
    patience: Duration,
) -> Result<Option<Bytes>, Failure> {
    match tokio::time::timeout(patience, response.chunk()).await {
        Ok(Ok(piece)) => Ok(piece),
        Ok(Err(error)) => Err(Failure::of_transport(url, error)),
        Err(_) => Err(Failure::too_slow(url, patience)),
    }
}

/// Ends waits, from any thread.
#[derive(Debug, Clone)]
pub(crate) struct Cancel(Arc<watch::Sender<bool>>);

impl Default for Cancel {
    fn default() -> Cancel {
        Cancel(Arc::new(watch::Sender::new(false)))
    }
}

impl Cancel {
    pub(crate) fn now(&self) {
        self.0.send_replace(true);
    }

    pub(crate) fn handle(&self) -> CancelHandle {
        let cancel = self.clone();
        Arc::new(move || cancel.now())
    }

    /// The outcome of some work, unless it is cancelled before.
    pub(crate) async fn unless<T>(&self, work: impl Future<Output = T>) -> Result<T> {
        let mut changes = self.0.subscribe();
        match select(pin!(changes.wait_for(|is_cancelled| *is_cancelled)), pin!(work)).await {
            Either::Left(_) => Err(Error::cancelled()),
            Either::Right((outcome, _)) => Ok(outcome),
        }
    }
}

/// The connections to servers, and the thread that drives them, for all tasks of a reader, a writer or a lookup.
#[derive(Debug)]
pub(crate) struct Network {
    /// Taken when it is dropped.
    runtime: Option<Runtime>,
    pub(crate) client: Client,
}

impl Network {
    /// `connections`: how many to keep for later. `method`: of all requests.
    pub(crate) fn new(settings: &Settings, method: &Method, connections: usize, threads: usize) -> Result<Network> {
        let runtime = Builder::new_multi_thread().worker_threads(threads).thread_name("http").enable_all().build();
        let runtime = runtime.map_err(|error| Error::from(error).context("no thread for connections"))?;
        Ok(Network { runtime: Some(runtime), client: settings.client(method, connections)? })
    }

    pub(crate) fn runtime(&self) -> Result<&Runtime> {
        self.runtime.as_ref().ok_or_else(|| Error::internal("the connections are closed"))
    }
}

impl Drop for Network {
    /// Its threads are joined, but a name that is still being resolved must not hold anybody up.
    fn drop(&mut self) {
        const PATIENCE: Duration = Duration::from_millis(200);
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(PATIENCE);
        }
    }
}

/// The requests of one task, which waits for one at a time.
pub(crate) struct Session {
    network: Arc<Network>,
    pub(crate) cancel: Cancel,
    host: HostRef,
}

/// How often a waiting task asks the host whether it shall stop, should nobody call its cancel handle.
const ASK_EVERY: Duration = Duration::from_millis(50);

impl Session {
    pub(crate) fn new(network: Arc<Network>, host: HostRef) -> Session {
        Session { network, cancel: Cancel::default(), host }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.network.client
    }

    /// Tells which answer the task is about to wait for.
    pub(crate) fn asks(&self, ask: &Ask) {
        self.host.doing(&format!("{} {}", ask.method, shown(&ask.url)));
    }

    /// Waits for some work.
    ///
    /// # Errors
    /// `Cancelled`, at once, when the engine wants the task to stop.
    pub(crate) fn wait<T>(&self, work: impl Future<Output = T>) -> Result<T> {
        if self.host.is_cancelled() {
            return Err(Error::cancelled());
        }
        let is_told = async {
            while !self.host.is_cancelled() {
                tokio::time::sleep(ASK_EVERY).await;
            }
        };
        self.network.runtime()?.block_on(async {
            match select(pin!(is_told), pin!(self.cancel.unless(work))).await {
                Either::Left(_) => Err(Error::cancelled()),
                Either::Right((outcome, _)) => outcome,
            }
        })
    }

    /// Waits for the outcome of attempts, of which further ones are made where that may help.
    pub(crate) fn persist<T, F: Future<Output = Result<T, Failure>>>(
        &self,
        retry: &Retry,
        is_repeatable: bool,
        attempt: impl Fn() -> F,
    ) -> Result<T, Failure> {
        let mut number = 1;
        loop {
            let failure = match self.wait(attempt()) {
                Ok(Ok(outcome)) => return Ok(outcome),
                Ok(Err(failure)) => failure,
                Err(error) => return Err(Failure::from(error)),
            };
            let pause = retry.pause(&failure, number, is_repeatable)?;
            log::warn!("{}; tried again in {:.1} s", failure.error, pause.as_secs_f64());
            self.wait(tokio_sleep(pause)).map_err(Failure::from)?;
            number += 1;
        }
    }
}

/// A timer has to be made where the runtime is.
async fn tokio_sleep(pause: Duration) {
    tokio::time::sleep(pause).await;
}
