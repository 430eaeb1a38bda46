//! Linear algebra on batches of matrices.

mod dense;
pub mod eigen;
pub mod factors;
pub mod inverses;
pub(crate) mod matrix;
pub mod products;
pub mod singular;
pub mod systems;
pub mod triangles;
