//! Compares the heap with a model that has one entry for each granule of the address space.

use super::*;
use proptest::prelude::*;

const GRANULE: usize = 64;
/// The number of granules in a unit.
const UNIT: usize = 4;
const BASE: usize = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cell {
    Live,
    Free,
    Hole,
    Moving,
}

#[derive(Clone, Debug)]
enum Step {
    Take(usize),
    /// Frees the live chunk with this index, modulo the number of live chunks.
    Give(usize),
    GiveDirectly(usize),
    BeginGrowth(usize),
    /// Ends the growth in progress with this index; the flag shows whether the device added the memory.
    EndGrowth(usize, bool),
    DetachAll,
    /// Ends the removal with this index.
    Left(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let len = prop_oneof![3 => 1usize..6, 2 => 1usize..40, 1 => 1usize..120];
    let step = prop_oneof![
        6 => len.clone().prop_map(Step::Take),
        6 => any::<usize>().prop_map(Step::Give),
        1 => any::<usize>().prop_map(Step::GiveDirectly),
        4 => len.prop_map(Step::BeginGrowth),
        4 => (any::<usize>(), prop::bool::weighted(0.7)).prop_map(|(at, yes)| Step::EndGrowth(at, yes)),
        1 => Just(Step::DetachAll),
        3 => any::<usize>().prop_map(Step::Left),
    ];
    prop::collection::vec(step, 1..if cfg!(miri) { 10 } else { 200 })
}

/// A growth in progress: what the heap returned, the requested length, and the model's cells (one for each granule)
/// that were set aside, with their earlier states.
type Pending = (Growth, usize, Vec<(usize, Cell)>);

/// A heap of ranges, the model, and the growths and removals whose second step is pending.
struct Pair {
    heap: Heap,
    /// The first address of each region, and one cell for each of its granules. A run of cells cannot cross regions,
    /// because each region has its own list.
    regions: Vec<(usize, Vec<Cell>)>,
    live: Vec<(usize, usize)>,
    growing: Vec<Pending>,
    leaving: Vec<Leaving>,
}

impl Pair {
    fn new() -> Self {
        let mut heap = Heap::new(GRANULE, Some(UNIT * GRANULE));
        let mut regions = Vec::new();
        // The second range starts where the first range ends; nevertheless the heap must not join them.
        for (at, n_units) in [(0usize, 32usize), (32, 8)] {
            let start = BASE + at * UNIT * GRANULE;
            heap.add_range(start, n_units * UNIT * GRANULE);
            regions.push((start, vec![Cell::Hole; n_units * UNIT]));
        }
        Self { heap, regions, live: Vec::new(), growing: Vec::new(), leaving: Vec::new() }
    }

    /// The cells of `len` bytes from `start`.
    fn cells(&mut self, start: usize, len: usize) -> &mut [Cell] {
        let region =
            self.regions.iter_mut().find(|(base, cells)| (*base..base + cells.len() * GRANULE).contains(&start));
        let (base, cells) = region.expect("an address of a region");
        let first = (start - *base) / GRANULE;
        &mut cells[first..first + len / GRANULE]
    }

    fn set(&mut self, start: usize, len: usize, from: &[Cell], to: Cell) {
        for cell in self.cells(start, len) {
            assert!(from.contains(cell), "{cell:?} is not one of {from:?}");
            *cell = to;
        }
    }

    /// The start and length in bytes of every maximal run of cells equal to `of`.
    fn runs(&self, of: Cell) -> Vec<(usize, usize)> {
        let mut runs = Vec::new();
        for (base, cells) in &self.regions {
            let mut at = 0;
            for run in cells.chunk_by(|a, b| a == b) {
                if run[0] == of {
                    runs.push((base + at * GRANULE, run.len() * GRANULE));
                }
                at += run.len();
            }
        }
        runs
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Take(granules) => self.take(granules * GRANULE),
            Step::Give(_) | Step::GiveDirectly(_) if self.live.is_empty() => {}
            Step::Give(at) => {
                let (start, len) = self.live.swap_remove(at % self.live.len());
                assert_eq!(self.heap.give(start), Some(len));
                assert_eq!(self.heap.give(start), None, "given twice");
                self.set(start, len, &[Cell::Live], Cell::Free);
            }
            Step::GiveDirectly(at) => self.give_directly(at),
            Step::BeginGrowth(granules) => self.begin_growth(granules * GRANULE),
            Step::EndGrowth(..) if self.growing.is_empty() => {}
            Step::EndGrowth(at, yes) => self.end_growth(at, yes),
            Step::DetachAll => {
                let expected: Vec<_> = self.runs(Cell::Free).into_iter().filter_map(whole_units).collect();
                let detached = self.heap.detach_all();
                let mut found: Vec<_> = detached.iter().map(|leaving| (leaving.start, leaving.len)).collect();
                found.sort_unstable();
                assert_eq!(found, expected);
                for leaving in detached {
                    self.set(leaving.start, leaving.len, &[Cell::Free], Cell::Moving);
                    self.leaving.push(leaving);
                }
            }
            Step::Left(_) if self.leaving.is_empty() => {}
            Step::Left(at) => {
                let leaving = self.leaving.swap_remove(at % self.leaving.len());
                self.set(leaving.start, leaving.len, &[Cell::Moving], Cell::Hole);
                self.heap.left(leaving);
            }
        }
    }

    fn take(&mut self, len: usize) {
        let fitting: Vec<_> = self.runs(Cell::Free).into_iter().filter(|run| run.1 >= len).collect();
        let shortest = fitting.iter().map(|run| run.1).min();
        let taken = self.heap.take(Arena::First, len);
        assert_eq!(taken.is_some(), shortest.is_some());
        let (Some(start), Some(shortest)) = (taken, shortest) else { return };
        let equals: Vec<_> = fitting.iter().filter(|run| run.1 == shortest).map(|run| run.0).collect();
        assert!(equals.contains(&start), "{start:#x} is not a best fit for {len}: {fitting:x?}");
        if shortest > 16 * GRANULE {
            assert_eq!(start, equals[0], "the lowest of equals");
        }
        self.set(start, len, &[Cell::Free], Cell::Live);
        self.live.push((start, len));
    }

    fn give_directly(&mut self, at: usize) {
        let (start, len) = self.live.swap_remove(at % self.live.len());
        self.set(start, len, &[Cell::Live], Cell::Free);
        // The expected result: the units that the chunk intersects and that are entirely free.
        let unit = UNIT * GRANULE;
        let run = self.runs(Cell::Free).into_iter().find(|run| (run.0..run.0 + run.1).contains(&start)).unwrap();
        let expected = whole_units(run).and_then(|(from, len_units)| {
            let first = from.max(start / unit * unit);
            let limit = (from + len_units).min((start + len).next_multiple_of(unit));
            (first < limit).then(|| (first, limit - first))
        });
        let (given, leaving) = self.heap.give_directly(start).unwrap();
        assert_eq!((given, leaving.as_ref().map(|leaving| (leaving.start, leaving.len))), (len, expected));
        if let Some(leaving) = leaving {
            self.set(leaving.start, leaving.len, &[Cell::Free], Cell::Moving);
            self.leaving.push(leaving);
        }
    }

    fn begin_growth(&mut self, len: usize) {
        if self.heap.longest_free() >= len {
            return;
        }
        // The expected result: the fewest units after which the request fits, found by trying each hole and each number of
        // units.
        let unit = UNIT * GRANULE;
        let free = self.runs(Cell::Free);
        let fewest = self.runs(Cell::Hole).into_iter().filter_map(|(start, hole)| {
            let below = free.iter().find(|run| run.0 + run.1 == start && self.same_region(run.0, start));
            let above = free.iter().find(|run| run.0 == start + hole && self.same_region(run.0, start));
            let below = below.map_or(0, |run| run.1);
            (unit..=hole)
                .step_by(unit)
                .find(|&commit| below + commit + if commit == hole { above.map_or(0, |run| run.1) } else { 0 } >= len)
        });
        let fewest = fewest.min();
        assert_eq!(self.heap.growth_bytes(len), fewest);
        let growth = self.heap.begin_growth(len);
        assert_eq!(growth.as_ref().map(|growth| growth.len), fewest);
        let Some(growth) = growth else { return };
        self.set(growth.start, growth.len, &[Cell::Hole], Cell::Moving);
        // Memory that was free next to the hole and is no longer in the heap's free set belongs to the growth.
        let mut before = Vec::new();
        let now: u64 = self.heap.sums().free_bytes;
        let was: usize = free.iter().map(|run| run.1).sum();
        let claimed = was - now as usize;
        let mut rest = claimed;
        if let Some(run) =
            free.iter().find(|run| run.0 + run.1 == growth.start && self.same_region(run.0, growth.start))
        {
            before.push((run.0, run.1));
            rest -= run.1;
        }
        if rest > 0 {
            before.push((growth.start + growth.len, rest));
        }
        let mut kept = vec![(growth.start, growth.len, Cell::Hole)];
        for (start, bytes) in before {
            self.set(start, bytes, &[Cell::Free], Cell::Moving);
            kept.push((start, bytes, Cell::Free));
        }
        let cells = kept
            .into_iter()
            .flat_map(|(start, bytes, cell)| (start..start + bytes).step_by(GRANULE).map(move |at| (at, cell)))
            .collect();
        self.growing.push((growth, len, cells));
    }

    fn same_region(&self, a: usize, b: usize) -> bool {
        let region = |at: usize| {
            self.regions.iter().position(|(base, cells)| (*base..base + cells.len() * GRANULE).contains(&at))
        };
        region(a) == region(b)
    }

    fn end_growth(&mut self, at: usize, yes: bool) {
        let (growth, len, cells) = self.growing.swap_remove(at % self.growing.len());
        if !yes {
            for (at, was) in cells {
                self.set(at, GRANULE, &[Cell::Moving], was);
            }
            return self.heap.not_grown(growth);
        }
        for &(at, _) in &cells {
            self.set(at, GRANULE, &[Cell::Moving], Cell::Free);
        }
        let lowest = cells.iter().map(|&(at, _)| at).min().unwrap();
        let start = self.heap.grown(growth, len);
        assert_eq!(start, lowest);
        self.set(start, len, &[Cell::Free], Cell::Live);
        self.live.push((start, len));
    }

    fn agree(&self) {
        self.heap.check();
        let sum = |of| self.runs(of).iter().map(|run| run.1 as u64).sum::<u64>();
        let sums = self.heap.sums();
        let free = self.runs(Cell::Free);
        assert_eq!((sums.live_bytes, sums.free_bytes), (sum(Cell::Live), sum(Cell::Free)));
        assert_eq!(sums.free_chunks, free.len() as u64, "every run of free memory is one chunk");
        assert_eq!(self.heap.longest_free(), free.iter().map(|run| run.1).max().unwrap_or(0));
        let claimed = self.growing.iter().flat_map(|(_, _, cells)| cells).filter(|(_, was)| *was == Cell::Free).count();
        assert_eq!(sums.claimed_bytes, (claimed * GRANULE) as u64);
    }
}

/// The part of a free region, given by its start and length in bytes, that consists of whole units of `UNIT` granules. The heap
/// gives back memory in such units.
fn whole_units((start, len): (usize, usize)) -> Option<(usize, usize)> {
    let unit = UNIT * GRANULE;
    let (from, to) = (start.next_multiple_of(unit), (start + len) / unit * unit);
    (from < to).then(|| (from, to - from))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 256 }))]

    /// S2, S3: no two chunks overlap, remainders are joined and counted, and every result is a best fit.
    #[test]
    fn s2_s3_heap_follows_the_model(steps in steps()) {
        let mut pair = Pair::new();
        for step in steps {
            pair.step(step);
            pair.agree();
        }
    }

    /// After everything has been freed, all memory can be removed, and each range is one hole.
    #[test]
    fn s3_everything_returns(steps in steps()) {
        let mut pair = Pair::new();
        for step in steps {
            pair.step(step);
        }
        while !pair.growing.is_empty() {
            pair.end_growth(0, false);
        }
        while !pair.live.is_empty() {
            pair.step(Step::Give(0));
        }
        pair.step(Step::DetachAll);
        while !pair.leaving.is_empty() {
            pair.step(Step::Left(0));
        }
        pair.agree();
        prop_assert_eq!(pair.runs(Cell::Hole).len(), 2);
        prop_assert_eq!(pair.heap.sums().live_bytes + pair.heap.sums().free_bytes, 0);
    }
}

#[test]
fn segments_that_touch_are_never_joined() {
    let mut heap = Heap::new(GRANULE, None);
    for start in [0x10000, 0x11000, 0x12000] {
        heap.add_segment(Arena::First, start, 0x1000);
    }
    heap.add_segment(Arena::Large, 0x13000, 0x3000);
    heap.check();
    assert_eq!(heap.take(Arena::First, 0x1001), None, "no segment of this arena is that long");
    assert_eq!(heap.longest_free(), 0x3000);
    let inner = heap.take(Arena::First, 0x100).unwrap();
    heap.check();
    let mut leaving = heap.detach_all();
    leaving.sort_by_key(|leaving| leaving.start);
    let starts: Vec<_> = leaving.iter().map(|leaving| leaving.start).collect();
    assert_eq!(starts, [0x11000, 0x12000, 0x13000], "the segment in use stays");
    leaving.into_iter().for_each(|leaving| heap.left(leaving));
    heap.check();
    let (len, leaving) = heap.give_directly(inner).unwrap();
    let leaving = leaving.unwrap();
    assert_eq!((len, leaving.start, leaving.len), (0x100, 0x10000, 0x1000));
    heap.left(leaving);
    heap.check();
    assert_eq!((heap.longest_free(), heap.sums().free_bytes), (0, 0));
}

#[test]
fn growth_asks_only_for_what_is_missing() {
    let unit = UNIT * GRANULE;
    let mut heap = Heap::new(GRANULE, Some(unit));
    heap.add_range(BASE, 100 * unit);
    let growth = heap.begin_growth(10 * unit).unwrap();
    let first = heap.grown(growth, 10 * unit);
    assert_eq!(heap.give(first), Some(10 * unit));
    // The request is for 12.5 units. Ten units are free at the end of the memory; the missing 2.5 units require three.
    let growth = heap.begin_growth(12 * unit + unit / 2).unwrap();
    assert_eq!((growth.start, growth.len), (BASE + 10 * unit, 3 * unit));
    assert_eq!(heap.grown(growth, 12 * unit + unit / 2), BASE);
    heap.check();
}
