//! The signature of a call: all that decides how the call is prepared (operator, attributes, shapes and types, device,
//! mode).

use mxrs_ndarray::NdArray;
use mxrs_op::Attrs;
use mxrs_types::{DType, Device, Shape};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// An input of a call.
#[derive(Clone, Copy)]
pub enum Operand<'a> {
    /// An array.
    Array(&'a NdArray),
    /// Shape and type of a tensor whose content was not kept. Allowed only if the operator ignores the content.
    Shape(&'a Shape, DType),
}

impl<'a> Operand<'a> {
    pub fn shape(&self) -> &'a Shape {
        match *self {
            Self::Array(array) => array.shape(),
            Self::Shape(shape, _) => shape,
        }
    }

    pub fn dtype(&self) -> DType {
        match *self {
            Self::Array(array) => array.dtype(),
            Self::Shape(_, dtype) => dtype,
        }
    }

    pub fn array(&self) -> Option<&'a NdArray> {
        match *self {
            Self::Array(array) => Some(array),
            Self::Shape(..) => None,
        }
    }
}

/// The mode of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mode {
    /// Whether the operator runs as in training.
    pub is_train: bool,
    /// Whether hidden outputs are made too, because a gradient may read them.
    pub with_hidden: bool,
}

/// A lookup in the cache of prepared calls.
#[derive(Clone, Copy)]
pub struct Query<'a> {
    pub op: &'a str,
    pub attrs: &'a Attrs,
    pub inputs: &'a [Operand<'a>],
    pub device: Device,
    pub mode: Mode,
    /// Pairs (input, output) that are the same array.
    pub inplace: &'a [(usize, usize)],
}

/// An owned [`Query`].
pub struct Key {
    op: String,
    attrs: Attrs,
    inputs: Vec<(Shape, DType)>,
    device: Device,
    mode: Mode,
    inplace: Vec<(usize, usize)>,
}

impl Query<'_> {
    pub fn hash(&self) -> u64 {
        let mut hasher = FxHasher::default();
        self.op.hash(&mut hasher);
        for pair in self.attrs.iter() {
            pair.hash(&mut hasher);
        }
        for input in self.inputs {
            input.shape().hash(&mut hasher);
            input.dtype().hash(&mut hasher);
        }
        self.device.hash(&mut hasher);
        self.mode.hash(&mut hasher);
        self.inplace.hash(&mut hasher);
        hasher.finish()
    }

    pub fn matches(&self, key: &Key) -> bool {
        self.op == key.op
            && self.device == key.device
            && self.mode == key.mode
            && self.inplace == key.inplace
            && self.inputs.len() == key.inputs.len()
            && self.inputs.iter().zip(&key.inputs).all(|(i, (s, t))| i.shape() == s && i.dtype() == *t)
            && *self.attrs == key.attrs
    }

    pub fn key(&self) -> Key {
        Key {
            op: self.op.into(),
            attrs: self.attrs.clone(),
            inputs: self.inputs.iter().map(|i| (i.shape().clone(), i.dtype())).collect(),
            device: self.device,
            mode: self.mode,
            inplace: self.inplace.to_vec(),
        }
    }
}
