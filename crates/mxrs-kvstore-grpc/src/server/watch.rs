//! Watches the workers: which of them are lost, and whether all have left.

use super::{Inner, TICK};
use mxrs_sync::atomic::Ordering;
use mxrs_types::{Error, Result};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch::Sender;

/// How long a server that has failed waits for workers to fetch the error, counted from the last sign of life of any worker.
const FAREWELL: Duration = Duration::from_secs(10);

/// Runs until the server shall end, and then says how it ended.
pub async fn watch(inner: Arc<Inner>, ended: Sender<Option<Result<()>>>) {
    let mut deserted: Option<Instant> = None;
    let mut is_asked = false;
    loop {
        tokio::time::sleep(TICK).await;
        if !is_asked && inner.is_asked_to_end() {
            // The snapshot is written now: workers that are asked to end write checkpoints first, and the machine may be
            // switched off before they are done.
            is_asked = true;
            inner.snapshot_now.notify_one();
        }
        let end = inner.look(&mut deserted);
        let Some(end) = end else { continue };
        let end = match end {
            Ok(()) => inner.last_snapshot().await,
            failed => failed,
        };
        // If the receiver is gone, the server was dropped, and the result is not needed.
        drop(ended.send(Some(end)));
        return;
    }
}

impl Inner {
    /// Marks workers that are silent as lost. Returns how the server ends, if it does. `deserted` is the time at which this
    /// function first found no worker alive.
    fn look(&self, deserted: &mut Option<Instant>) -> Option<Result<()>> {
        let mut guard = self.state.lock();
        let state = &mut *guard;
        let mut n_alive = 0;
        let (mut away, mut n_left) = (Vec::new(), 0);
        for (rank, number) in state.by_rank.iter().enumerate() {
            let Some(session) = number.and_then(|number| state.sessions.get_mut(&number)) else {
                away.push(rank);
                continue;
            };
            let silent = session.heard.elapsed();
            if !session.left && !session.lost && silent > self.options.silence {
                session.lost = true;
                let silent = silent.as_secs_f64();
                tracing::warn!(
                    "worker {rank} is silent for {silent:.1} s: it was killed or stopped, or the network is cut; the others \
                     go on"
                );
            }
            match (session.left, session.lost) {
                (true, _) => n_left += 1,
                (_, true) => away.push(rank),
                _ => n_alive += 1,
            }
        }
        if let Some((error, since)) = &state.fault {
            let is_told = n_alive == 0 || since.elapsed() > self.options.silence + FAREWELL;
            return is_told.then(|| Err(error.clone()));
        }
        if n_left == self.options.n_workers {
            return Some(Ok(()));
        }
        if n_alive > 0 {
            *deserted = None;
            return None;
        }
        if self.is_asked_to_end() {
            return Some(Ok(()));
        }
        let since = deserted.get_or_insert_with(Instant::now);
        if since.elapsed() < self.options.patience {
            return None;
        }
        let list = away.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        let waited = self.options.patience.as_secs();
        let message =
            format!("server {} has waited {waited} s for workers {list}, and no worker is left", self.options.server);
        Some(Err(crate::wire::network(io::ErrorKind::TimedOut, message)))
    }

    fn is_asked_to_end(&self) -> bool {
        self.options.interrupt.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Writes the last snapshot, if the server writes snapshots.
    async fn last_snapshot(self: &Arc<Self>) -> Result<()> {
        if self.options.snapshots.is_none() {
            return Ok(());
        }
        let inner = Arc::clone(self);
        let written = tokio::task::spawn_blocking(move || inner.snapshot()).await;
        written.unwrap_or_else(|error| Err(Error::invalid("last snapshot", error, "no panic")))
    }
}
