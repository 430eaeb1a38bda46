//! Operators on images: sampling, resizing, pooling of regions, windows and displacements.

pub mod adaptive_avg_pooling;
pub mod bilinear_resize;
pub mod bilinear_sampler;
pub mod col2im;
pub mod correlation;
pub mod cv_border;
pub mod cv_resize;
pub mod deconvolution;
pub mod deformable;
pub mod deformable_psroi_pooling;
pub mod grid_generator;
pub mod im2col;
pub mod image_colors;
pub mod image_flips;
pub mod image_moves;
pub mod image_resize;
pub mod image_tensors;
pub mod psroi_pooling;
pub mod roi_align;
pub mod roi_pooling;
pub mod rroi_align;
pub mod spatial_transformer;
pub mod up_sampling;
