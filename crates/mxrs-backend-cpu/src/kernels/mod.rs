//! Kernels with loops of their own, one file per family.
