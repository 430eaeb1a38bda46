//! Every variant on every instruction set against direct summation in double.

use super::*;
use mxrs_sync::TeamConfig;

/// Numbers in -1..1; `seed` chooses which.
fn numbers(n: usize, seed: u64) -> Vec<f32> {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = |_| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    (0..n).map(next).collect()
}

fn team(threads: usize) -> std::sync::Arc<Team> {
    Team::new(TeamConfig { threads: std::num::NonZeroUsize::new(threads).unwrap(), cpus: None }).unwrap()
}

/// A convolution with its tensors, row-major and in blocks, and its outputs in double.
struct Case {
    shape: Shape,
    src: Vec<f32>,
    weights: Vec<f32>,
    bias: Vec<f32>,
    want: Vec<f64>,
}

/// `[n][c][h][w]` to `[n][C/16][h][w][16]`.
fn blocked(x: &[f32], n: usize, c: usize, pixels: usize) -> Vec<f32> {
    let blocks = c.div_ceil(BLOCK);
    let mut out = vec![0.0; n * blocks * pixels * BLOCK];
    for i in 0..n * c * pixels {
        let (image, channel, p) = (i / pixels / c, i / pixels % c, i % pixels);
        out[((image * blocks + channel / BLOCK) * pixels + p) * BLOCK + channel % BLOCK] = x[i];
    }
    out
}

impl Case {
    fn new(shape: Shape) -> Self {
        let Shape { n, c, k, size: [h, w], kernel: [kh, kw], pad, out: [oh, ow] } = shape;
        let (x, weights, bias) = (numbers(n * c * h * w, 1), numbers(k * c * kh * kw, 2), numbers(k, 3));
        let mut want = vec![0f64; n * k * oh * ow];
        for (row, line) in want.chunks_mut(ow).enumerate() {
            let (image, channel, oy) = (row / oh / k, row / oh % k, row % oh);
            line.fill(f64::from(bias[channel]));
            for ch in 0..c {
                for ky in 0..kh {
                    let Some(y) = (oy + ky).checked_sub(pad[0]).filter(|&y| y < h) else { continue };
                    let from = &x[((image * c + ch) * h + y) * w..][..w];
                    for kx in 0..kw {
                        let weight = f64::from(weights[((channel * c + ch) * kh + ky) * kw + kx]);
                        for (ox, sum) in line.iter_mut().enumerate() {
                            if let Some(&v) = (ox + kx).checked_sub(pad[1]).and_then(|x| from.get(x)) {
                                *sum += weight * f64::from(v);
                            }
                        }
                    }
                }
            }
        }
        Self { shape, src: blocked(&x, n, c, h * w), weights, bias, want }
    }

    /// Outputs in blocks.
    fn run(&self, plan: &Plan, sum: Option<&[f32]>, bounds: (f32, f32), team: &Team) -> Vec<f32> {
        let mut packed = vec![f32::NAN; plan.packed_bytes() / 4];
        plan.pack_weights(&self.weights, &mut packed, team).unwrap();
        let Shape { n, k, out, .. } = self.shape;
        let mut dst = vec![f32::NAN; n * k.next_multiple_of(BLOCK) * out[0] * out[1]];
        let mut scratch = vec![f32::NAN; plan.scratch_bytes() / 4];
        let epilogue = Epilogue { bias: Some(&self.bias), sum: sum.map(<[f32]>::as_ptr), lo: bounds.0, hi: bounds.1 };
        // SAFETY: the vectors have the sizes of the shape.
        unsafe {
            plan.run(self.src.as_ptr(), packed.as_ptr(), &epilogue, dst.as_mut_ptr(), &mut scratch, team).unwrap()
        };
        dst
    }

    /// Largest error over largest output; channels beyond the last must be zero.
    fn error(&self, dst: &[f32], want: impl Fn(usize) -> f64) -> f64 {
        let Shape { n, k, out, .. } = self.shape;
        let (pixels, blocks) = (out[0] * out[1], k.div_ceil(BLOCK));
        let (mut error, mut largest) = (0f64, 0f64);
        for (i, &got) in dst.iter().enumerate() {
            let (lane, p, block) = (i % BLOCK, i / BLOCK % pixels, i / BLOCK / pixels);
            let (image, channel) = (block / blocks, block % blocks * BLOCK + lane);
            assert!(image < n);
            if channel >= k {
                assert_eq!(got, 0.0, "channel {channel} of {k}");
                continue;
            }
            let want = want((image * k + channel) * pixels + p);
            let difference = (f64::from(got) - want).abs();
            assert!(!difference.is_nan(), "{got} for {want} at image {image}, channel {channel}, pixel {p}");
            (error, largest) = (error.max(difference), largest.max(want.abs()));
        }
        error / largest
    }
}

const NO_BOUNDS: (f32, f32) = (f32::NEG_INFINITY, f32::INFINITY);

fn shape(n: usize, c: usize, k: usize, size: [usize; 2], pad: usize) -> Shape {
    Shape { n, c, k, size, kernel: [3, 3], pad: [pad; 2], out: size.map(|x| x + 2 * pad - 2) }
}

fn blocking(schedule: Schedule, tiles: usize, panels: usize, threads: usize) -> Blocking {
    Blocking { schedule, tiles, panels, threads }
}

#[test]
fn errors_at_256_channels_stay_within_the_bounds() {
    let case = Case::new(shape(1, 256, 32, [13, 18], 1));
    for isa in Isa::available() {
        for variant in Variant::ALL {
            let plan = Plan::new(case.shape, variant, blocking(Schedule::Independent, 20, 1, 1), isa).unwrap();
            let error = case.error(&case.run(&plan, None, NO_BOUNDS, &Team::serial()), |i| case.want[i]);
            println!("{} {}: {error:.2e}", isa.name(), variant.name());
            assert!(error < variant.error_bound(), "{} {}: {error:e}", isa.name(), variant.name());
            assert!(error > 1e-8, "float32 rounds");
        }
    }
}
