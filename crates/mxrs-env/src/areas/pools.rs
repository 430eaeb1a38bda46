//! Memory pools: one per kind of device memory, with the same five settings each.

use crate::words::words;
use crate::{Kind, settings};
use std::num::NonZeroU64;

words! {
    /// How a pool rounds and keeps blocks.
    pub enum PoolKind {
        /// Rounds to pages, and large blocks to large pages.
        Naive = "Naive",
        /// Rounds to powers of two, and large blocks to multiples of one power.
        Round = "Round",
        /// Keeps nothing: exact sizes from and to the system.
        Unpooled = "Unpooled",
        /// Cuts blocks out of longer ranges and joins what is freed; not in MXNet.
        BestFit = "BestFit",
    }
}

settings! {
    /// Memory pools of the three kinds of device memory; see [`PoolSettings::of`].
    pub struct PoolSettings in Memory {
        /// Strategy of the GPU pools.
        gpu_kind: PoolKind = Naive, "MXNET_GPU_MEM_POOL_TYPE" [D13 FirstUse InEffect];
        /// Strategy of the CPU pool.
        cpu_kind: PoolKind = Naive, "MXNET_CPU_MEM_POOL_TYPE" [D14 FirstUse InEffect];
        /// Strategy of the pool of page-locked host memory.
        pinned_kind: PoolKind = Naive, "MXNET_CPU_PINNED_MEM_POOL_TYPE" [D15 FirstUse InEffect];
        /// Percentage of GPU memory to leave free: cached blocks are released before a request would go below it.
        gpu_reserve_percent: u8 = 5, "MXNET_GPU_MEM_POOL_RESERVE" [D16 FirstUse InEffect], Kind::int(0, 100);
        /// Percentage of system memory that the CPU pool leaves free.
        cpu_reserve_percent: u8 = 5, "MXNET_CPU_MEM_POOL_RESERVE" [D17 FirstUse InEffect], Kind::int(0, 100);
        /// Percentage of system memory that the pool of page-locked memory leaves free.
        pinned_reserve_percent: u8 = 5, "MXNET_CPU_PINNED_MEM_POOL_RESERVE" [D18 FirstUse InEffect], Kind::int(0, 100);
        /// Bytes: larger GPU blocks are rounded up to multiples of it by the Naive strategy. 1 switches that off.
        gpu_large_round_bytes: NonZeroU64 = 2097152, "MXNET_GPU_MEM_LARGE_ALLOC_ROUND_SIZE" [D19 FirstUse InEffect];
        /// Bytes: larger CPU blocks are rounded up to multiples of it by the Naive strategy. 1 switches that off.
        cpu_large_round_bytes: NonZeroU64 = 2097152, "MXNET_CPU_MEM_LARGE_ALLOC_ROUND_SIZE" [D20 FirstUse InEffect];
        /// Bytes: larger page-locked blocks are rounded up to multiples of it by the Naive strategy. 1 switches that off.
        pinned_large_round_bytes: NonZeroU64 = 2097152, "MXNET_CPU_PINNED_MEM_LARGE_ALLOC_ROUND_SIZE"
            [D21 FirstUse InEffect];
        /// Exponent of 2: the Round strategy rounds larger GPU blocks to multiples of that power. Must not be below the
        /// exponent of the page size.
        gpu_linear_cutoff: u8 = 24, "MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF" [D22 FirstUse InEffect], Kind::int(20, 34);
        /// Exponent of 2: the Round strategy rounds larger CPU blocks to multiples of that power. Must not be below the
        /// exponent of the page size.
        cpu_linear_cutoff: u8 = 24, "MXNET_CPU_MEM_POOL_ROUND_LINEAR_CUTOFF" [D23 FirstUse InEffect], Kind::int(20, 34);
        /// Exponent of 2: the Round strategy rounds larger page-locked blocks to multiples of that power. Must not be
        /// below the exponent of the page size.
        pinned_linear_cutoff: u8 = 24, "MXNET_CPU_PINNED_MEM_POOL_ROUND_LINEAR_CUTOFF" [D24 FirstUse InEffect],
            Kind::int(20, 34);
        /// Bytes of the smallest unit of a cached GPU block; a power of two under Round.
        gpu_page_bytes: NonZeroU64 = 4096, "MXNET_GPU_MEM_POOL_PAGE_SIZE" [D25 FirstUse InEffect],
            Kind::int(32, u64::MAX as i128);
        /// Bytes of the smallest unit of a cached CPU block; a power of two under Round.
        cpu_page_bytes: NonZeroU64 = 4096, "MXNET_CPU_MEM_POOL_PAGE_SIZE" [D26 FirstUse InEffect],
            Kind::int(32, u64::MAX as i128);
        /// Bytes of the smallest unit of a cached page-locked block; a power of two under Round.
        pinned_page_bytes: NonZeroU64 = 4096, "MXNET_CPU_PINNED_MEM_POOL_PAGE_SIZE" [D27 FirstUse InEffect],
            Kind::int(32, u64::MAX as i128);
        /// Anything but 0 removes the pools of all three kinds, whatever their strategy.
        no_pools: i64 = 0, "MXNET_USE_NAIVE_STORAGE_MANAGERS" [D28 FirstUse InEffect];
    }
}

/// A kind of device memory that has pools.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PoolDevice {
    /// GPU memory.
    Gpu,
    /// Ordinary host memory.
    Cpu,
    /// Page-locked host memory.
    CpuPinned,
}

impl PoolDevice {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Gpu, Self::Cpu, Self::CpuPinned];
}

/// The settings of one pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolConfig {
    /// Strategy, after `MXNET_USE_NAIVE_STORAGE_MANAGERS`.
    pub kind: PoolKind,
    /// Percentage of memory to leave free, 0 to 100.
    pub reserve_percent: u8,
    /// Naive: larger blocks are rounded up to multiples of these bytes; 1 switches that off.
    pub large_round_bytes: u64,
    /// Round: blocks above 2 to this power are rounded up to multiples of it; 20 to 34.
    pub linear_cutoff: u8,
    /// Smallest unit of a block in bytes, 32 or more.
    pub page_bytes: u64,
}

impl PoolSettings {
    /// The settings of the pools of one kind of memory.
    pub fn of(&self, device: PoolDevice) -> PoolConfig {
        let config = self.as_written(device);
        PoolConfig { kind: if self.no_pools == 0 { config.kind } else { PoolKind::Unpooled }, ..config }
    }

    /// The same before `MXNET_USE_NAIVE_STORAGE_MANAGERS`.
    pub(crate) fn as_written(&self, device: PoolDevice) -> PoolConfig {
        match device {
            PoolDevice::Gpu => PoolConfig {
                kind: self.gpu_kind,
                reserve_percent: self.gpu_reserve_percent,
                large_round_bytes: self.gpu_large_round_bytes.get(),
                linear_cutoff: self.gpu_linear_cutoff,
                page_bytes: self.gpu_page_bytes.get(),
            },
            PoolDevice::Cpu => PoolConfig {
                kind: self.cpu_kind,
                reserve_percent: self.cpu_reserve_percent,
                large_round_bytes: self.cpu_large_round_bytes.get(),
                linear_cutoff: self.cpu_linear_cutoff,
                page_bytes: self.cpu_page_bytes.get(),
            },
            PoolDevice::CpuPinned => PoolConfig {
                kind: self.pinned_kind,
                reserve_percent: self.pinned_reserve_percent,
                large_round_bytes: self.pinned_large_round_bytes.get(),
                linear_cutoff: self.pinned_linear_cutoff,
                page_bytes: self.pinned_page_bytes.get(),
            },
        }
    }
}
