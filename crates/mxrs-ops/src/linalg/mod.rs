//! Linear algebra on batches of matrices.

mod dense;
pub mod factors;
pub mod inverses;
pub mod products;
pub mod triangles;
