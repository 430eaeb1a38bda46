//! The machine that a comparison runs on: its processor, the processor time of this process, and the CPUs that its threads
//! may use.

use anyhow::{Result, ensure};
use std::fmt;
use std::time::Duration;

/// Properties of a machine that measured ratios depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Model of the processor.
    pub cpu: String,
    /// CPUs this process may use.
    pub n_cpus: usize,
}

impl Machine {
    /// The machine that this program runs on.
    pub fn this() -> Self {
        let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let cpu = cpu_model(&info).unwrap_or(std::env::consts::ARCH).to_owned();
        Self { cpu, n_cpus: std::thread::available_parallelism().map_or(1, usize::from) }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} CPUs", self.cpu, self.n_cpus)
    }
}

fn cpu_model(info: &str) -> Option<&str> {
    let (_, model) = info.lines().find(|line| line.starts_with("model name"))?.split_once(':')?;
    Some(model.trim())
}

/// Processor time this process has used so far, in user code and in the system, all threads together.
pub fn processor_time() -> Duration {
    // SAFETY: `rusage` consists of integers, for which all-zero bytes are valid.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is a writable `rusage`, the only memory that the call accesses. It cannot fail with these arguments.
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut usage) };
    let time = |t: libc::timeval| Duration::new(t.tv_sec as u64, t.tv_usec as u32 * 1000);
    time(usage.ru_utime) + time(usage.ru_stime)
}

/// Processor time that this process uses while its only active thread sleeps for `time`.
pub fn idle_processor_time(time: Duration) -> Duration {
    let before = processor_time();
    std::thread::sleep(time);
    processor_time().saturating_sub(before)
}

/// The system's id of the calling thread.
#[cfg(target_os = "linux")]
pub fn thread_id() -> i32 {
    // SAFETY: the call has no arguments and cannot fail.
    unsafe { libc::gettid() }
}

/// Ties thread `chosen[i]` to the CPU `cpus[i % cpus.len()]`. Every other thread of the process may run on the remaining
/// CPUs, or on all of `cpus` if none remains.
///
/// # Errors
/// Fails if `cpus` is empty (the system does not report which CPUs there are), or if the system refuses.
#[cfg(target_os = "linux")]
pub fn pin(chosen: &[i32], cpus: &[usize]) -> Result<()> {
    ensure!(!cpus.is_empty(), "the system does not tell which CPUs this process may use");
    let left = if chosen.len() < cpus.len() { &cpus[chosen.len()..] } else { cpus };
    for entry in std::fs::read_dir("/proc/self/task")? {
        let Ok(thread) = entry?.file_name().to_string_lossy().parse() else { continue };
        match chosen.iter().position(|other| *other == thread) {
            Some(at) => allow(thread, &[cpus[at % cpus.len()]])?,
            None => allow(thread, left)?,
        }
    }
    Ok(())
}

/// Lets one thread run on these CPUs only.
#[cfg(target_os = "linux")]
fn allow(thread: i32, cpus: &[usize]) -> Result<()> {
    // SAFETY: `cpu_set_t` is an array of integers, for which all-zero bytes are valid.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for cpu in cpus {
        ensure!(*cpu < libc::CPU_SETSIZE as usize, "CPU {cpu} is beyond what can be pinned to");
        // SAFETY: `*cpu < CPU_SETSIZE` was checked on the line above, so the bit lies inside the set.
        unsafe { libc::CPU_SET(*cpu, &mut set) };
    }
    // SAFETY: `set` is a readable `cpu_set_t`, and the size passed is the size of that type.
    let status = unsafe { libc::sched_setaffinity(thread, size_of::<libc::cpu_set_t>(), &set) };
    let error = std::io::Error::last_os_error();
    // A thread may have ended since it was listed.
    ensure!(status == 0 || error.raw_os_error() == Some(libc::ESRCH), "cannot pin a thread to {cpus:?}: {error}");
    Ok(())
}

/// Always 0, because the id of a thread is not available on this system.
#[cfg(not(target_os = "linux"))]
pub fn thread_id() -> i32 {
    0
}

/// Ties threads to CPUs.
///
/// # Errors
/// Always fails: this system has no such call.
#[cfg(not(target_os = "linux"))]
pub fn pin(_chosen: &[i32], _cpus: &[usize]) -> Result<()> {
    ensure!(false, "--pin works on Linux only");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn the_model_is_found_where_it_is_named() {
        assert_eq!(cpu_model("processor\t: 0\nmodel name\t: Fast CPU @ 3 GHz\n"), Some("Fast CPU @ 3 GHz"));
        assert_eq!(cpu_model("processor\t: 0\n"), None);
    }

    #[test]
    fn work_uses_processor_time_and_sleep_does_not() {
        let (before, started) = (processor_time(), Instant::now());
        while processor_time() - before < Duration::from_millis(20) {
            assert!(started.elapsed() < Duration::from_secs(20), "20 ms of work are never seen");
            std::hint::black_box((0..1000).sum::<u64>());
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_pinned_thread_may_use_one_cpu() {
        let seen = std::thread::spawn(|| {
            let cpus = mxrs_sync::affinity::current().unwrap();
            allow(thread_id(), &cpus[..1]).unwrap();
            (cpus[0], mxrs_sync::affinity::current().unwrap())
        });
        let (first, now) = seen.join().unwrap();
        assert_eq!(now, [first]);
    }
}
