//! The points at which each one-dimensional transform evaluates polynomials, and the constants that follow from them.
//!
//! `F(m, r)` computes `m` neighboring outputs of a filter with `r` taps from `n = m + r - 1` inputs with `n` products (Toom
//! and Cook; Winograd 1980; Lavin and Gray, arXiv:1509.09308). The transforms here use the points `0`, pairs `±a`, and
//! infinity, so that the two points of a pair share their even and odd parts. Let `Q(x) = Π (x² - a²)` over all pairs,
//! `Q_a` the same product without the pair `±a`, and `z = 1` if 0 is a point, else 0:
//!
//! ```text
//! inputs   0: Q      ±a: x^z (x ± a) Q_a      infinity: x^z Q        (row of coefficients, applied to the inputs)
//! weights  p: p^k / Π (p - other points)      infinity: the last tap
//! outputs  y_i = [i = 0] m_0 + Σ a^i (m_a + (-1)^i m_-a) + [i = m - 1] m_infinity
//! ```
//!
//! Products are in the order: zero, `+a`, `-a` for each pair, infinity. Experiments found which points keep the rounding
//! errors small. Compared to 0, ±1 and 2, the points ±1/2 and ±3/2 halve the errors of `F(3, 3)`. Multiples of the
//! square root of two halve the errors of `F(4, 3)`. Barabasz and others describe the same for other points
//! (arXiv:1803.10986).

use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

/// Largest number of products of a one-dimensional transform.
pub(super) const MAX_N: usize = 9;
/// Largest number of pairs of points.
pub(super) const MAX_PAIRS: usize = 4;

/// Coefficients of a polynomial in `x²`, the lowest first.
type Even = [f64; MAX_PAIRS + 1];

/// The points of a one-dimensional transform.
pub(super) trait Points {
    /// Outputs per tile.
    const M: usize;
    /// Taps of the filter.
    const R: usize;
    /// Whether 0 is a point.
    const ZERO: bool;
    /// Whether infinity is a point.
    const INFINITY: bool;
    /// The positive point of each pair.
    const PAIRS: &'static [f64];

    /// Products per tile, which is also the number of inputs.
    const N: usize = {
        let n = 2 * Self::PAIRS.len() + Self::ZERO as usize + Self::INFINITY as usize;
        assert!(n == Self::M + Self::R - 1 && n <= MAX_N && Self::PAIRS.len() <= MAX_PAIRS);
        n
    };
    /// The polynomial `Q` of the module's documentation.
    const ALL: Even = product_without(Self::PAIRS, usize::MAX);
    /// The polynomial `Q_a` of the module's documentation, for each pair.
    const WITHOUT: [Even; MAX_N] = {
        let mut all = [[0.0; MAX_PAIRS + 1]; MAX_N];
        let mut i = 0;
        while i < Self::PAIRS.len() {
            all[i] = product_without(Self::PAIRS, i);
            i += 1;
        }
        all
    };
    /// `a^y` for each output `y` and each pair of points `±a`.
    const POWERS: [[f64; MAX_N]; MAX_N] = powers(Self::PAIRS);
}

/// Computes `a^y` for each output `y` and each pair of points `±a`.
const fn powers(pairs: &[f64]) -> [[f64; MAX_N]; MAX_N] {
    let mut powers = [[1.0; MAX_N]; MAX_N];
    let mut y = 1;
    while y < MAX_N {
        let mut i = 0;
        while i < pairs.len() {
            powers[y][i] = powers[y - 1][i] * pairs[i];
            i += 1;
        }
        y += 1;
    }
    powers
}

/// Computes `Π (x² - a²)` over all pairs except the one with index `one`.
const fn product_without(pairs: &[f64], one: usize) -> Even {
    let mut q = [0.0; MAX_PAIRS + 1];
    q[0] = 1.0;
    let mut i = 0;
    while i < pairs.len() {
        if i != one {
            let square = pairs[i] * pairs[i];
            let mut k = MAX_PAIRS;
            while k > 0 {
                q[k] = q[k - 1] - square * q[k];
                k -= 1;
            }
            q[0] *= -square;
        }
        i += 1;
    }
    q
}

macro_rules! points {
    ($($(#[$doc:meta])* $name:ident = F($m:literal, $r:literal): [$($zero:literal)?] $pairs:expr, $infinity:literal;)+) => {$(
        $(#[$doc])*
        pub(super) struct $name;
        impl Points for $name {
            const M: usize = $m;
            const R: usize = $r;
            const ZERO: bool = [$($zero,)? 0.0].len() == 2;
            const INFINITY: bool = $infinity;
            const PAIRS: &'static [f64] = &$pairs;
        }
    )+};
}

points! {
    /// No transform: one output, one tap.
    F1x1 = F(1, 1): [0.0] [], false;
    /// Input and output transform are exact, because they only add and subtract.
    F2x3 = F(2, 3): [0.0] [1.0], true;
    /// Five points; 0 is not one of them.
    F3x3 = F(3, 3): [] [0.5, 1.5], true;
    /// The squares of the points are 1/2 and 2.
    F4x3 = F(4, 3): [0.0] [FRAC_1_SQRT_2, SQRT_2], true;
    /// Seven points; infinity is not one of them.
    F5x3 = F(5, 3): [0.0] [0.53125, 1.1875, 2.8125], false;
    /// The usual eight points.
    F6x3 = F(6, 3): [0.0] [0.5, 1.0, 2.0], true;
    /// For five taps: the seven points of [`F5x3`].
    F3x5 = F(3, 5): [0.0] [0.53125, 1.1875, 2.8125], false;
    /// For four taps: the seven points of [`F5x3`].
    F4x4 = F(4, 4): [0.0] [0.53125, 1.1875, 2.8125], false;
    /// For five taps: the usual eight points.
    F4x5 = F(4, 5): [0.0] [0.5, 1.0, 2.0], true;
    /// For seven taps: nine points; infinity is not one of them.
    F3x7 = F(3, 7): [0.0] [0.40625, 0.8125, 1.375, 3.0], false;
}

/// Calls `$make::<V, H, E>($isa)` with the points of a variant down (`V`) and across (`H`), and the element type of the
/// data (`E`).
macro_rules! by_variant {
    ($variant:expr, $data:expr => $make:ident($isa:expr)) => {
        match $data {
            $crate::winograd::Data::Blocks => by_variant!($variant => $make::<f32>($isa)),
            $crate::winograd::Data::Bf16Pixels => by_variant!($variant => $make::<half::bf16>($isa)),
        }
    };
    ($variant:expr => $make:ident::<$element:ty>($isa:expr)) => {{
        use $crate::winograd::Variant;
        use $crate::winograd::points::{F1x1, F2x3, F3x3, F3x5, F3x7, F4x3, F4x4, F4x5, F5x3, F6x3};
        match $variant {
            Variant::F2 => $make::<F2x3, F2x3, $element>($isa),
            Variant::F3 => $make::<F3x3, F3x3, $element>($isa),
            Variant::F4 => $make::<F4x3, F4x3, $element>($isa),
            Variant::F5 => $make::<F5x3, F5x3, $element>($isa),
            Variant::F6 => $make::<F6x3, F6x3, $element>($isa),
            Variant::F3Of5 => $make::<F3x5, F3x5, $element>($isa),
            Variant::F4Of5 => $make::<F4x5, F4x5, $element>($isa),
            Variant::F4Of4 => $make::<F4x4, F4x4, $element>($isa),
            Variant::Row4Of3 => $make::<F1x1, F4x3, $element>($isa),
            Variant::Column4Of3 => $make::<F4x3, F1x1, $element>($isa),
            Variant::Row3Of7 => $make::<F1x1, F3x7, $element>($isa),
            Variant::Column3Of7 => $make::<F3x7, F1x1, $element>($isa),
        }
    }};
}
pub(super) use by_variant;

/// The matrix that transforms the weights: `[N][R]`.
pub(super) fn weights_matrix<P: Points>() -> Vec<Vec<f64>> {
    let mut points: Vec<f64> = if P::ZERO { vec![0.0] } else { vec![] };
    points.extend(P::PAIRS.iter().flat_map(|&a| [a, -a]));
    let row = |&p: &f64| -> Vec<f64> {
        let others: f64 = points.iter().filter(|&&o| o != p).map(|o| p - o).product();
        (0..P::R).map(|k| p.powi(k as i32) / others).collect()
    };
    let mut matrix: Vec<Vec<f64>> = points.iter().map(row).collect();
    if P::INFINITY {
        matrix.push((0..P::R).map(|k| f64::from(u8::from(k == P::R - 1))).collect());
    }
    matrix
}
