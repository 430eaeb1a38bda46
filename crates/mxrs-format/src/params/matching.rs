//! Matching the arrays of a file with the variables of a graph.

use super::names::statistics_alias;
use crate::{Tensor, fault};
use indexmap::IndexMap;
use mxrs_types::{DType, FormatErrorKind, Result, Shape};

/// Deviations that are accepted when parameters are matched with a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadPolicy {
    /// Ignores arrays for which the graph has no variable.
    pub allow_extra: bool,
    /// Accepts variables for which the file has no array.
    pub allow_missing: bool,
    /// Converts arrays whose element type differs from that of the variable.
    pub cast_dtype: bool,
}

/// A variable that needs an array.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// Name of the variable.
    pub name: String,
    /// Shape of the variable, if known.
    pub shape: Option<Shape>,
    /// Element type of the variable, if known.
    pub dtype: Option<DType>,
}

/// The result of matching.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matched {
    /// The array of each matched variable, in the order of the variables.
    pub found: IndexMap<String, Tensor>,
    /// Variables without an array.
    pub missing: Vec<String>,
    /// Arrays without a variable.
    pub extra: Vec<String>,
}

impl LoadPolicy {
    /// Assigns an array to every variable; names with `running_*` and `moving_*` denote the same statistics.
    ///
    /// # Errors
    /// Returns `Inconsistent`, with the names, for missing or extra arrays and for another shape or dtype, unless the policy
    /// allows that deviation.
    pub fn match_arrays(&self, wanted: &[Wanted], arrays: IndexMap<String, Tensor>) -> Result<Matched> {
        let mut matched = Matched::default();
        // A matched array is replaced by `None`, which keeps the order of the remaining ones.
        let mut arrays: IndexMap<String, Option<Tensor>> = arrays.into_iter().map(|(n, t)| (n, Some(t))).collect();
        for want in wanted {
            let mut take = |name: &str| arrays.get_mut(name).and_then(Option::take);
            match take(&want.name).or_else(|| take(&statistics_alias(&want.name)?)) {
                Some(array) => {
                    matched.found.insert(want.name.clone(), self.fit(want, array)?);
                }
                None => matched.missing.push(want.name.clone()),
            }
        }
        matched.extra = arrays.into_iter().filter(|(_, array)| array.is_some()).map(|(name, _)| name).collect();
        let refuse = |names: &[String], what: &str, allow: &str| {
            let context = format!("{what}: {}; set `{allow}` to load anyway", names.join(", "));
            Err(fault::whole(FormatErrorKind::Inconsistent, context))
        };
        if !matched.missing.is_empty() && !self.allow_missing {
            return refuse(&matched.missing, "the file has no arrays for the variables", "allow_missing");
        }
        if !matched.extra.is_empty() && !self.allow_extra {
            return refuse(&matched.extra, "the graph has no variables for the arrays", "allow_extra");
        }
        Ok(matched)
    }

    fn fit(&self, want: &Wanted, array: Tensor) -> Result<Tensor> {
        let name = &want.name;
        let refuse = |context: String| Err(fault::whole(FormatErrorKind::Inconsistent, context));
        let Some((shape, dtype)) = array.shape().zip(array.dtype()) else {
            return refuse(format!("array `{name}` is a none array, expected values"));
        };
        match (&want.shape, want.dtype) {
            (Some(expected), _) if expected != shape => {
                refuse(format!("array `{name}` has shape {shape} in the file, the graph expects {expected}"))
            }
            (_, Some(expected)) if expected != dtype && !self.cast_dtype => refuse(format!(
                "array `{name}` is {dtype} in the file, the graph expects {expected}; set `cast_dtype` to convert"
            )),
            (_, Some(expected)) if expected != dtype => Ok(array.cast(expected)),
            _ => Ok(array),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn want(name: &str) -> Wanted {
        Wanted { name: name.into(), shape: Some([2].into()), dtype: Some(DType::F32) }
    }

    fn arrays(names: &[&str]) -> IndexMap<String, Tensor> {
        names.iter().map(|n| (n.to_string(), Tensor::from_slice([2], &[1.0f32, 2.0]).unwrap())).collect()
    }

    fn text(policy: LoadPolicy, wanted: &[Wanted], arrays: IndexMap<String, Tensor>) -> String {
        policy.match_arrays(wanted, arrays).unwrap_err().to_string()
    }

    #[test]
    fn missing_and_extra_names() {
        let strict = LoadPolicy::default();
        assert!(text(strict, &[want("a")], arrays(&[])).contains("variables: a; set `allow_missing`"));
        assert!(text(strict, &[], arrays(&["b"])).contains("arrays: b; set `allow_extra`"));
        let loose = LoadPolicy { allow_extra: true, allow_missing: true, cast_dtype: false };
        let matched = loose.match_arrays(&[want("a"), want("c")], arrays(&["b", "c"])).unwrap();
        assert_eq!((matched.missing, matched.extra), (vec!["a".to_string()], vec!["b".to_string()]));
        assert!(matched.found.contains_key("c"));
    }

    #[test]
    fn shapes_types_and_statistics() {
        let strict = LoadPolicy::default();
        assert!(strict.match_arrays(&[want("bn_moving_mean")], arrays(&["bn_running_mean"])).is_ok());
        let wide = Wanted { shape: Some([3].into()), ..want("a") };
        assert!(text(strict, &[wide], arrays(&["a"])).contains("has shape (2,) in the file, the graph expects (3,)"));
        let half = Wanted { dtype: Some(DType::F16), ..want("a") };
        assert!(text(strict, std::slice::from_ref(&half), arrays(&["a"])).contains("is float32 in the file"));
        let casting = LoadPolicy { cast_dtype: true, ..strict };
        let matched = casting.match_arrays(&[half], arrays(&["a"])).unwrap();
        assert_eq!(matched.found["a"].dtype(), Some(DType::F16));
    }
}
