//! The calls that are measured.

use super::Case;
use anyhow::{Context, Result};
use mxrs_op::{OpDef, OpSet, Sample};

/// The row length of the matrices of updates that keep one state per row instead of one per element.
const ROW: usize = 64;

/// A shape with three axes and about `n` elements, for reductions and softmax. The middle axis has 100 elements, which is
/// not a power of two.
fn cube(n: usize) -> Vec<usize> {
    vec![(n / (100 * 256)).max(1), 100, 256]
}

/// Images with about `n` elements, with channels on the second axis.
fn images(n: usize) -> Vec<usize> {
    vec![(n / (64 * 56 * 56)).max(1), 64, 56, 56]
}

/// All calls, with about `n` elements in the largest tensor.
///
/// # Errors
/// Fails if the catalog lacks an operator.
pub fn all(ops: &OpSet, n: usize) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for op in ops.iter().chain(ops.companions()).filter(|op| is_update(op)) {
        cases.extend(update(op, n));
    }
    let mut add = |name: &str, what: &str, attrs: &[(&str, &str)], shapes: &[&[usize]]| -> Result<()> {
        let op = ops.get(name).with_context(|| format!("the catalog has no {name}"))?;
        cases.push(Case {
            op: name.to_owned(),
            what: what.to_owned(),
            attrs: attrs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
            shapes: shapes.iter().map(|shape| shape.to_vec()).collect(),
            dtype: op.dtypes[0],
            labels: name.contains("SoftmaxOutput").then_some(1),
            is_update: false,
            is_train: name.contains("Output") || name.contains("BatchNorm") && what != "inference",
        });
        Ok(())
    };
    let data = &cube(n)[..];
    let [a, b, c] = [data[0], data[1], data[2]];
    let axes: [(&str, &str, Vec<usize>); 5] = [
        ("all axes", "()", vec![1]),
        ("leading axis", "(0,)", vec![b, c]),
        ("middle axis", "(1,)", vec![a, c]),
        ("trailing axis", "(2,)", vec![a, b]),
        ("outer axes", "(0, 2)", vec![b]),
    ];
    for (what, axis, small) in &axes {
        let attrs = [("axis", *axis)];
        for name in ["sum", "mean", "max"] {
            add(name, what, &attrs, &[data])?;
        }
        for name in ["_backward_sum", "_backward_mean"] {
            add(name, what, &attrs, &[small, data])?;
        }
        add("_backward_max", what, &attrs, &[small, data, small])?;
    }
    for (what, axis) in [("leading axis", "0"), ("middle axis", "1"), ("trailing axis", "2")] {
        add("argmax", what, &[("axis", axis)], &[data])?;
        for name in ["softmax", "log_softmax"] {
            add(name, what, &[("axis", axis)], &[data])?;
            add(&format!("_backward_{name}"), what, &[("axis", axis)], &[data, data, data])?;
        }
    }
    let rows: &[usize] = &[n / 1000, 1000];
    add("SoftmaxOutput", "rows", &[], &[rows, &rows[..1]])?;
    add("_backward_SoftmaxOutput", "rows", &[], &[rows, &rows[..1]])?;
    let (first, last) = (images(n), [images(n)[0], 56, 56, 64]);
    let c: &[usize] = &[64];
    for (what, shape, axis) in [("channels first", &first[..], "1"), ("channels last", &last, "3")] {
        let attrs = [("axis", axis), ("fix_gamma", "False")];
        add("BatchNorm", what, &attrs, &[shape, c, c, c, c])?;
        add("_backward_BatchNorm", what, &attrs, &[shape, shape, c, c, c])?;
    }
    add("BatchNorm", "inference", &[("fix_gamma", "False")], &[&first, c, c, c, c])?;
    for (what, size) in [("rows of 768", 768), ("rows of 4096", 4096)] {
        let (rows, size): (&[usize], &[usize]) = (&[(n / size).max(1), size], &[size]);
        add("LayerNorm", what, &[], &[rows, size, size])?;
        add("_backward_LayerNorm", what, &[], &[rows, rows, size])?;
    }
    add("InstanceNorm", "images", &[], &[&first, c, c])?;
    add("_backward_InstanceNorm", "images", &[], &[&first, &first, c])?;
    let groups: &[usize] = &[8];
    add("GroupNorm", "8 groups", &[("num_groups", "8")], &[&first, groups, groups])?;
    add("_backward_GroupNorm", "8 groups", &[("num_groups", "8")], &[&first, &first, groups])?;
    add("LRN", "channels", &[("nsize", "5")], &[&first])?;
    Ok(cases)
}

/// Whether an operator belongs to an optimizer and reads whole weights.
fn is_update(op: &OpDef) -> bool {
    let suffixes = ["_update", "_update_phase1", "_update_phase2", "_finite", "_sum_sq", "_compression"];
    suffixes.iter().any(|suffix| op.name.ends_with(suffix))
}

/// The operator's first sample, with tensors of `n` elements in place of small ones. If there are several weights, they
/// have together about `n` elements.
fn update(op: &OpDef, n: usize) -> Option<Case> {
    let sample: Sample = (op.samples)().into_iter().next()?;
    let shapes: Vec<&[usize]> = sample.inputs.iter().map(|input| &input.shape[..]).collect();
    let is_several = shapes.contains(&&[2, 1, 3][..]);
    let large = |shape: &[usize]| match shape {
        [] | [1] => shape.to_vec(),
        [3] if shapes.len() > 1 => shape.to_vec(),
        [3, 5] if is_several => vec![n / 2],
        [4099] if is_several => vec![n / 3],
        [2, 1, 3] => vec![n / 6],
        [5, 7] => vec![n / ROW, ROW],
        [5, 1] => vec![n / ROW, 1],
        _ => vec![n],
    };
    Some(Case {
        op: op.name.to_owned(),
        what: if is_several { "three weights".into() } else { String::new() },
        attrs: sample.attrs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect(),
        shapes: shapes.iter().map(|shape| large(shape)).collect(),
        dtype: op.dtypes[0],
        labels: None,
        is_update: true,
        is_train: false,
    })
}
