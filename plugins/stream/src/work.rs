//! `streamwriter` with `work`: a service that takes its time over each record, one after another, and can watch whether
//! the records of a key come in order. What becomes of the records then is the business of the task behind it.

mod config;
mod guard;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_schema::Schema;
use transship_plugin_api::{Batch, Begun, CancelHandle, Error, HostRef, Mark, Report, Result, TaskInfo, WriterTask};

pub(crate) use config::WorkConfig;
pub(crate) use guard::Guard;

use crate::pause::Pause;
use crate::random::{Random, fresh_seed};
use guard::Watch;

/// Works on each record, then hands the batch on.
pub(crate) struct Work {
    times: ServiceTimes,
    watch: Option<Watch>,
    pause: Pause,
    host: HostRef,
    inner: Box<dyn WriterTask>,
    /// How many records it has worked on, for how long that was meant to last, and for how long it did.
    records: u64,
    meant: Duration,
    worked: Duration,
}

impl Work {
    pub(crate) fn new(
        config: &WorkConfig,
        guard: Option<&Arc<Guard>>,
        task: &TaskInfo,
        schema: &Schema,
        host: HostRef,
        inner: Box<dyn WriterTask>,
    ) -> Result<Work> {
        let watch = match (&config.order, guard) {
            (Some(order), Some(guard)) => Some(Watch::new(guard.clone(), order, schema)?),
            _ => None,
        };
        Ok(Work {
            times: ServiceTimes::new(config, task),
            watch,
            pause: Pause::default(),
            host,
            inner,
            records: 0,
            meant: Duration::ZERO,
            worked: Duration::ZERO,
        })
    }

    /// Works on all records of a batch, each in its turn.
    fn work_on(&mut self, batch: &mut Batch) -> Result<()> {
        let records = batch.records()?.clone();
        let mut begun = Begun::default();
        for row in 0..records.num_rows() {
            let visit = self.watch.as_ref().map(|watch| watch.enter(&records, row));
            let instant = Instant::now();
            begun.now();
            let time = self.times.next();
            if !time.is_zero() {
                begun.tell(self.host.as_ref());
                self.pause.wait(time, self.host.as_ref())?;
            } else if self.host.is_cancelled() {
                return Err(Error::cancelled());
            }
            self.records += 1;
            self.meant += time;
            self.worked += instant.elapsed();
            drop(visit);
        }
        begun.tell(self.host.as_ref());
        Ok(())
    }
}

impl WriterTask for Work {
    fn prepare(&mut self) -> Result<()> {
        self.inner.prepare()
    }

    fn write(&mut self, mut batch: Batch) -> Result<()> {
        self.work_on(&mut batch)?;
        self.inner.write(batch)
    }

    fn mark(&mut self, mark: Mark) -> Result<()> {
        self.inner.mark(mark)
    }

    fn flush(&mut self) -> Result<()> {
        self.inner.flush()
    }

    fn checkpoint(&mut self, epoch: u64) -> Result<Option<Report>> {
        self.inner.checkpoint(epoch)
    }

    fn commit(&mut self) -> Result<Report> {
        if self.records > 0 {
            let over = (self.worked.saturating_sub(self.meant)).as_secs_f64() * 1e6 / self.records as f64;
            log::info!(
                "worked on {} records for {:.3} s, {over:.0} µs a record longer than meant",
                self.records,
                self.worked.as_secs_f64()
            );
        }
        self.inner.commit()
    }

    fn abort(&mut self) -> Result<()> {
        self.inner.abort()
    }

    /// Ends the wait here as well as one of the task behind.
    fn cancel_handle(&self) -> Option<CancelHandle> {
        let (own, inner) = (self.pause.cancel_handle(), self.inner.cancel_handle());
        Some(Arc::new(move || {
            own();
            inner.iter().for_each(|cancel| cancel());
        }))
    }
}

/// How long the service takes for one record after another: normally distributed, never less than nothing.
#[derive(Debug)]
struct ServiceTimes {
    mean: f64,
    deviation: f64,
    random: Random,
}

impl ServiceTimes {
    /// The same seed and task give the same times.
    fn new(config: &WorkConfig, task: &TaskInfo) -> ServiceTimes {
        let path: Vec<u64> = task.task.bytes().map(u64::from).collect();
        ServiceTimes {
            mean: config.mean.as_secs_f64(),
            deviation: config.deviation.as_secs_f64(),
            random: Random::new(config.seed.unwrap_or_else(fresh_seed), &path),
        }
    }

    fn next(&mut self) -> Duration {
        let seconds = match self.deviation {
            0.0 => self.mean,
            deviation => self.mean + deviation * self.normal(),
        };
        Duration::from_secs_f64(seconds.max(0.0))
    }

    /// A number of the normal distribution with mean 0 and deviation 1, by the method of Box and Muller.
    fn normal(&mut self) -> f64 {
        let (radius, angle) = (1.0 - self.random.fraction(), self.random.fraction());
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }
}
