//! Operators on images: sampling, resizing, pooling of regions, windows and displacements.

pub mod adaptive_avg_pooling;
pub mod bilinear_resize;
pub mod bilinear_sampler;
pub mod col2im;
pub mod correlation;
pub mod deconvolution;
pub mod grid_generator;
pub mod im2col;
pub mod roi_align;
pub mod roi_pooling;
pub mod spatial_transformer;
pub mod up_sampling;
