//! Prepared primitives by call signature, in a cache bounded by `MXNET_ONEDNN_CACHE_NUM`.

use dashmap::DashMap;
use mxrs_op::{Kernel, OpCall, TensorDesc};
use mxrs_types::{Layout, Result};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A prepared call: everything that [`mxrs_op::PlannedKernel`] needs, in a form that can be shared.
#[derive(Clone)]
pub struct Prepared {
    pub input_layouts: Vec<Layout>,
    pub output_layouts: Vec<Layout>,
    pub scratch_bytes: usize,
    pub can_run_inplace: bool,
    pub kernel: Arc<dyn Kernel>,
}

/// The properties that identify a call.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Signature {
    params: String,
    inputs: Vec<TensorDesc>,
    outputs: Vec<TensorDesc>,
    is_constant: Vec<bool>,
    is_train: bool,
}

impl Signature {
    /// The signature of a call.
    pub fn of(call: &OpCall<'_>) -> Self {
        Self {
            params: format!("{:?}", call.params),
            inputs: call.inputs.to_vec(),
            outputs: call.outputs.to_vec(),
            is_constant: call.is_constant.to_vec(),
            is_train: call.is_train,
        }
    }
}

#[derive(Default)]
struct PerOperator {
    entries: HashMap<Signature, Prepared>,
    /// Signatures of the entries, the oldest first.
    order: VecDeque<Signature>,
}

/// Counters of the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheCounters {
    /// Primitives prepared so far.
    pub creations: u64,
    /// Calls that found their entry in the cache.
    pub hits: u64,
    /// Current number of entries of the operator with the most entries.
    pub largest: usize,
}

/// One bounded list per operator; the oldest entry is removed first.
pub struct Cache {
    operators: DashMap<&'static str, Arc<Mutex<PerOperator>>>,
    max_entries: Option<usize>,
    creations: AtomicU64,
    hits: AtomicU64,
}

impl Cache {
    /// Makes a cache of at most `max_entries` entries per operator; `None` means no limit, and 0 that nothing is cached.
    pub fn new(max_entries: Option<usize>) -> Self {
        Self { operators: DashMap::new(), max_entries, creations: AtomicU64::new(0), hits: AtomicU64::new(0) }
    }

    /// Returns the entry of this signature from the cache, or prepares a new entry.
    ///
    /// # Errors
    /// Returns the error of `prepare`; errors are not stored in the cache.
    pub fn get_or_prepare(
        &self,
        op: &'static str,
        signature: Signature,
        prepare: impl FnOnce() -> Result<Prepared>,
    ) -> Result<Prepared> {
        let operator = self.operators.entry(op).or_default().clone();
        if let Some(kept) = operator.lock().unwrap_or_else(PoisonError::into_inner).entries.get(&signature) {
            self.hits.fetch_add(1, Ordering::Relaxed);
            return Ok(kept.clone());
        }
        let prepared = prepare()?;
        self.creations.fetch_add(1, Ordering::Relaxed);
        if self.max_entries == Some(0) {
            return Ok(prepared);
        }
        let mut operator = operator.lock().unwrap_or_else(PoisonError::into_inner);
        if operator.entries.insert(signature.clone(), prepared.clone()).is_none() {
            operator.order.push_back(signature);
        }
        while self.max_entries.is_some_and(|max| operator.entries.len() > max) {
            let Some(oldest) = operator.order.pop_front() else { break };
            operator.entries.remove(&oldest);
        }
        Ok(prepared)
    }

    /// The current counters.
    pub fn counters(&self) -> CacheCounters {
        let sizes =
            self.operators.iter().map(|o| o.value().lock().unwrap_or_else(PoisonError::into_inner).entries.len());
        CacheCounters {
            creations: self.creations.load(Ordering::Relaxed),
            hits: self.hits.load(Ordering::Relaxed),
            largest: sizes.max().unwrap_or(0),
        }
    }
}
