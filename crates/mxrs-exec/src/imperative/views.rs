//! Records views that are made while recording. The gradient of a view becomes the gradient of the viewed part of the
//! array.

use super::tape::{Desc, Entry, History, How, Link, Node};
use mxrs_ndarray::{NdArray, ViewOf};
use std::panic::Location;

/// Records that `view` is a view of the array that carries the entry `of`.
pub fn record(of: &Entry, view: &NdArray, how: ViewOf, site: &'static Location<'static>) {
    let (name, how) = match how {
        ViewOf::Reshape => ("a reshaped view", How::Reshape),
        ViewOf::Rows { begin, end } => ("a view of rows", How::Rows { begin, end }),
    };
    let link = Link { from: Some(of.clone()), desc: of.desc().clone(), saved: None };
    let history = History { how, inputs: vec![link], outputs: vec![None] };
    Node::record(name, site, vec![Desc::of(view)], history, std::slice::from_ref(view));
}
