//! Convolutions for the tests of all transforms: random tensors, and their outputs by direct summation in double
//! precision.

use super::{BLOCK, Blocking, Epilogue, Schedule, Shape, Tiling};
use crate::{fourier, winograd};
use mxrs_sync::{Team, TeamConfig};
use mxrs_types::Result;

/// A plan of any transform.
pub(crate) trait Prepared {
    fn tiling(&self) -> &Tiling;
    fn pack(&self, weights: &[f32], packed: &mut [f32], team: &Team) -> Result<()>;
}

impl Prepared for winograd::Plan {
    fn tiling(&self) -> &Tiling {
        self.tiling()
    }
    fn pack(&self, weights: &[f32], packed: &mut [f32], team: &Team) -> Result<()> {
        self.pack_weights(weights, packed, team)
    }
}

impl Prepared for fourier::Plan {
    fn tiling(&self) -> &Tiling {
        self.tiling()
    }
    fn pack(&self, weights: &[f32], packed: &mut [f32], team: &Team) -> Result<()> {
        self.pack_weights(weights, packed, team)
    }
}

/// Pseudo-random values in -1..1; `seed` selects the sequence.
pub(crate) fn numbers(n: usize, seed: u64) -> Vec<f32> {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = |_| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    (0..n).map(next).collect()
}

pub(crate) fn team(threads: usize) -> std::sync::Arc<Team> {
    Team::new(TeamConfig { threads: std::num::NonZeroUsize::new(threads).unwrap(), cpus: None }).unwrap()
}

/// A convolution with its tensors, row-major and in blocks, and its outputs in double precision.
pub(crate) struct Case {
    pub shape: Shape,
    pub src: Vec<f32>,
    pub weights: Vec<f32>,
    pub bias: Vec<f32>,
    pub want: Vec<f64>,
}

/// Copies `[n][c][h][w]` to `[n][C/16][h][w][16]`.
pub(crate) fn blocked(x: &[f32], n: usize, c: usize, pixels: usize) -> Vec<f32> {
    let blocks = c.div_ceil(BLOCK);
    let mut out = vec![0.0; n * blocks * pixels * BLOCK];
    for i in 0..n * c * pixels {
        let (image, channel, p) = (i / pixels / c, i / pixels % c, i % pixels);
        out[((image * blocks + channel / BLOCK) * pixels + p) * BLOCK + channel % BLOCK] = x[i];
    }
    out
}

impl Case {
    pub(crate) fn new(shape: Shape) -> Self {
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

    /// Runs a plan and returns the outputs in blocks.
    pub(crate) fn run(&self, plan: &impl Prepared, sum: Option<&[f32]>, bounds: (f32, f32), team: &Team) -> Vec<f32> {
        let tiling = plan.tiling();
        let mut packed = vec![f32::NAN; tiling.packed_bytes() / 4];
        plan.pack(&self.weights, &mut packed, team).unwrap();
        let Shape { n, k, out, .. } = self.shape;
        let mut dst = vec![f32::NAN; n * k.next_multiple_of(BLOCK) * out[0] * out[1]];
        let mut scratch = vec![f32::NAN; tiling.scratch_bytes() / 4];
        let epilogue =
            Epilogue { bias: Some(&self.bias), sum: sum.map(|sum| sum.as_ptr().cast()), lo: bounds.0, hi: bounds.1 };
        // SAFETY: the vectors have the sizes of the shape and belong to this function, `scratch` has `scratch_bytes`,
        // and callers pass a sum of the output's size.
        unsafe {
            tiling
                .run(self.src.as_ptr().cast(), packed.as_ptr(), &epilogue, dst.as_mut_ptr().cast(), &mut scratch, team)
                .unwrap()
        };
        dst
    }

    /// Returns the largest error divided by the largest output, and checks that padding channels are zero.
    pub(crate) fn error(&self, dst: &[f32], want: impl Fn(usize) -> f64) -> f64 {
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

pub(crate) const NO_BOUNDS: (f32, f32) = (f32::NEG_INFINITY, f32::INFINITY);

pub(crate) fn shape(n: usize, c: usize, k: usize, size: [usize; 2], pad: usize) -> Shape {
    Shape { n, c, k, size, kernel: [3, 3], pad: [pad; 2], out: size.map(|x| x + 2 * pad - 2) }
}

/// The shape with these filters and with outputs as large as the inputs; unchanged for filters of 3x3.
pub(crate) fn with_kernel(shape: Shape, kernel: [usize; 2]) -> Shape {
    if kernel == [3, 3] { shape } else { Shape { kernel, pad: kernel.map(|r| r / 2), out: shape.size, ..shape } }
}

pub(crate) fn blocking(schedule: Schedule, tiles: usize, panels: usize, threads: usize) -> Blocking {
    Blocking { schedule, tiles, panels, threads }
}

/// Shapes with ragged edges, partial blocks of channels, one to three images, and pads of 0 to 2, also unequal ones.
pub(crate) fn ragged() -> Vec<Shape> {
    let mut shapes = vec![
        shape(1, 16, 16, [7, 7], 1),
        shape(2, 48, 64, [9, 5], 0),
        shape(3, 64, 48, [6, 11], 2),
        shape(1, 20, 33, [13, 4], 1),
        shape(2, 3, 80, [3, 3], 1),
        shape(1, 16, 16, [1, 1], 1),
        shape(1, 32, 32, [5, 120], 1),
    ];
    // Padding above but not below, and two columns of padding to the right but not to the left.
    shapes.push(Shape { pad: [1, 0], out: [8, 10], ..shape(2, 17, 40, [9, 10], 0) });
    shapes
}

pub(crate) fn blockings() -> [Blocking; 6] {
    [
        blocking(Schedule::Independent, 1000, 16, 1),
        blocking(Schedule::Independent, 5, 1, 2),
        blocking(Schedule::Independent, 17, 2, 3),
        blocking(Schedule::Cooperative, 1000, 1, 2),
        blocking(Schedule::Cooperative, 16, 2, 3),
        blocking(Schedule::Cooperative, 3, 1, 1),
    ]
}
