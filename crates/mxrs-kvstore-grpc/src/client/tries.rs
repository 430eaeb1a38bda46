//! A request that fails again and again although the server can be reached: it is made after growing pauses, and not forever.

use super::link::Link;
use crate::wire::network;
use mxrs_types::Result;
use std::io;
use std::time::{Duration, Instant};

/// By how much each pause is longer than the one before.
const PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The failures in a row of one request.
#[derive(Default)]
pub struct Tries {
    first: Option<Instant>,
    n: u32,
}

impl Tries {
    /// Waits before a request is made again. The first time there is no pause: usually the connection was old.
    ///
    /// # Errors
    /// Fails if the request has failed for longer than the patience of the worker, although the server answers.
    pub async fn again(&mut self, link: &Link, why: &str) -> Result<()> {
        let (patience, first) = (link.worker.options.patience, *self.first.get_or_insert_with(Instant::now));
        if first.elapsed() > patience {
            let (patience, name) = (patience.as_secs_f64(), link.name());
            let message =
                format!("{name} answers, but one request has failed {} times in {patience:.0} s ({why})", self.n);
            return Err(network(io::ErrorKind::TimedOut, message));
        }
        if self.n > 0 {
            tokio::time::sleep((PAUSE * self.n).min(LONGEST_PAUSE)).await;
        }
        self.n += 1;
        Ok(())
    }
}
