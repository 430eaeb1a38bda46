//! What a call is prepared for: operator, attributes, shapes and types, mode.

use mxrs_ndarray::NdArray;
use mxrs_op::Attrs;
use mxrs_types::{DType, Shape};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// An input of a call.
#[derive(Clone, Copy)]
pub enum Operand<'a> {
    /// An array.
    Array(&'a NdArray),
    /// A tensor whose content was not kept: only shape and type are known. Good where the operator ignores the content.
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

/// How a call runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mode {
    /// As in training.
    pub is_train: bool,
    /// Whether hidden outputs are made too, for a gradient to read.
    pub with_hidden: bool,
}

/// What is asked of the cache.
#[derive(Clone, Copy)]
pub struct Query<'a> {
    pub op: &'a str,
    pub attrs: &'a Attrs,
    pub inputs: &'a [Operand<'a>],
    pub mode: Mode,
    /// Outputs that are inputs: (input, output).
    pub inplace: &'a [(usize, usize)],
}

/// As [`Query`], owned.
pub struct Key {
    op: String,
    attrs: Attrs,
    inputs: Vec<(Shape, DType)>,
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
        self.mode.hash(&mut hasher);
        self.inplace.hash(&mut hasher);
        hasher.finish()
    }

    pub fn matches(&self, key: &Key) -> bool {
        self.op == key.op
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
            mode: self.mode,
            inplace: self.inplace.to_vec(),
        }
    }
}
