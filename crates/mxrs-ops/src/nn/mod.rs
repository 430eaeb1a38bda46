//! Layers of neural networks and their losses.

pub mod activation;
pub mod batch_norm;
pub mod convolution;
pub mod dropout;
pub mod fully_connected;
pub mod lrn;
pub mod pooling;
pub mod softmax;
pub mod softmax_output;
