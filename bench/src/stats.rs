//! Figures of one round, and medians over rounds.

use std::time::Duration;

use tokio::task::JoinSet;

use crate::error::{Context as _, Error};

/// What one server did in one round.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    /// Answers in each second.
    pub(crate) requests_per_second: f64,
    /// The time that half of the requests took at most.
    pub(crate) p50: Duration,
    /// The time that 99 of 100 requests took at most.
    pub(crate) p99: Duration,
    /// Processor time of the server for each request, where the system tells.
    pub(crate) cpu_per_request: Option<Duration>,
    /// Bytes of the bodies of all answers, divided by their number.
    pub(crate) body_bytes_mean: f64,
}

/// What the connections of one round counted together.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    /// The time each request took, in any order.
    pub(crate) latencies: Vec<Duration>,
    /// Bytes of all bodies received.
    pub(crate) body_bytes: u64,
}

impl Samples {
    /// What all connections of a round counted.
    pub(crate) async fn gather(mut connections: JoinSet<Result<Self, Error>>) -> Result<Self, Error> {
        let mut all = Self::default();
        while let Some(joined) = connections.join_next().await {
            let part = joined.context(|| "a connection stopped".to_owned())??;
            all.latencies.extend(part.latencies);
            all.body_bytes += part.body_bytes;
        }
        Ok(all)
    }

    /// The figures of a round that took `elapsed`, in which the server used `cpu_time`. Nothing for a round
    /// without requests.
    pub(crate) fn figures(mut self, elapsed: Duration, cpu_time: Option<Duration>) -> Option<Figures> {
        self.latencies.sort_unstable();
        let count = u32::try_from(self.latencies.len()).ok()?;
        Some(Figures {
            requests_per_second: f64::from(count) / elapsed.as_secs_f64(),
            p50: percentile(&self.latencies, 50)?,
            p99: percentile(&self.latencies, 99)?,
            cpu_per_request: cpu_time.map(|time| time / count),
            body_bytes_mean: float(self.body_bytes) / f64::from(count),
        })
    }
}

/// The middle of the values, or the mean of the two in the middle. Nothing without values.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    let upper = sorted.get(sorted.len() / 2)?;
    let lower = sorted.get((sorted.len() - 1) / 2)?;
    Some(f64::midpoint(*lower, *upper))
}

/// A count as a number to divide by.
#[expect(clippy::cast_precision_loss, reason = "counts and sizes stay far below 2^53")]
pub(crate) fn float(count: u64) -> f64 {
    count as f64
}

/// The smallest value that at least `percent` of 100 values do not exceed.
pub(crate) fn percentile(sorted: &[Duration], percent: usize) -> Option<Duration> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Samples, median, percentile};

    #[test]
    fn percentiles_are_nearest_ranks() {
        let sorted: Vec<Duration> = (1..=200).map(Duration::from_millis).collect();
        assert_eq!(percentile(&sorted, 50), Some(Duration::from_millis(100)));
        assert_eq!(percentile(&sorted, 99), Some(Duration::from_millis(198)));
        assert_eq!(percentile(&sorted[..1], 99), Some(Duration::from_millis(1)));
        assert_eq!(percentile(&[], 50), None);
    }

    #[test]
    fn medians() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), Some(2.0));
        assert_eq!(median([4.0, 1.0].into_iter()), Some(2.5));
        assert_eq!(median(std::iter::empty()), None);
    }

    #[test]
    fn a_round_without_requests_has_no_figures() {
        assert!(Samples::default().figures(Duration::from_secs(1), None).is_none());
    }
}
