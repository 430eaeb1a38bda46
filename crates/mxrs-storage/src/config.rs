//! Settings of the pools, their documented defaults, and the environment variables that they come from.

use crate::pool::Rounding;
use mxrs_types::{DeviceKind, Error, ErrorKind, PoolKind, Result};

/// Settings of the pools of one kind of device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolConfig {
    /// The kind of pool: how it rounds requests and keeps freed memory.
    pub kind: PoolKind,
    /// Percentage of the device's memory that is kept free, 0 to 100. If new memory for a block would leave less than
    /// this free, the pool first returns all cached blocks to the device.
    pub reserve_percent: u8,
    /// For `Naive`: a request of more than this many bytes is rounded up to a multiple of this number. At least 1; the value
    /// 1 disables this rounding.
    pub large_alloc_round_size: usize,
    /// For `Round`: the base-2 logarithm of a size, 20 to 34. `Round` makes block sizes up to that size powers of two, and
    /// larger ones multiples of that size.
    pub round_linear_cutoff: u32,
    /// In bytes, at least 32. `Naive` rounds block sizes up to multiples of this number. It is the smallest block size of
    /// `Round`, for which it must be a power of two.
    pub page_size: usize,
}

impl Default for PoolConfig {
    fn default() -> Self {
        Self {
            kind: PoolKind::Naive,
            reserve_percent: 5,
            large_alloc_round_size: 2 << 20,
            round_linear_cutoff: 24,
            page_size: 4096,
        }
    }
}

impl PoolConfig {
    /// The default settings, except that the kind of pool is `kind`.
    pub fn of_kind(kind: PoolKind) -> Self {
        Self { kind, ..Self::default() }
    }

    /// Checks the range of each setting, and whether the settings fit together.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidValue`] naming the first field that is out of range.
    pub fn validate(&self) -> Result<()> {
        match self.fault(|setting| setting.field().to_owned()) {
            None => Ok(()),
            Some(fault) => Err(Error::invalid(fault.name, fault.value, fault.expected)),
        }
    }

    /// The size in bytes of the block that a request of `size_bytes` gets. The result is 0 for a request of 0 bytes, and
    /// `None` if no block can be that large or the settings are not [valid](Self::validate). For `BestFit` the result holds
    /// for host memory; on a GPU blocks are multiples of 512 bytes.
    pub fn block_bytes(&self, size_bytes: usize) -> Option<usize> {
        self.validate().ok()?;
        match size_bytes {
            0 => Some(0),
            _ => Rounding::new(self).class(size_bytes).map(|class| class.block_bytes),
        }
    }

    /// The first setting that is out of range; `name` gives the names of settings for the message.
    fn fault(&self, name: impl Fn(Setting) -> String) -> Option<Fault> {
        let fault = |setting, value: &dyn ToString, expected: String| {
            Some(Fault { name: name(setting), value: value.to_string(), expected })
        };
        if self.reserve_percent > 100 {
            return fault(Setting::Reserve, &self.reserve_percent, "an integer from 0 to 100".into());
        }
        if self.large_alloc_round_size == 0 {
            return fault(Setting::LargeRound, &self.large_alloc_round_size, "an integer >= 1".into());
        }
        if !(20..=34).contains(&self.round_linear_cutoff) {
            return fault(Setting::Cutoff, &self.round_linear_cutoff, "an integer from 20 to 34".into());
        }
        if self.page_size < 32 {
            return fault(Setting::PageSize, &self.page_size, "an integer >= 32".into());
        }
        if self.kind == PoolKind::Round {
            if !self.page_size.is_power_of_two() {
                let expected = format!("a power of two, because {} is Round", name(Setting::Kind));
                return fault(Setting::PageSize, &self.page_size, expected);
            }
            let page_log2 = self.page_size.ilog2();
            if self.round_linear_cutoff < page_log2 {
                let page = name(Setting::PageSize);
                let expected = format!("at least {page_log2}, the base-2 logarithm of {page} ({})", self.page_size);
                return fault(Setting::Cutoff, &self.round_linear_cutoff, expected);
            }
        }
        None
    }
}

struct Fault {
    name: String,
    value: String,
    expected: String,
}

#[derive(Clone, Copy)]
pub(crate) enum Setting {
    Kind,
    Reserve,
    LargeRound,
    Cutoff,
    PageSize,
}

impl Setting {
    const fn field(self) -> &'static str {
        match self {
            Self::Kind => "kind",
            Self::Reserve => "reserve_percent",
            Self::LargeRound => "large_alloc_round_size",
            Self::Cutoff => "round_linear_cutoff",
            Self::PageSize => "page_size",
        }
    }

    /// The name of the environment variable of this setting for one kind of device.
    pub(crate) fn variable(self, kind: DeviceKind) -> String {
        let suffix = match self {
            Self::Kind => "MEM_POOL_TYPE",
            Self::Reserve => "MEM_POOL_RESERVE",
            Self::LargeRound => "MEM_LARGE_ALLOC_ROUND_SIZE",
            Self::Cutoff => "MEM_POOL_ROUND_LINEAR_CUTOFF",
            Self::PageSize => "MEM_POOL_PAGE_SIZE",
        };
        format!("MXNET_{}_{suffix}", device_word(kind))
    }
}

/// The name of the kind of device in environment variables and log lines.
pub(crate) const fn device_word(kind: DeviceKind) -> &'static str {
    match kind {
        DeviceKind::Cpu => "CPU",
        DeviceKind::Gpu => "GPU",
        DeviceKind::CpuPinned => "CPU_PINNED",
        DeviceKind::CpuShared => "CPU_SHARED",
    }
}

/// Settings of all pools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StorageConfig {
    /// Settings for ordinary host memory.
    pub cpu: PoolConfig,
    /// Settings for the memory of GPUs; each GPU has a pool of its own.
    pub gpu: PoolConfig,
    /// Settings for page-locked host memory; each device id has a pool of its own.
    pub cpu_pinned: PoolConfig,
    /// Disables all pools, whatever the other fields say (`MXNET_USE_NAIVE_STORAGE_MANAGERS`).
    pub naive_storage_manager: bool,
}

impl StorageConfig {
    /// Uses the settings `pool` for all three kinds of device.
    pub fn uniform(pool: PoolConfig) -> Self {
        Self { cpu: pool, gpu: pool, cpu_pinned: pool, naive_storage_manager: false }
    }

    /// Checks the settings of every kind of device, used or not.
    ///
    /// # Errors
    /// [`ErrorKind::Env`] naming the variable of the first setting that is out of range.
    pub fn validate(&self) -> Result<()> {
        for kind in [DeviceKind::Gpu, DeviceKind::Cpu, DeviceKind::CpuPinned] {
            if let Some(fault) = self.pool(kind).fault(|setting| setting.variable(kind)) {
                let Fault { name, value, expected } = fault;
                return Err(Error::new(ErrorKind::Env { name, value, expected }));
            }
        }
        Ok(())
    }

    /// The settings of one kind of device; shared host memory is never pooled.
    pub(crate) fn pool(&self, kind: DeviceKind) -> PoolConfig {
        match kind {
            DeviceKind::Cpu => self.cpu,
            DeviceKind::Gpu => self.gpu,
            DeviceKind::CpuPinned => self.cpu_pinned,
            DeviceKind::CpuShared => PoolConfig::of_kind(PoolKind::Unpooled),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_is_checked_and_named() {
        let good = PoolConfig::default();
        assert!(good.validate().is_ok());
        let round = PoolConfig::of_kind(PoolKind::Round);
        let cases = [
            (PoolConfig { reserve_percent: 101, ..good }, "reserve_percent"),
            (PoolConfig { large_alloc_round_size: 0, ..good }, "large_alloc_round_size"),
            (PoolConfig { round_linear_cutoff: 19, ..good }, "round_linear_cutoff"),
            (PoolConfig { round_linear_cutoff: 35, ..good }, "round_linear_cutoff"),
            (PoolConfig { page_size: 31, ..good }, "page_size"),
            (PoolConfig { page_size: 96, ..round }, "page_size"),
            (PoolConfig { page_size: 1 << 21, round_linear_cutoff: 20, ..round }, "round_linear_cutoff"),
        ];
        for (config, field) in cases {
            let message = config.validate().unwrap_err().to_string();
            assert!(message.starts_with(field), "{message}");
            assert_eq!(config.block_bytes(100), None);
        }
        for config in [
            PoolConfig { reserve_percent: 100, large_alloc_round_size: 1, page_size: 32, ..good },
            PoolConfig { round_linear_cutoff: 34, ..round },
            PoolConfig { round_linear_cutoff: 20, page_size: 1 << 20, ..round },
            PoolConfig { page_size: 96, ..good },
        ] {
            assert!(config.validate().is_ok(), "{config:?}");
        }
    }

    #[test]
    fn storage_errors_name_the_variables() {
        let bad = PoolConfig { page_size: 96, ..PoolConfig::of_kind(PoolKind::Round) };
        let config = StorageConfig { cpu_pinned: bad, ..StorageConfig::default() };
        assert_eq!(
            config.validate().unwrap_err().to_string(),
            "MXNET_CPU_PINNED_MEM_POOL_PAGE_SIZE: invalid value \"96\": expected a power of two, because \
             MXNET_CPU_PINNED_MEM_POOL_TYPE is Round"
        );
    }
}
