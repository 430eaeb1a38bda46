//! Memory pools: one for each kind of device memory, with the same five settings each.

use crate::{Kind, settings};
use mxrs_types::PoolKind;
use std::num::NonZeroU64;

settings! {
    /// Memory pools of the three kinds of device memory; see [`PoolSettings::of`].
    pub struct PoolSettings in Memory {
        /// Strategy of the GPU pools.
        gpu_kind: PoolKind = Naive, "MXNET_GPU_MEM_POOL_TYPE" [D13 FirstUse Gpu];
        /// Strategy of the CPU pool.
        cpu_kind: PoolKind = Naive, "MXNET_CPU_MEM_POOL_TYPE" [D14 FirstUse Core];
        /// Strategy of the pool of arrays on `cpu_pinned`. Without a GPU these arrays use ordinary memory.
        pinned_kind: PoolKind = Naive, "MXNET_CPU_PINNED_MEM_POOL_TYPE" [D15 FirstUse Core];
        /// Percentage of GPU memory to leave free. Cached blocks are released before less than this would be free.
        gpu_reserve_percent: u8 = 5, "MXNET_GPU_MEM_POOL_RESERVE" [D16 FirstUse Gpu], Kind::int(0, 100);
        /// Percentage of system memory that the CPU pool leaves free.
        cpu_reserve_percent: u8 = 5, "MXNET_CPU_MEM_POOL_RESERVE" [D17 FirstUse Core], Kind::int(0, 100);
        /// Percentage of system memory that the pool of arrays on `cpu_pinned` leaves free.
        pinned_reserve_percent: u8 = 5, "MXNET_CPU_PINNED_MEM_POOL_RESERVE" [D18 FirstUse Core], Kind::int(0, 100);
        /// Bytes. The Naive strategy rounds larger GPU blocks up to multiples of this number; 1 switches the rounding off.
        gpu_large_round_bytes: NonZeroU64 = 2097152, "MXNET_GPU_MEM_LARGE_ALLOC_ROUND_SIZE" [D19 FirstUse Gpu];
        /// Bytes. The Naive strategy rounds larger CPU blocks up to multiples of this number; 1 switches the rounding off.
        cpu_large_round_bytes: NonZeroU64 = 2097152, "MXNET_CPU_MEM_LARGE_ALLOC_ROUND_SIZE" [D20 FirstUse Core];
        /// Bytes. The Naive strategy rounds larger blocks on `cpu_pinned` up to multiples of this number; 1 switches the
        /// rounding off.
        pinned_large_round_bytes: NonZeroU64 = 2097152, "MXNET_CPU_PINNED_MEM_LARGE_ALLOC_ROUND_SIZE"
            [D21 FirstUse Core];
        /// Exponent of 2. The Round strategy rounds GPU blocks that exceed this power up to multiples of it. Must not be
        /// below the exponent of the page size.
        gpu_linear_cutoff: u8 = 24, "MXNET_GPU_MEM_POOL_ROUND_LINEAR_CUTOFF" [D22 FirstUse Gpu], Kind::int(20, 34);
        /// Exponent of 2. The Round strategy rounds CPU blocks that exceed this power up to multiples of it. Must not be
        /// below the exponent of the page size.
        cpu_linear_cutoff: u8 = 24, "MXNET_CPU_MEM_POOL_ROUND_LINEAR_CUTOFF" [D23 FirstUse Core], Kind::int(20, 34);
        /// Exponent of 2. The Round strategy rounds blocks on `cpu_pinned` that exceed this power up to multiples of it.
        /// Must not be below the exponent of the page size.
        pinned_linear_cutoff: u8 = 24, "MXNET_CPU_PINNED_MEM_POOL_ROUND_LINEAR_CUTOFF" [D24 FirstUse Core],
            Kind::int(20, 34);
        /// Bytes of the smallest unit of a cached GPU block. Under Round it must be a power of two.
        gpu_page_bytes: NonZeroU64 = 4096, "MXNET_GPU_MEM_POOL_PAGE_SIZE" [D25 FirstUse Gpu],
            Kind::int(32, u64::MAX as i128);
        /// Bytes of the smallest unit of a cached CPU block. Under Round it must be a power of two.
        cpu_page_bytes: NonZeroU64 = 4096, "MXNET_CPU_MEM_POOL_PAGE_SIZE" [D26 FirstUse Core],
            Kind::int(32, u64::MAX as i128);
        /// Bytes of the smallest unit of a cached block on `cpu_pinned`. Under Round it must be a power of two.
        pinned_page_bytes: NonZeroU64 = 4096, "MXNET_CPU_PINNED_MEM_POOL_PAGE_SIZE" [D27 FirstUse Core],
            Kind::int(32, u64::MAX as i128);
        /// Any number except 0 removes the pools of all three kinds, with any strategy.
        no_pools: i64 = 0, "MXNET_USE_NAIVE_STORAGE_MANAGERS" [D28 FirstUse Core];
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
    /// Strategy, with `MXNET_USE_NAIVE_STORAGE_MANAGERS` taken into account.
    pub kind: PoolKind,
    /// Percentage of memory to leave free, 0 to 100.
    pub reserve_percent: u8,
    /// For Naive: larger blocks are rounded up to multiples of this number of bytes; 1 switches the rounding off.
    pub large_round_bytes: u64,
    /// For Round: blocks larger than 2 to this power are rounded up to multiples of that power; 20 to 34.
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

    /// The settings of the pools of one kind of memory, without regard to `MXNET_USE_NAIVE_STORAGE_MANAGERS`.
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
