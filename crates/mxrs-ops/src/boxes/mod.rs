//! Operators on boxes, for object detection.

pub mod coding;
pub mod detection;
pub mod geometry;
pub mod iou;
pub mod matching;
pub mod nms;
pub mod prior;
pub mod proposal;
pub mod target;

/// The corners of `n` anchors, for samples: boxes of 0.25 by 0.5 that move to the right by 0.1.
fn sample_anchors(n: usize) -> Vec<f64> {
    (0..n).flat_map(|i| [0.1 * i as f64, 0.0, 0.25 + 0.1 * i as f64, 0.5]).collect()
}
