//! Outputs of networks that set their gradient themselves, whatever the gradient of the output is.

pub mod block_grad;
pub mod identity_attach_kl;
pub mod linear_regression_output;
pub mod logistic_regression_output;
pub mod mae_regression_output;
pub mod make_loss;
pub mod make_loss_layer;
pub mod svm_output;
