//! Makes schedules from their names and settings, as [`LrScheduler::describe`] returns them.

use super::shifted::{FROM, TO};
use super::{Cosine, Factor, LrScheduler, MultiFactor, Poly, Shifted, Warmup, WarmupMode};
use mxrs_types::{Error, Result};
use std::sync::Arc;

/// The schedule of this name, with all its settings as text.
///
/// # Errors
/// Fails if the name is unknown, if a setting is missing, unknown or not a number, or if the schedule refuses it.
pub fn from_description(name: &str, settings: &[(&str, &str)]) -> Result<Arc<dyn LrScheduler>> {
    let read = Reader { name, settings };
    let warmup = Warmup {
        base_lr: read.number("base_lr")?,
        steps: read.count("warmup_steps")?,
        begin_lr: read.number("warmup_begin_lr")?,
        mode: match read.text("warmup_mode")? {
            "linear" => WarmupMode::Linear,
            "constant" => WarmupMode::Constant,
            other => return Err(read.refused("warmup_mode", other, "linear or constant")),
        },
    };
    let (schedule, own): (Arc<dyn LrScheduler>, &[&str]) = match name {
        "FactorScheduler" => {
            let (step, factor) = (read.count("step")?, read.number("factor")?);
            (
                Arc::new(Factor::new(step, factor, read.number("stop_factor_lr")?, warmup)?),
                &["step", "factor", "stop_factor_lr"],
            )
        }
        "MultiFactorScheduler" => {
            let text = read.text("step")?;
            let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
            let steps = inner.and_then(|text| text.split(',').map(|step| step.trim().parse().ok()).collect());
            let steps: Vec<u64> = steps.ok_or_else(|| read.refused("step", text, "counts, such as [10, 20]"))?;
            (Arc::new(MultiFactor::new(steps, read.number("factor")?, warmup)?), &["step", "factor"])
        }
        "PolyScheduler" => {
            let (end, power) = (read.count("max_update")?, read.number("pwr")?);
            (Arc::new(Poly::new(end, power, read.number("final_lr")?, warmup)?), &["max_update", "pwr", "final_lr"])
        }
        "CosineScheduler" => {
            let (end, last) = (read.count("max_update")?, read.number("final_lr")?);
            (Arc::new(Cosine::new(end, last, warmup)?), &["max_update", "final_lr"])
        }
        _ => {
            let expected = "FactorScheduler, MultiFactorScheduler, PolyScheduler or CosineScheduler";
            return Err(Error::invalid("schedule of the learning rate", shortened(name), expected));
        }
    };
    let of_all = ["base_lr", "warmup_steps", "warmup_begin_lr", "warmup_mode", FROM, TO];
    let is_shifted = settings.iter().any(|(key, _)| [FROM, TO].contains(key));
    match settings.iter().find(|(key, _)| !own.contains(key) && !of_all.contains(key)) {
        None if is_shifted => Ok(Arc::new(Shifted { schedule, from: read.count(FROM)?, to: read.count(TO)? })),
        None => Ok(schedule),
        Some((key, _)) => Err(Error::invalid(format!("setting of {name}"), shortened(key), own.join(", "))),
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(80).collect()
}

struct Reader<'a> {
    name: &'a str,
    settings: &'a [(&'a str, &'a str)],
}

impl<'a> Reader<'a> {
    fn refused(&self, key: &str, got: &str, expected: &str) -> Error {
        Error::invalid(format!("{key} of {}", shortened(self.name)), shortened(got), expected)
    }

    fn text(&self, key: &str) -> Result<&'a str> {
        let found = self.settings.iter().find(|(name, _)| *name == key).map(|(_, text)| *text);
        found.ok_or_else(|| self.refused(key, "nothing", "a value"))
    }

    fn number(&self, key: &str) -> Result<f64> {
        let text = self.text(key)?;
        text.parse().ok().filter(|n: &f64| n.is_finite()).ok_or_else(|| self.refused(key, text, "a finite number"))
    }

    fn count(&self, key: &str) -> Result<u64> {
        let text = self.text(key)?;
        text.parse().map_err(|_| self.refused(key, text, "a count"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schedule_is_made_again() {
        let warmup = Warmup { base_lr: 0.3, steps: 7, begin_lr: 0.01, mode: WarmupMode::Constant };
        let shifted = Shifted { schedule: Arc::new(Poly::new(100, 2.0, 0.0, warmup).unwrap()), from: 37, to: 60 };
        let all: [Arc<dyn LrScheduler>; 5] = [
            Arc::new(shifted),
            Arc::new(Factor::new(5, 0.7, 1e-3, warmup).unwrap()),
            Arc::new(MultiFactor::new(vec![10, 25, 30], 0.1, warmup).unwrap()),
            Arc::new(Poly::new(100, 1.7, 0.002, warmup).unwrap()),
            Arc::new(Cosine::new(100, 0.002, warmup).unwrap()),
        ];
        for schedule in all {
            let (name, settings) = schedule.describe();
            let settings: Vec<(&str, &str)> = settings.iter().map(|(key, text)| (*key, text.as_str())).collect();
            let again = from_description(name, &settings).unwrap();
            assert!((0..150).all(|n| again.lr(n) == schedule.lr(n)), "{schedule:?}");
            assert!(from_description(name, &settings[1..]).is_err());
            let more = [&settings[..], &[("color", "red")]].concat();
            assert!(from_description(name, &more).unwrap_err().to_string().contains("color"));
        }
        assert!(from_description("MyScheduler", &[]).is_err());
    }
}
