//! Names that only old model files use, and their current names.
//!
//! The old names are not aliases in MXNet's registry; a loader replaces them before it looks up the operator. Every
//! attribute of an old operator is also an attribute of the current operator, with the same default.

/// Old names and the current ones.
const LEGACY: &[(&str, &str)] = &[
    ("BatchNorm_v1", "BatchNorm"),
    ("Convolution_v1", "Convolution"),
    ("CuDNNBatchNorm", "BatchNorm"),
    ("Pooling_v1", "Pooling"),
];

/// Current name of an operator, for a name that only old files use.
///
/// ```
/// assert_eq!(mxrs_ops::legacy_name("Convolution_v1"), Some("Convolution"));
/// assert_eq!(mxrs_ops::legacy_name("Convolution"), None);
/// ```
pub fn legacy_name(name: &str) -> Option<&'static str> {
    LEGACY.iter().find(|(old, _)| *old == name).map(|(_, new)| *new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn successors_are_built_and_old_names_are_not() {
        let ops = crate::catalog();
        for (old, new) in LEGACY {
            assert!(ops.find(old).is_none(), "{old} is a name of its own");
            assert!(ops.find(new).is_some_and(|op| op.name == *new), "{new}");
        }
    }
}
