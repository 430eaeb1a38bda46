//! Reads how much memory of a process is resident and how much the machine has available. Linux only.

use anyhow::{Context, Result};

/// Bytes of this process that are resident now.
///
/// # Errors
/// Fails if the system does not report it.
pub fn now() -> Result<u64> {
    field("/proc/self/status", "VmRSS:")
}

/// Most bytes of this process that were ever resident.
///
/// # Errors
/// Fails if the system does not report it.
pub fn peak() -> Result<u64> {
    field("/proc/self/status", "VmHWM:")
}

/// Most bytes of another process that were ever resident.
///
/// # Errors
/// Fails if the system does not report it, or if the process has ended.
pub fn peak_of(process: u32) -> Result<u64> {
    field(&format!("/proc/{process}/status"), "VmHWM:")
}

/// Bytes that a new process can have without anything being swapped out.
///
/// # Errors
/// Fails if the system does not report it.
pub fn available() -> Result<u64> {
    field("/proc/meminfo", "MemAvailable:")
}

fn field(path: &str, name: &str) -> Result<u64> {
    let text = std::fs::read_to_string(path).with_context(|| format!("{path}, where Linux reports memory"))?;
    kibibytes(&text, name).with_context(|| format!("{path} has no {name}"))
}

fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    let number: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
    number.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_in_kibibytes() {
        let text = "VmPeak:\t  9 kB\nVmHWM:\t   12 kB\nThreads:\t3\n";
        assert_eq!(kibibytes(text, "VmHWM:"), Some(12 << 10));
        assert_eq!((kibibytes(text, "Threads:"), kibibytes(text, "VmRSS:")), (None, None));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn touched_memory_is_resident() {
        const SIZE: usize = 64 << 20;
        // Other tests of this process free memory at the same time, so one measurement may be too small.
        let is_resident = |_| {
            let before = now().unwrap();
            let touched = std::hint::black_box(vec![1u8; SIZE]);
            let during = now().unwrap();
            drop(touched);
            std::thread::sleep(std::time::Duration::from_millis(50));
            during + (8 << 20) >= before + SIZE as u64 && peak().unwrap() >= during
        };
        assert!((0..100).any(is_resident) && available().unwrap() > 0);
    }
}
