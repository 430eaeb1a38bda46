//! Compares the memory of networks in MXNet and in mxrs, and of training with and without recomputation: `cargo xtask
//! compare memory`.

use anyhow::{Result, anyhow};
use clap::{Parser, ValueEnum};
use mxrs_benches::machine::Machine;
use mxrs_benches::memory::child::ChildArgs;
use mxrs_benches::memory::mxnet::Peer;
use mxrs_benches::memory::recompute::{self, Saving};
use mxrs_benches::memory::subject::COMPARED;
use mxrs_benches::memory::{Case, Mode, networks, run};
use mxrs_benches::report::{Format, PeerStatus, Report, print_or_fail};
use mxrs_benches::rounds::{Budget, Progress};
use std::path::PathBuf;
use std::process::ExitCode;

const SAVINGS: [&str; 2] = ["resnet-50:32:MXNET_BACKWARD_DO_MIRROR=1", "resnet-1001:128:MXRS_REMAT=sqrt"];

/// Compares memory: bytes planned, and resident bytes of processes that run networks.
#[derive(Parser)]
struct Args {
    /// Tables to make
    #[arg(long, value_enum, value_delimiter = ',', default_value = "networks,recompute")]
    part: Vec<Part>,
    /// Networks in the report's first table
    #[arg(long, value_delimiter = ',', default_values_t = COMPARED.map(str::to_owned))]
    network: Vec<String>,
    /// Batch sizes in the report's first table
    #[arg(long, value_delimiter = ',', default_values_t = [1, 32])]
    batch: Vec<usize>,
    /// Modes in the report's first table
    #[arg(long, value_enum, value_delimiter = ',', default_value = "inference,training")]
    mode: Vec<Mode>,
    /// Steps that each process runs
    #[arg(long, default_value_t = 2)]
    steps: usize,
    /// Rows of the report's second table, each NETWORK:BATCH:VARIABLE=VALUE; resnet-1001 is for images of 28 x 28 pixels
    #[arg(long, value_delimiter = ',', default_values_t = SAVINGS.map(str::to_owned))]
    saving: Vec<String>,
    /// Seconds to spend on the timed steps of the report's second table
    #[arg(long, default_value_t = 240.0)]
    seconds: f64,
    /// A Python with mxnet 1.9.1 and numpy 1.23.5
    #[arg(long, value_name = "PATH", default_value = "python3")]
    python: PathBuf,
    /// How the report is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    #[command(flatten)]
    child: ChildArgs,
}

/// A table of the report.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Networks in MXNet and in mxrs.
    Networks,
    /// Training with and without recomputation.
    Recompute,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let text = args.child.run().unwrap_or_else(|| report(&args).map(|report| report.render(args.format)));
    print_or_fail(text)
}

fn report(args: &Args) -> Result<Report> {
    let runtime = run::runtime(&[])?;
    let backends: Vec<String> = runtime.backends().list().iter().map(|backend| backend.name().to_string()).collect();
    let mut report = Report {
        title: format!("Memory of networks ({})", backends.join(", ")),
        machine: Machine::this(),
        peers: Vec::new(),
        sections: Vec::new(),
        notes: Vec::new(),
    };
    let is_asked = |part| args.part.contains(&part);
    let savings: Vec<Saving> = args.saving.iter().map(|text| saving(text)).collect::<Result<_>>()?;
    let cases = if is_asked(Part::Networks) { cases(args) } else { Vec::new() };
    let savings = if is_asked(Part::Recompute) { &savings[..] } else { &[] };
    let progress = Progress::new(cases.len() + savings.len());
    if is_asked(Part::Networks) {
        let peer = Peer::find(&args.python);
        let name = peer.as_ref().map_or_else(|_| "MXNet".into(), |peer| format!("MXNet {}", peer.version));
        let missing = peer.as_ref().err().map(|error| {
            format!("give --python PATH of a Python 3.11 with mxnet==1.9.1 and numpy==1.23.5 ({error:#})")
        });
        report.peers.push(PeerStatus { name, missing });
        let folder = tempfile::tempdir()?;
        let mut section = networks::section();
        for case in &cases {
            progress.case(&case.to_string());
            let peer = peer.as_ref().ok().map(|peer| (peer, folder.path()));
            let pair = networks::pair(case, peer, runtime.bind_options(), args.steps);
            section.row(networks::row(case, &pair, &progress));
            progress.case_done();
        }
        report.sections.push(section);
        report.notes.extend(notes(args));
    }
    if is_asked(Part::Recompute) {
        let budget = Budget::share(args.seconds, savings.len());
        let mut section = recompute::section();
        for saving in savings {
            progress.case(&format!("{}, {}", saving.case, saving.variable.0));
            let measured = recompute::measure(saving, budget, args.steps, &progress);
            section.row(recompute::row(saving, &measured, &progress));
            progress.case_done();
        }
        report.sections.push(section);
        report
            .notes
            .push("Seconds: both bound in one process, a step of each in turn; the ratio is of neighbors.".into());
    }
    Ok(report)
}

fn saving(text: &str) -> Result<Saving> {
    text.parse().map_err(|expected| anyhow!("--saving {text}: {expected}"))
}

fn cases(args: &Args) -> Vec<Case> {
    let mut cases = Vec::new();
    for network in &args.network {
        for mode in &args.mode {
            cases.extend(args.batch.iter().map(|batch| Case { network: network.clone(), batch: *batch, mode: *mode }));
        }
    }
    cases
}

fn notes(args: &Args) -> Vec<String> {
    vec![
        "Planned: what lives between operators, outputs included, parameters and gradients not. Ours holds workspaces and \
         copies of parameters and gradients in layouts of kernels too; MXNet's (`debug_str`, whole MiB) holds neither: its \
         operators take them from the system while they run. Tensors: our plan without these, which the ratio is of."
            .into(),
        format!(
            "Peak: VmHWM of a process that binds the network, fills its arrays and runs {} steps, one process at a time. \
             Added: without what was resident when the program, or Python with MXNet, had started.",
            args.steps
        ),
        "Packed: our copies of constants in the layouts of kernels; MXNet keeps them in place of the original.".into(),
    ]
}
