//! `mxrs launch`: starts the workers of a distributed training, merges their output, and ends all when one fails.
//!
//! `job.rs` is the record of a running job, which `mxrs kill` reads; `workers.rs` starts and watches processes; `running.rs`
//! is one process; `servers.rs` makes the commands of the servers, which keep the values of `dist_async`; `output.rs` merges
//! what they print; `mpi.rs`, `slurm.rs` and `manifest.rs` make the commands and files of the other launchers, and `ranks.rs` the
//! variables of their workers.

pub mod job;
mod manifest;
mod mpi;
mod output;
mod ranks;
mod running;
mod servers;
mod slurm;
mod workers;

use crate::exit::{Failure, Outcome};
use mxrs::env::{EnvSource, OsSource};
use std::ffi::OsString;
use std::path::PathBuf;

/// What starts the workers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Launcher {
    /// Processes of this machine, connected by local sockets
    Local,
    /// MPI's mpirun on the hosts of the host file, which it reaches by ssh
    Ssh,
    /// MPI's mpirun, on this machine or on the hosts of the host file
    Mpi,
    /// Slurm's srun, with MPI
    Slurm,
    /// Nothing: prints a manifest for Kubernetes
    K8s,
    /// Sun Grid Engine; refused, because it is not built
    Sge,
}

/// Arguments of `launch`.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "Examples:\n  mxrs launch -n 2 -- mxrs train mnist --kv-store dist_sync\n  \
                        mxrs launch -n 8 -H hosts -- mxrs train imagenet --data-train train.rec --kv-store dist_sync")]
pub struct Args {
    /// Number of workers
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub num_workers: u32,
    /// Number of servers, which keep and update the values of dist_async; the other stores have none
    #[arg(short = 's', long, value_name = "N")]
    pub num_servers: Option<u32>,
    /// File with one host per line, `host` or `host slots=N`
    #[arg(short = 'H', long, value_name = "FILE")]
    pub hostfile: Option<PathBuf>,
    /// What starts the workers [default: ssh with --hostfile, otherwise local]
    #[arg(long, value_enum, value_name = "NAME")]
    pub launcher: Option<Launcher>,
    /// Variable for the workers, as NAME:VALUE; may be repeated
    #[arg(long, value_name = "NAME:VALUE", value_parser = pair)]
    pub env_worker: Vec<(String, String)>,
    /// Variable for the servers, as NAME:VALUE; may be repeated
    #[arg(long, value_name = "NAME:VALUE", value_parser = pair)]
    pub env_server: Vec<(String, String)>,
    /// Variable of this environment that the workers on other machines get too; may be repeated
    #[arg(long, value_name = "NAME")]
    pub env: Vec<String>,
    /// Divide messages into slices that are sent by priority: the store p3 in place of dist_sync
    #[arg(long)]
    pub p3: bool,
    /// Number of times that a worker or server which fails is started again: with dist_async the others go on
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub max_restarts: u32,
    /// Seconds that a worker waits for another one before it fails [default: 300]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub timeout: Option<u32>,
    /// Name of the job, for Slurm and Kubernetes
    #[arg(long, value_name = "NAME", default_value = "mxrs")]
    pub jobname: String,
    /// Partition of Slurm
    #[arg(long, value_name = "NAME")]
    pub queue: Option<String>,
    /// Image of the containers, for Kubernetes
    #[arg(long, value_name = "IMAGE")]
    pub image: Option<String>,
    /// Kind of the manifest for Kubernetes
    #[arg(long, value_enum, default_value_t = manifest::Kind::TrainJob)]
    pub manifest: manifest::Kind,
    /// Print the command that would be run
    #[arg(long)]
    pub dry_run: bool,
    /// The command of a worker, with its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once([':', '=']) {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("is not NAME:VALUE".to_owned()),
    }
}

impl Args {
    fn launcher(&self) -> Launcher {
        let default = if self.hostfile.is_some() { Launcher::Ssh } else { Launcher::Local };
        self.launcher.unwrap_or(default)
    }

    /// Whether `--env-worker` sets this variable.
    fn is_given(&self, name: &str) -> bool {
        self.env_worker.iter().any(|(given, _)| given == name)
    }

    /// The variables that all workers of a launcher get.
    fn variables(&self, cluster: &str) -> Vec<(String, String)> {
        let n = self.num_workers.to_string();
        let servers = self.num_servers.unwrap_or(self.num_workers).to_string();
        let mut variables: Vec<(String, String)> = [
            ("DMLC_ROLE", "worker"),
            ("DMLC_JOB_CLUSTER", cluster),
            ("DMLC_NUM_WORKER", &n),
            ("DMLC_NUM_SERVER", &servers),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
        if self.p3 {
            variables.push(("DMLC_PS_VAN_TYPE".into(), "p3".into()));
            variables.push(("DMLC_PS_WATER_MARK".into(), "10".into()));
        }
        if let Some(timeout) = self.timeout {
            variables.push(("MXRS_KVSTORE_TIMEOUT".into(), timeout.to_string()));
        }
        variables.extend(self.env_worker.iter().cloned());
        variables
    }

    /// The variables that all workers of a launcher get if MPI connects them.
    fn variables_with_mpi(&self, cluster: &str) -> Vec<(String, String)> {
        let mut variables = self.variables(cluster);
        variables.push(("MXRS_KVSTORE_ENGINE".into(), "mpi".into()));
        variables
    }
}

/// The value of a variable of this process, for workers on other machines. Logs a warning and returns `None` if it is not
/// set.
fn value_of(name: &str) -> Option<OsString> {
    let value = OsSource.vars().into_iter().rfind(|(known, _)| known == name).map(|(_, value)| value);
    if value.is_none() {
        tracing::warn!("--env {name}: the variable is not set");
    }
    value
}

/// Runs the command.
///
/// # Errors
/// Fails if a flag is not valid, if a worker or the launcher's program cannot be started, or with the exit code of the first
/// worker that failed.
pub fn run(args: &Args) -> Outcome {
    let launcher = args.launcher();
    if launcher == Launcher::Ssh && args.hostfile.is_none() {
        return Err(Failure::Usage("--launcher ssh: --hostfile FILE names the hosts".into()));
    }
    if let (Some(_), Launcher::Local | Launcher::Slurm | Launcher::K8s) = (&args.hostfile, launcher) {
        return Err(Failure::Usage("--hostfile: only --launcher ssh and mpi use it".into()));
    }
    let prints_servers = launcher == Launcher::K8s && args.manifest == manifest::Kind::DistAsync;
    if launcher != Launcher::Local && !prints_servers && args.num_servers.is_some_and(|n| n > 0) {
        tracing::warn!(
            "--num-servers: only --launcher local starts servers; on other machines start them with DMLC_ROLE=server"
        );
    }
    if !matches!(launcher, Launcher::Local | Launcher::K8s) && args.max_restarts > 0 {
        tracing::warn!("--max-restarts: only --launcher local and k8s start processes again");
    }
    match launcher {
        Launcher::Local => workers::run(args),
        Launcher::Ssh | Launcher::Mpi => workers::run_program(args, &mpi::command(args)?),
        Launcher::Slurm => workers::run_program(args, &slurm::command(args)),
        Launcher::K8s => manifest::print(args),
        Launcher::Sge => Err(Failure::Usage("--launcher: sge is not built; use mpi inside a job of the grid".into())),
    }
}

/// The arguments of `mxrs launch` with these words after it.
#[cfg(test)]
fn parsed(words: &[&str]) -> Args {
    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    let Line { args } = clap::Parser::parse_from(["launch"].iter().chain(words));
    args
}
