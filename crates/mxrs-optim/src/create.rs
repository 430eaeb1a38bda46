//! Makes optimizers by name.

use crate::optimizers::*;
use crate::{Optimizer, Settings, config};
use mxrs_types::{Error, Result};

type Create = fn(&Settings<'_>) -> Result<Box<dyn Optimizer>>;

macro_rules! table {
    ($($name:literal => $kind:ty),* $(,)?) => {
        /// Names of all optimizers, in lower case.
        pub const NAMES: &[&str] = &[$($name),*];

        /// The functions that read the settings of each optimizer, in the order of `NAMES`.
        const CREATE: &[Create] = &[$(config::read::<$kind>),*];
    };
}

table! {
    "sgd" => Sgd,
    "ccsgd" => Sgd,
    "nag" => Nag,
    "signum" => Signum,
    "ftml" => Ftml,
    "lars" => Lars,
    "lbsgd" => LbSgd,
    "lamb" => Lamb,
    "dcasgd" => DcAsgd,
    "sgld" => Sgld,
    "adam" => Adam,
    "adamw" => AdamW,
    "adagrad" => AdaGrad,
    "groupadagrad" => GroupAdaGrad,
    "rmsprop" => RmsProp,
    "adadelta" => AdaDelta,
    "ftrl" => Ftrl,
    "adamax" => Adamax,
    "nadam" => Nadam,
    "test" => Test,
}

/// Makes an optimizer by MXNet's name, ignoring case. Settings are texts under MXNet's names (`learning_rate`, `wd`,
/// `momentum`, …), as in command lines and files; the text `None` means that a setting is not given. For settings as
/// structs, see [`optimizers`](crate::optimizers).
///
/// ```
/// let adam = mxrs_optim::create("Adam", &[("learning_rate", "0.01"), ("wd", "1e-4")])?;
/// assert_eq!(adam.name(), "adam");
/// let error = mxrs_optim::create("adma", &[]).err().unwrap().to_string();
/// assert!(error.contains("adam"));
/// # Ok::<(), mxrs_types::Error>(())
/// ```
///
/// # Errors
/// Fails if the name is unknown (the error suggests the nearest name), if the optimizer does not have one of the settings,
/// or if a value is out of range.
pub fn create(name: &str, params: &[(&str, &str)]) -> Result<Box<dyn Optimizer>> {
    let small = name.to_ascii_lowercase();
    let Some(at) = NAMES.iter().position(|known| *known == small) else {
        let likeness = |known: &str| strsim::jaro_winkler(known, &small);
        let near = NAMES.iter().copied().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
        let near = near.filter(|near| likeness(near) > 0.7);
        let hint = near.map(|near| format!("`{near}`? There are ")).unwrap_or_default();
        let got = name.chars().take(80).collect::<String>();
        return Err(Error::invalid("optimizer", got, format!("{hint}{}", NAMES.join(", "))));
    };
    let settings = Settings::new(NAMES[at], params);
    let optimizer = CREATE[at](&settings)?;
    settings.finish()?;
    Ok(optimizer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_made_by_their_names() {
        for name in NAMES {
            let made = create(&name.to_uppercase(), &[("wd", "0"), ("rescale_grad", "0.5")]).expect("defaults suffice");
            let own = if *name == "ccsgd" { "sgd" } else { *name };
            assert_eq!(made.name(), own);
            assert_eq!(made.common().rescale_grad, 0.5);
        }
    }

    /// Each file of `optimizers/` has the name of the optimizer that it declares.
    #[test]
    fn every_file_is_listed() {
        let modules =
            include_str!("optimizers/mod.rs").lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
        let missing: Vec<&str> = modules.filter(|file| !NAMES.contains(file)).collect();
        assert!(missing.is_empty(), "{missing:?} are missing from the table of `create.rs`");
    }

    #[test]
    fn wrong_settings_are_refused_by_all() {
        for name in NAMES {
            for wrong in [("learning_rate", "nan"), ("clip_gradient", "-1"), ("wd", "inf"), ("learning_rat", "0.1")] {
                let message = create(name, &[wrong]).err().unwrap_or_else(|| panic!("{name} takes {wrong:?}"));
                assert!(message.to_string().contains(wrong.0), "{message}");
            }
        }
        assert!(create("sgd", &[("momentum", "-0.5")]).is_err());
        let message = create("adma", &[]).err().expect("no such optimizer").to_string();
        assert!(message.contains("`adam`?"), "{message}");
    }
}
