//! rayon's `scope` in place of an engine, measured only for orientation, because its tasks declare no variables.

use super::{Assignment, Peer};
use anyhow::Result;

/// A rayon pool. Each operator is one `spawn` in a scope; the operators run in any order.
pub struct Rayon {
    pool: rayon::ThreadPool,
}

impl Rayon {
    /// A pool of `n_threads` threads.
    ///
    /// # Errors
    /// Fails if the system cannot start a thread.
    pub fn new(n_threads: usize) -> Result<Self> {
        Ok(Self { pool: rayon::ThreadPoolBuilder::new().num_threads(n_threads).build()? })
    }
}

impl Peer for Rayon {
    fn name(&self) -> &str {
        "rayon scope"
    }

    fn prepare(&mut self, _: &Assignment<'_>) -> Result<()> {
        Ok(())
    }

    fn push(&self, _: usize, n: usize) -> Result<()> {
        self.pool.scope(|scope| {
            for _ in 0..n {
                scope.spawn(|_| {
                    std::hint::black_box(());
                });
            }
        });
        Ok(())
    }

    fn wait(&self) -> Result<()> {
        Ok(())
    }
}
