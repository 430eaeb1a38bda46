//! Layers of neural networks and their losses.

pub mod activation;
pub mod batch_norm;
pub mod batch_norm_relu;
pub mod batch_norm_v1;
pub mod convolution;
pub mod convolution_v1;
pub mod ctc_loss;
pub mod dropout;
pub mod fully_connected;
pub mod log_softmax;
pub mod lrn;
pub mod pooling;
pub mod pooling_v1;
pub mod softmax;
pub mod softmax_output;
pub mod sync_batch_norm;
