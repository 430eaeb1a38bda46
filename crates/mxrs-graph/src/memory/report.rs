//! What a plan says about itself.

use std::fmt;

/// Which algorithm made the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Free list within a match range.
    Pool {
        /// The range of the chosen plan.
        match_range: u32,
    },
    /// Offsets, largest tenant first.
    Offset,
}

/// One match range that was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TriedRange {
    /// The range.
    pub match_range: u32,
    /// Sum of storage sizes, in bytes.
    pub bytes: usize,
}

/// Numbers of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanReport {
    /// Which algorithm was chosen.
    pub algorithm: Algorithm,
    /// Ranges tried by the pool, in order.
    pub tried: Vec<TriedRange>,
    /// Bytes of the offset plan, when it was tried.
    pub offset_bytes: Option<usize>,
    /// Bytes of the chosen plan: sum of storages, or the extent of the offsets.
    pub bytes: usize,
    /// Most bytes alive at one step: no plan can be smaller.
    pub lower_bound_bytes: usize,
    /// Bytes without any sharing, in place included.
    pub unshared_bytes: usize,
    /// Outputs that have their input's memory.
    pub n_inplace: usize,
    /// Colors in use.
    pub n_colors: u32,
}

impl fmt::Display for PlanReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "planned {} bytes by ", self.bytes)?;
        match self.algorithm {
            Algorithm::Pool { match_range } => write!(f, "pool with match range {match_range}")?,
            Algorithm::Offset => f.write_str("offsets")?,
        }
        write!(
            f,
            "; lower bound {}, without sharing {}, {} in place, {} colors; tried",
            self.lower_bound_bytes, self.unshared_bytes, self.n_inplace, self.n_colors
        )?;
        for (i, t) in self.tried.iter().enumerate() {
            write!(f, "{} {}: {}", if i == 0 { "" } else { "," }, t.match_range, t.bytes)?;
        }
        match self.offset_bytes {
            Some(bytes) => write!(f, ", offsets: {bytes}"),
            None => Ok(()),
        }
    }
}
