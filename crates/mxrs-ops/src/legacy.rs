//! Names that only old model files use, and their current names.
//!
//! The old names are not aliases in MXNet's registry; a loader replaces them before it looks up the operator. Every
//! attribute of an old operator is also an attribute of the current operator, with the same default.
//!
//! Some of the old operators can also be called by their own names. A loader replaces these names too, because passes and fast
//! kernels know only the current operators. `Pooling_v1` is not replaced: its results differ from those of `Pooling`.

/// Old names and the current ones.
const LEGACY: &[(&str, &str)] =
    &[("BatchNorm_v1", "BatchNorm"), ("Convolution_v1", "Convolution"), ("CuDNNBatchNorm", "BatchNorm")];

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
    fn successors_are_built_and_read_the_parameters_of_old_operators() {
        let ops = crate::catalog();
        for (old, new) in LEGACY {
            let new = ops.find(new).filter(|op| op.name == *new).unwrap_or_else(|| panic!("{new} is not built"));
            let Some(old) = ops.find(old) else { continue };
            assert_eq!(old.n_aux, new.n_aux, "{}", old.name);
            for param in &old.param_specs {
                assert!(new.param_specs.iter().any(|p| p.name == param.name), "{}: {}", old.name, param.name);
            }
        }
    }
}
