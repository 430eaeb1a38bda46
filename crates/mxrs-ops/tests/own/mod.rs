//! Operators of the catalog that MXNet 1.9.1 does not have, so that no recording of MXNet exists for them.

/// Names of the operators that MXNet 1.9.1 does not have. A test in `tests/first_principles` compares each with its
/// definition.
pub const OWN: [&str; 0] = [];
