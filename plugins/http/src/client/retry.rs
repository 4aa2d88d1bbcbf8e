//! When a request is sent again, and after which pause.

use std::time::Duration;

use transship_plugin_api::{Params, Result};

use super::failure::{Again, Failure};

/// How often and when a request is sent again.
#[derive(Debug, Clone)]
pub(crate) struct Retry {
    /// How many times more than once.
    pub(crate) times: u64,
    /// The pause before the first time; each further one is twice as long…
    pub(crate) pause: Duration,
    /// …but no longer than this.
    pub(crate) longest: Duration,
}

impl Retry {
    pub(crate) fn parse(params: &Params<'_>) -> Result<Retry> {
        Ok(Retry {
            times: params.whole("retries")?.unwrap_or(5),
            pause: params.length("pause")?.unwrap_or(Duration::from_millis(200)),
            longest: params.length("longestPause")?.unwrap_or(Duration::from_secs(60)),
        })
    }

    /// How long to wait after the failure of the attempt with this number, from 1. `is_repeatable`: it does no harm if the server
    /// carries a request out twice.
    ///
    /// # Errors
    /// The failure, if trying again makes no sense or was done often enough.
    pub(crate) fn pause(&self, failure: &Failure, number: u64, is_repeatable: bool) -> Result<Duration, Failure> {
        let can_help = match failure.again {
            Again::Never => false,
            Again::Refused => true,
            Again::Unsure => is_repeatable,
        };
        if !can_help {
            return Err(failure.clone());
        }
        if number > self.times {
            return Err(failure.clone().after(number));
        }
        match failure.wait {
            Some(wait) if wait > self.longest => Err(failure.clone().asks_for_too_much(wait, self.longest)),
            Some(wait) => Ok(wait),
            None => Ok(self.own_pause(number)),
        }
    }

    /// Half of it is up to chance, so that many who were refused together do not come back together.
    fn own_pause(&self, number: u64) -> Duration {
        let doublings = u32::try_from(number - 1).unwrap_or(u32::MAX).min(30);
        let pause = self.pause.saturating_mul(1 << doublings).min(self.longest);
        let chance = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), number) as f64 / u64::MAX as f64;
        pause.mul_f64(0.5 + chance / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use transship_plugin_api::Error;

    use super::*;

    fn failure(again: Again, wait: Option<u64>) -> Failure {
        Failure { error: Error::io("it failed").into(), again, wait: wait.map(Duration::from_secs), status: None }
    }

    fn retry() -> Retry {
        Retry { times: 3, pause: Duration::from_millis(100), longest: Duration::from_millis(300) }
    }

    #[test]
    fn pauses_double_up_to_the_longest_and_half_of_each_is_chance() {
        for (number, full) in [(1, 100), (2, 200), (3, 300)] {
            for _ in 0..100 {
                let pause = retry().pause(&failure(Again::Refused, None), number, false).unwrap();
                assert!((full / 2..=full).contains(&(pause.as_millis() as u64)), "{number}: {pause:?}");
            }
        }
        assert!(retry().pause(&failure(Again::Refused, None), 4, false).is_err());
        let endless = Retry { times: u64::MAX, ..retry() };
        assert!(endless.pause(&failure(Again::Refused, None), 1 << 40, false).unwrap() <= retry().longest);
    }

    #[test]
    fn what_may_have_been_carried_out_is_sent_again_only_if_that_does_no_harm() {
        assert!(retry().pause(&failure(Again::Unsure, None), 1, false).is_err());
        assert!(retry().pause(&failure(Again::Unsure, None), 1, true).is_ok());
        assert!(retry().pause(&failure(Again::Never, None), 1, true).is_err());
    }

    #[test]
    fn a_server_that_says_when_to_come_again_is_obeyed_within_reason() {
        let patient = Retry { longest: Duration::from_secs(5), ..retry() };
        assert_eq!(patient.pause(&failure(Again::Refused, Some(2)), 1, false).unwrap(), Duration::from_secs(2));
        let refused = patient.pause(&failure(Again::Refused, Some(3_600)), 1, false).unwrap_err();
        assert!(
            refused.error.message().contains("asks to wait 3600 s, longer than longestPause, 5 s"),
            "{}",
            refused.error
        );
    }
}
