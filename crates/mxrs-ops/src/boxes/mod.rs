//! Operators on boxes, for object detection.

pub mod coding;
pub mod detection;
pub mod geometry;
pub mod iou;
pub mod matching;
pub mod nms;
pub mod prior;
pub mod target;
