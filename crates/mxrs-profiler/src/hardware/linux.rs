//! Counters of the processor by `perf_event_open`.

use super::What;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd};

/// The first version of `struct perf_event_attr` of Linux, which has 64 bytes.
#[repr(C)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
}

/// `PERF_TYPE_HARDWARE`.
const HARDWARE: u32 = 0;
/// `PERF_FORMAT_TOTAL_TIME_ENABLED` and `PERF_FORMAT_TOTAL_TIME_RUNNING`.
const WITH_TIMES: u64 = 1 | 2;
/// The flags `disabled`, `inherit`, `exclude_kernel` and `exclude_hv`. Systems whose `perf_event_paranoid` is 2, the usual value,
/// count only outside the kernel.
const FLAGS: u64 = 1 | 1 << 1 | 1 << 5 | 1 << 6;
/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSE_ON_EXEC: libc::c_ulong = 8;
/// `PERF_EVENT_IOC_ENABLE` and `PERF_EVENT_IOC_DISABLE`.
const ENABLE: libc::c_ulong = 0x2400;
const DISABLE: libc::c_ulong = 0x2401;

/// One counter, with a file for each thread that existed when it was opened.
pub(super) struct Counter {
    threads: Vec<File>,
    /// The largest sum so far, which is returned instead of a smaller one. Sums can decrease, because they are estimates if
    /// several counters share the processor's registers.
    largest: u64,
}

impl Counter {
    /// Opens the counter for all threads of the process.
    ///
    /// # Errors
    /// The reason for which the system refuses it.
    pub(super) fn open(what: What) -> Result<Self, String> {
        // `PERF_COUNT_HW_…`
        let config = match what {
            What::Cycles => 0,
            What::Instructions => 1,
            What::CacheReferences => 2,
            What::CacheMisses => 3,
            What::BranchMisses => 5,
        };
        Self::of_kind(HARDWARE, config)
    }

    fn of_kind(kind: u32, config: u64) -> Result<Self, String> {
        let mut threads = Vec::new();
        let mut refused = None;
        for thread in threads_of_process().map_err(|error| format!("the threads cannot be listed: {error}"))? {
            match open(kind, config, thread) {
                Ok(file) => threads.push(file),
                // The thread has ended since the list of threads was made.
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                Err(error) => refused = Some(error),
            }
        }
        match refused {
            Some(error) => Err(reason(&error)),
            None => Ok(Self { threads, largest: 0 }),
        }
    }

    /// Starts or stops counting.
    pub(super) fn set_counting(&self, counts: bool) {
        let request = if counts { ENABLE } else { DISABLE };
        for file in &self.threads {
            // SAFETY: the descriptor is that of an open perf event, which `file` owns, and these requests take a number and
            // touch no memory of this process. If one fails, the counter stays as it was.
            unsafe { libc::ioctl(file.as_raw_fd(), request as _, 0) };
        }
    }

    /// The number counted so far. If the processor has too few registers for all counters, it is an estimate from the part of
    /// the time in which this one was counted.
    pub(super) fn read(&mut self) -> u64 {
        let counts = self.threads.iter_mut().filter_map(|file| {
            let mut bytes = [0_u8; 24];
            file.read_exact(&mut bytes).ok()?;
            let word =
                |at: usize| bytes[at..at + 8].iter().rev().fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
            let word = |at: usize| if cfg!(target_endian = "big") { word(at).swap_bytes() } else { word(at) };
            let (count, enabled, running) = (word(0), word(8), word(16));
            let estimate = u128::from(count) * u128::from(enabled) / u128::from(running.max(1));
            Some(if running < enabled { u64::try_from(estimate).unwrap_or(u64::MAX) } else { count })
        });
        let sum = counts.fold(0, u64::saturating_add);
        self.largest = self.largest.max(sum);
        self.largest
    }
}

/// The system's numbers of the threads of this process.
fn threads_of_process() -> io::Result<Vec<libc::pid_t>> {
    let entries = std::fs::read_dir("/proc/self/task")?;
    Ok(entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect())
}

fn open(kind: u32, config: u64, thread: libc::pid_t) -> io::Result<File> {
    let attributes = Attributes {
        kind,
        size: size_of::<Attributes>() as u32,
        config,
        sample_period: 0,
        sample_type: 0,
        read_format: WITH_TIMES,
        flags: FLAGS,
        wakeup_events: 0,
        breakpoint_type: 0,
        config1: 0,
    };
    let (any_cpu, no_group): (libc::c_int, libc::c_int) = (-1, -1);
    // SAFETY: the kernel reads `size` bytes at the address. `size` is the size of the structure, and the structure lives
    // until the call returns. The other arguments are numbers.
    let descriptor = unsafe {
        let address: *const Attributes = &raw const attributes;
        libc::syscall(libc::SYS_perf_event_open, address, thread, any_cpu, no_group, CLOSE_ON_EXEC)
    };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has just returned this descriptor, it is open, and nothing else owns it.
    Ok(unsafe { File::from_raw_fd(descriptor as libc::c_int) })
}

/// An error of the system in words, with what a user can do.
fn reason(error: &io::Error) -> String {
    let hint = match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => {
            let level = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
            let level = if level.trim().is_empty() { "unknown" } else { level.trim() };
            format!(
                "`/proc/sys/kernel/perf_event_paranoid` is {level}, and 2 or less is needed; containers need a permission"
            )
        }
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV) => {
            "the processor or the virtual machine does not have this counter".to_owned()
        }
        Some(libc::ENOSYS) => "the kernel or the container does not have `perf_event_open`".to_owned(),
        Some(libc::EMFILE | libc::ENFILE) => {
            "a file is open for each counter and thread; raise the limit `ulimit -n`".to_owned()
        }
        _ => "`perf_event_open` failed".to_owned(),
    };
    format!("{error}; {hint}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::{Duration, Instant};

    /// `PERF_TYPE_SOFTWARE` and `PERF_COUNT_SW_TASK_CLOCK`: the nanoseconds that threads ran. Machines without counters of the
    /// processor have it.
    const TASK_CLOCK: (u32, u64) = (1, 1);

    fn run_for(time: Duration) {
        let begin = Instant::now();
        while begin.elapsed() < time {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn threads_before_and_after_the_opening_are_counted_while_counting_is_on() {
        let (start, started) = mpsc::channel::<()>();
        let before = std::thread::spawn(move || {
            started.recv().unwrap();
            run_for(Duration::from_millis(20));
        });
        let mut counter = match Counter::of_kind(TASK_CLOCK.0, TASK_CLOCK.1) {
            Ok(counter) => counter,
            Err(reason) => {
                // If the system refuses every counter, as in many containers, the error must say why.
                assert!(reason.contains("perf_event"), "{reason}");
                return;
            }
        };
        run_for(Duration::from_millis(5));
        assert_eq!(counter.read(), 0, "counting is off");
        counter.set_counting(true);
        start.send(()).unwrap();
        std::thread::spawn(|| run_for(Duration::from_millis(20))).join().unwrap();
        before.join().unwrap();
        counter.set_counting(false);
        let count = counter.read();
        // The limit is far below the time that the threads run. The clock counts only time on a processor, and other tests
        // may use the processors at the same time.
        assert!(count > 1_000_000, "{count} ns");
        run_for(Duration::from_millis(5));
        assert_eq!(counter.read(), count, "counting is off again");
    }

    #[test]
    fn errors_say_what_to_do() {
        for (code, part) in
            [(libc::EACCES, "perf_event_paranoid"), (libc::ENOENT, "virtual machine"), (libc::ENOSYS, "kernel")]
        {
            let reason = reason(&io::Error::from_raw_os_error(code));
            assert!(reason.contains(part), "{reason}");
        }
        let error = Counter::of_kind(u32::MAX, 0).err().unwrap();
        assert!(!error.is_empty());
    }
}
