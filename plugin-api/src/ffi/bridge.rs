//! What a plugin's log records and panics do: they go to the engine. Each library has its own copies of the `log` crate and
//! of the panic hook, so this touches nobody else's.

use std::panic;
use std::sync::Arc;

use log::{Level, Log, Metadata, Record};

use super::guard::{note_panic_place, panic_is_told};
use super::host::ForeignHost;
use crate::host::Host;

/// Sends this library's log records and panics to the engine. Only the first call has an effect.
pub(super) fn install(host: ForeignHost) {
    let level = host.log_level();
    let host = Arc::new(host);
    if log::set_boxed_logger(Box::new(Bridge { host: host.clone() })).is_err() {
        return;
    }
    log::set_max_level(level);
    panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_else(|| "an unknown place".into());
        let text = panic.payload_as_str().unwrap_or("a value that is no text");
        // No backtrace: reading the debug information of a library for one keeps a hundred megabytes for good.
        // Once is enough: a panic that becomes the error of a call is told by that error, with the same words.
        let level = if panic_is_told() { Level::Debug } else { Level::Error };
        if level <= log::max_level() {
            host.log(level, "panic", &format!("panic at {place}: {text}"));
        }
        note_panic_place(place);
    }));
}

struct Bridge {
    host: Arc<ForeignHost>,
}

impl Log for Bridge {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= log::max_level()
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        match record.args().as_str() {
            Some(text) => self.host.log(record.level(), record.target(), text),
            None => self.host.log(record.level(), record.target(), &record.args().to_string()),
        }
    }

    fn flush(&self) {}
}
