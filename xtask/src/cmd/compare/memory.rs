//! `cargo xtask compare memory`: planned and resident bytes of networks in MXNet and in mxrs.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use anyhow::Result;

use super::Format;
use crate::session::Session;

/// Arguments of `compare memory`.
#[derive(clap::Args)]
pub struct Args {
    /// Tables: networks, recompute [default: both]
    #[arg(long, value_name = "TABLE,…")]
    part: Option<String>,
    /// Networks in the report's first table [default: alexnet,vgg-16,inception-bn,inception-v3,resnet-50,resnet-152]
    #[arg(long, value_name = "NAME,…")]
    network: Option<String>,
    /// Batch sizes in the report's first table [default: 1,32]
    #[arg(long, value_name = "N,…")]
    batch: Option<String>,
    /// Modes in the report's first table: inference, training [default: both]
    #[arg(long, value_name = "MODE,…")]
    mode: Option<String>,
    /// Steps that each process runs [default: 2]
    #[arg(long)]
    steps: Option<NonZeroUsize>,
    /// Rows of the report's second table, each NETWORK:BATCH:VARIABLE=VALUE [default:
    /// resnet-50:32:MXNET_BACKWARD_DO_MIRROR=1, resnet-1001:128:MXRS_REMAT=sqrt]
    #[arg(long, value_name = "ROW,…")]
    saving: Option<String>,
    /// Seconds to spend on the timed steps of the report's second table [default: 240]
    #[arg(long, value_parser = super::seconds)]
    seconds: Option<f64>,
    /// A Python 3.11 with mxnet==1.9.1 and numpy==1.23.5
    #[arg(long, value_name = "PATH", default_value = "python3")]
    python: PathBuf,
    /// How the report is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Runs the command.
///
/// # Errors
/// Fails if the program does not build or fails.
pub fn run(args: &Args) -> Result<()> {
    let session = Session::rust_only()?;
    let run = super::built(&session, "compare_memory", session.kernels.feature_flags())?;
    run.arg("--python").arg(&args.python).args(args.flags()).stream()
}

impl Args {
    /// The flags that were given on the command line, for the program.
    fn flags(&self) -> Vec<String> {
        let number = |n: Option<NonZeroUsize>| n.map(|n| n.to_string());
        let flags = [
            ("--part", self.part.clone()),
            ("--network", self.network.clone()),
            ("--batch", self.batch.clone()),
            ("--mode", self.mode.clone()),
            ("--steps", number(self.steps)),
            ("--saving", self.saving.clone()),
            ("--seconds", self.seconds.map(|seconds| seconds.to_string())),
        ];
        super::given(flags).chain(self.format.flags()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_asked_for_is_passed_on() {
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            args: Args,
        }
        let flags = |words: &[&str]| <Line as clap::Parser>::try_parse_from([&["memory"], words].concat()).unwrap();
        assert_eq!(flags(&[]).args.flags(), [""; 0]);
        let words = ["--network", "alexnet,vgg-16", "--steps", "3", "--format", "markdown"];
        assert_eq!(flags(&words).args.flags(), words);
    }
}
