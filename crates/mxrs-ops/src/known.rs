//! The names of MXNet's operators, whether or not this crate implements them.

use mxrs_op::{OpDef, OpSet};
use mxrs_types::{Error, ErrorKind, Result};
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

/// One operator per line: canonical name, then aliases.
const NAMES: &str = include_str!("names.txt");

/// All known names as `(name or alias, canonical name)`.
pub fn known_names() -> impl Iterator<Item = (&'static str, &'static str)> {
    NAMES.lines().flat_map(|line| {
        let canonical = line.split(' ').next().unwrap_or_default();
        line.split(' ').map(move |name| (name, canonical))
    })
}

/// Canonical name of an operator that MXNet has but this catalog does not. `None` for operators that are built and for
/// unknown names.
///
/// ```
/// assert_eq!(mxrs_ops::not_built("_npi_cvimdecode"), Some("_cvimdecode"));
/// assert_eq!(mxrs_ops::not_built("Convolution"), None);
/// assert_eq!(mxrs_ops::not_built("Convolutoin"), None);
/// ```
pub fn not_built(name: &str) -> Option<&'static str> {
    let (_, canonical) = known_names().find(|(known, _)| *known == name)?;
    static BUILT: OnceLock<HashSet<&'static str>> = OnceLock::new();
    let built = BUILT.get_or_init(|| crate::declared_in().map(|(_, op)| op.name).collect());
    let is_built = crate::legacy_name(name).is_some() || built.contains(canonical);
    (!is_built).then_some(canonical)
}

/// Finds an operator as a loader should: by name, alias or old name. Distinguishes operators that are not built from
/// unknown names.
///
/// # Errors
/// [`ErrorKind::NotBuilt`] for a known operator that is not built, otherwise [`ErrorKind::UnknownOperator`] with the
/// nearest names.
pub fn find<'a>(ops: &'a OpSet, name: &str) -> Result<&'a Arc<OpDef>> {
    if let Some(op) = crate::legacy_name(name).and_then(|current| ops.find(current)).or_else(|| ops.find(name)) {
        return Ok(op);
    }
    if let Some(canonical) = not_built(name) {
        let what =
            if canonical == name { format!("operator {name}") } else { format!("operator {name} ({canonical})") };
        return Err(Error::not_built(
            what,
            "it is listed but not built in this version; `mxrs ops` lists those that are",
        ));
    }
    let mut near: Vec<(f64, &str)> = known_names()
        .map(|(known, _)| (strsim::jaro_winkler(known, name), known))
        .filter(|(score, _)| *score > 0.8)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    Err(Error::new(ErrorKind::UnknownOperator {
        name: name.chars().take(120).collect(),
        nearest: near.into_iter().take(3).map(|(_, known)| known.to_string()).collect(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_kinds_of_names() {
        let ops = crate::catalog();
        assert_eq!(find(&ops, "concat").map(|op| op.name), Ok("Concat"));
        assert_eq!(find(&ops, "CuDNNBatchNorm").map(|op| op.name), Ok("BatchNorm"));
        let message = find(&ops, "_npi_cvimdecode").unwrap_err().to_string();
        assert!(message.contains("operator _npi_cvimdecode (_cvimdecode) is not built"), "{message}");
        let message = find(&ops, "Convolutoin").unwrap_err().to_string();
        assert!(message.contains("unknown operator") && message.contains("Convolution"), "{message}");
    }
}
