//! The lookup: it finds a text for an id, and does it wrong where it is told to.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use crossbeam::channel::{Receiver, Sender, unbounded};
use serde_json::Value;
use transship_plugin_api::row::cell_to_text;
use transship_plugin_api::{Answer, Error, Found, HostRef, Kind, Lookup, Params, Result};

use crate::fault::Faults;
use crate::journal::Journal;
use crate::wait;

struct FaultyLookup {
    setting: Arc<Setting>,
    most_keys: usize,
    /// The thread that answers, where there is one.
    thread: Mutex<Option<Answering>>,
}

/// A thread that answers, and the way to it.
type Answering = (Sender<(RecordBatch, Answer)>, JoinHandle<()>);

struct Setting {
    host: HostRef,
    faults: Faults,
    journal: Journal,
    /// Answers with this come from another thread, after a while.
    delay_millis: Option<u64>,
    missing_every: Option<u64>,
    fail_every: Option<u64>,
    /// Fails so many calls first.
    fail_first: Option<u64>,
    calls: Mutex<u64>,
    /// What to do with a call that holds a key that this divides.
    odd_every: Option<u64>,
    how: How,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// Never answers, but holds on to the call.
    Silent,
    Drop,
    /// In the thread that asks…
    Panic,
    /// …or in the one that answers.
    PanicLater,
}

pub(crate) fn new(parameter: &Value, host: HostRef) -> Result<Box<dyn Lookup>> {
    let params = Params::new(parameter, "parameter")?;
    let how = params.choice(
        "how",
        &[("silent", How::Silent), ("drop", How::Drop), ("panic", How::Panic), ("panic_later", How::PanicLater)],
    )?;
    let setting = Setting {
        host,
        faults: Faults::read(&params)?,
        journal: Journal::read(&params)?,
        delay_millis: params.whole("delayMillis")?,
        missing_every: params.whole("missingEvery")?,
        fail_every: params.whole("failEvery")?,
        fail_first: params.whole("failFirst")?,
        calls: Mutex::default(),
        odd_every: params.whole("oddEvery")?,
        how: how.unwrap_or(How::Silent),
    };
    setting.step("init")?;
    let most_keys = params.whole("mostKeys")?.map_or(usize::MAX, |most| most as usize);
    Ok(Box::new(FaultyLookup { setting: Arc::new(setting), most_keys, thread: Mutex::default() }))
}

fn columns() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("found", DataType::Utf8, false)]))
}

impl Lookup for FaultyLookup {
    fn prepare(&mut self, _: SchemaRef) -> Result<SchemaRef> {
        self.setting.step("prepare")?;
        let later = self.setting.delay_millis.is_some() || self.setting.how == How::PanicLater;
        if later {
            let (sender, calls) = unbounded();
            let setting = self.setting.clone();
            let thread = Builder::new().name("faulty lookup".into()).spawn(move || setting.answer_all(&calls));
            let thread = thread.map_err(|error| Error::io(error.to_string()))?;
            *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some((sender, thread));
        }
        Ok(columns())
    }

    fn start(&self, keys: RecordBatch, answer: Answer) {
        if let Err(error) = self.setting.step("start") {
            return answer.fail(error);
        }
        match &*self.thread.lock().unwrap_or_else(PoisonError::into_inner) {
            // A thread that has panicked takes none.
            Some((sender, _)) => drop(sender.send((keys, answer))),
            None => self.setting.answer(&keys, answer),
        }
    }

    fn most_keys(&self) -> usize {
        self.most_keys
    }

    fn cancel(&self) {
        self.setting.journal.note("lookup cancel");
        self.setting.faults.bell.ring();
    }
}

impl Drop for FaultyLookup {
    fn drop(&mut self) {
        self.setting.journal.note("lookup release");
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((sender, thread)) = thread {
            drop(sender);
            let _ = thread.join();
        }
    }
}

impl Setting {
    fn step(&self, call: &str) -> Result<()> {
        self.journal.note(format!("lookup {call}"));
        self.faults.at(call, self.host.as_ref())
    }

    fn answer_all(&self, calls: &Receiver<(RecordBatch, Answer)>) {
        for (keys, answer) in calls {
            wait::millis(self.delay_millis.unwrap_or(0), self.host.as_ref());
            self.answer(&keys, answer);
        }
    }

    fn answer(&self, keys: &RecordBatch, answer: Answer) {
        let calls = {
            let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
            *calls += 1;
            *calls
        };
        if self.fail_first.is_some_and(|first| calls <= first) {
            return answer.fail(Error::new(Kind::Connect, format!("call {calls} of the first ones")).retryable(true));
        }
        let column = keys.column(0);
        let ids: Vec<u64> = (0..column.len())
            .map(|row| cell_to_text(column, row).and_then(|id| id.parse().ok()).unwrap_or(0))
            .collect();
        let falls_on = |every: Option<u64>, id: u64| every.is_some_and(|every| id.is_multiple_of(every));
        if ids.iter().any(|id| falls_on(self.odd_every, *id)) {
            match self.how {
                How::Silent => return std::mem::forget(answer),
                How::Drop => return,
                How::Panic | How::PanicLater => panic!("the lookup does not like {ids:?}"),
            }
        }
        let (mut rows, mut key_of_row, mut failed) = (Vec::new(), Vec::new(), Vec::new());
        for (key, id) in (0..).zip(ids) {
            if falls_on(self.fail_every, id) {
                failed.push((key, Error::data(format!("{id} is not to be found"))));
            } else if !falls_on(self.missing_every, id) {
                rows.push(format!("found {id}"));
                key_of_row.push(key);
            }
        }
        let rows: ArrayRef = Arc::new(StringArray::from(rows));
        match RecordBatch::try_new(columns(), vec![rows]) {
            Ok(rows) => answer.complete(Found { failed, ..Found::new(rows, key_of_row) }),
            Err(error) => answer.fail(error.into()),
        }
    }
}
