//! Which steps of a training are recorded.

/// A cycle of training steps: the first ones are not recorded, the next ones warm up, and the last ones are recorded.
/// [`crate::Profiler::step`] ends a step.
///
/// Records of steps that warm up are made and discarded, so that caches, threads and memory pools are in their usual state
/// when recording begins.
///
/// ```
/// use mxrs_profiler::{Phase, Schedule};
/// let schedule = Schedule { skip: 1, wait: 1, warm_up: 1, record: 2, repeat: 1 };
/// let phases: Vec<Phase> = (0..7).map(|step| schedule.phase(step)).collect();
/// use Phase::{Record, Wait, WarmUp};
/// assert_eq!(phases, [Wait, Wait, WarmUp, Record, Record, Wait, Wait]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Schedule {
    /// The steps before the first cycle.
    pub skip: u64,
    /// The steps at the begin of a cycle that are not recorded.
    pub wait: u64,
    /// The steps after the `wait` steps. Their records are discarded.
    pub warm_up: u64,
    /// The steps at the end of a cycle that are recorded.
    pub record: u64,
    /// The number of cycles; 0 for no limit.
    pub repeat: u64,
}

/// What happens to the records of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// No records are made.
    Wait,
    /// Records are made and discarded.
    WarmUp,
    /// Records are kept.
    Record,
}

impl Schedule {
    /// The phase of a step, counted from 0.
    #[must_use]
    pub fn phase(&self, step: u64) -> Phase {
        let cycle = self.wait.saturating_add(self.warm_up).saturating_add(self.record);
        let Some(step) = step.checked_sub(self.skip) else { return Phase::Wait };
        if cycle == 0 || (self.repeat > 0 && step / cycle >= self.repeat) {
            return Phase::Wait;
        }
        match step % cycle {
            at if at < self.wait => Phase::Wait,
            at if at - self.wait < self.warm_up => Phase::WarmUp,
            _ => Phase::Record,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_repeat_without_limit_or_up_to_one() {
        let forever = Schedule { skip: 0, wait: 1, warm_up: 0, record: 1, repeat: 0 };
        assert!((0..100).all(|step| forever.phase(step) == [Phase::Wait, Phase::Record][(step % 2) as usize]));
        let twice = Schedule { repeat: 2, ..forever };
        assert_eq!((0..100).filter(|step| twice.phase(*step) == Phase::Record).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(Schedule::default().phase(0), Phase::Wait, "a cycle without steps");
        let huge = Schedule { wait: u64::MAX, record: u64::MAX, ..Schedule::default() };
        assert_eq!(huge.phase(5), Phase::Wait);
    }
}
