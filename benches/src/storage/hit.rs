//! Times warm allocations: the same size again and again, on one thread or on two threads that use different sizes.

use super::Heap;
use anyhow::{Result, anyhow};
use std::sync::Barrier;
use std::time::Instant;

/// Maximum number of pairs that are run before the clock starts.
const WARM_UP: usize = 1000;

/// Allocates and releases `size_bytes` bytes `n` times; returns nanoseconds per pair.
///
/// # Errors
/// Fails if the heap has not enough memory.
pub fn pairs<H: Heap>(heap: &H, size_bytes: usize, n: usize) -> Result<f64> {
    let started = Instant::now();
    for _ in 0..n {
        drop(heap.allocate(size_bytes)?);
    }
    Ok(started.elapsed().as_secs_f64() * 1e9 / n.max(1) as f64)
}

/// Runs [`pairs`] with each size on a thread of its own, at the same time; returns the mean over the threads. Each thread
/// warms up first. If `cpus` is given, thread `i` is tied to `cpus[i % cpus.len()]`.
///
/// # Errors
/// Fails if the heap has not enough memory, or if a thread cannot be tied to its CPU.
pub fn pairs_at_once<H: Heap>(heap: &H, sizes: &[usize], n: usize, cpus: Option<&[usize]>) -> Result<f64> {
    let start = Barrier::new(sizes.len());
    let nanoseconds: Result<Vec<f64>> = std::thread::scope(|scope| {
        let threads: Vec<_> = sizes
            .iter()
            .enumerate()
            .map(|(at, size_bytes)| {
                let start = &start;
                scope.spawn(move || {
                    let tied = cpus.map_or(Ok(()), |cpus| mxrs_sync::affinity::pin_current(&[cpus[at % cpus.len()]]));
                    let warm = pairs(heap, *size_bytes, n.min(WARM_UP));
                    start.wait();
                    tied?;
                    warm?;
                    pairs(heap, *size_bytes, n)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().map_err(|_| anyhow!("a thread panicked"))?).collect()
    });
    let nanoseconds = nanoseconds?;
    Ok(nanoseconds.iter().sum::<f64>() / nanoseconds.len().max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::ensure;
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    #[derive(Default)]
    struct Diary {
        calls: Mutex<BTreeMap<usize, usize>>,
        limit_bytes: usize,
    }

    impl Heap for Diary {
        type Block = ();

        fn allocate(&self, bytes: usize) -> Result<()> {
            ensure!(bytes <= self.limit_bytes, "no room");
            *self.calls.lock().unwrap().entry(bytes).or_default() += 1;
            Ok(())
        }

        fn held(&self) -> super::super::heap::Held {
            Default::default()
        }
    }

    #[test]
    fn every_thread_makes_its_calls() {
        let heap = Diary { limit_bytes: 100, ..Diary::default() };
        assert!(pairs_at_once(&heap, &[10, 20], 50, None).unwrap() > 0.0);
        assert_eq!(*heap.calls.lock().unwrap(), BTreeMap::from([(10, 100), (20, 100)]));
    }

    #[test]
    fn a_refusal_on_one_thread_is_an_error_and_blocks_nobody() {
        let heap = Diary { limit_bytes: 15, ..Diary::default() };
        assert_eq!(pairs_at_once(&heap, &[10, 20], 50, None).unwrap_err().to_string(), "no room");
    }
}
