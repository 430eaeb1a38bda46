//! Views made while recording: the gradient of a view is the view of the gradient.

use super::tape::{Desc, Entry, History, How, Link, Node};
use mxrs_ndarray::{NdArray, ViewOf};
use std::panic::Location;

/// Records that `view` was made of the array that is `of`.
pub fn record(of: &Entry, view: &NdArray, how: ViewOf, site: &'static Location<'static>) {
    let (name, how) = match how {
        ViewOf::Reshape => ("a reshaped view", How::Reshape),
        ViewOf::Rows { begin, end } => ("a view of rows", How::Rows { begin, end }),
    };
    let link = Link { from: Some(of.clone()), desc: of.desc().clone(), saved: None };
    let history = History { how, inputs: vec![link], outputs: vec![None] };
    Node::record(name, site, vec![Desc::of(view)], history, std::slice::from_ref(view));
}
