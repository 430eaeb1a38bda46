//! The bandwidth of memory, measured.

use mxrs_sync::{Mutex, Team};
use std::time::{Duration, Instant};

/// The number of elements of each array. Three arrays of 64 MiB are larger than the caches of most processors.
const N: usize = 16 << 20;

/// Bytes per second that the team's threads read from and write to memory together, in the loop `a[i] = b[i] + s * c[i]`
/// over arrays that are larger than the caches. As in the STREAM benchmark, a written element counts once. The measurement
/// needs 192 MiB. It takes at least `patience`, in addition to the time for filling the arrays.
pub fn peak_bandwidth(team: &Team, patience: Duration) -> f64 {
    let mut arrays = [vec![0.0_f32; N], vec![1.0; N], vec![2.0; N]];
    let [a, b, c] = &mut arrays;
    bandwidth_in(team, [a, b, c], patience)
}

/// Does the same as [`peak_bandwidth`] in these three arrays of equal length, whose elements it overwrites.
pub fn bandwidth_in(team: &Team, [a, b, c]: [&mut [f32]; 3], patience: Duration) -> f64 {
    let n = a.len();
    b.fill(1.0);
    c.fill(2.0);
    let size = n.div_ceil(team.size().max(1)).max(1);
    let parts = a.chunks_mut(size).zip(b.chunks(size)).zip(c.chunks(size));
    let parts: Vec<_> = parts.map(|((a, b), c)| Mutex::new((a, b, c))).collect();
    let (started, mut best) = (Instant::now(), f64::INFINITY);
    let mut scale = 0.5;
    while started.elapsed() < patience || best.is_infinite() {
        let at = Instant::now();
        team.run(parts.len(), &|i| {
            let (a, b, c) = &mut *parts[i].lock();
            for ((a, b), c) in a.iter_mut().zip(*b).zip(*c) {
                *a = *b + scale * *c;
            }
        });
        best = best.min(at.elapsed().as_secs_f64());
        // Each pass uses another factor, so that no pass computes the same values as the previous one.
        scale += 0.25;
    }
    drop(parts);
    std::hint::black_box((a, b, c));
    (3 * n * size_of::<f32>()) as f64 / best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_delivers_more_than_a_hard_disk_and_less_than_light() {
        let bandwidth = peak_bandwidth(&Team::serial(), Duration::from_millis(1));
        assert!((1e8..1e13).contains(&bandwidth), "{bandwidth}");
    }
}
