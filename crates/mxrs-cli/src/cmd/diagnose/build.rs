//! The section about this build of mxrs and the settings that it derived from the machine.

use super::Section;
use mxrs::Runtime;
use mxrs::env::PoolDevice;
use mxrs::storage::Tag;
use mxrs::types::Device;
use serde_json::Value;

/// The section about this build.
pub fn section(runtime: &Runtime) -> Section {
    let mut section = Section::new("----------MXNet Info-----------", "mxrs");
    section.add("Version", env!("CARGO_PKG_VERSION"));
    section.add("Commit Hash", option_env!("MXRS_COMMIT").unwrap_or("not recorded"));
    section.add("Features", features());
    section.add("Operators", format!("{} built", runtime.ops().len()));
    for loaded in &runtime.backends().loaded {
        section.add("Backend", format!("{} {}", loaded.backend.name(), loaded.version));
    }
    for absent in &runtime.backends().absent {
        section.add("No backend", format!("{}: {}", absent.name, absent.reason));
    }
    section.add("Device", device(runtime));
    section.add("Engine", runtime.engine().config().kind.word());
    section.add("Threads", threads(runtime));
    section.add("Instructions", instructions(runtime));
    section.add("Affinity", affinity(runtime));
    section.add("Memory pool", pool(runtime));
    section.add("Storage", storage(runtime));
    merged(section)
}

/// Merges lines of the same name into one line with a list, because an object in JSON has each name once.
fn merged(section: Section) -> Section {
    let mut merged = Section::new(section.heading, section.key);
    for (name, value) in section.lines {
        match merged.lines.iter_mut().find(|(other, _)| *other == name) {
            Some((_, Value::Array(values))) => values.push(value),
            None if name.starts_with("Backend") || name.starts_with("No backend") => {
                merged.lines.push((name, Value::Array(vec![value])));
            }
            _ => merged.lines.push((name, value)),
        }
    }
    merged
}

fn features() -> String {
    let flag = |name: &str, is_on: bool| format!("{}{name}", if is_on { "+" } else { "-" });
    [
        flag("onednn", cfg!(feature = "onednn")),
        flag("onednn-dynamic", cfg!(feature = "onednn-dynamic")),
        flag("debug-assertions", cfg!(debug_assertions)),
    ]
    .join(" ")
}

fn device(runtime: &Runtime) -> String {
    let devices: Vec<String> = runtime.storage().devices().map(|device| device.to_string()).collect();
    let memory = super::machine::memory_bytes().map(|bytes| format!(", {} MiB of memory", bytes >> 20));
    format!("{}{}; no GPU in this version", devices.join(", "), memory.unwrap_or_default())
}

fn threads(runtime: &Runtime) -> String {
    let config = runtime.engine().config();
    format!(
        "team of {} (OMP_NUM_THREADS: {}), {} worker per CPU device, {} for urgent operators",
        runtime.team().size(),
        runtime.settings().origin("OMP_NUM_THREADS"),
        config.cpu_workers,
        config.cpu_priority_workers
    )
}

/// The widest instructions that kernels use.
fn instructions(runtime: &Runtime) -> String {
    let origin = runtime.settings().origin("MXRS_ISA");
    format!("{} (MXRS_ISA: {origin})", mxrs_processor::Isa::best().name())
}

fn affinity(runtime: &Runtime) -> String {
    let topology = mxrs::settings::topology(runtime.settings());
    let config = mxrs::settings::team(runtime.settings(), mxrs_sync::physical_cores(), topology.as_ref());
    match config.cpus {
        Some(cpus) => format!("pinned to cpus {cpus:?}"),
        None => "not pinned (KMP_AFFINITY)".into(),
    }
}

fn pool(runtime: &Runtime) -> String {
    let config = runtime.settings().pools.of(PoolDevice::Cpu);
    format!(
        "{} on cpu, pages of {} bytes, {} % kept free",
        config.kind.word(),
        config.page_bytes,
        config.reserve_percent
    )
}

/// Statistics of the CPU pool after a block was allocated, freed and allocated again, which show whether blocks are reused.
fn storage(runtime: &Runtime) -> String {
    let storage = runtime.storage();
    for _ in 0..2 {
        if let Err(error) = storage.allocate(Device::cpu(0), 1 << 20, Tag::new("diagnose")) {
            return error.to_string();
        }
    }
    let stats = storage.stats(Device::cpu(0));
    format!(
        "{} allocations, {} from the cache, {} bytes reserved, {} bytes live",
        stats.allocations, stats.hits, stats.reserved, stats.live_requested
    )
}
