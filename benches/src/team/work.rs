//! The work of a loop: multiplications and additions in registers, without memory accesses or shared data.

use super::{Answer, Order, THREADS};
use crate::summary;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Number of loops at the start of a round that are not counted, so that threads can settle on their CPUs.
const WARM_UP: usize = 20;

/// Runs `n` steps of work. Each step is one multiplication and one addition in each of eight independent chains.
#[inline(never)]
pub fn steps(n: u64) {
    let mut chains = black_box([1.0f32; 8]);
    for _ in 0..n {
        for x in &mut chains {
            *x = *x * 0.999 + 0.001;
        }
    }
    black_box(chains);
}

/// Number of steps that take this long on one thread. The shortest of several tries is used, so that interruptions do not
/// count.
pub fn steps_for(time: Duration) -> u64 {
    const TRIED: u64 = 20_000;
    let one_try = || {
        let started = Instant::now();
        steps(TRIED);
        started.elapsed()
    };
    let shortest = (0..50).map(|_| one_try()).min().unwrap_or_default().max(Duration::from_nanos(1));
    (time.as_secs_f64() / shortest.as_secs_f64() * TRIED as f64) as u64
}

/// Runs a round. `run` executes one loop: it calls its argument once for each chunk.
pub fn measure(order: Order, mut run: impl FnMut(&(dyn Fn(usize) + Sync))) -> Answer {
    let body = |chunk: usize| {
        let (from, to) =
            (order.steps * chunk as u64 / THREADS as u64, order.steps * (chunk as u64 + 1) / THREADS as u64);
        steps(to - from);
    };
    let gap = Duration::from_nanos(order.gap_ns);
    let mut times = Vec::with_capacity(order.n_loops);
    for at in 0..WARM_UP + order.n_loops {
        let started = Instant::now();
        run(&body);
        let ended = Instant::now();
        if at >= WARM_UP {
            times.push((ended - started).as_secs_f64() * 1e9);
        }
        while ended.elapsed() < gap {
            std::hint::spin_loop();
        }
    }
    times.sort_by(f64::total_cmp);
    Answer { median_ns: summary::quantile(&times, 0.5), p90_ns: summary::quantile(&times, 0.9) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn every_loop_has_both_chunks_and_warm_up_is_not_counted() {
        let n_runs = Mutex::new(0);
        let order = Order { steps: 11, n_loops: 5, gap_ns: 0 };
        let answer = measure(order, |body| {
            (0..THREADS).for_each(body);
            let mut n_runs = n_runs.lock().unwrap();
            *n_runs += 1;
            // Loops of the warm-up take much longer than the others. They must not change the answer.
            if *n_runs <= WARM_UP {
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        assert_eq!(*n_runs.lock().unwrap(), WARM_UP + 5);
        assert!(answer.median_ns > 0.0 && answer.median_ns <= answer.p90_ns, "{answer:?}");
        assert!(answer.median_ns < 10e6, "{answer:?}");
    }

    #[test]
    fn longer_takes_more_steps() {
        let (short, long) = (steps_for(Duration::from_micros(5)), steps_for(Duration::from_micros(5000)));
        assert!(short > 0 && long > 10 * short, "{short}, {long}");
    }
}
