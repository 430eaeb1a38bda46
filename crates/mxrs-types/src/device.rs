//! Devices: where memory lies, such as `cpu(0)`, `gpu(1)`, `cpu_pinned(0)`, `cpu_shared(0)`. MXNet calls them contexts.

use crate::{Error, ErrorKind};
use std::fmt;
use std::str::FromStr;

/// The kind of memory, with the codes used in files and the C API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(i32)]
pub enum DeviceKind {
    /// Host memory.
    Cpu = 1,
    /// Memory of a GPU.
    Gpu = 2,
    /// Page-locked host memory, for copies to and from a GPU.
    CpuPinned = 3,
    /// Host memory that another process can map.
    CpuShared = 5,
}

impl DeviceKind {
    /// The code stored in files (`dev_type`).
    pub const fn code(self) -> i32 {
        self as i32
    }

    /// The kind for a stored code; `None` for an unknown code.
    pub const fn from_code(code: i32) -> Option<Self> {
        match code {
            1 => Some(Self::Cpu),
            2 => Some(Self::Gpu),
            3 => Some(Self::CpuPinned),
            5 => Some(Self::CpuShared),
            _ => None,
        }
    }

    /// The name, as MXNet spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
            Self::CpuPinned => "cpu_pinned",
            Self::CpuShared => "cpu_shared",
        }
    }
}

/// A device: a kind of memory and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Device {
    /// Kind of memory.
    pub kind: DeviceKind,
    /// Index among devices of this kind, from 0.
    pub id: u32,
}

impl Default for Device {
    /// `cpu(0)`, as in MXNet.
    fn default() -> Self {
        Self::cpu(0)
    }
}

impl Device {
    /// Host memory `id`.
    pub const fn cpu(id: u32) -> Self {
        Self { kind: DeviceKind::Cpu, id }
    }

    /// Graphics processor `id`.
    pub const fn gpu(id: u32) -> Self {
        Self { kind: DeviceKind::Gpu, id }
    }

    /// Page-locked host memory for GPU `id`.
    pub const fn cpu_pinned(id: u32) -> Self {
        Self { kind: DeviceKind::CpuPinned, id }
    }

    /// Shareable host memory.
    pub const fn cpu_shared(id: u32) -> Self {
        Self { kind: DeviceKind::CpuShared, id }
    }

    /// Whether the host can read this memory directly.
    pub const fn is_host(self) -> bool {
        !matches!(self.kind, DeviceKind::Gpu)
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.kind.name(), self.id)
    }
}

impl FromStr for Device {
    type Err = Error;

    /// Parses `cpu`, `cpu(0)`, `gpu:1`.
    ///
    /// # Errors
    /// Returns [`ErrorKind::InvalidValue`] for any other text.
    fn from_str(text: &str) -> Result<Self, Error> {
        let bad = || {
            Error::new(ErrorKind::InvalidValue {
                what: "device".into(),
                got: text.into(),
                expected: "cpu, cpu(N), cpu:N, gpu(N), gpu:N, cpu_pinned(N) or cpu_shared(N)".into(),
            })
        };
        let text_trimmed = text.trim();
        let (name, id) = match text_trimmed.split_once(['(', ':']) {
            Some((name, rest)) => {
                let digits = if text_trimmed.contains('(') { rest.strip_suffix(')').ok_or_else(bad)? } else { rest };
                (name, digits.parse().map_err(|_| bad())?)
            }
            None => (text_trimmed, 0),
        };
        let kind = match name {
            "cpu" => DeviceKind::Cpu,
            "gpu" => DeviceKind::Gpu,
            "cpu_pinned" => DeviceKind::CpuPinned,
            "cpu_shared" => DeviceKind::CpuShared,
            _ => return Err(bad()),
        };
        Ok(Self { kind, id })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_forms_round_trip() {
        for device in [Device::cpu(0), Device::gpu(3), Device::cpu_pinned(1), Device::cpu_shared(0)] {
            assert_eq!(device.to_string().parse::<Device>().unwrap(), device);
        }
        assert_eq!("gpu:2".parse::<Device>().unwrap(), Device::gpu(2));
        for bad in ["tpu(0)", "cpu(", "cpu(x)", "gpu:-1", ""] {
            assert!(bad.parse::<Device>().is_err(), "{bad}");
        }
    }
}
