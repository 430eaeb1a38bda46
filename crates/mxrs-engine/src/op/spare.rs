//! Lists that are stored inline while they are short. A long list takes the spare vector of its thread and returns it
//! empty, so that not every long list allocates memory.

use smallvec::SmallVec;
use std::cell::Cell;
use std::thread::LocalKey;

/// Moves a list whose inline memory is full into the spare vector of its thread, and reserves room for at least `least`
/// elements there.
#[cold]
pub(crate) fn widen<A, S, const N: usize>(
    list: &mut SmallVec<[A; N]>,
    least: usize,
    spare: &'static LocalKey<Cell<Vec<S>>>,
) {
    let mut wide: Vec<A> = emptied(spare.try_with(Cell::take).unwrap_or_default());
    wide.reserve(least.max(4 * N));
    wide.extend(list.drain(..));
    *list = SmallVec::from_vec(wide);
}

/// Makes the memory of a long list the spare vector of the thread, for its next long list.
#[inline]
pub(crate) fn give_back<A, S, const N: usize>(list: SmallVec<[A; N]>, spare: &'static LocalKey<Cell<Vec<S>>>) {
    if list.spilled() {
        let _ = spare.try_with(|spare| spare.set(emptied(list.into_vec())));
    }
}

/// Empties a vector and reuses its allocation for elements of another type with the same layout: the standard library
/// collects in place.
fn emptied<A, B>(mut list: Vec<A>) -> Vec<B> {
    list.clear();
    list.into_iter().filter_map(|_| None).collect()
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    std::thread_local! {
        static SPARE: Cell<Vec<&'static u32>> = const { Cell::new(Vec::new()) };
    }

    #[test]
    fn the_second_long_list_has_the_memory_of_the_first() {
        let numbers: Vec<u32> = (0..100).collect();
        let mut at = None;
        for _ in 0..3 {
            let mut list: SmallVec<[&u32; 4]> = numbers[..4].iter().collect();
            widen(&mut list, 100, &SPARE);
            list.extend(&numbers[4..]);
            assert!(list.iter().copied().eq(&numbers));
            let address = list.as_ptr().addr();
            assert_eq!(*at.get_or_insert(address), address);
            give_back(list, &SPARE);
        }
    }
}
