//! Random convolutions: values, sizes of outputs, and attributes.

use mxrs_op::Attrs;

/// A generator of pseudo-random numbers.
pub struct Numbers(pub u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 16
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// One of these values.
    pub fn of<T: Copy, const N: usize>(&mut self, values: [T; N]) -> T {
        values[self.below(N)]
    }

    /// `n` values that are multiples of `1 / steps` in [-1, 1): with 1024 steps they are exact in float32, with 64 in
    /// bfloat16 too.
    pub fn tensor(&mut self, n: usize, steps: u64) -> Vec<f64> {
        (0..n).map(|_| f64::from((self.next() % (2 * steps)) as f32 / steps as f32 - 1.0)).collect()
    }
}

/// Height and width.
pub type Pair = (usize, usize);

/// How a window moves over an image.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    pub size: Pair,
    pub stride: Pair,
    pub pad: Pair,
}

impl Window {
    /// Size of the output for images of this size.
    pub fn out_size(&self, image: Pair) -> Pair {
        let along = |size, window, stride, pad| (size + 2 * pad - window) / stride + 1;
        (along(image.0, self.size.0, self.stride.0, self.pad.0), along(image.1, self.size.1, self.stride.1, self.pad.1))
    }

    /// Attributes of a convolution with this number of filters, without bias.
    pub fn attrs(&self, n_filters: usize) -> Attrs {
        let pair = |(a, b): Pair| format!("({a}, {b})");
        let texts = [
            ("kernel", pair(self.size)),
            ("stride", pair(self.stride)),
            ("pad", pair(self.pad)),
            ("num_filter", n_filters.to_string()),
            ("no_bias", "True".into()),
        ];
        texts.into_iter().collect()
    }
}
