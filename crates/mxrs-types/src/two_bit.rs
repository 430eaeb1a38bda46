//! The rule of gradient compression to two bits per element.
//!
//! ```
//! use mxrs_types::two_bit::sent;
//!
//! assert_eq!([0.5, -0.75, 0.25].map(|sum| sent(sum, 0.5)), [0.5, -0.5, 0.0]);
//! ```

/// The value that is sent for an element: `threshold`, `-threshold` or 0. `sum` is the element of the gradient plus what
/// earlier steps left over. `sum - sent(sum, threshold)` is left over for the next step.
#[inline(always)]
pub fn sent(sum: f32, threshold: f32) -> f32 {
    if sum >= threshold {
        threshold
    } else if sum <= -threshold {
        -threshold
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_itself_is_sent_and_nan_is_not() {
        let below = f32::from_bits(0.5f32.to_bits() - 1);
        assert_eq!([0.5, below, -0.5, -below, f32::NAN].map(|sum| sent(sum, 0.5)), [0.5, 0.0, -0.5, 0.0, 0.0]);
    }
}
