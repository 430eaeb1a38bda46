//! Times convolutions with stride 1 by Winograd's algorithms. For each layer and variant it prints the fastest
//! blocking, milliseconds, the speed of an equivalent direct sum, and the part of the processor's peak that the matrix
//! products reach.
//!
//! Usage: `winograd [batch] [threads] [words of names of layers or variants…]`. Weights are not in the caches, because
//! each run reads another copy.
#![allow(unsafe_code)]

use mxrs_backend_nnpack::gemm::{Gemm, Product};
use mxrs_backend_nnpack::winograd::{Plan, Shape, Variant, search};
use mxrs_processor::Isa;
use mxrs_sync::{Team, TeamConfig};
use std::time::{Duration, Instant};

/// Input and output channels, height and width, filter.
const LAYERS: [(usize, usize, usize, [usize; 2]); 16] = [
    (64, 64, 224, [3, 3]),
    (64, 128, 112, [3, 3]),
    (128, 128, 112, [3, 3]),
    (256, 256, 56, [3, 3]),
    (512, 512, 28, [3, 3]),
    (512, 512, 14, [3, 3]),
    (64, 64, 56, [3, 3]),
    (128, 128, 28, [3, 3]),
    (256, 256, 14, [3, 3]),
    (512, 512, 7, [3, 3]),
    (48, 64, 35, [5, 5]),
    (64, 96, 27, [5, 5]),
    (160, 160, 17, [1, 7]),
    (192, 192, 17, [7, 1]),
    (384, 384, 8, [1, 3]),
    (384, 384, 8, [3, 1]),
];

/// Measures the GFLOP/s of all threads together, in matrix products whose operands stay in the first-level cache.
fn peak(team: &Team) -> f64 {
    let gemm = Gemm::new(Isa::best());
    let offsets: Vec<usize> = (0..4).map(|b| b * 16 * 14).collect();
    let mut best = 0f64;
    for _ in 0..500 {
        let start = Instant::now();
        team.run(team.size(), &|_| {
            let (a, b, mut c) = ([1f32; 4 * 14 * 16], [1f32; 64 * 32], [0f32; 14 * 32]);
            let product = Product {
                a: a.as_ptr(),
                a_offsets: &offsets,
                a_row_stride: 16,
                b: b.as_ptr(),
                c: c.as_mut_ptr(),
                c_row_stride: 16,
                c_half_stride: 14 * 16,
                add: false,
                prefetch: std::ptr::null(),
                prefetch_lines: (std::ptr::null(), 0),
                epilogue: None,
            };
            for _ in 0..200 {
                // SAFETY: the product reads 4 blocks of 14 rows of 16 values from `a` and 64 rows of 32 values from
                // `b`, and writes 2 halves of 14 rows of 16 values to `c`. The arrays have exactly these sizes and
                // belong to this thread.
                unsafe { gemm.run(14, true, &product) };
            }
        });
        best = best.max(200.0 * 2.0 * (14 * 64 * 32 * team.size()) as f64 / start.elapsed().as_secs_f64() / 1e9);
    }
    best
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, default: usize| words.get(i).and_then(|w| w.parse().ok()).unwrap_or(default);
    let (n, threads) = (number(0, 1), number(1, 2));
    let wanted = |name: &str| words.len() < 3 || words[2..].iter().any(|w| name.contains(w.as_str()));
    let team = Team::new(TeamConfig { threads: threads.try_into()?, cpus: None })?;
    let peak = peak(&team);
    println!("{} {threads} threads, peak {peak:.0} Gflop/s", Isa::best().name());
    for (c, k, size, kernel) in LAYERS {
        let shape = Shape { n, c, k, size: [size; 2], kernel, pad: kernel.map(|r| r / 2), out: [size; 2] };
        let named = |variant: Variant| format!("{c}->{k}@{size} x{n} {}", variant.name());
        let variants: Vec<_> =
            Variant::ALL.into_iter().filter(|&v| v.kernel() == kernel && wanted(&named(v))).collect();
        let found = search(shape, &variants, Isa::best(), &team, Duration::from_secs(if n == 1 { 1 } else { 5 }))?;
        for variant in variants {
            // The list is sorted, so the first is the fastest.
            let Some(best) = found.iter().find(|m| m.variant == variant) else { continue };
            // If the search timed fewer than `n` images, the time is scaled to `n` images.
            let seconds = best.time.as_secs_f64() * n as f64 / best.images as f64;
            let rate = shape.flops() / seconds / 1e9 / peak;
            let ([mv, mh], [nv, nh]) = (variant.outputs(), variant.inputs());
            let tiles = n * size.div_ceil(mv) * size.div_ceil(mh);
            let products = 2.0 * (tiles * nv * nh * c * k) as f64 / seconds / 1e9 / peak;
            let fitted = Plan::new(shape, variant, best.blocking, Isa::best())?.blocking();
            println!(
                "{}: {:.3} ms, direct sum {rate:.2} of peak, products {:.0} % of peak; {:?}, {} tiles, {} panels",
                named(variant),
                seconds * 1e3,
                products * 1e2,
                fitted.schedule,
                fitted.tiles,
                fitted.panels
            );
        }
    }
    Ok(())
}
