//! `httpreader`: the records of JSON answers, page by page.

mod page;
mod task;

use std::sync::Arc;

use arrow_schema::SchemaRef;
use serde_json::{Value, json};
use transship_plugin_api::{Error, HostRef, ReadOptions, Reader, ReaderTask, Result, Split, SplitRequest};

use crate::client::{Network, Session};
use crate::config::ReaderConfig;
use crate::config::url_of;
use crate::secret::shown;
use crate::types::schema;
use task::HttpReaderTask;

/// Makes a reader from its parameters.
pub(crate) fn new(parameter: &Value, _host: HostRef) -> Result<Box<dyn Reader>> {
    let config = Arc::new(ReaderConfig::parse(parameter)?);
    Ok(Box::new(HttpReader { config, network: None, splits: 0 }))
}

/// So many connections are kept for later requests.
const CONNECTIONS: usize = 64;

struct HttpReader {
    config: Arc<ReaderConfig>,
    /// From `prepare` or `attach` on.
    network: Option<Arc<Network>>,
    /// How many splits were given.
    splits: usize,
}

impl HttpReader {
    fn connect(&mut self) -> Result<()> {
        let network = Network::new(&self.config.settings, &self.config.method, CONNECTIONS, 1)?;
        self.network = Some(Arc::new(network));
        Ok(())
    }
}

impl Reader for HttpReader {
    fn prepare(&mut self) -> Result<Value> {
        self.connect()?;
        Ok(Value::Null)
    }

    fn attach(&mut self, _state: &Value) -> Result<()> {
        self.connect()
    }

    fn schema(&mut self) -> Result<Option<SchemaRef>> {
        Ok(self.config.columns.as_deref().map(schema))
    }

    fn splits(&mut self, request: &SplitRequest) -> Result<Vec<Split>> {
        let split = |(number, url)| Split::new(format!("url-{number}"), shown(url), json!({ "url": number }));
        let splits = self.config.urls.iter().enumerate().skip(self.splits).take(request.max as usize).map(split);
        let splits: Vec<Split> = splits.collect();
        self.splits += splits.len();
        Ok(splits)
    }

    fn open(&mut self, split: &Split, options: &ReadOptions, host: HostRef) -> Result<Box<dyn ReaderTask>> {
        let network = self.network.clone().ok_or_else(|| Error::internal("the reader was not prepared"))?;
        let url = url_of(&split.detail, &self.config.urls)?;
        let session = Session::new(network, host.clone());
        Ok(Box::new(HttpReaderTask::new(self.config.clone(), url, session, options, host)?))
    }
}
