//! Manifests for Kubernetes, which start the workers by MPI.

use super::{Args, value_of};
use crate::exit::{Failure, Outcome};
use serde_json::{Value, json};

/// Kinds of manifests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// `TrainJob` of Kubeflow's Trainer 2, for a TrainingRuntime `<jobname>-runtime` with mlPolicy.mpi
    TrainJob,
    /// `MPIJob` of Kubeflow's MPI operator
    MpiJob,
}

/// Prints the manifest as JSON, which is also YAML: `mxrs launch … | kubectl apply -f -`.
///
/// # Errors
/// [`Failure::Usage`] if the image is missing.
pub fn print(args: &Args) -> Outcome {
    let manifest = manifest(args)?;
    let text = serde_json::to_string_pretty(&manifest)
        .map_err(|error| Failure::Run(mxrs::Error::invalid("manifest", error, "JSON")))?;
    println!("{text}");
    Ok(())
}

fn manifest(args: &Args) -> Outcome<Value> {
    let Some(image) = &args.image else {
        return Err(Failure::Usage(
            "--launcher k8s: --image IMAGE is needed: an image with mxrs and an MPI library".into(),
        ));
    };
    let mut variables = args.variables_with_mpi("mpi");
    for name in &args.env {
        let value = value_of(name).map(|value| value.to_string_lossy().into_owned());
        variables.extend(value.map(|value| (name.clone(), value)));
    }
    let env: Vec<Value> = variables.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
    let command: Vec<String> = args.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let n = args.num_workers;
    Ok(match args.manifest {
        Kind::TrainJob => json!({
            "apiVersion": "trainer.kubeflow.org/v1alpha1",
            "kind": "TrainJob",
            "metadata": { "name": args.jobname },
            "spec": {
                "runtimeRef": { "name": format!("{}-runtime", args.jobname), "kind": "TrainingRuntime" },
                "trainer": { "numNodes": n, "image": image, "command": command, "env": env }
            }
        }),
        Kind::MpiJob => {
            let mut launch: Vec<String> =
                ["mpirun", "-n", &n.to_string(), "--allow-run-as-root"].map(str::to_owned).into();
            launch.extend(variables.iter().flat_map(|(name, value)| ["-x".to_owned(), format!("{name}={value}")]));
            launch.extend(command);
            json!({
                "apiVersion": "kubeflow.org/v2beta1",
                "kind": "MPIJob",
                "metadata": { "name": args.jobname },
                "spec": {
                    "slotsPerWorker": 1,
                    "runPolicy": { "cleanPodPolicy": "Running" },
                    "mpiReplicaSpecs": {
                        "Launcher": {
                            "replicas": 1,
                            "template": { "spec": {
                                "containers": [{ "name": "launcher", "image": image, "command": launch }]
                            } }
                        },
                        "Worker": {
                            "replicas": n,
                            "template": { "spec": { "containers": [{ "name": "worker", "image": image }] } }
                        }
                    }
                }
            })
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::launch::parsed;

    fn of(flags: &[&str]) -> Outcome<Value> {
        manifest(&parsed(&[&["-n", "3", "--jobname", "digits"], flags, &["--", "mxrs", "train"]].concat()))
    }

    #[test]
    fn both_kinds_start_all_workers() {
        let job = of(&["--image", "img"]).unwrap_or_else(|failure| panic!("{failure}"));
        assert_eq!((&job["kind"], &job["spec"]["trainer"]["numNodes"]), (&json!("TrainJob"), &json!(3)));
        assert_eq!(job["spec"]["trainer"]["command"], json!(["mxrs", "train"]));
        let job = of(&["--image", "img", "--env", "PATH", "--env", "NO_SUCH_VARIABLE"]);
        let job = job.unwrap_or_else(|failure| panic!("{failure}"));
        let env = job["spec"]["trainer"]["env"].as_array().unwrap();
        let path = value_of("PATH").unwrap();
        assert!(env.contains(&json!({ "name": "PATH", "value": path.to_string_lossy() })), "{env:?}");
        assert!(env.iter().all(|variable| variable["name"] != "NO_SUCH_VARIABLE"), "{env:?}");
        let job = of(&["--image", "img", "--manifest", "mpi-job"]).unwrap_or_else(|failure| panic!("{failure}"));
        let specs = &job["spec"]["mpiReplicaSpecs"];
        assert_eq!((&job["kind"], &specs["Worker"]["replicas"]), (&json!("MPIJob"), &json!(3)));
        let command = &specs["Launcher"]["template"]["spec"]["containers"][0]["command"];
        assert!(command.as_array().is_some_and(|words| words.contains(&json!("DMLC_NUM_WORKER=3"))), "{command}");
        assert!(of(&[]).is_err_and(|failure| failure.to_string().contains("--image")));
    }
}
