//! Manifests of workers that MPI connects. Both operators start a pod for each worker with an SSH server, give a launcher the
//! list of their hosts, and leave it to the launcher's command to start the workers by `mpirun`.

use super::{command, last_of_each, literal, passed_on};
use crate::cmd::launch::Args;
use serde_json::{Value, json};

/// Where both operators put the list of hosts. Open MPI 5 does not read the variable that names this file for Open MPI 4.
const HOSTS: &str = "/etc/mpi/hostfile";
/// The number of the user `mpiuser` in images that are built on those of the MPI operator. Trainer makes keys for SSH that
/// root cannot use, because a group can read them.
const USER: u32 = 1000;
const KEYS: &str = "/home/mpiuser/.ssh";
const SSH_SERVER: [&str; 4] = ["/usr/sbin/sshd", "-De", "-f", "/home/mpiuser/.sshd_config"];
const SSH_PORT: u16 = 2222;
/// The API of Trainer 2.
const TRAINER: &str = "trainer.kubeflow.org/v1alpha1";
/// Marks the job whose command Trainer takes from the `TrainJob`.
const STEP: &str = "trainer.kubeflow.org/trainjob-ancestor-step";

/// The command of the launcher.
fn launch(args: &Args) -> Vec<String> {
    let n = args.num_workers.to_string();
    let mut line: Vec<String> =
        ["mpirun", "-n", &n, "--hostfile", HOSTS, "--allow-run-as-root"].map(str::to_owned).into();
    let mut variables = args.variables_with_mpi("mpi");
    variables.extend(passed_on(args));
    // The workers run in sessions of SSH, which do not have the variables of their containers.
    for (name, value) in last_of_each(variables) {
        line.extend(["-x".to_owned(), literal(&format!("{name}={value}"))]);
    }
    line.extend(command(args));
    line
}

/// A `TrainingRuntime` of its own for the job, and the `TrainJob`, which Trainer refuses if there is no such runtime.
pub fn train_job(args: &Args, image: &str) -> Vec<Value> {
    let name = format!("{}-runtime", args.jobname);
    let job = json!({
        "apiVersion": TRAINER,
        "kind": "TrainJob",
        "metadata": { "name": args.jobname },
        "spec": {
            "runtimeRef": { "name": name, "kind": "TrainingRuntime" },
            "trainer": { "numNodes": args.num_workers, "image": image, "command": launch(args) }
        }
    });
    vec![runtime(args, image, &name), job]
}

/// The first worker runs in the pod of the launcher, and the others in pods of the job `node`. Trainer gives that job its number
/// of pods, and the launcher its command.
fn runtime(args: &Args, image: &str, name: &str) -> Value {
    let user = json!({ "runAsUser": USER });
    let server = json!({
        "name": "node",
        "image": image,
        "securityContext": user,
        "command": SSH_SERVER,
        "readinessProbe": { "tcpSocket": { "port": SSH_PORT }, "initialDelaySeconds": 5 }
    });
    let launcher = json!({ "name": "node", "image": image, "securityContext": user });
    let pod = |container: Value| {
        let spec =
            json!({ "restartPolicy": "Never", "securityContext": { "fsGroup": USER }, "containers": [container] });
        json!({ "spec": spec })
    };
    let nodes = json!({ "name": "node", "template": { "spec": { "template": pod(server) } } });
    let launcher = json!({
        "name": "launcher",
        "dependsOn": [{ "name": "node", "status": "Ready" }],
        "template": {
            "metadata": { "labels": { STEP: "trainer" } },
            "spec": { "backoffLimit": args.max_restarts, "template": pod(launcher) }
        }
    });
    let policy = json!({
        "numProcPerNode": 1,
        "mpiImplementation": "OpenMPI",
        "sshAuthMountPath": KEYS,
        "runLauncherAsNode": true
    });
    let jobs = json!({
        "network": { "publishNotReadyAddresses": true },
        "successPolicy": { "operator": "All", "targetReplicatedJobs": ["launcher"] },
        "replicatedJobs": [nodes, launcher]
    });
    json!({
        "apiVersion": TRAINER,
        "kind": "TrainingRuntime",
        "metadata": { "name": name },
        // This is the number of launchers. The number of workers is in the `TrainJob`.
        "spec": { "mlPolicy": { "numNodes": 1, "mpi": policy }, "template": { "spec": jobs } }
    })
}

/// An `MPIJob`, whose containers run as root: the MPI operator makes keys for SSH that root can use.
pub fn mpi_job(args: &Args, image: &str) -> Value {
    let launcher = json!({ "name": "launcher", "image": image, "command": launch(args) });
    let worker = json!({ "name": "worker", "image": image });
    let replicas = |n: u32, container: Value| {
        let pod = json!({ "spec": { "containers": [container] } });
        json!({ "replicas": n, "template": pod })
    };
    json!({
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": { "name": args.jobname },
        "spec": {
            "slotsPerWorker": 1,
            "runPolicy": { "cleanPodPolicy": "Running", "backoffLimit": args.max_restarts },
            "mpiReplicaSpecs": { "Launcher": replicas(1, launcher), "Worker": replicas(args.num_workers, worker) }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::launch::{parsed, value_of};

    fn args(flags: &[&str]) -> Args {
        parsed(&[&["-n", "3", "--jobname", "digits"], flags, &["--", "mxrs", "train"]].concat())
    }

    fn words(command: &Value) -> Vec<&str> {
        command.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
    }

    /// Checks that this command starts three workers, and returns what sets their variables.
    fn variables(command: &Value) -> Vec<&str> {
        let words = words(command);
        assert!(words.starts_with(&["mpirun", "-n", "3", "--hostfile", "/etc/mpi/hostfile"]), "{words:?}");
        assert!(words.ends_with(&["mxrs", "train"]), "{words:?}");
        words.windows(2).filter(|pair| pair[0] == "-x").map(|pair| pair[1]).collect()
    }

    #[test]
    fn a_train_job_brings_its_runtime() {
        let objects = train_job(&args(&["--max-restarts", "2"]), "img");
        let [runtime, job] = &objects[..] else { panic!("{objects:?}") };
        assert_eq!((&runtime["kind"], &job["kind"]), (&json!("TrainingRuntime"), &json!("TrainJob")));
        assert_eq!(job["spec"]["runtimeRef"], json!({ "name": runtime["metadata"]["name"], "kind": runtime["kind"] }));
        assert_eq!(job["spec"]["trainer"]["numNodes"], json!(3));
        let variables = variables(&job["spec"]["trainer"]["command"]);
        assert!(variables.contains(&"DMLC_NUM_WORKER=3") && variables.contains(&"MXRS_KVSTORE_ENGINE=mpi"));
        let policy = &runtime["spec"]["mlPolicy"];
        assert_eq!((&policy["numNodes"], &policy["mpi"]["runLauncherAsNode"]), (&json!(1), &json!(true)));
        // Trainer gives the command to the container `node` of the job with this label, and the number of workers to the job
        // `node`.
        let jobs = &runtime["spec"]["template"]["spec"]["replicatedJobs"];
        assert_eq!((&jobs[0]["name"], &jobs[1]["name"]), (&json!("node"), &json!("launcher")));
        assert_eq!(jobs[1]["template"]["metadata"]["labels"][STEP], json!("trainer"));
        assert_eq!(jobs[1]["template"]["spec"]["backoffLimit"], json!(2));
        for job in jobs.as_array().unwrap() {
            let containers = &job["template"]["spec"]["template"]["spec"]["containers"];
            assert_eq!((&containers[0]["name"], &containers[0]["image"]), (&json!("node"), &json!("img")));
        }
    }

    #[test]
    fn an_mpi_job_starts_all_workers() {
        let job = mpi_job(&args(&["--env", "PATH", "--env", "NO_SUCH_VARIABLE", "--env-worker", "DMLC_ROLE:x"]), "img");
        let specs = &job["spec"]["mpiReplicaSpecs"];
        assert_eq!((&job["kind"], &specs["Worker"]["replicas"]), (&json!("MPIJob"), &json!(3)));
        let variables = variables(&specs["Launcher"]["template"]["spec"]["containers"][0]["command"]);
        let path = literal(&format!("PATH={}", value_of("PATH").unwrap().to_string_lossy()));
        assert!(variables.contains(&&*path), "{variables:?}");
        assert!(!variables.iter().any(|variable| variable.starts_with("NO_SUCH_VARIABLE")), "{variables:?}");
        // A variable of the user takes the place of that of the launcher.
        let roles = variables.iter().filter(|variable| variable.starts_with("DMLC_ROLE="));
        assert_eq!(roles.collect::<Vec<_>>(), [&"DMLC_ROLE=x"]);
    }
}
