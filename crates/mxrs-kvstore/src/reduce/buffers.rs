//! Arrays that a store keeps for the next push, so that only the first push allocates.

use crate::sum::SumThreads;
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_types::{DType, Device, Result, Shape};
use std::collections::HashMap;
use std::sync::Arc;

/// What a kept array is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Use {
    /// A copy in host memory of the value of a device.
    Staged,
    /// A sum in host memory that is copied to a device.
    StagedSum,
    /// The partial sum of a device in a tree.
    Partial,
    /// The residual of the values of a device: what the codes did not express.
    Residual,
    /// The codes of the value of a device.
    Codes,
}

/// The number of the key, the slice, and the position of the device.
pub(crate) type Place = (i64, usize, usize);

/// The use, then the parts of a [`Place`].
type Id = (Use, i64, usize, usize);

/// Arrays by use, and what tasks need: a context and threads.
pub(crate) struct Buffers {
    pub context: ArrayContext,
    pub threads: Arc<SumThreads>,
    kept: HashMap<Id, NdArray>,
}

impl Buffers {
    pub fn new(context: &ArrayContext, threads: Arc<SumThreads>) -> Self {
        Self { context: context.clone(), threads, kept: HashMap::new() }
    }

    /// The array of this use, which is made by the first call. The second result says whether this call made it.
    pub fn get(&mut self, id: Id, shape: &Shape, dtype: DType, device: Device) -> Result<(NdArray, bool)> {
        if let Some(array) = self.kept.get(&id)
            && (array.shape(), array.dtype(), array.device()) == (shape, dtype, device)
        {
            return Ok((array.clone(), false));
        }
        let array = NdArray::empty(&self.context, shape.clone(), dtype, device, "kvstore")?;
        self.kept.insert(id, array.clone());
        Ok((array, true))
    }

    /// `array` itself if the host can read it, otherwise a copy in host memory.
    pub fn on_host(&mut self, array: &NdArray, (number, slice, position): Place, priority: i32) -> Result<NdArray> {
        if array.device().is_host() {
            return Ok(array.clone());
        }
        let id = (Use::Staged, number, slice, position);
        let (staged, _) = self.get(id, array.shape(), array.dtype(), Device::cpu(0))?;
        staged.copy_with_priority(array, priority)?;
        Ok(staged)
    }

    /// The kept residuals: the number of the key, the position of the device, and the array.
    pub fn residuals(&self) -> Vec<(i64, usize, NdArray)> {
        let mut all: Vec<_> = self
            .kept
            .iter()
            .filter(|((purpose, ..), _)| *purpose == Use::Residual)
            .map(|((_, number, _, position), array)| (*number, *position, array.clone()))
            .collect();
        all.sort_by_key(|(number, position, _)| (*number, *position));
        all
    }

    /// Keeps a residual in place of an earlier one.
    pub fn set_residual(&mut self, number: i64, position: usize, array: NdArray) {
        self.kept.insert((Use::Residual, number, 0, position), array);
    }
}
