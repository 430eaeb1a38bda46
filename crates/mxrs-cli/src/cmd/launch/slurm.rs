//! The command line of Slurm's `srun`.

use super::{Args, ranks};
use std::ffi::OsString;
use std::process::Command;

/// The command that starts the workers. `srun` connects them by PMIx if it has it, otherwise by PMI 2.
pub fn command(args: &Args) -> Vec<OsString> {
    let listed = Command::new("srun").arg("--mpi=list").output();
    let listed = listed.map(|output| [output.stdout, output.stderr].concat()).unwrap_or_default();
    let has_pmix = String::from_utf8_lossy(&listed).contains("pmix");
    line(args, if has_pmix { "pmix" } else { "pmi2" })
}

fn line(args: &Args, mpi: &str) -> Vec<OsString> {
    let mut variables = args.variables_with_mpi("slurm");
    variables.extend(ranks::variables(args, None));
    // `--export` divides its value at commas, so the values are set by the program `env` of the worker instead.
    let mut line: Vec<OsString> = vec!["srun".into(), "-n".into(), args.num_workers.to_string().into()];
    line.extend([format!("--mpi={mpi}"), "--label".into(), "--kill-on-bad-exit=1".into()].map(OsString::from));
    line.push(format!("--job-name={}", args.jobname).into());
    line.extend(args.queue.iter().map(|queue| OsString::from(format!("--partition={queue}"))));
    line.push("env".into());
    line.extend(variables.into_iter().map(|(name, value)| OsString::from(format!("{name}={value}"))));
    line.extend(ranks::command(args, ranks::SLURM));
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::launch::{parsed, workers::shown};

    #[test]
    fn srun_gets_its_flags() {
        let words = ["-n", "4", "--queue", "gpus", "--jobname", "digits", "--env-worker", "A:1,2", "train", "-x"];
        let args = parsed(&words);
        assert_eq!(
            shown(&line(&args, "pmix")),
            "srun -n 4 --mpi=pmix --label --kill-on-bad-exit=1 --job-name=digits --partition=gpus env DMLC_ROLE=worker \
             DMLC_JOB_CLUSTER=slurm DMLC_NUM_WORKER=4 DMLC_NUM_SERVER=4 A=1,2 MXRS_KVSTORE_ENGINE=mpi WORLD_SIZE=4 \
             MASTER_PORT=9091 sh -c 'export RANK=\"$SLURM_PROCID\" LOCAL_RANK=\"$SLURM_LOCALID\" MASTER_ADDR=\"$(scontrol show \
             hostnames \"$SLURM_STEP_NODELIST\" 2>/dev/null | head -n 1)\"; exec \"$@\"' sh train -x"
        );
    }
}
