//! The servers of a job: processes that keep and update the values of `dist_async`.

use super::Args;
use super::job::Job;
use super::running::Name;
use super::workers::{assignments, program, shown};
use crate::exit::{Failure, Outcome};
use crate::start;
use mxrs::Error;
use mxrs::env::Settings;
use std::net::TcpListener;
use std::process::Command;

/// The variables that servers and workers of a job have in common.
type Variables = Vec<(String, String)>;

/// The commands of the servers, and the variables by which workers find them. Both are empty without servers.
///
/// # Errors
/// Fails if the system has no free ports, or if a file cannot be written.
pub fn commands(args: &Args, job: &Job) -> Outcome<(Vec<(Name, Command)>, Variables)> {
    let n_servers = args.num_servers.unwrap_or(0);
    if n_servers == 0 {
        return Ok((Vec::new(), Vec::new()));
    }
    let (settings, _) = Settings::from_snapshot(&start::snapshot(None)?).map_err(Failure::binding)?;
    let has_folder = settings.distributed.snapshot_folder.is_some();
    let (snapshots, token) = (job.folder().join("snapshots"), job.folder().join("token"));
    std::fs::create_dir(&snapshots).map_err(|error| Failure::Run(Error::io(&snapshots, &error)))?;
    let random = std::fs::File::open("/dev/urandom").and_then(|mut file| {
        let mut bytes = [0; 16];
        std::io::Read::read_exact(&mut file, &mut bytes).map(|()| u128::from_le_bytes(bytes))
    });
    let random = random.map_err(|error| Failure::Run(Error::io("/dev/urandom", &error)))?;
    // Other users of this machine can reach the servers' ports. They cannot read the folder of the job, so they do not know
    // this token, without which a server refuses a worker.
    std::fs::write(&token, format!("{random:032x}\n")).map_err(|error| Failure::Run(Error::io(&token, &error)))?;
    let shared: Variables = [
        ("MXRS_KVSTORE_SERVERS", free_addresses(n_servers)?),
        ("MXRS_KVSTORE_TOKEN_FILE", token.display().to_string()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    let mut commands = Vec::new();
    for server in 0..n_servers {
        // Servers do not get the variables of `--env-worker`. If a variable occurs twice, its last value counts.
        let mut variables = Args { env_worker: Vec::new(), ..args.clone() }.variables("local");
        variables.extend(shared.iter().cloned());
        for (name, value) in [
            ("DMLC_ROLE", "server".to_owned()),
            ("DMLC_RANK", server.to_string()),
            ("DMLC_TASK_ID", server.to_string()),
        ] {
            variables.retain(|(known, _)| known != name);
            variables.push((name.to_owned(), value));
        }
        // Unless the user names a folder for snapshots, they are in the folder of the job, which is removed when the job
        // ends.
        if !has_folder {
            variables.push(("MXRS_KVSTORE_SNAPSHOT_DIR".to_owned(), snapshots.display().to_string()));
        }
        variables.extend(args.env_server.iter().cloned());
        if args.dry_run {
            println!("{} {}", assignments(&variables), shown(&args.command));
            continue;
        }
        let mut command = program(&args.command)?;
        command.envs(variables);
        commands.push((Name::Server(server), command));
    }
    Ok((commands, shared))
}

/// Addresses of this machine with ports that are free now.
fn free_addresses(n: u32) -> Outcome<String> {
    // All ports are bound before the first is released, so that they differ.
    let taken = (0..n).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<Result<Vec<_>, _>>();
    let addresses = taken.and_then(|all| all.iter().map(TcpListener::local_addr).collect::<Result<Vec<_>, _>>());
    let addresses = addresses.map_err(|error| Failure::Run(Error::from_io(&error).context("finding free ports")))?;
    Ok(addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
}
