//! The sections about operating system, processor and memory, as far as the system reports them.

use super::Section;
use std::fs;

/// The section about the operating system.
pub fn system() -> Section {
    let mut section = Section::new("----------System Info----------", "system");
    let kernel = |leaf: &str| first_line(&format!("/proc/sys/kernel/{leaf}"));
    let (name, release) = (kernel("ostype"), kernel("osrelease"));
    let system = if name.is_empty() { std::env::consts::OS.to_owned() } else { name };
    section.add("Platform", [system.as_str(), &release, std::env::consts::ARCH].join("-").replace("--", "-"));
    section.add("system", system.clone());
    section.add("node", kernel("hostname"));
    section.add("release", release);
    section.add("version", kernel("version"));
    section
}

/// The section about processor and memory.
pub fn hardware() -> Section {
    let mut section = Section::new("----------Hardware Info----------", "hardware");
    section.add("machine", std::env::consts::ARCH);
    section.add("processor", field("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.into()));
    let logical = std::thread::available_parallelism().map_or(1, usize::from);
    section.add(
        "CPUs",
        format!("{} physical cores, {logical} logical, usable by this process", mxrs_sync::physical_cores()),
    );
    section.add("CPU features", mxrs_processor::feature_names());
    if let Some(bytes) = memory_bytes() {
        section.add("Memory", format!("{} MiB", bytes >> 20));
    }
    section
}

/// Size of the main memory in bytes.
pub fn memory_bytes() -> Option<u64> {
    let text = field("/proc/meminfo", "MemTotal")?;
    let kib: u64 = text.split_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

fn first_line(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default().lines().next().unwrap_or_default().trim().to_owned()
}

/// The value of the first line `name : value` of a file.
fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
