//! The bit format of compressed gradients: codes fill each byte from its most significant bits, and unused bits at the end
//! are zeros.

use super::Compression;
use mxrs_types::two_bit;

/// The two-bit code that means `threshold`. The code 0 means the value 0.
const PLUS: u8 = 0b11;
/// The two-bit code that means `-threshold`.
const MINUS: u8 = 0b10;

impl Compression {
    /// Writes the codes of `gradient` plus `residual`, and leaves in `residual` what the codes do not express.
    ///
    /// # Panics
    /// Panics unless `residual` is as long as `gradient` and `codes` has [`Self::code_bytes`] bytes, or a larger number.
    pub fn encode(self, gradient: &[f32], residual: &mut [f32], codes: &mut [u8]) {
        assert_eq!(gradient.len(), residual.len(), "one residual per element");
        let per_byte = self.per_byte();
        let n_filled = gradient.len().div_ceil(per_byte);
        let (filled, padding) = codes.split_at_mut(n_filled);
        padding.fill(0);
        let groups = gradient.chunks(per_byte).zip(residual.chunks_mut(per_byte));
        match self {
            Self::TwoBit { threshold } => {
                for (code, (gradient, residual)) in filled.iter_mut().zip(groups) {
                    *code = 0;
                    for (i, (g, r)) in gradient.iter().zip(residual).enumerate() {
                        let sum = *r + *g;
                        let sent = two_bit::sent(sum, threshold);
                        *r = sum - sent;
                        let bits = if sent > 0.0 {
                            PLUS
                        } else if sent < 0.0 {
                            MINUS
                        } else {
                            0
                        };
                        *code |= bits << (6 - 2 * i);
                    }
                }
            }
            Self::OneBit { threshold } => {
                for (code, (gradient, residual)) in filled.iter_mut().zip(groups) {
                    *code = 0;
                    for (i, (g, r)) in gradient.iter().zip(residual).enumerate() {
                        let sum = *r + *g;
                        let is_plus = sum > threshold;
                        *r = if is_plus { sum - 1.0 } else { sum + 1.0 };
                        *code |= u8::from(is_plus) << (7 - i);
                    }
                }
            }
        }
    }

    /// Writes the values that the codes mean.
    ///
    /// # Panics
    /// Panics if `codes` is shorter than `values` needs.
    pub fn decode(self, codes: &[u8], values: &mut [f32]) {
        let per_byte = self.per_byte();
        assert!(codes.len() >= values.len().div_ceil(per_byte), "{} bytes of code", codes.len());
        for (values, &code) in values.chunks_mut(per_byte).zip(codes) {
            for (i, value) in values.iter_mut().enumerate() {
                *value = match self {
                    Self::OneBit { .. } => f32::from(code >> (7 - i) & 1) * 2.0 - 1.0,
                    Self::TwoBit { threshold } => match code >> (6 - 2 * i) & 3 {
                        PLUS => threshold,
                        MINUS => -threshold,
                        _ => 0.0,
                    },
                };
            }
        }
    }
}
