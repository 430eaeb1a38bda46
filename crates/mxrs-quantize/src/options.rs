//! The options of quantization, with the names and values of MXNet's `quantize_model`.

use mxrs_types::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// Declares an enum whose variants have names as text, with `Display` and `FromStr`.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident, $what:literal { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
        pub enum $name { $($(#[$variant_doc])* $variant,)+ }

        impl $name {
            /// The names of all variants.
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
    /// How the ranges of activations are determined.
    CalibMode, "calibration mode" {
        /// Each run computes the range from its own data.
        None = "none",
        /// The range goes from the smallest to the largest value in the calibration data.
        Naive = "naive",
        /// The range ends at the threshold with the smallest Kullback-Leibler divergence on the calibration data.
        #[default]
        Entropy = "entropy",
    }
}

words! {
    /// Dtype of quantized activations.
    QuantizedDType, "quantized element type" {
        /// int8 for all activations.
        Int8 = "int8",
        /// uint8 for all activations, for networks whose activations are never negative.
        UInt8 = "uint8",
        /// uint8 for activations without negative values, int8 for all others.
        #[default]
        Auto = "auto",
    }
}

words! {
    /// Which operators are quantized in addition to convolutions and fully connected layers, which always are.
    QuantizeMode, "quantize mode" {
        /// Operators between two convolutions or fully connected layers, so that values stay integers from one layer to
        /// the next.
        #[default]
        Smart = "smart",
        /// All operators that can be quantized.
        Full = "full",
    }
}

words! {
    /// Number of ranges per weight.
    Granularity, "granularity" {
        /// One range for the whole tensor; MXNet 1.9.1 can read such files.
        Tensor = "tensor-wise",
        /// One range per output channel; results are closer to those of the float network.
        #[default]
        Channel = "channel-wise",
    }
}

/// The options of quantization.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantizeOptions {
    /// How the ranges of activations are determined.
    pub calib_mode: CalibMode,
    /// Dtype of quantized activations.
    pub dtype: QuantizedDType,
    /// Which operators are quantized in addition to convolutions and fully connected layers.
    pub mode: QuantizeMode,
    /// How many ranges a weight has.
    pub granularity: Granularity,
    /// Names of nodes that are not quantized.
    pub excluded_names: Vec<String>,
    /// Operators that are not quantized.
    pub excluded_ops: Vec<String>,
    /// Whether batch normalization is folded into the convolution before it.
    pub fold_batch_norm: bool,
    /// Whether to log, for each node, whether it is quantized (`MXNET_QUANTIZATION_VERBOSE`).
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
