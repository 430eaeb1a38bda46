//! The inputs that a call rewrites, and the pairs of output and input that may share memory, for every number of
//! weights. The lists are constant tables because an operator returns `'static` lists. The list for `n` weights is a
//! prefix of the list for [`MAX_WEIGHTS`] weights.

/// Largest number of weights that one call may update.
pub const MAX_WEIGHTS: usize = 60;

/// Largest number of rewritten inputs of a group: states and the master weight.
const MAX_REWRITTEN: usize = 4;

struct Of<const STRIDE: usize>;

impl<const STRIDE: usize> Of<STRIDE> {
    /// The positions of all inputs except weights and gradients, group after group.
    const REWRITTEN: [usize; MAX_WEIGHTS * MAX_REWRITTEN] = {
        let mut table = [0; MAX_WEIGHTS * MAX_REWRITTEN];
        let per_group = STRIDE - 2;
        let mut i = 0;
        while i < MAX_WEIGHTS * per_group {
            table[i] = i / per_group * STRIDE + 2 + i % per_group;
            i += 1;
        }
        table
    };

    /// Position of each weight, with the position of its output.
    const PAIRS: [(usize, usize); MAX_WEIGHTS] = {
        let mut table = [(0, 0); MAX_WEIGHTS];
        let mut i = 0;
        while i < MAX_WEIGHTS {
            table[i] = (i * STRIDE, i);
            i += 1;
        }
        table
    };
}

/// Positions of the inputs that a call with `n` groups of `STRIDE` inputs rewrites.
pub fn rewritten<const STRIDE: usize>(n: usize) -> &'static [usize] {
    &Of::<STRIDE>::REWRITTEN[..n.min(MAX_WEIGHTS) * (STRIDE - 2)]
}

/// The positions (weight, output) of `n` groups of `STRIDE` inputs.
pub fn pairs<const STRIDE: usize>(n: usize) -> &'static [(usize, usize)] {
    &Of::<STRIDE>::PAIRS[..n.min(MAX_WEIGHTS)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_follow_each_other() {
        assert_eq!(rewritten::<4>(2), [2, 3, 6, 7]);
        assert_eq!(rewritten::<2>(60), [0_usize; 0]);
        assert_eq!(rewritten::<3>(3), [2, 5, 8]);
        assert_eq!(pairs::<3>(2), [(0, 0), (3, 1)]);
        assert_eq!(rewritten::<6>(60).last(), Some(&(59 * 6 + 5)));
    }
}
