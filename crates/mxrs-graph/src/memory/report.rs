//! Statistics of a memory plan.

use std::fmt;

/// The algorithm that made a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// A free list searched within a match range.
    Pool {
        /// The match range of the chosen plan.
        match_range: u32,
    },
    /// The offset planner.
    Offset,
}

/// The result for one match range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TriedRange {
    /// The match range that was tried.
    pub match_range: u32,
    /// Sum of the sizes of the plan's storages, in bytes.
    pub bytes: usize,
}

/// Statistics of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanReport {
    /// The algorithm that was chosen.
    pub algorithm: Algorithm,
    /// The ranges that the pool tried, in order.
    pub tried: Vec<TriedRange>,
    /// The size of the offset plan in bytes, if it was tried.
    pub offset_bytes: Option<usize>,
    /// The size of the chosen plan in bytes: the sum of its storages, or the extent of its offsets.
    pub bytes: usize,
    /// The largest number of bytes alive at one step; no plan can be smaller.
    pub lower_bound_bytes: usize,
    /// The number of bytes if nothing shares memory, not even in place.
    pub unshared_bytes: usize,
    /// The number of outputs that take over their input's memory.
    pub n_inplace: usize,
    /// The number of colors in use.
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
