//! What a caller chooses: MXNet's options of `quantize_model`, by its words.

use mxrs_types::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// Declares an enum of words: `Display` writes them, `FromStr` reads them.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident, $what:literal { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
        pub enum $name { $($(#[$variant_doc])* $variant,)+ }

        impl $name {
            /// Every word.
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
        /// Nowhere: they are computed at each run.
        None = "none",
        /// Least and greatest value over the calibration data.
        Naive = "naive",
        /// The threshold with the least Kullback-Leibler divergence over the calibration data.
        #[default]
        Entropy = "entropy",
    }
}

words! {
    /// Element type of quantized activations.
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
    /// Which operators are quantized among those that need not be.
    QuantizeMode, "quantize mode" {
        /// Those between two that must be, so that nothing is converted in vain.
        #[default]
        Smart = "smart",
        /// All that can be.
        Full = "full",
    }
}

words! {
    /// How many ranges a weight has.
    Granularity, "granularity" {
        /// One for the whole tensor: files that MXNet 1.9.1 understands.
        Tensor = "tensor-wise",
        /// One for each output channel: closer to the float network.
        #[default]
        Channel = "channel-wise",
    }
}

/// How a network is quantized.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantizeOptions {
    /// Where ranges come from.
    pub calib_mode: CalibMode,
    /// Element type of activations.
    pub dtype: QuantizedDType,
    /// Which operators.
    pub mode: QuantizeMode,
    /// Ranges of weights.
    pub granularity: Granularity,
    /// Names of nodes that stay as they are.
    pub excluded_names: Vec<String>,
    /// Operators that stay as they are.
    pub excluded_ops: Vec<String>,
    /// Whether batch normalization becomes part of the convolution before it.
    pub fold_batch_norm: bool,
    /// Whether each node that is changed or left is logged (`MXNET_QUANTIZATION_VERBOSE`).
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
