//! `httpwriter`: records as the bodies of requests.

mod task;

use std::sync::Arc;

use arrow_schema::SchemaRef;
use serde_json::Value;
use transship_plugin_api::{CommitClass, Error, HostRef, Result, Run, TaskInfo, Writer, WriterInfo, WriterTask};

use crate::client::{Network, Session};
use crate::config::{Shape, WriterConfig};
use task::HttpWriterTask;

/// Makes a writer from its parameters.
pub(crate) fn new(parameter: &Value, _host: HostRef) -> Result<Box<dyn Writer>> {
    let config = Arc::new(WriterConfig::parse(parameter)?);
    Ok(Box::new(HttpWriter { config, network: None }))
}

/// So many connections are kept for later requests.
const CONNECTIONS: usize = 64;

struct HttpWriter {
    config: Arc<WriterConfig>,
    /// From `prepare` or `attach` on.
    network: Option<Arc<Network>>,
}

impl HttpWriter {
    fn connect(&mut self) -> Result<()> {
        let network = Network::new(&self.config.settings, &self.config.method, CONNECTIONS, 1)?;
        self.network = Some(Arc::new(network));
        Ok(())
    }

    /// The URL without secrets, and with `_` for the values of columns.
    fn shown(&self) -> String {
        let url = self.config.url.shown();
        reqwest::Url::parse(&url).map_or(url, |url| crate::secret::shown(&url))
    }
}

impl Writer for HttpWriter {
    fn info(&self) -> WriterInfo {
        WriterInfo {
            commit: CommitClass::Append,
            max_open_tasks: 0,
            target: self.shown(),
            idempotent: self.config.is_idempotent,
        }
    }

    fn plan(&self) -> Vec<String> {
        let how = match self.config.shape {
            Shape::Record => "each record".into(),
            Shape::Array(_) => format!("lists of {} records at most", self.config.most_records),
            Shape::Lines => format!("lines of {} records at most", self.config.most_records),
        };
        vec![format!("{} {how} to {}", self.config.method, self.shown())]
    }

    fn prepare(&mut self, _run: &Run, _schema: Option<SchemaRef>) -> Result<Value> {
        self.connect()?;
        Ok(Value::Null)
    }

    fn attach(&mut self, _state: &Value) -> Result<()> {
        self.connect()
    }

    fn open(&mut self, _task: &TaskInfo, schema: SchemaRef, host: HostRef) -> Result<Box<dyn WriterTask>> {
        let network = self.network.clone().ok_or_else(|| Error::internal("the writer was not prepared"))?;
        let session = Session::new(network, host.clone());
        Ok(Box::new(HttpWriterTask::new(self.config.clone(), &schema, session, host)?))
    }
}
