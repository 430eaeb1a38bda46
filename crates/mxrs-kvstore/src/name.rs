//! Names of stores, such as `local` or `dist_sync`, and what each name means.

use mxrs_types::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// How a store exchanges values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Sums within this process.
    InProcess,
    /// Sums within this process, by NVIDIA's NCCL.
    Nccl,
    /// Exchanges values with other processes. A round ends when every worker has sent its value.
    DistSync,
    /// Exchanges values with servers, which update a value as soon as one worker has sent its part.
    DistAsync,
    /// Like [`Self::DistSync`], in slices that are sent in the order of their priorities.
    P3,
    /// Sums over processes by one operation on all of them, with Horovod's rules.
    Horovod,
    /// Sums over processes by servers that only add, with BytePS's rules.
    BytePs,
}

/// The type of a store, read from its name. Upper and lower case are equal in a name.
///
/// ```
/// use mxrs_kvstore::{Family, StoreType};
///
/// let store_type: StoreType = "Local_AllReduce_Device".parse()?;
/// assert_eq!((store_type.family(), store_type.reduces_on_device()), (Family::InProcess, true));
/// assert_eq!(store_type.name(), "Local_AllReduce_Device");
/// assert!("lokal".parse::<StoreType>().unwrap_err().to_string().contains("nearest: local"));
/// # Ok::<(), mxrs_types::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StoreType {
    name: String,
    family: Family,
    reduces_on_device: bool,
}

/// The names of all store types of MXNet, aliases included.
pub const NAMES: [&str; 16] = [
    "local",
    "local_update_cpu",
    "local_allreduce_cpu",
    "device",
    "local_allreduce_device",
    "nccl",
    "dist",
    "dist_sync",
    "dist_sync_device",
    "dist_device_sync",
    "dist_async",
    "dist_async_device",
    "dist_device_async",
    "p3",
    "horovod",
    "byteps",
];

/// The smallest similarity (Jaro-Winkler, 1 for equal names) of a valid name that is suggested for an unknown name.
const NEAR: f64 = 0.7;

impl StoreType {
    /// This store type, changed to send messages in slices in the order of their priorities, as `p3` does
    /// (`DMLC_PS_VAN_TYPE=p3`). The name stays.
    ///
    /// # Errors
    /// Fails unless the store is `dist_sync`, one of its aliases, or `p3`.
    pub fn in_slices(self) -> Result<Self> {
        match self.family {
            Family::DistSync | Family::P3 => Ok(Self { family: Family::P3, ..self }),
            _ => Err(Error::invalid("store of DMLC_PS_VAN_TYPE=p3", self.name, "dist_sync or one of its aliases")),
        }
    }

    /// The name as it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How the store exchanges values.
    pub fn family(&self) -> Family {
        self.family
    }

    /// Whether the store connects several processes.
    pub fn is_distributed(&self) -> bool {
        !matches!(self.family, Family::InProcess | Family::Nccl)
    }

    /// Whether the values of one process are summed on one of the devices that hold them, instead of on the host.
    pub fn reduces_on_device(&self) -> bool {
        self.reduces_on_device
    }

    /// Whether the store can update the values that it keeps. Workers update their own weights if it cannot.
    pub fn can_update(&self) -> bool {
        !matches!(self.family, Family::P3 | Family::Horovod | Family::BytePs)
    }

    /// Whether the store must update the values that it keeps: an asynchronous store has no sum to return.
    pub fn must_update(&self) -> bool {
        self.family == Family::DistAsync
    }

    /// Whether the store takes row-sparse values. Those of several processes refuse them; in MXNet, they take them.
    pub fn takes_row_sparse(&self) -> bool {
        self.family == Family::InProcess
    }

    /// Whether the store can compress gradients.
    pub fn can_compress(&self) -> bool {
        match self.family {
            Family::InProcess => self.reduces_on_device,
            Family::DistSync | Family::DistAsync => true,
            Family::Nccl | Family::P3 | Family::Horovod | Family::BytePs => false,
        }
    }

    /// Whether the store updates a model whose largest parameter has `largest` elements, if the user did not choose. A
    /// store named `local` leaves large parameters to the workers, as in MXNet.
    pub fn updates_by_default(&self, largest: usize) -> bool {
        let is_too_large = self.name == "local" && largest > MOST_LOCAL_ELEMENTS;
        self.can_update() && !is_too_large
    }
}

/// The largest number of elements of a parameter that a store named `local` updates by default.
const MOST_LOCAL_ELEMENTS: usize = 16 << 20;

impl FromStr for StoreType {
    type Err = Error;

    /// Reads a name in upper or lower case.
    ///
    /// # Errors
    /// Fails for a name that is not in [`NAMES`], with the nearest names and the list of all.
    fn from_str(given: &str) -> Result<Self> {
        let name = given.to_lowercase();
        if !NAMES.contains(&name.as_str()) {
            return Err(unknown(given, &NAMES));
        }
        let family = match name.as_str() {
            "p3" => Family::P3,
            "horovod" => Family::Horovod,
            "byteps" => Family::BytePs,
            "nccl" => Family::Nccl,
            name if name.starts_with("dist") && name.contains("_async") => Family::DistAsync,
            name if name.starts_with("dist") => Family::DistSync,
            _ => Family::InProcess,
        };
        Ok(Self { name: given.to_owned(), family, reduces_on_device: name.contains("device") })
    }
}

impl fmt::Display for StoreType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// The error for an unknown name: the nearest valid names, and all of them.
pub(crate) fn unknown(given: &str, valid: &[&str]) -> Error {
    let lower = given.to_lowercase();
    let mut near: Vec<(f64, &str)> = valid.iter().map(|&name| (strsim::jaro_winkler(&lower, name), name)).collect();
    near.retain(|&(likeness, _)| likeness >= NEAR);
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let near: Vec<&str> = near.iter().take(3).map(|&(_, name)| name).collect();
    let hint = if near.is_empty() { String::new() } else { format!(" (nearest: {})", near.join(", ")) };
    Error::invalid("type of the key-value store", format!("`{given}`{hint}"), format!("one of {}", valid.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_of_the_table() {
        // name, family, on device, distributed, can update, must update, row-sparse, compression
        let rows = [
            ("local", Family::InProcess, false, false, true, false, true, false),
            ("local_update_cpu", Family::InProcess, false, false, true, false, true, false),
            ("local_allreduce_cpu", Family::InProcess, false, false, true, false, true, false),
            ("device", Family::InProcess, true, false, true, false, true, true),
            ("local_allreduce_device", Family::InProcess, true, false, true, false, true, true),
            ("nccl", Family::Nccl, false, false, true, false, false, false),
            ("dist", Family::DistSync, false, true, true, false, false, true),
            ("dist_sync", Family::DistSync, false, true, true, false, false, true),
            ("dist_sync_device", Family::DistSync, true, true, true, false, false, true),
            ("dist_device_sync", Family::DistSync, true, true, true, false, false, true),
            ("dist_async", Family::DistAsync, false, true, true, true, false, true),
            ("dist_async_device", Family::DistAsync, true, true, true, true, false, true),
            ("dist_device_async", Family::DistAsync, true, true, true, true, false, true),
            ("p3", Family::P3, false, true, false, false, false, false),
            ("horovod", Family::Horovod, false, true, false, false, false, false),
            ("byteps", Family::BytePs, false, true, false, false, false, false),
        ];
        assert_eq!(rows.map(|row| row.0), NAMES);
        for (name, family, on_device, distributed, can, must, sparse, compress) in rows {
            for given in [name.to_owned(), name.to_uppercase()] {
                let t: StoreType = given.parse().unwrap();
                assert_eq!((t.name(), t.family(), t.reduces_on_device()), (given.as_str(), family, on_device));
                assert_eq!((t.is_distributed(), t.can_update(), t.must_update()), (distributed, can, must), "{name}");
                assert_eq!((t.takes_row_sparse(), t.can_compress()), (sparse, compress), "{name}");
            }
        }
    }

    #[test]
    fn unknown_names_are_errors_with_suggestions() {
        for (given, nearest) in
            [("devcie", "device"), ("dist_sink", "dist_sync"), ("Locals", "local"), ("ncll", "nccl")]
        {
            let error = given.parse::<StoreType>().unwrap_err().to_string();
            assert!(error.contains(&format!("`{given}` (nearest: {nearest}")), "{error}");
            assert!(NAMES.iter().all(|name| error.contains(name)), "{error}");
        }
        let error = "".parse::<StoreType>().unwrap_err().to_string();
        assert!(!error.contains("nearest"), "{error}");
        // MXNet accepts these names as `device` and `dist_sync`, because it searches a name for parts such as `dist`. They
        // are errors here.
        assert!("my_device".parse::<StoreType>().is_err() && "dist_fast".parse::<StoreType>().is_err());
    }

    #[test]
    fn large_parameters_are_updated_by_workers_of_local() {
        let updates = |name: &str, n| name.parse::<StoreType>().unwrap().updates_by_default(n);
        assert!(updates("local", 16 << 20) && !updates("local", (16 << 20) + 1));
        assert!(updates("device", usize::MAX) && !updates("horovod", 1));
    }
}
