//! Measures how busy the machine is and how much of that is due to our processes, to report what else ran while peers were
//! measured. Linux only.

use std::time::Instant;

/// Processor time that the whole machine and our processes had used up to a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    when: Instant,
    machine_s: f64,
    ours_s: f64,
}

impl Moment {
    /// The values now. `ours_s` is the processor time that our processes have used so far, in seconds. `None` if the system
    /// does not report the processor time of the whole machine.
    pub fn now(ours_s: f64) -> Option<Self> {
        let machine_s = busy_ticks(&std::fs::read_to_string("/proc/stat").ok()?)? / ticks_per_second();
        Some(Self { when: Instant::now(), machine_s, ours_s })
    }

    /// Average number of CPUs that other processes kept busy from `self` to `now`.
    pub fn others_since(&self, now: &Self) -> f64 {
        let others = (now.machine_s - self.machine_s) - (now.ours_s - self.ours_s);
        let seconds = now.when.duration_since(self.when).as_secs_f64();
        if seconds > 0.0 { (others / seconds).max(0.0) } else { 0.0 }
    }
}

/// Processor time of a process, in seconds; `None` if no process has this id.
pub fn of_process(id: u32) -> Option<f64> {
    let text = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    Some(process_ticks(&text)? / ticks_per_second())
}

/// The system's load average: how many threads wanted to run, averaged over a minute.
pub fn average() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

fn ticks_per_second() -> f64 {
    // SAFETY: the call takes a number and accesses no memory of the caller.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    if ticks > 0 { ticks as f64 } else { 100.0 }
}

/// Ticks spent in user, nice, system, irq, softirq and steal; idle time and waiting for devices do not count.
fn busy_ticks(stat: &str) -> Option<f64> {
    let fields = stat.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<f64> = fields.split_whitespace().map_while(|field| field.parse().ok()).collect();
    let busy = [0, 1, 2, 5, 6, 7];
    busy.iter().map(|field| ticks.get(*field).copied()).sum()
}

/// User plus system time, fields 14 and 15 of `/proc/PID/stat`. The name, field 2, may contain spaces and parentheses.
fn process_ticks(stat: &str) -> Option<f64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(11).map(|field| field.parse::<f64>().ok());
    Some(fields.next()?? + fields.next()??)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn busy_is_what_is_not_idle() {
        let stat = "cpu  10 20 30 4000 500 6 7 8 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n";
        assert_eq!(busy_ticks(stat), Some(81.0));
        assert_eq!((busy_ticks("cpu  10 20"), busy_ticks("")), (None, None));
    }

    #[test]
    fn names_of_processes_may_be_anything() {
        let stat = "42 (a ) b) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20";
        assert_eq!(process_ticks(stat), Some(300.0));
        assert_eq!(process_ticks("42 (a) S 1"), None);
        assert!(of_process(std::process::id()).is_some());
    }

    #[test]
    fn others_are_what_we_did_not_use() {
        let when = Instant::now();
        let then = Moment { when, machine_s: 100.0, ours_s: 7.0 };
        let now = Moment { when: when + Duration::from_secs(10), machine_s: 118.0, ours_s: 20.0 };
        assert!((then.others_since(&now) - 0.5).abs() < 1e-9);
        assert_eq!(then.others_since(&then), 0.0);
        assert!(Moment::now(0.0).is_some() && average().is_some());
    }
}
