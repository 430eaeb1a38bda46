//! The loss scale of training in float16.
//!
//! Gradients smaller than 2^-24 are 0 in float16. So the loss is multiplied by a large number, the loss scale, which multiplies
//! all gradients, and updates divide by it. If a gradient is then too large for float16, it becomes infinite: the step is
//! skipped, which leaves weights, states and counts of the optimizer as they are, and a dynamic scale is halved. After many
//! steps without such an overflow it is doubled.

use mxrs_types::{Error, Result};

/// First scale of a dynamic loss scale, as in MXNet.
const START: f64 = 65_536.0;
/// Largest dynamic scale, 2^24, as in MXNet.
const MOST: f64 = 16_777_216.0;
/// Smallest dynamic scale, 2^-24. MXNet has none, and skips every further step of a network that has diverged.
const LEAST: f64 = 1.0 / MOST;
/// Number of steps without overflow after which the scale is doubled, as in MXNet.
const WINDOW: u64 = 2000;

/// The loss scale, and how it changes: the rules and numbers of `LossScaler` in MXNet's `contrib.amp`. MXNet applies a new
/// scale one step later, so it skips two steps for each time that the scale is halved.
///
/// ```
/// let mut scaler = mxrs_train::LossScaler::dynamic();
/// assert_eq!(scaler.scale(), 65536.0);
/// // A gradient was infinite.
/// scaler.update(false)?;
/// assert_eq!((scaler.scale(), scaler.n_skipped()), (32768.0, 1));
/// # Ok::<(), mxrs_types::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LossScaler {
    scale: f64,
    /// Number of steps without overflow after which the scale is doubled; `None` if the scale does not change.
    window: Option<u64>,
    n_good: u64,
    n_skipped: u64,
}

impl LossScaler {
    /// A scale that begins at 65,536, is halved after each overflow, and is doubled after 2000 steps without overflow, up to
    /// 2^24.
    pub fn dynamic() -> Self {
        Self { scale: START, window: Some(WINDOW), n_good: 0, n_skipped: 0 }
    }

    /// A scale that does not change. Steps whose gradients overflow are skipped, too.
    ///
    /// # Errors
    /// Returns an error if the scale is not a positive number that float32 can represent.
    pub fn fixed(scale: f64) -> Result<Self> {
        Ok(Self { scale: checked(scale)?, window: None, n_good: 0, n_skipped: 0 })
    }

    /// The same scaler with another first scale.
    ///
    /// # Errors
    /// Returns an error if the scale is not a positive number that float32 can represent.
    pub fn starting_at(self, scale: f64) -> Result<Self> {
        Ok(Self { scale: checked(scale)?, ..self })
    }

    /// A dynamic scale that is doubled after this number of steps without overflow.
    ///
    /// # Errors
    /// Returns an error if the number is 0, or if the scale does not change.
    pub fn doubled_after(self, n_steps: u64) -> Result<Self> {
        match self.window {
            Some(_) if n_steps > 0 => Ok(Self { window: Some(n_steps), ..self }),
            Some(_) => Err(Error::invalid("steps until the loss scale is doubled", 0, "1 or more")),
            None => Err(Error::invalid("steps until the loss scale is doubled", "a fixed loss scale", "a dynamic one")),
        }
    }

    /// The number by which the next loss is multiplied.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// Whether the scale changes.
    pub fn is_dynamic(&self) -> bool {
        self.window.is_some()
    }

    /// The number of steps since the last overflow or change of the scale.
    pub fn n_good(&self) -> u64 {
        self.n_good
    }

    /// The number of skipped steps.
    pub fn n_skipped(&self) -> u64 {
        self.n_skipped
    }

    /// Counts a step, and sets the scale of the next one. `is_finite` says whether all gradients were finite; if not, the
    /// step must be skipped. A change is logged.
    ///
    /// # Errors
    /// Returns an error if gradients are not finite even with the smallest scale, 2^-24.
    pub fn update(&mut self, is_finite: bool) -> Result<()> {
        if is_finite {
            self.n_good += 1;
        } else {
            (self.n_good, self.n_skipped) = (0, self.n_skipped + 1);
        }
        match self.window {
            None if !is_finite => {
                tracing::info!("AMP: a gradient is not finite with loss scale {:.6}: step skipped", self.scale)
            }
            Some(_) if !is_finite => {
                if self.scale / 2.0 < LEAST {
                    let got = format!("{:e}, and gradients are not finite", self.scale);
                    return Err(Error::invalid(
                        "loss scale",
                        got,
                        "finite gradients; a smaller learning rate may help",
                    ));
                }
                self.scale /= 2.0;
                tracing::info!("AMP: decreasing loss scale to {:.6}", self.scale);
            }
            // The count can be larger than the window if it was resumed from a scaler with a larger window.
            Some(window) if self.n_good >= window => {
                self.n_good = 0;
                // A scale that was set above the limit with `starting_at` is not lowered to the limit.
                let doubled = (self.scale * 2.0).min(MOST);
                if doubled > self.scale {
                    self.scale = doubled;
                    tracing::info!("AMP: increasing loss scale to {:.6}", self.scale);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Continues from a scaler of an earlier training. The settings stay those of this scaler; if one of the two does not
    /// change its scale, only the number of skipped steps is taken.
    pub fn resume(&mut self, saved: &Self) {
        self.n_skipped = saved.n_skipped;
        if self.is_dynamic() && saved.is_dynamic() {
            (self.scale, self.n_good) = (saved.scale, saved.n_good);
        }
    }

    /// The scaler as text, for files. [`Self::from_text`] reads it.
    pub fn to_text(&self) -> String {
        let window = self.window.map_or("fixed".to_owned(), |window| window.to_string());
        format!("{:?} {window} {} {}", self.scale, self.n_good, self.n_skipped)
    }

    /// Reads what [`Self::to_text`] has written.
    ///
    /// # Errors
    /// Returns an error if the text is not one that [`Self::to_text`] could have written.
    pub fn from_text(text: &str) -> Result<Self> {
        let read = || {
            let [scale, window, n_good, n_skipped] = text.split(' ').collect::<Vec<_>>().try_into().ok()?;
            let window = if window == "fixed" { None } else { Some(window.parse().ok().filter(|n| *n > 0)?) };
            let scale = checked(scale.parse().ok()?).ok()?;
            Some(Self { scale, window, n_good: n_good.parse().ok()?, n_skipped: n_skipped.parse().ok()? })
        };
        read().ok_or_else(|| {
            let got: String = text.chars().take(80).collect();
            Error::invalid("saved loss scale", got, "a scale, `fixed` or a number of steps, and two counts")
        })
    }
}

/// The scale, if arrays of float32 can hold it and its inverse.
fn checked(scale: f64) -> Result<f64> {
    let fits = |x: f64| x.is_finite() && x as f32 >= f32::MIN_POSITIVE && (x as f32).is_finite();
    match fits(scale) && fits(1.0 / scale) {
        true => Ok(scale),
        false => Err(Error::invalid("loss scale", scale, "a positive number that float32 can represent")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_gives_the_same_scaler() {
        let mut scaler = LossScaler::dynamic().starting_at(0.1).unwrap().doubled_after(7).unwrap();
        [true, false, true, true].into_iter().for_each(|is_finite| scaler.update(is_finite).unwrap());
        for scaler in [scaler, LossScaler::dynamic(), LossScaler::fixed(128.0).unwrap()] {
            assert_eq!(LossScaler::from_text(&scaler.to_text()).unwrap(), scaler);
        }
        for wrong in ["", "1.0", "1.0 fixed 0", "0.0 fixed 0 0", "NaN 5 0 0", "1.0 0 0 0", "1.0 5 -1 0", "1.0 5 0 0 0"]
        {
            assert!(LossScaler::from_text(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        for scale in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e39, 1e-39] {
            assert!(LossScaler::fixed(scale).is_err() && LossScaler::dynamic().starting_at(scale).is_err(), "{scale}");
        }
        assert!(LossScaler::dynamic().doubled_after(0).is_err());
        assert!(LossScaler::fixed(2.0).unwrap().doubled_after(5).is_err());
    }

    #[test]
    fn a_network_that_diverged_ends_the_training() {
        let mut scaler = LossScaler::dynamic();
        // 40 halvings lower the scale from 2^16 to its minimum, 2^-24.
        (0..40).for_each(|_| scaler.update(false).unwrap());
        let error = scaler.update(false).unwrap_err().to_string();
        assert!(error.contains("loss scale") && error.contains("not finite"), "{error}");
        let mut fixed = LossScaler::fixed(8.0).unwrap();
        (0..100).for_each(|_| fixed.update(false).unwrap());
        assert_eq!((fixed.scale(), fixed.n_skipped()), (8.0, 100));
    }

    #[test]
    fn a_scale_above_the_limit_is_not_lowered_after_good_steps() {
        let mut scaler = LossScaler::dynamic().starting_at(4.0 * MOST).unwrap().doubled_after(2).unwrap();
        (0..4).for_each(|_| scaler.update(true).unwrap());
        assert_eq!(scaler.scale(), 4.0 * MOST);
    }

    #[test]
    fn a_resumed_training_keeps_its_own_settings() {
        let mut saved = LossScaler::dynamic();
        saved.update(false).unwrap();
        saved.update(true).unwrap();
        let mut scaler = LossScaler::dynamic().doubled_after(5).unwrap();
        scaler.resume(&saved);
        assert_eq!((scaler.scale(), scaler.n_good(), scaler.n_skipped(), scaler.window), (32768.0, 1, 1, Some(5)));
        // `counted` has counted more steps than the window of `scaler`, so the next step of `scaler` doubles the scale.
        let mut counted = LossScaler::dynamic();
        (0..9).for_each(|_| counted.update(true).unwrap());
        scaler.resume(&counted);
        scaler.update(true).unwrap();
        assert_eq!((scaler.scale(), scaler.n_good()), (131_072.0, 0));
        let mut fixed = LossScaler::fixed(8.0).unwrap();
        fixed.resume(&saved);
        assert_eq!((fixed.scale(), fixed.n_skipped()), (8.0, 1));
    }
}
