//! One page of records, as its answer comes in. A connection that breaks in the middle is made again, and what was given away
//! already is passed over if it is still the same.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hasher};
use std::time::Duration;

use reqwest::header::LINK;
use reqwest::{Response, Url};
use serde_json::Value;
use transship_plugin_api::{Error, Result};

use crate::client::{Again, Ask, Failure, Retry, Session, next_piece};
use crate::records::{Broken, Form, Raw, Records};
use crate::secret::shown;

/// A page that is being read.
pub(super) struct Page {
    ask: Ask,
    form: Form,
    longest: usize,
    /// How many attempts have failed.
    failures: u64,
    /// `None`: it has to be asked for.
    answer: Option<Answer>,
    /// Records that have come, and are neither given away nor passed over.
    waiting: VecDeque<Raw>,
    /// How many were given away by whoever read the page before us, or by us; and what those of ours were.
    skipped: u64,
    given: u64,
    seen: DefaultHasher,
    end: Option<End>,
    /// How many bytes its answer has, as the server says.
    length: Option<u64>,
}

struct Answer {
    url: Url,
    links: Vec<String>,
    response: Response,
    records: Records,
}

/// How a page ended.
pub(super) struct End {
    /// What stood around the records.
    pub(super) around: Value,
    pub(super) links: Vec<String>,
    pub(super) url: Url,
    /// How many records the page has.
    pub(super) records: u64,
    /// What they were, but for those that were safe before.
    pub(super) seen: u64,
}

/// How far an attempt has come in the records that were given away before.
#[derive(Default)]
struct Passed {
    records: u64,
    seen: DefaultHasher,
}

impl Page {
    /// The page to ask for; so many of its records are safe already.
    pub(super) fn new(ask: Ask, form: Form, longest: usize, skipped: u64) -> Page {
        Page {
            ask,
            form,
            longest,
            failures: 0,
            answer: None,
            waiting: VecDeque::new(),
            skipped,
            given: skipped,
            seen: DefaultHasher::new(),
            end: None,
            length: None,
        }
    }

    /// How many bytes its answer has, if the server has said so.
    pub(super) fn length(&self) -> Option<u64> {
        self.length
    }

    /// How many of its records were given away.
    pub(super) fn given(&self) -> u64 {
        self.given
    }

    /// Where it is, for messages.
    pub(super) fn shown(&self) -> String {
        shown(&self.ask.url)
    }

    /// Its next record; `None`: there are no more.
    pub(super) fn next(&mut self, session: &Session, retry: &Retry, timeout: Duration) -> Result<Option<Raw>> {
        loop {
            if let Some(raw) = self.waiting.pop_front() {
                self.seen.write(&raw.text);
                self.given += 1;
                return Ok(Some(raw));
            }
            if self.end.is_some() {
                return Ok(None);
            }
            let Err(failure) = self.read_on(session, timeout) else { continue };
            self.failures += 1;
            let pause = retry.pause(&failure, self.failures, true).map_err(Error::from)?;
            log::warn!("{}; tried again in {:.1} s", failure.error, pause.as_secs_f64());
            (self.answer, self.end) = (None, None);
            self.waiting.clear();
            session.wait(async { tokio::time::sleep(pause).await })?;
        }
    }

    /// Asks and passes over what is known, or reads the next piece of the answer.
    fn read_on(&mut self, session: &Session, timeout: Duration) -> Result<(), Failure> {
        if self.answer.is_some() {
            return self.read_piece(session, timeout);
        }
        let ask = &self.ask;
        session.asks(ask);
        let response =
            session.wait(async { ask.ask(session.client(), timeout, |status| status.is_success()).await })??;
        let links = response.headers().get_all(LINK).iter().filter_map(|link| link.to_str().ok()).map(String::from);
        self.length = response.content_length();
        self.answer = Some(Answer {
            url: response.url().clone(),
            links: links.collect(),
            response,
            records: Records::new(&self.form, self.longest),
        });
        let mut passed = Passed::default();
        while passed.records < self.given {
            if self.end.is_none() {
                self.read_piece(session, timeout)?;
            }
            self.pass(&mut passed)?;
            if self.end.is_some() && passed.records < self.given {
                return Err(self.changed("it has fewer records now"));
            }
        }
        Ok(())
    }

    fn read_piece(&mut self, session: &Session, timeout: Duration) -> Result<(), Failure> {
        let Some(answer) = &mut self.answer else { return Ok(()) };
        let url = &self.ask.url;
        let piece = session.wait(async { next_piece(url, &mut answer.response, timeout).await })??;
        let broken = |broken: Broken| {
            let error =
                Error::data(format!("the answer of {} {}", shown(url), broken.problem)).retryable(broken.is_cut);
            let again = if broken.is_cut { Again::Unsure } else { Again::Never };
            Failure { again, ..Failure::from(error) }
        };
        if let Some(piece) = piece {
            return answer.records.feed(&piece, &mut self.waiting).map_err(broken);
        }
        let Some(answer) = self.answer.take() else { return Ok(()) };
        let around = answer.records.finish(&mut self.waiting).map_err(broken)?;
        // What was passed over is no longer waiting, but was given away before.
        let records = self.given + self.waiting.len() as u64;
        self.end = Some(End { around, links: answer.links, url: answer.url, records, seen: 0 });
        Ok(())
    }

    /// Passes over what was given away before.
    fn pass(&mut self, passed: &mut Passed) -> Result<(), Failure> {
        while passed.records < self.given
            && let Some(raw) = self.waiting.pop_front()
        {
            passed.records += 1;
            if passed.records > self.skipped {
                passed.seen.write(&raw.text);
            }
        }
        if let Some(end) = &mut self.end {
            end.records = passed.records + self.waiting.len() as u64;
        }
        match passed.records == self.given && passed.seen.finish() != self.seen.finish() {
            true => Err(self.changed("its records are others now")),
            false => Ok(()),
        }
    }

    /// What came again is not what came before.
    fn changed(&self, how: &str) -> Failure {
        let problem = format!("{} was asked again after a part of its records had come, and {how}", self.shown());
        Error::data(problem).into()
    }

    /// How it ended.
    pub(super) fn end(self) -> Result<End> {
        let seen = self.seen.finish();
        self.end.map(|end| End { seen, ..end }).ok_or_else(|| Error::internal("the page has not come to its end"))
    }
}
