//! `httplookup`: asks a service for what belongs to a key. Many requests are under way at once, on a few threads.
//! Not here: order, time-outs over all attempts, further attempts and caches; those are the engine's.

mod call;

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use serde_json::Value;
use tokio::sync::Semaphore;
use transship_plugin_api::{Answer, Error, HostRef, Lookup, Result};

use crate::client::{Cancel, Network};
use crate::config::LookupConfig;
use crate::types::schema;
use call::Service;

/// Makes a lookup from its parameters.
pub(crate) fn new(parameter: &Value, _host: HostRef) -> Result<Box<dyn Lookup>> {
    let config = LookupConfig::parse(parameter)?;
    Ok(Box::new(HttpLookup { config: Arc::new(config), cancel: Cancel::default(), running: None }))
}

struct HttpLookup {
    config: Arc<LookupConfig>,
    cancel: Cancel,
    /// From `prepare` on.
    running: Option<Running>,
}

struct Running {
    network: Network,
    service: Arc<Service>,
    /// Requests that may be under way.
    permits: Arc<Semaphore>,
}

/// Requests wait for the network, not for a processor: JSON is all the work there is.
const THREADS: usize = 2;

impl Lookup for HttpLookup {
    fn prepare(&mut self, keys: SchemaRef) -> Result<SchemaRef> {
        let found = schema(&self.config.columns);
        let network = Network::new(&self.config.settings, &self.config.method, self.config.connections, THREADS)?;
        let service = Arc::new(Service::new(self.config.clone(), network.client.clone(), keys, found.clone())?);
        let permits = Arc::new(Semaphore::new(self.config.connections));
        self.running = Some(Running { network, service, permits });
        Ok(found)
    }

    fn start(&self, keys: RecordBatch, answer: Answer) {
        let running = self.running.as_ref().ok_or_else(|| Error::internal("the lookup was not prepared"));
        let (running, runtime) = match running.and_then(|running| Ok((running, running.network.runtime()?))) {
            Ok(both) => both,
            Err(error) => return answer.fail(error),
        };
        let (service, permits, cancel) = (running.service.clone(), running.permits.clone(), self.cancel.clone());
        runtime.spawn(async move {
            let permit = cancel.unless(permits.acquire()).await;
            // Who has waited too long for a connection is not asked for any more.
            let outcome = match permit {
                Ok(Ok(_permit)) if answer.is_wanted() => {
                    cancel.unless(service.find(&keys)).await.and_then(|found| found)
                }
                Ok(_) | Err(_) => Err(Error::cancelled()),
            };
            answer.give(outcome);
        });
    }

    fn most_keys(&self) -> usize {
        self.config.batch.as_ref().map_or(1, |batch| batch.size)
    }

    fn cancel(&self) {
        self.cancel.now();
    }
}
