//! `mxrs diagnose`: describes this build and this machine, for bug reports.
//!
//! Sections and headings are those of MXNet's `diagnose.py`. The network is accessed only if `--network` is given.

mod build;
mod machine;
mod network;
mod self_test;
mod storage;

use crate::args::switch;
use crate::exit::{Failure, Outcome};
use crate::{start, terminal};
use mxrs::env::{EnvSource, OsSource};
use serde_json::{Map, Value};
use std::process::{Command, Stdio};

/// Arguments of `diagnose`.
#[derive(clap::Args)]
pub struct Args {
    /// Diagnose Python
    #[arg(long, value_parser = switch, default_value = "1", num_args = 0..=1, default_missing_value = "1", value_name = "0|1")]
    python: bool,
    /// Diagnose pip
    #[arg(long, value_parser = switch, default_value = "1", num_args = 0..=1, default_missing_value = "1", value_name = "0|1")]
    pip: bool,
    /// Diagnose this build of mxrs and the state of its memory pools
    #[arg(long, value_parser = switch, default_value = "1", num_args = 0..=1, default_missing_value = "1", value_name = "0|1")]
    mxnet: bool,
    /// Diagnose the operating system
    #[arg(long, value_parser = switch, default_value = "1", num_args = 0..=1, default_missing_value = "1", value_name = "0|1")]
    os: bool,
    /// Diagnose the hardware
    #[arg(long, value_parser = switch, default_value = "1", num_args = 0..=1, default_missing_value = "1", value_name = "0|1")]
    hardware: bool,
    /// Diagnose the network: try to reach the sites of downloads
    #[arg(long, value_parser = switch, default_value = "0", num_args = 0..=1, default_missing_value = "1", value_name = "0|1")]
    network: bool,
    /// Diagnose environment variables of mxrs and its libraries
    #[arg(long, value_parser = switch, default_value = "1", num_args = 0..=1, default_missing_value = "1", value_name = "0|1")]
    environment: bool,
    /// Additional sites for the network test in this region; only `cn` is known
    #[arg(long, default_value = "")]
    region: String,
    /// Connection timeout of the network test, in seconds; 0 means no timeout
    #[arg(long, default_value_t = 10)]
    timeout: u64,
    /// Compare every operator on every backend with its reference kernel
    #[arg(long)]
    self_test: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// A heading with its lines.
struct Section {
    /// Heading, as MXNet prints it.
    heading: &'static str,
    /// Key of the section in JSON.
    key: &'static str,
    /// Lines of the section: names and values.
    lines: Vec<(String, Value)>,
}

impl Section {
    fn new(heading: &'static str, key: &'static str) -> Self {
        Self { heading, key, lines: Vec::new() }
    }

    fn add(&mut self, name: &str, value: impl Into<Value>) {
        self.lines.push((name.into(), value.into()));
    }
}

/// Runs the command.
///
/// # Errors
/// Fails if an environment variable has an invalid value; with `--self-test`, also if a kernel differs from its reference
/// kernel.
pub fn run(args: &Args) -> Outcome {
    let runtime = start::runtime(None)?;
    let mut sections = Vec::new();
    if args.python {
        sections.push(program("----------Python Info----------", "python", "python3", &["--version"]));
    }
    if args.pip {
        sections.push(program("------------Pip Info-----------", "pip", "python3", &["-m", "pip", "--version"]));
    }
    if args.mxnet {
        sections.push(build::section(&runtime));
    }
    if args.os {
        sections.push(machine::system());
    }
    if args.hardware {
        sections.push(machine::hardware());
    }
    if args.environment {
        sections.push(environment());
    }
    if args.network {
        sections.push(network::section(&args.region, args.timeout));
    }
    let mut failed = 0;
    if args.self_test {
        let (section, n_failed) = self_test::section(&runtime)?;
        sections.push(section);
        failed = n_failed;
    }
    // This section comes last, so that it includes the allocations of the other sections.
    if args.mxnet {
        sections.push(storage::section(&runtime));
    }
    terminal::print(&if args.json { json(&sections) } else { text(&sections) })?;
    if failed > 0 {
        let got = format!("{failed} cases that differ");
        return Err(Failure::Run(mxrs::Error::invalid("self-test", got, "every kernel to agree with its reference")));
    }
    Ok(())
}

/// The version line that a program prints; an empty section if the program does not exist.
fn program(heading: &'static str, key: &'static str, name: &str, arguments: &[&str]) -> Section {
    let mut section = Section::new(heading, key);
    let output = Command::new(name).args(arguments).stdin(Stdio::null()).output();
    if let Ok(output) = output.as_ref()
        && output.status.success()
    {
        let text = String::from_utf8_lossy(&output.stdout);
        section.add("Version", text.lines().next().unwrap_or_default().trim());
    }
    section
}

/// Environment variables of mxrs and of the libraries that it uses.
fn environment() -> Section {
    const PREFIXES: [&str; 9] = ["MXNET_", "NNVM_", "OMP_", "KMP_", "MXRS_", "CUDA_", "NCCL_", "DMLC_", "PS_"];
    let mut section = Section::new("----------Environment----------", "environment");
    let mut vars: Vec<(String, String)> = OsSource
        .vars()
        .into_iter()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value.to_string_lossy().into_owned()))
        .filter(|(name, _)| PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
        .collect();
    vars.sort();
    for (name, value) in vars {
        section.add(&name, value);
    }
    section
}

fn text(sections: &[Section]) -> String {
    let mut text = String::new();
    for section in sections {
        text += section.heading;
        text.push('\n');
        for (name, value) in &section.lines {
            let value = match value {
                Value::String(value) if section.key == "environment" => format!("{name}=\"{value}\""),
                Value::String(value) => format!("{name:<13}: {value}"),
                Value::Array(values) => {
                    let values: Vec<String> = values.iter().map(plain).collect();
                    format!("{name:<13}: {}", values.join(", "))
                }
                Value::Object(figures) => {
                    let figures: Vec<String> = figures.iter().map(|(key, n)| format!("{} {key}", plain(n))).collect();
                    format!("{name:<13}: {}", figures.join(", "))
                }
                value => format!("{name:<13}: {value}"),
            };
            text += &value;
            text.push('\n');
        }
    }
    text
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn json(sections: &[Section]) -> String {
    let object = |section: &Section| {
        let lines: Map<String, Value> = section.lines.iter().cloned().collect();
        (section.key.to_owned(), Value::Object(lines))
    };
    let whole: Map<String, Value> = sections.iter().map(object).collect();
    terminal::json(&whole) + "\n"
}
