//! The temporaries of a pool on one device: arenas, and the variable that orders the tasks that use them.

use mxrs_engine::Var;
use mxrs_ndarray::ArrayContext;
use mxrs_storage::Block;
use mxrs_sync::{Rank, RankedMutex};
use mxrs_types::Device;
use std::sync::Arc;

/// The temporaries of a pool on one device.
pub struct Temporaries {
    context: ArrayContext,
    /// The device.
    pub device: Device,
    /// The engine variable that every task that uses the temporaries writes.
    pub var: Var,
    pub(super) arenas: RankedMutex<Vec<Arc<Block>>>,
}

impl Temporaries {
    /// No temporaries yet.
    pub(super) fn new(context: &ArrayContext, device: Device) -> Arc<Self> {
        let (context, var) = (context.clone(), context.engine().new_var());
        Arc::new(Self { context, device, var, arenas: RankedMutex::new(Rank::Leaf, Vec::new()) })
    }

    /// Bytes of all arenas.
    pub(super) fn bytes(&self) -> usize {
        self.arenas.lock().iter().map(|block| block.len()).sum()
    }
}

impl Drop for Temporaries {
    fn drop(&mut self) {
        let arenas = std::mem::take(self.arenas.get_mut());
        self.context.engine().delete_var_with(self.var.clone(), move |events| {
            for arena in &arenas {
                events.iter().for_each(|event| arena.used_by(event.clone()));
            }
        });
    }
}
