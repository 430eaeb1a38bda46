//! The states of a parameter, and the inputs of its update.

use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_types::{Device, Result};

/// The arrays that an optimizer keeps for one parameter.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Arrays by slot name (`mom`, `mean`, `var`), in the order the optimizer made them.
    pub slots: Vec<(&'static str, NdArray)>,
    /// The master weight: the weight in single precision.
    pub master: Option<NdArray>,
    /// The residual of gradient compression: the part of the gradients that was not applied yet.
    pub residual: Option<NdArray>,
}

impl State {
    /// No states.
    pub fn none() -> Self {
        Self::default()
    }

    /// The arrays of the slots.
    pub fn arrays(&self) -> impl Iterator<Item = &NdArray> {
        self.slots.iter().map(|(_, array)| array)
    }

    /// The array of a slot.
    pub fn slot(&self, name: &str) -> Option<&NdArray> {
        self.slots.iter().find(|(slot, _)| *slot == name).map(|(_, array)| array)
    }

    /// Every array of the state that an update operator takes: the slots, then the master weight.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &NdArray)> {
        self.slots.iter().map(|(slot, array)| (*slot, array)).chain(self.master.iter().map(|m| ("master", m)))
    }

    /// Every array of the state that the next update depends on: those of [`Self::all`], and the residual of gradient
    /// compression.
    pub fn saved(&self) -> impl Iterator<Item = (&'static str, &NdArray)> {
        self.all().chain(self.residual.iter().map(|residual| ("residual", residual)))
    }

    /// This state with the arrays that `make` returns for its arrays.
    fn map(&self, make: impl Fn(&NdArray) -> Result<NdArray>) -> Result<Self> {
        let slots = self.slots.iter().map(|(slot, array)| Ok((*slot, make(array)?)));
        Ok(Self {
            slots: slots.collect::<Result<_>>()?,
            master: self.master.as_ref().map(&make).transpose()?,
            residual: self.residual.as_ref().map(&make).transpose()?,
        })
    }

    /// A copy of every array, on `device`.
    pub(crate) fn copied(&self, context: &ArrayContext, device: Device) -> Result<Self> {
        self.map(|array| array.copy_to_device(context, device))
    }

    /// A copy of the state on `device`, if one of its arrays is on another device: a call with weights on `device` would
    /// refuse such arrays. `None` if all arrays are there already.
    pub(crate) fn moved(&self, context: &ArrayContext, device: Device) -> Result<Option<Self>> {
        let is_there = |array: &NdArray| array.device() == device || array.device().is_host() && device.is_host();
        if self.saved().all(|(_, array)| is_there(array)) {
            return Ok(None);
        }
        self.map(|array| array.as_in_context(context, device)).map(Some)
    }
}

/// A parameter that is being updated. The update overwrites its weight.
#[derive(Clone, Copy, Debug)]
pub struct Param<'a> {
    /// The parameter's name. Its count of updates and the factors of its learning rate and weight decay are found by
    /// name.
    pub name: &'a str,
    /// The weight.
    pub weight: &'a NdArray,
    /// The gradient.
    pub grad: &'a NdArray,
    /// The arrays that the optimizer keeps for the parameter.
    pub state: &'a State,
}
