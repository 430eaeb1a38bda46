//! `cargo xtask compare kvstore`: key-value stores of MXNet and of mxrs, in alternating rounds.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use anyhow::Result;

use super::Format;
use crate::session::Session;

/// Arguments of `compare kvstore`.
#[derive(clap::Args)]
pub struct Args {
    /// The network with the gradients [default: resnetv1-50]
    #[arg(long, value_name = "NAME")]
    network: Option<String>,
    /// Stores: local, device [default: both]
    #[arg(long, value_name = "NAME,…")]
    store: Option<String>,
    /// Numbers of CPU contexts [default: 2,4]
    #[arg(long, value_name = "N,…")]
    devices: Option<String>,
    /// Steps per round [default: 4]
    #[arg(long)]
    steps: Option<NonZeroUsize>,
    /// Seconds to spend in total [default: 120]
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
    let run = super::built(&session, "compare_kvstore", &[])?;
    run.arg("--python").arg(&args.python).args(args.flags()).stream()
}

impl Args {
    /// The flags that were given on the command line, for the program.
    fn flags(&self) -> Vec<String> {
        let flags = [
            ("--network", self.network.clone()),
            ("--store", self.store.clone()),
            ("--devices", self.devices.clone()),
            ("--steps", self.steps.map(|steps| steps.to_string())),
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
        let flags = |words: &[&str]| <Line as clap::Parser>::try_parse_from([&["kvstore"], words].concat()).unwrap();
        assert_eq!(flags(&[]).args.flags(), [""; 0]);
        let words = ["--store", "local", "--devices", "2,4", "--steps", "3", "--format", "json"];
        assert_eq!(flags(&words).args.flags(), words);
    }
}
