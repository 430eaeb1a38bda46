//! Factors of learning rate and weight decay, by parameter.

use std::collections::{BTreeMap, HashMap};

/// Which parameters, selected by name, have a weight decay by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Decayed {
    /// Names that end in `_weight` or `_gamma`, as in MXNet's `Module`.
    #[default]
    WeightsAndGammas,
    /// Names that end in `_weight` (LARS).
    Weights,
    /// All names, as in Gluon's trainer.
    All,
}

impl Decayed {
    /// The word for this choice in the description of an updater.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::WeightsAndGammas => "weights_and_gammas",
            Self::Weights => "weights",
            Self::All => "all",
        }
    }

    /// The choice for a word.
    pub(crate) fn of_word(word: &str) -> mxrs_types::Result<Self> {
        let all = [Self::WeightsAndGammas, Self::Weights, Self::All];
        all.into_iter().find(|choice| choice.word() == word).ok_or_else(|| {
            let got: String = word.chars().take(80).collect();
            mxrs_types::Error::invalid("decayed", got, "weights_and_gammas, weights or all")
        })
    }
}

/// Factors of learning rate and weight decay, by parameter name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Multipliers {
    lr: HashMap<String, f64>,
    wd: HashMap<String, f64>,
    /// The parameters that have a weight decay if no factor is set for them.
    pub decayed: Decayed,
}

impl Multipliers {
    /// Sets factors of the learning rate; other names keep their factors. These factors take precedence over a symbol's
    /// `__lr_mult__` attributes.
    pub fn set_lr_mult(&mut self, factors: impl IntoIterator<Item = (String, f64)>) {
        self.lr.extend(factors);
    }

    /// Sets factors of the weight decay; other names keep their factors. These factors take precedence over a symbol's
    /// `__wd_mult__` attributes.
    pub fn set_wd_mult(&mut self, factors: impl IntoIterator<Item = (String, f64)>) {
        self.wd.extend(factors);
    }

    /// Takes a variable's factors from its attributes `__lr_mult__` and `__wd_mult__`, unless factors were set for the
    /// variable.
    ///
    /// # Errors
    /// Fails if a text is not a finite number; the error names the attribute and the text.
    pub fn take_attributes<'a>(
        &mut self,
        name: &str,
        attrs: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> mxrs_types::Result<()> {
        for (key, text) in attrs {
            let map = match key {
                "__lr_mult__" | "lr_mult" => &mut self.lr,
                "__wd_mult__" | "wd_mult" => &mut self.wd,
                _ => continue,
            };
            let value = text.trim().parse::<f64>().ok().filter(|value| value.is_finite());
            let value = value.ok_or_else(|| {
                mxrs_types::Error::invalid(format!("attribute {key} of `{name}`"), text, "a finite number")
            })?;
            map.entry(name.to_string()).or_insert(value);
        }
        Ok(())
    }

    /// The factors of learning rates that were set, by name in alphabetical order.
    pub(crate) fn lr_factors(&self) -> BTreeMap<&str, f64> {
        self.lr.iter().map(|(name, factor)| (name.as_str(), *factor)).collect()
    }

    /// The factors of weight decays that were set, by name in alphabetical order.
    pub(crate) fn wd_factors(&self) -> BTreeMap<&str, f64> {
        self.wd.iter().map(|(name, factor)| (name.as_str(), *factor)).collect()
    }

    /// Factor of a parameter's learning rate.
    pub fn lr(&self, name: &str) -> f64 {
        self.lr.get(name).copied().unwrap_or(1.0)
    }

    /// Factor of a parameter's weight decay.
    pub fn wd(&self, name: &str) -> f64 {
        self.wd.get(name).copied().unwrap_or_else(|| {
            let decays = match self.decayed {
                Decayed::All => true,
                Decayed::Weights => name.ends_with("_weight"),
                Decayed::WeightsAndGammas => name.ends_with("_weight") || name.ends_with("_gamma"),
            };
            f64::from(u8::from(decays))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decay_goes_by_the_end_of_the_name() {
        let mut mult = Multipliers::default();
        assert_eq!(["a_weight", "a_gamma", "a_bias", "weight"].map(|name| mult.wd(name)), [1.0, 1.0, 0.0, 0.0]);
        mult.set_wd_mult([("a_bias".to_string(), 2.0)]);
        mult.take_attributes("a_weight", [("__wd_mult__", "0.5"), ("__lr_mult__", " 3 "), ("other", "x")]).unwrap();
        assert_eq!((mult.wd("a_bias"), mult.wd("a_weight"), mult.lr("a_weight")), (2.0, 0.5, 3.0));
        mult.take_attributes("a_bias", [("__wd_mult__", "0.5"), ("__lr_mult__", "4")]).unwrap();
        assert_eq!((mult.wd("a_bias"), mult.lr("a_bias")), (2.0, 4.0), "what was set stays");
        mult.decayed = Decayed::All;
        assert_eq!(mult.wd("b_bias"), 1.0);
        assert!(mult.take_attributes("a", [("__lr_mult__", "nan")]).is_err());
    }
}
