//! Repeats a request that fails although the server can be reached. The pauses grow, and the attempts end when the patience
//! of the worker is over.

use super::link::Link;
use crate::wire::network;
use mxrs_types::Result;
use std::io;
use std::time::{Duration, Instant};

/// By how much each pause is longer than the one before.
const PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// How often one request has failed in a row, and since when.
#[derive(Default)]
pub struct Tries {
    first: Option<Instant>,
    n: u32,
}

impl Tries {
    /// Waits before a request is made again. The first time there is no pause: usually the request failed only because an
    /// old connection had ended.
    ///
    /// # Errors
    /// Fails if the request has failed for longer than the patience of the worker, although the server answers.
    pub async fn again(&mut self, link: &Link, why: &str) -> Result<()> {
        let patience = link.worker.options.patience;
        let Some(pause) = self.pause(patience) else {
            let (patience, name, n) = (patience.as_secs_f64(), link.name(), self.n);
            let message = format!("{name} answers, but one request has failed {n} times in {patience:.0} s ({why})");
            return Err(network(io::ErrorKind::TimedOut, message));
        };
        tokio::time::sleep(pause).await;
        Ok(())
    }

    /// The pause after one more failure. `None` if the first failure is longer ago than the patience.
    fn pause(&mut self, patience: Duration) -> Option<Duration> {
        let first = *self.first.get_or_insert_with(Instant::now);
        let pause = (PAUSE * self.n).min(LONGEST_PAUSE);
        self.n += 1;
        (first.elapsed() <= patience).then_some(pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_not_made_again_forever() {
        let (mut tries, patience) = (Tries::default(), Duration::from_secs(60));
        let pauses: Vec<_> = (0..30).map(|_| tries.pause(patience).unwrap()).collect();
        assert_eq!((pauses[0], pauses[1], pauses[29]), (Duration::ZERO, PAUSE, LONGEST_PAUSE));
        assert!(pauses.is_sorted());
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(tries.pause(Duration::from_millis(10)), None);
    }
}
