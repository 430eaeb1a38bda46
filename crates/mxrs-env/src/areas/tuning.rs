//! Operator tuning: measures times, so that the fastest algorithm for an operator can be chosen.

use crate::kind::grammar;
use crate::{Kind, settings};
use mxrs_types::DType;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// The element types that `MXNET_USE_OPERATOR_TUNING` may name.
const TUNABLE: [DType; 8] =
    [DType::F32, DType::F64, DType::F16, DType::BF16, DType::I8, DType::U8, DType::I32, DType::I64];

/// The element types for which measured times are used.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(try_from = "String")]
pub enum OperatorTuning {
    /// Measured times are used for no type, and nothing is measured.
    Off,
    /// Measured times are used for every type that can be tuned.
    All,
    /// Measured times are used for these types only. They are in the order given.
    Only(Vec<DType>),
}

impl OperatorTuning {
    /// Whether operators on `dtype` are tuned.
    pub fn covers(&self, dtype: DType) -> bool {
        match self {
            Self::Off => false,
            Self::All => TUNABLE.contains(&dtype),
            Self::Only(dtypes) => dtypes.contains(&dtype),
        }
    }
}

impl OperatorTuning {
    fn parse(text: &str) -> Result<Self, String> {
        match text.trim() {
            "0" => Ok(Self::Off),
            "1" => Ok(Self::All),
            list => list.split(',').map(|name| tunable(name.trim())).collect::<Result<_, _>>().map(Self::Only),
        }
    }
}

fn tunable(name: &str) -> Result<DType, String> {
    TUNABLE.into_iter().find(|dtype| dtype.name() == name).ok_or_else(|| format!("`{name}` is none of these"))
}

grammar!(
    OperatorTuning,
    "list",
    "0, 1, or a list with commas of float32, float64, float16, bfloat16, int8, uint8, int32, int64"
);

/// The place where results of kernel tuning are kept.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(try_from = "String")]
pub enum TuningCache {
    /// No file: results are neither kept nor used.
    Off,
    /// The file with this path.
    File(PathBuf),
}

impl TuningCache {
    fn parse(text: &str) -> Result<Self, String> {
        match text.trim() {
            "0" => Ok(Self::Off),
            path if Path::new(path).is_absolute() => Ok(Self::File(path.into())),
            path => Err(format!("`{path}` is not an absolute path")),
        }
    }
}

grammar!(TuningCache, "file", "0, or an absolute path");

settings! {
    /// Operator tuning: measures times, so that the fastest algorithm for an operator can be chosen.
    pub struct TuningSettings in Tuning {
        /// Element types for which measured times choose kernels: 0 none, 1 all, or a list. The times are the results of
        /// `mxrs tune`. They choose the kernels of convolutions and fully connected layers at inference. Pointwise loops
        /// are not measured yet.
        operators: Option<OperatorTuning> = unset("all types"), "MXNET_USE_OPERATOR_TUNING" [D93 Process Core];
        /// File in which results of kernel tuning are kept; 0: results are neither kept nor used.
        kernel_cache: Option<TuningCache> = unset("mxrs/tuning.json in $XDG_CACHE_HOME or $HOME/.cache"), "MXRS_TUNING_CACHE"
            [M11 Process Core];
        /// Largest team size that the start-up measurement tries. With 1, tuned types never use a team.
        max_team: Option<NonZeroUsize> = unset("half the logical CPUs"), "MXNET_USE_NUM_CORES_OPERATOR_TUNING"
            [D94 Process LoopTuning];
        /// Prints the measured values for later use.
        output_data: bool = 0, "MXNET_OUTPUT_TUNING_DATA" [B34 Process LoopTuning];
        /// Logs the time to start a team of each size, and the time per element type.
        verbose: bool = 0, "MXNET_VERBOSE_TUNING_INFO" [B35 Process LoopTuning];
        /// A value above 0.01 replaces the built-in estimate of how much work one element is, for all element types.
        weight_scale: f64 = 0, "MXNET_TUNING_WEIGHT_SCALE" [B36 Process LoopTuning],
            Kind::Float { min: 0.0, above_min: false, max: f64::MAX };
    }
}

impl TuningSettings {
    /// The element types for which measured times are used, with the default filled in.
    pub fn operator_tuning(&self) -> OperatorTuning {
        self.operators.clone().unwrap_or(OperatorTuning::All)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Setting;

    #[test]
    fn a_list_covers_exactly_its_types() {
        let list = OperatorTuning::try_from("float64, int8".to_owned()).unwrap();
        let covered: Vec<_> = DType::ALL.into_iter().filter(|&dtype| list.covers(dtype)).collect();
        assert_eq!(covered, [DType::F64, DType::I8]);
        assert!(OperatorTuning::All.covers(DType::BF16) && !OperatorTuning::All.covers(DType::Bool));
        assert!(!OperatorTuning::Off.covers(DType::F32));
        assert!(TuningSettings::default().operator_tuning().covers(DType::F32));
    }

    #[test]
    fn a_cache_is_an_absolute_path_or_none() {
        assert_eq!(TuningCache::try_from(" 0 ".to_owned()), Ok(TuningCache::Off));
        let path = if cfg!(windows) { "C:\\x\\y" } else { "/x/y" };
        assert_eq!(TuningCache::try_from(path.to_owned()), Ok(TuningCache::File(path.into())));
        for text in ["", "1", "x/y", "./x"] {
            assert!(TuningCache::KIND.check(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn unknown_types_are_refused() {
        for text in ["2", "float", "float32,", "float32 float64", "Float32", "bool", "0,1"] {
            let expected = OperatorTuning::KIND.check(text).unwrap_err();
            assert!(expected.starts_with("0, 1, or a list"), "{text:?}: {expected}");
        }
    }
}
