//! Removes superfluous sends from a tree in which a device is in several slots.

/// Rewrites the leaves so that no device is summed twice. It visits the levels from the top down, and the slots of a level
/// from right to left. If the device of a slot is also in another slot of this level, or in a slot of the level above, the
/// device of the slot to the left replaces it.
pub fn postprocess(leaves: &mut [usize], n: usize) {
    let depth = leaves.len().trailing_zeros();
    for level in (0..depth).rev() {
        let stride = 1 << level;
        let count = |step: usize| {
            let mut counts = vec![0usize; n];
            leaves.iter().step_by(step).for_each(|&device| counts[device] += 1);
            counts
        };
        let (above, mut here) = (count(2 * stride), count(stride));
        for slot in (stride..leaves.len()).step_by(2 * stride).rev() {
            let (device, left) = (leaves[slot], leaves[slot - stride]);
            if device != left && (here[device] > 1 || above[device] > 0) {
                leaves[slot] = left;
                here[device] -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden() {
        let mut leaves = [3, 0, 0, 4, 1, 2, 5, 6];
        postprocess(&mut leaves, 7);
        assert_eq!(leaves, [3, 3, 0, 4, 1, 2, 5, 6]);
    }
}
