//! Gflop/s of the product by row count.
#![allow(unsafe_code)]
use mxrs_backend_nnpack::Isa;
use mxrs_backend_nnpack::gemm::{Gemm, Product};
use std::time::Instant;
fn main() {
    for isa in Isa::available() {
        let g = Gemm::new(isa);
        for blocks in [4usize, 16] {
            let b = vec![0.5f32; blocks * 16 * 32];
            let a = vec![0.5f32; blocks * 16 * 64];
            let mut c = vec![0f32; 64 * 64];
            let offsets: Vec<usize> = (0..blocks).map(|b| b * 16 * 64).collect();
            for (whole, rows) in [(true, 14), (true, 13), (true, 12), (true, 8), (true, 4), (true, 1), (false, 14)] {
                for pf in [false, true] {
                    let p = Product {
                        a: a.as_ptr(),
                        a_offsets: &offsets,
                        a_row_stride: 16,
                        b: b.as_ptr(),
                        c: c.as_mut_ptr(),
                        c_row_stride: 16,
                        c_half_stride: 64 * 16,
                        add: false,
                        prefetch: if pf { b.as_ptr() } else { std::ptr::null() },
                        finish: None,
                    };
                    let mut best = f64::MAX;
                    for _ in 0..30 {
                        let t = Instant::now();
                        for _ in 0..100 {
                            unsafe { g.run(rows, whole, &p) }
                        }
                        best = best.min(t.elapsed().as_secs_f64() / 100.0);
                    }
                    let flops = 2.0 * (rows * blocks * 16 * if whole { 32 } else { 16 }) as f64;
                    println!(
                        "{} blocks {blocks} rows {rows} whole {whole} prefetch {pf}: {:.1} Gflop/s",
                        isa.name(),
                        flops / best / 1e9
                    );
                }
            }
        }
    }
}
