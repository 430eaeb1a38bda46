//! States of a parameter, and what an update gets of it.

use mxrs_ndarray::NdArray;

/// What an optimizer keeps for one parameter.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Arrays by slot name (`mom`, `mean`, `var`), in the order the optimizer made them.
    pub slots: Vec<(&'static str, NdArray)>,
    /// The weight in single precision.
    pub master: Option<NdArray>,
    /// What the compression of gradients has left behind so far.
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

    /// Every array that an update operator takes, the master weight last.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &NdArray)> {
        self.slots.iter().map(|(slot, array)| (*slot, array)).chain(self.master.iter().map(|m| ("master", m)))
    }

    /// Every array that the next update depends on.
    pub fn saved(&self) -> impl Iterator<Item = (&'static str, &NdArray)> {
        self.all().chain(self.residual.iter().map(|residual| ("residual", residual)))
    }
}

/// A parameter in an update: its weight is rewritten.
#[derive(Clone, Copy, Debug)]
pub struct Param<'a> {
    /// Name: what factors and counts go by.
    pub name: &'a str,
    /// The weight.
    pub weight: &'a NdArray,
    /// The gradient.
    pub grad: &'a NdArray,
    /// What the optimizer keeps for it.
    pub state: &'a State,
}
