//! Decides which checkpoints are kept and removes the others.

use super::Position;
use mxrs_types::Result;
use std::path::PathBuf;

/// Removes checkpoints that need not be kept, after a newer one is complete.
#[derive(Clone, Debug, Default)]
pub struct Keeper {
    prefix: PathBuf,
    keep_last: Option<usize>,
    keep_best: bool,
    /// Epochs whose checkpoints exist, oldest first.
    written: Vec<u64>,
    /// The best epoch so far (as the number of epochs done) and its metric value.
    best: Option<(u64, f64)>,
    /// The newest checkpoint that was written within an epoch.
    within: Option<Position>,
}

/// Whether a smaller value of this metric is better.
fn less_is_better(metric: &str) -> bool {
    ["mae", "mse", "rmse", "loss", "nll-loss", "cross-entropy", "perplexity", "torch", "caffe"].contains(&metric)
}

/// Whether `new` is better than `old`. NaN is never better; a number is better than NaN and than `None`.
fn is_better(metric: &str, new: f64, old: Option<f64>) -> bool {
    match old.filter(|old| !old.is_nan()) {
        _ if new.is_nan() => false,
        None => true,
        Some(old) if less_is_better(metric) => new < old,
        Some(old) => new > old,
    }
}

impl Keeper {
    /// Keeps the last `keep_last` checkpoints (all if it is `None`), and with `keep_best` also the one whose first validation
    /// metric is best: the smallest value if the metric is an error or a loss, otherwise the largest.
    pub fn new(prefix: impl Into<PathBuf>, keep_last: Option<usize>, keep_best: bool) -> Self {
        let keep_last = keep_last.map(|n| n.max(1));
        Self { prefix: prefix.into(), keep_last, keep_best, ..Self::default() }
    }

    /// Continues the work of an earlier run: `written` are the epochs whose checkpoints exist, `best` is the best of them.
    pub fn go_on(&mut self, written: Vec<u64>, best: Option<(u64, f64)>, within: Option<Position>) {
        (self.written, self.best, self.within) = (written, best, within);
    }

    /// The best epoch so far and its metric value.
    pub fn best(&self) -> Option<(u64, f64)> {
        self.best
    }

    /// Records that a checkpoint was written at `position`, and removes older ones that need not be kept.
    pub fn wrote(&mut self, position: Position) {
        if let Some(old) = self.within.take().filter(|old| *old != position) {
            self.remove(old);
        }
        if position.batch > 0 {
            self.within = Some(position);
            return;
        }
        self.written.retain(|epoch| *epoch != position.epoch);
        self.written.push(position.epoch);
        let Some(n) = self.keep_last else { return };
        while self.written.len() > n {
            let old = self.written.remove(0);
            if !self.keep_best || self.best.is_none_or(|(best, _)| best != old) {
                self.remove(Position::epoch(old));
            }
        }
    }

    /// The epoch that a resumed training has to validate first: the newest checkpoint was written at its end, and is not
    /// recorded as the best. It may have been validated before, but then it was not the best.
    pub fn unvalidated(&self) -> Option<u64> {
        let done = self.written.last().filter(|_| self.keep_best && self.within.is_none())?;
        let is_best = self.best.is_some_and(|(best, _)| best == *done);
        if is_best { None } else { done.checked_sub(1) }
    }

    /// Records the validation metrics of an epoch. If the epoch is the best so far, calls `tell` to record that; then removes
    /// the checkpoint of the previous best epoch, unless it must be kept.
    ///
    /// # Errors
    /// Returns the error of `tell`.
    pub fn validated(
        &mut self,
        epochs_done: u64,
        metrics: &[(String, f64)],
        tell: impl FnOnce((u64, f64)) -> Result<()>,
    ) -> Result<()> {
        let Some((name, value)) = metrics.first() else { return Ok(()) };
        let is_there = self.written.last() == Some(&epochs_done);
        if !self.keep_best || !is_there || !is_better(name, *value, self.best.map(|(_, value)| value)) {
            return Ok(());
        }
        let best = (epochs_done, *value);
        // `tell` comes before the removal, so that a killed process never leaves states that name a removed checkpoint as the
        // best.
        tell(best)?;
        let replaced = self.best.replace(best);
        if let Some((old, _)) = replaced.filter(|(old, _)| !self.written.contains(old)) {
            self.remove(Position::epoch(old));
        }
        Ok(())
    }

    /// Removes the states first, so that a process killed between the two removals leaves parameters without states.
    fn remove(&self, position: Position) {
        for suffix in [".states", ".params"] {
            // An error is ignored: the file may already be removed.
            let _ = std::fs::remove_file(position.path(&self.prefix, suffix));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn better_is_more_or_less() {
        assert!(is_better("accuracy", 0.1, None) && is_better("accuracy", 0.2, Some(0.1)));
        assert!(!is_better("accuracy", 0.1, Some(0.1)) && !is_better("mse", 0.2, Some(0.1)));
        assert!(!is_better("mse", f64::NAN, None) && !is_better("accuracy", f64::NAN, Some(f64::NAN)));
        assert!(is_better("mse", 0.1, Some(0.2)) && is_better("mse", 0.1, Some(f64::NAN)));
    }

    #[test]
    fn the_best_before_stays_until_the_new_one_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let prefix = dir.path().join("net");
        let mut keeper = Keeper::new(&prefix, Some(1), true);
        let params = |epoch: u64| Position::epoch(epoch).path(&prefix, ".params");
        for (epoch, value) in [(1, 0.5), (2, 0.9)] {
            std::fs::write(params(epoch), "").unwrap();
            keeper.wrote(Position::epoch(epoch));
            let mut told = None;
            let tell = |best: (u64, f64)| {
                assert!(params(1).exists());
                told = Some(best);
                Ok(())
            };
            keeper.validated(epoch, &[("accuracy".into(), value)], tell).unwrap();
            assert_eq!(told, Some((epoch, value)));
        }
        assert!(!params(1).exists() && params(2).exists());
        keeper.wrote(Position::epoch(3));
        keeper.validated(3, &[("accuracy".into(), 0.6)], |_| panic!("it is not the best")).unwrap();
    }

    #[test]
    fn what_may_be_the_best_is_validated() {
        let keeper = |keep_best: bool, best: Option<(u64, f64)>, within: Option<Position>| {
            let mut keeper = Keeper::new("net", None, keep_best);
            keeper.go_on(vec![1, 2], best, within);
            keeper
        };
        assert_eq!(keeper(true, None, None).unvalidated(), Some(1));
        assert_eq!(keeper(true, Some((1, 0.5)), None).unvalidated(), Some(1));
        assert_eq!(keeper(true, Some((2, 0.9)), None).unvalidated(), None);
        assert_eq!(keeper(true, None, Some(Position { epoch: 2, batch: 1 })).unvalidated(), None);
        assert_eq!(keeper(false, None, None).unvalidated(), None);
        assert_eq!(Keeper::new("net", None, true).unvalidated(), None);
    }

    #[test]
    fn the_last_and_the_best_stay() {
        let dir = tempfile::tempdir().unwrap();
        let prefix = dir.path().join("net");
        let mut keeper = Keeper::new(&prefix, Some(2), true);
        let write = |position: Position| {
            for suffix in [".params", ".states"] {
                std::fs::write(position.path(&prefix, suffix), "").unwrap();
            }
        };
        for (epoch, value) in [0.1, 0.9, 0.5, 0.6, 0.7].into_iter().enumerate() {
            let (within, done) = (Position { epoch: epoch as u64, batch: 7 }, Position::epoch(epoch as u64 + 1));
            for position in [within, done] {
                write(position);
                keeper.wrote(position);
            }
            keeper.validated(done.epoch, &[("accuracy".into(), value)], |_| Ok(())).unwrap();
        }
        let mut left: Vec<String> = std::fs::read_dir(dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.ends_with(".params"))
            .collect();
        left.sort();
        assert_eq!(left, ["net-0002.params", "net-0004.params", "net-0005.params"]);
        assert_eq!(keeper.best(), Some((2, 0.9)));
    }
}
