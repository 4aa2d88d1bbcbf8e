//! What can go wrong with a request, in words, and whether it may be sent again.

use std::error::Error as _;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use reqwest::header::{HeaderMap, LOCATION, RETRY_AFTER};
use reqwest::{Response, StatusCode, Url};
use transship_plugin_api::{Error, Kind, dates};

use crate::secret::shown;

/// Whether to send a request again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    /// The same request has the same outcome.
    Never,
    /// The server has not carried it out.
    Refused,
    /// Nobody knows whether the server has carried it out.
    Unsure,
}

/// A request that failed.
#[derive(Debug, Clone)]
pub(crate) struct Failure {
    pub(crate) error: Shared,
    pub(crate) again: Again,
    /// How long the server asks to wait.
    pub(crate) wait: Option<Duration>,
    /// The status of the answer, where there was one.
    pub(crate) status: Option<StatusCode>,
}

/// An error that can be told more than once.
#[derive(Debug, Clone)]
pub(crate) struct Shared(Arc<Error>);

impl std::ops::Deref for Shared {
    type Target = Error;

    fn deref(&self) -> &Error {
        &self.0
    }
}

impl From<Error> for Shared {
    fn from(error: Error) -> Shared {
        Shared(Arc::new(error))
    }
}

impl std::fmt::Display for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure { error: error.into(), again: Again::Never, wait: None, status: None }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Error {
        Error::new(failure.error.kind(), failure.error.message()).retryable(failure.error.is_retryable())
    }
}

/// So many letters of an answer are shown.
const SHOWN: usize = 200;

impl Failure {
    /// No answer came, or not all of it.
    pub(super) fn of_transport(url: &Url, error: reqwest::Error) -> Failure {
        let cause = innermost(&error);
        let url = shown(url);
        let (error, again) = if error.is_connect() {
            (Error::connect(format!("can't reach {url}: {cause}")), Again::Refused)
        } else if error.is_redirect() {
            (Error::io(format!("{url} {cause}")), Again::Never)
        } else if error.is_builder() {
            (Error::config(format!("no request to {url} can be made: {cause}")), Again::Never)
        } else if error.is_decode() && !error.is_body() && !is_cut(&error) {
            (Error::data(format!("the answer of {url} can't be decoded: {cause}")), Again::Unsure)
        } else {
            (Error::io(format!("the connection to {url} broke: {cause}")).retryable(true), Again::Unsure)
        };
        Failure { error: error.into(), again, wait: None, status: None }
    }

    pub(super) fn too_slow(url: &Url, patience: Duration) -> Failure {
        let problem = format!("{} sent nothing for {} s (timeout)", shown(url), patience.as_secs_f64());
        Failure { error: Error::io(problem).retryable(true).into(), again: Again::Unsure, wait: None, status: None }
    }

    /// An answer that is none of those wanted.
    pub(super) async fn of_status(url: &Url, mut response: Response, patience: Duration) -> Failure {
        let status = response.status();
        let wait = retry_after(response.headers(), SystemTime::now());
        let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok());
        let location = location.filter(|_| status.is_redirection()).and_then(|location| url.join(location).ok());
        let mut said = location.map_or(String::new(), |location| format!(", and points to {}", shown(&location)));
        if said.is_empty()
            && let Ok(Some(piece)) = super::next_piece(url, &mut response, patience.min(SAID_WITHIN)).await
        {
            said = excerpt(&String::from_utf8_lossy(&piece));
        }
        let message = format!("{} answered {status}{said}", shown(url));
        let code = status.as_u16();
        let again = match code {
            429 | 503 => Again::Refused,
            408 | 425 | 500 | 502 | 504 => Again::Unsure,
            _ => Again::Never,
        };
        let kind = match code {
            401 | 403 | 407 => Kind::Connect,
            400 | 409 | 413 | 422 => Kind::Data,
            404 | 405 | 410 => Kind::Config,
            _ => Kind::Io,
        };
        let error = Error::new(kind, message).retryable(again != Again::Never);
        Failure { error: error.into(), again, wait, status: Some(status) }
    }

    /// It failed so many times.
    pub(super) fn after(self, attempts: u64) -> Failure {
        if attempts == 1 {
            return self;
        }
        let error = Error::new(self.error.kind(), format!("{} ({attempts} attempts)", self.error));
        Failure { error: error.retryable(self.error.is_retryable()).into(), ..self }
    }

    pub(super) fn asks_for_too_much(self, wait: Duration, longest: Duration) -> Failure {
        let (wait, longest) = (wait.as_secs(), longest.as_secs_f64());
        let message = format!("{}; it asks to wait {wait} s, longer than longestPause, {longest} s", self.error);
        Failure { error: Error::new(self.error.kind(), message).retryable(true).into(), again: Again::Never, ..self }
    }
}

/// What a server says of a failure is waited for so long.
const SAID_WITHIN: Duration = Duration::from_secs(2);

/// The beginning of an answer in one line, to go behind its status.
pub(crate) fn excerpt(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        _ if line.is_empty() => String::new(),
        Some((end, _)) => format!(": {}…", &line[..end]),
        None => format!(": {line}"),
    }
}

/// The cause at the bottom says most. The ones above repeat the URL, which may hold secrets.
fn innermost(error: &reqwest::Error) -> String {
    let mut cause = error.source();
    while let Some(deeper) = cause.and_then(|cause| cause.source()) {
        cause = Some(deeper);
    }
    cause.map_or_else(|| "it failed".into(), ToString::to_string)
}

/// Whether an answer could not be decoded because it ended too early.
fn is_cut(error: &reqwest::Error) -> bool {
    let mut cause = error.source();
    while let Some(this) = cause {
        if this.downcast_ref::<std::io::Error>().is_some_and(|io| io.kind() == std::io::ErrorKind::UnexpectedEof)
            || this.to_string().contains("end of file before message length")
        {
            return true;
        }
        cause = this.source();
    }
    false
}

/// How long a server asks to wait: a number of seconds, or the moment until which.
fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = SystemTime::UNIX_EPOCH + Duration::from_secs(http_date(text)?);
    Some(until.duration_since(now).unwrap_or_default())
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`, in seconds since 1970.
fn http_date(text: &str) -> Option<u64> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let [_, day, month, year, time, "GMT"] = text.split(' ').collect::<Vec<_>>()[..] else { return None };
    let month = MONTHS.iter().position(|name| *name == month)? as u32 + 1;
    let days = dates::days_from_civil(year.parse().ok()?, month, day.parse().ok()?)?;
    let [hours, minutes, seconds] = time.split(':').map(|part| part.parse::<i64>().ok()).collect::<Vec<_>>()[..] else {
        return None;
    };
    u64::try_from(days * 86_400 + hours? * 3_600 + minutes? * 60 + seconds?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_may_say_in_seconds_or_by_a_date_when_to_come_again() {
        let said = |text: &str| {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, text.parse().unwrap())]);
            retry_after(&headers, SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_770))
        };
        assert_eq!(said("120"), Some(Duration::from_secs(120)));
        assert_eq!(said("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::from_secs(7)));
        assert_eq!(said("Sun, 06 Nov 1994 08:49:00 GMT"), Some(Duration::ZERO));
        assert_eq!((said("soon"), said("Sun, 06 Nov")), (None, None));
    }

    #[test]
    fn what_a_server_says_is_shown_in_one_short_line() {
        assert_eq!(excerpt("{\n  \"error\": \"no\"\n}"), ": { \"error\": \"no\" }");
        assert_eq!(excerpt(" \n"), "");
        assert_eq!(excerpt(&"é".repeat(300)).chars().count(), SHOWN + 3);
    }
}
