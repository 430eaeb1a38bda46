//! The three naming schemes of parameter files.

/// Naming scheme of a parameter file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameForm {
    /// Checkpoints and exported blocks: `arg:fc1_weight`, `aux:bn_moving_mean`.
    Prefixed,
    /// Gluon's `save_parameters`: `features.0.weight`.
    Structural,
    /// Older Gluon files: `resnetv10_conv0_weight`.
    Full,
}

impl NameForm {
    /// Detects the scheme from the names of a file: prefixed if all names have a prefix, full if none has a dot, else
    /// structural.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str> + Clone) -> Self {
        let mut count = 0;
        let all_prefixed = names.clone().into_iter().inspect(|_| count += 1).all(|n| split_prefix(n).is_some());
        if count > 0 && all_prefixed {
            Self::Prefixed
        } else if names.into_iter().any(|n| n.contains('.')) {
            Self::Structural
        } else {
            Self::Full
        }
    }
}

/// Splits `arg:name` or `aux:name` at the first colon; the returned flag is `true` for `aux`.
pub(super) fn split_prefix(name: &str) -> Option<(bool, &str)> {
    match name.split_once(':')? {
        ("arg", rest) => Some((false, rest)),
        ("aux", rest) => Some((true, rest)),
        _ => None,
    }
}

/// The alternative name of a batch statistic: Gluon uses `running_mean`, symbols use `moving_mean`.
///
/// ```
/// use mxrs_format::params::statistics_alias;
/// assert_eq!(statistics_alias("bn0_running_var").as_deref(), Some("bn0_moving_var"));
/// assert_eq!(statistics_alias("bn0_gamma"), None);
/// ```
pub fn statistics_alias(name: &str) -> Option<String> {
    const PAIRS: [(&str, &str); 4] = [
        ("running_mean", "moving_mean"),
        ("running_var", "moving_var"),
        ("moving_mean", "running_mean"),
        ("moving_var", "running_var"),
    ];
    PAIRS.iter().find_map(|(from, to)| name.strip_suffix(from).map(|start| format!("{start}{to}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        assert_eq!(NameForm::of(["arg:a", "aux:b:c"]), NameForm::Prefixed);
        assert_eq!(NameForm::of(["features.0.weight", "x"]), NameForm::Structural);
        assert_eq!(NameForm::of(["resnetv10_conv0_weight"]), NameForm::Full);
        assert_eq!(NameForm::of(std::iter::empty::<&str>()), NameForm::Full);
    }

    #[test]
    fn prefixes_split_at_the_first_colon() {
        assert_eq!(split_prefix("aux:a:b"), Some((true, "a:b")));
        assert_eq!(split_prefix("opt:a"), None);
        assert_eq!(split_prefix("a"), None);
    }
}
