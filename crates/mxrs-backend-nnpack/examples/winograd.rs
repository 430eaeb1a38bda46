//! Times 3x3 layers: milliseconds, Gflop/s of the direct convolution, and how much of the processor's peak the products get.
//!
//! `winograd [batch] [words of a layer's name or variant…]`. Weights are cold: each repetition takes other copies.
#![allow(unsafe_code)]

use mxrs_backend_nnpack::Isa;
use mxrs_backend_nnpack::gemm::{Gemm, Product};
use mxrs_backend_nnpack::winograd::{Blocking, Epilogue, Plan, Schedule, Shape, Variant};
use mxrs_sync::{Team, TeamConfig};
use std::time::Instant;

/// Input and output channels, height and width.
const LAYERS: [(usize, usize, usize); 10] = [
    (64, 64, 224),
    (64, 128, 112),
    (128, 128, 112),
    (256, 256, 56),
    (512, 512, 28),
    (512, 512, 14),
    (64, 64, 56),
    (128, 128, 28),
    (256, 256, 14),
    (512, 512, 7),
];
/// Larger than the caches.
const COLD: usize = 64 << 20;

/// Gflop/s of all threads in products that stay in the first cache.
fn peak(team: &Team) -> f64 {
    let gemm = Gemm::new(Isa::best());
    let offsets: Vec<usize> = (0..4).map(|b| b * 16 * 14).collect();
    let mut best = 0f64;
    for _ in 0..200 {
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
                finish: None,
            };
            for _ in 0..200 {
                // SAFETY: the arrays have the sizes of the product.
                unsafe { gemm.run(14, true, &product) };
            }
        });
        best = best.max(200.0 * 2.0 * (14 * 64 * 32 * team.size()) as f64 / start.elapsed().as_secs_f64() / 1e9);
    }
    best
}

fn aligned(len: usize) -> (Vec<f32>, usize) {
    let memory = vec![0.25f32; len + 16];
    let skip = memory.as_ptr().align_offset(64);
    (memory, skip)
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let n: usize = words.first().and_then(|w| w.parse().ok()).unwrap_or(1);
    let wanted = |name: &str| words.len() < 2 || words[1..].iter().any(|w| name.contains(w.as_str()));
    let threads = 2;
    let team = Team::new(TeamConfig { threads: threads.try_into().unwrap(), cpus: None }).unwrap();
    let peak = peak(&team);
    println!("{} peak {peak:.0} Gflop/s", Isa::best().name());
    for (c, k, size) in LAYERS {
        let shape = Shape { n, c, k, size: [size; 2], kernel: [3, 3], pad: [1, 1], out: [size; 2] };
        let name = format!("{c}->{k}@{size}");
        let (src, src_at) = aligned(n * c * size * size);
        let (mut dst, dst_at) = aligned(n * k * size * size);
        let bias = vec![0.1; k];
        let epilogue = Epilogue { bias: Some(&bias), lo: 0.0, ..Epilogue::default() };
        for variant in Variant::ALL {
            if !wanted(&name) && !wanted(variant.name()) {
                continue;
            }
            let mut all = vec![];
            for schedule in [Schedule::Independent, Schedule::Cooperative] {
                for tiles in [14, 28, 56, 112, 168, 336, 672] {
                    for panels in [1, 2, 4, 16] {
                        let Ok(plan) =
                            Plan::new(shape, variant, Blocking { schedule, tiles, panels, threads }, Isa::best())
                        else {
                            continue;
                        };
                        if plan.scratch_bytes() > 100 << 20 || all.iter().any(|(_, b)| *b == plan.blocking()) {
                            continue;
                        }
                        let weights_len = plan.packed_bytes() / 4;
                        let copies = if n == 1 { COLD.div_ceil(plan.packed_bytes()).clamp(2, 40) } else { 1 };
                        let (mut weights, weights_at) = aligned(weights_len * copies);
                        if all.is_empty() {
                            weights.fill(0.01);
                        }
                        let (mut scratch, scratch_at) = aligned(plan.scratch_bytes() / 4);
                        let (mut best, start) = (f64::MAX, Instant::now());
                        let mut i = 0;
                        let limit = if n == 1 { 0.05 } else { 0.6 };
                        while i < 3 || (start.elapsed().as_secs_f64() < limit && i < 60) {
                            let copy = &weights[weights_at + i % copies * weights_len..];
                            let t = Instant::now();
                            // SAFETY: the vectors have the sizes of the shape.
                            unsafe {
                                plan.run(
                                    src[src_at..].as_ptr(),
                                    copy.as_ptr(),
                                    &epilogue,
                                    dst[dst_at..].as_mut_ptr(),
                                    &mut scratch[scratch_at..],
                                    &team,
                                )
                                .unwrap();
                            }
                            best = best.min(t.elapsed().as_secs_f64());
                            i += 1;
                        }
                        all.push((best, plan.blocking()));
                    }
                }
            }
            all.sort_by(|a, b| a.0.total_cmp(&b.0));
            for (best, b) in all.iter().take(3) {
                let m = match variant {
                    Variant::F2 => 2,
                    Variant::F3 => 3,
                    Variant::F4 => 4,
                    Variant::F5 => 5,
                    Variant::F6 => 6,
                } as f64;
                let tiles = (n * size.div_ceil(m as usize).pow(2)) as f64;
                let product = 2.0 * tiles * (m + 2.0).powi(2) * (c * k) as f64;
                println!(
                    "{name} x{n} {} {:.3} ms {:.0} Gflop/s direct = {:.2} peak; product {:.0}% of peak; {:?} T {} panels {}",
                    variant.name(),
                    best * 1e3,
                    shape.flops() / best / 1e9,
                    shape.flops() / best / 1e9 / peak,
                    product / best / 1e7 / peak,
                    b.schedule,
                    b.tiles,
                    b.panels
                );
            }
        }
    }
}
