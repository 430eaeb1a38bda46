//! The devices that `--gpus` and `--cpus` name, and the runtime as a training on them sees it.

use crate::exit::{Failure, Outcome};
use clap::Args;
use mxrs::Runtime;
use mxrs::exec::BindOptions;
use mxrs::ndarray::ArrayContext;
use mxrs::train::Host;
use mxrs::types::Device;

/// The devices among which every batch is divided.
#[derive(Args, Clone, Debug, Default)]
pub struct Contexts {
    /// GPUs to run on, such as 0 or 0,2,5; every batch is divided among them [default: the CPU]
    #[arg(long, value_name = "LIST")]
    pub gpus: Option<String>,
    /// CPU devices to divide every batch among, such as 0,1; an addition to MXNet's flags, to try out training on several
    /// devices without GPUs
    #[arg(long, value_name = "LIST", conflicts_with = "gpus")]
    pub cpus: Option<String>,
}

impl Contexts {
    /// The devices in the given order; `default` if neither flag is given.
    ///
    /// # Errors
    /// [`Failure::Usage`] that names the flag, if a list has anything but numbers, or a number twice.
    pub fn devices(&self, default: Device) -> Outcome<Vec<Device>> {
        let given = |list: &Option<String>| list.clone().filter(|list| !list.trim().is_empty());
        let (flag, list, device): (_, _, fn(u32) -> Device) = match (given(&self.gpus), given(&self.cpus)) {
            (Some(list), _) => ("--gpus", list, Device::gpu),
            (None, Some(list)) => ("--cpus", list, Device::cpu),
            (None, None) => return Ok(vec![default]),
        };
        let mut devices = Vec::new();
        for text in list.split(',') {
            let number = text.trim().parse().map_err(|_| {
                Failure::Usage(format!("{flag}: `{list}` is not a list of numbers with commas, such as 0,1"))
            })?;
            if devices.contains(&device(number)) {
                return Err(Failure::Usage(format!("{flag}: `{list}` has {number} twice")));
            }
            devices.push(device(number));
        }
        Ok(devices)
    }
}

/// Checks that this build and machine have the devices.
///
/// # Errors
/// [`Failure::Usage`] that names the first missing device, and those that exist.
pub fn check(runtime: &Runtime, devices: &[Device]) -> Outcome {
    let missing = devices.iter().find(|device| runtime.arrays().check_device(**device).is_err());
    let Some(missing) = missing else { return Ok(()) };
    let gpus: Vec<String> = runtime.arrays().devices().map(|device| device.to_string()).collect();
    let there = if gpus.is_empty() { "the CPU only".to_owned() } else { format!("the CPU and {}", gpus.join(", ")) };
    Err(Failure::Usage(format!("--gpus: there is no {missing}: this build and machine have {there}")))
}

/// A runtime, together with the options with which a training binds its graphs.
#[derive(Clone)]
pub struct On {
    /// The runtime.
    pub runtime: Runtime,
    /// The options.
    pub options: BindOptions,
}

impl Host for On {
    fn arrays(&self) -> &ArrayContext {
        self.runtime.arrays()
    }

    fn bind_options(&self) -> BindOptions {
        self.options.clone()
    }

    fn kvstore(&self, name: &str) -> mxrs::Result<std::sync::Arc<dyn mxrs::train::KvStore>> {
        Host::kvstore(&self.runtime, name)
    }

    fn update_on_kvstore(&self) -> bool {
        Host::update_on_kvstore(&self.runtime)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn devices(gpus: Option<&str>, cpus: Option<&str>) -> Result<Vec<String>, String> {
        let contexts = Contexts { gpus: gpus.map(str::to_owned), cpus: cpus.map(str::to_owned) };
        let devices = contexts.devices(Device::cpu(3)).map_err(|failure| failure.to_string())?;
        Ok(devices.iter().map(Device::to_string).collect())
    }

    #[test]
    fn lists_are_devices_in_their_order() {
        assert_eq!(devices(None, None).unwrap(), ["cpu(3)"]);
        assert_eq!(devices(Some(""), Some(" ")).unwrap(), ["cpu(3)"]);
        assert_eq!(devices(Some("2, 0,5"), None).unwrap(), ["gpu(2)", "gpu(0)", "gpu(5)"]);
        assert_eq!(devices(None, Some("0,1")).unwrap(), ["cpu(0)", "cpu(1)"]);
        for (gpus, cpus, words) in [
            (Some("0,"), None, "--gpus: `0,`"),
            (Some("a"), None, "--gpus: `a`"),
            (None, Some("-1"), "--cpus: `-1`"),
            (None, Some("1,0,1"), "has 1 twice"),
            (Some("4294967296"), None, "--gpus"),
        ] {
            let error = devices(gpus, cpus).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
