//! The options of a caller: those of MXNet's `quantize_model`, with its words.

use mxrs_types::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// Declares an enum of words, with `Display` and `FromStr`.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident, $what:literal { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
        pub enum $name { $($(#[$variant_doc])* $variant,)+ }

        impl $name {
            /// All words.
            pub const WORDS: &'static [&'static str] = &[$($word),+];
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$variant => $word,)+ })
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(Error::invalid($what, format!("`{text}`"), format!("one of {}", Self::WORDS.join(", ")))),
                }
            }
        }
    };
}

words! {
    /// Where the ranges of activations come from.
    CalibMode, "calibration mode" {
        /// From the data of each run.
        None = "none",
        /// The smallest and largest value in the calibration data.
        Naive = "naive",
        /// The threshold with the smallest Kullback-Leibler divergence on the calibration data.
        #[default]
        Entropy = "entropy",
    }
}

words! {
    /// Dtype of quantized activations.
    QuantizedDType, "quantized element type" {
        /// int8 everywhere.
        Int8 = "int8",
        /// uint8 everywhere, for networks whose activations are never negative.
        UInt8 = "uint8",
        /// uint8 where no value is negative, int8 elsewhere.
        #[default]
        Auto = "auto",
    }
}

words! {
    /// Which of the operators are quantized that need not be.
    QuantizeMode, "quantize mode" {
        /// Those between two operators that must be quantized, so that no conversion is wasted.
        #[default]
        Smart = "smart",
        /// All that can be quantized.
        Full = "full",
    }
}

words! {
    /// Number of ranges of a weight.
    Granularity, "granularity" {
        /// One for the whole tensor; MXNet 1.9.1 can read such files.
        Tensor = "tensor-wise",
        /// One per output channel; results are closer to the float network.
        #[default]
        Channel = "channel-wise",
    }
}

/// The options of quantization.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantizeOptions {
    /// Where ranges come from.
    pub calib_mode: CalibMode,
    /// Dtype of activations.
    pub dtype: QuantizedDType,
    /// Which operators are quantized.
    pub mode: QuantizeMode,
    /// Number of ranges of a weight.
    pub granularity: Granularity,
    /// Names of nodes that are not quantized.
    pub excluded_names: Vec<String>,
    /// Operators that are not quantized.
    pub excluded_ops: Vec<String>,
    /// Whether batch normalization is folded into the convolution before it.
    pub fold_batch_norm: bool,
    /// Whether to log each node that is changed or left (`MXNET_QUANTIZATION_VERBOSE`).
    pub verbose: bool,
}

impl Default for QuantizeOptions {
    fn default() -> Self {
        Self {
            calib_mode: CalibMode::default(),
            dtype: QuantizedDType::default(),
            mode: QuantizeMode::default(),
            granularity: Granularity::default(),
            excluded_names: Vec::new(),
            excluded_ops: Vec::new(),
            fold_batch_norm: true,
            verbose: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_mxnet() {
        for word in CalibMode::WORDS {
            assert_eq!(word.parse::<CalibMode>().unwrap().to_string(), *word);
        }
        assert_eq!("channel-wise".parse::<Granularity>().unwrap(), Granularity::Channel);
        let error = "int4".parse::<QuantizedDType>().unwrap_err().to_string();
        assert!(error.contains("`int4`") && error.contains("int8, uint8, auto"), "{error}");
    }
}
