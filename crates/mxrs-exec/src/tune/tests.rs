//! Choices by timing, among kernels that take as long as they are told to.

use super::*;
use crate::choose::choose_tuned;
use mxrs_op::{Answer, Attrs, Kernel, KernelArgs, Offer, OpDef, OpParams, PlannedKernel, TensorDesc};
use mxrs_sync::atomic::{AtomicUsize, Ordering};
use mxrs_types::{Error, Layout};
use smallvec::smallvec;
use std::time::{Duration, Instant};

/// One way of a backend: name, milliseconds of a run, whether it works in another layout, whether it fails.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    ms: u64,
    is_turned: bool,
    fails: bool,
}

const fn way(name: &'static str, ms: u64) -> Way {
    Way { name, ms, is_turned: false, fails: false }
}

/// Offers to run everything in these seconds; copies between layouts take so many milliseconds.
struct Clocked {
    name: &'static str,
    /// Of the reference kernels if negative.
    seconds: f64,
    ways: Vec<Way>,
    copy_ms: u64,
    runs: Arc<AtomicUsize>,
}

struct Wait {
    name: String,
    ms: u64,
    fails: bool,
    runs: Arc<AtomicUsize>,
}

impl Kernel for Wait {
    fn name(&self) -> &str {
        &self.name
    }

    fn run(&self, _: &KernelArgs<'_>) -> Result<()> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        if self.fails {
            return Err(Error::not_built("a run", "it fails"));
        }
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(self.ms) {}
        Ok(())
    }
}

/// The transposed layout of a square.
fn turned() -> Layout {
    Layout::Blocked { padded: smallvec![8, 8], strides: smallvec![1, 8], blocks: smallvec![] }
}

impl Clocked {
    fn planned(&self, call: &OpCall<'_>, way: Way) -> PlannedKernel {
        let layout = if way.is_turned { turned() } else { Layout::RowMajor };
        let mut input_layouts = vec![Layout::RowMajor; call.inputs.len()];
        input_layouts[0] = layout.clone();
        let runs = Arc::clone(&self.runs);
        PlannedKernel {
            input_layouts,
            output_layouts: vec![layout],
            scratch_bytes: 100,
            can_run_inplace: false,
            kernel: Arc::new(Wait { name: way.name.into(), ms: way.ms, fails: way.fails, runs }),
        }
    }
}

impl Backend for Clocked {
    fn name(&self) -> &'static str {
        self.name
    }

    fn offer<'a>(&'a self, call: &'a OpCall<'a>) -> Answer<'a> {
        let offer = Offer::new(self.seconds.abs(), || Ok(self.planned(call, self.ways[0])));
        Ok(if self.seconds < 0.0 { offer.as_reference() } else { offer })
    }

    fn ways(&self, _: &OpCall<'_>) -> Vec<String> {
        self.ways.iter().map(|way| way.name.into()).collect()
    }

    fn offer_way<'a>(&'a self, call: &'a OpCall<'a>, name: &str) -> Answer<'a> {
        let way = *self.ways.iter().find(|way| way.name == name).ok_or("no such way")?;
        Ok(Offer::new(self.seconds.abs(), move || Ok(self.planned(call, way))))
    }

    fn reorder(&self, _: &TensorDesc, _: &TensorDesc) -> Result<Option<Arc<dyn Kernel>>> {
        let runs = Arc::new(AtomicUsize::new(0));
        Ok(Some(Arc::new(Wait { name: "copy".into(), ms: self.copy_ms, fails: false, runs })))
    }
}

/// Backends with these ways and estimates in seconds.
struct World {
    backends: Vec<Arc<dyn Backend>>,
    runs: Arc<AtomicUsize>,
    op: OpDef,
    params: OpParams,
}

impl World {
    fn new(ways: &[(&'static str, f64, &[Way])]) -> Self {
        let runs = Arc::new(AtomicUsize::new(0));
        let backend = |(name, seconds, ways): &(&'static str, f64, &[Way])| -> Arc<dyn Backend> {
            Arc::new(Clocked { name, seconds: *seconds, ways: ways.to_vec(), copy_ms: 4, runs: Arc::clone(&runs) })
        };
        let op = OpDef::new("clocked");
        let params = op.parse(&Attrs::new()).unwrap();
        Self { backends: ways.iter().map(backend).collect(), runs, op, params }
    }

    fn choose_as(&self, tuning: &Tuning, is_constant: &[bool], is_train: bool) -> Result<Choice> {
        let desc = || TensorDesc::dense([8, 8], DType::F32);
        let (inputs, outputs) = ([desc(), desc()], [desc()]);
        let (op, params) = (&self.op, &self.params);
        let call = OpCall { op, params, inputs: &inputs, outputs: &outputs, is_constant, is_train };
        choose_tuned(&self.backends, &call, (tuning, &Team::serial()), "node")
    }

    /// Kernel and origin of a call at inference.
    fn choose(&self, tuning: &Tuning) -> (String, ChosenBy) {
        let choice = self.choose_as(tuning, &[false, true], false).unwrap();
        (choice.planned.kernel.name().to_owned(), choice.chosen_by)
    }

    fn runs(&self) -> usize {
        self.runs.load(Ordering::Relaxed)
    }
}

/// A search that ends with its last round, however slow the machine is.
fn patient() -> Search {
    Search::new(Duration::from_secs(60))
}

fn searching(search: Search) -> Tuning {
    Tuning { known: Some(Arc::default()), search: Some(Arc::new(search)), dtypes: None }
}

#[test]
fn the_fastest_way_of_all_backends_wins_and_is_known_then() {
    let world = World::new(&[("a", 0.5, &[way("slow", 6), way("middling", 4)]), ("b", 1.0, &[way("fast", 1)])]);
    assert_eq!(world.choose(&Tuning::default()), ("slow".into(), ChosenBy::Estimate));
    assert_eq!(world.runs(), 0, "nothing is tried unasked");
    let tuning = searching(patient());
    assert_eq!(world.choose(&tuning), ("fast".into(), ChosenBy::Search));
    let found = tuning.known.as_ref().unwrap().found();
    let [(_, kernel)] = &found[..] else { panic!("one result: {found:?}") };
    assert_eq!((kernel.backend.as_str(), kernel.way.as_str()), ("b", "fast"));
    assert!(kernel.seconds < kernel.seconds_of_estimate, "{kernel:?}");
    let runs = world.runs();
    assert_eq!(world.choose(&tuning), ("fast".into(), ChosenBy::Search));
    // In another process the result is one of a cache.
    let kept = found.into_iter().map(|(call, kernel)| (call, KnownKernel { is_new: false, ..kernel }));
    let known = Tuning { known: Some(Arc::new(KnownKernels::new(kept))), ..Tuning::default() };
    assert_eq!(world.choose(&known), ("fast".into(), ChosenBy::Cache));
    assert_eq!(world.runs(), runs);
    let mut search = patient();
    search.again = true;
    let again = Tuning { search: Some(Arc::new(search)), ..known };
    assert_eq!(world.choose(&again).1, ChosenBy::Search);
    assert!(world.runs() > runs, "it is tried again where that is asked for");
}

#[test]
fn a_layout_costs_its_copies() {
    // Two milliseconds less, two copies of four; the other time far more than a busy machine adds to them.
    let other = Way { is_turned: true, ..way("other layout", 3) };
    let world = World::new(&[("a", 0.5, &[way("plain", 5)]), ("b", 1.0, &[other])]);
    assert_eq!(world.choose(&searching(patient())).0, "plain");
    let much_faster = World::new(&[("a", 0.5, &[way("plain", 40)]), ("b", 1.0, &[other])]);
    assert_eq!(much_faster.choose(&searching(patient())).0, "other layout");
}

#[test]
fn a_kernel_that_fails_is_no_candidate() {
    let broken = Way { fails: true, ..way("broken", 0) };
    let world = World::new(&[("a", 0.5, &[way("works", 2)]), ("b", 1.0, &[broken])]);
    assert_eq!(world.choose(&searching(patient())), ("works".into(), ChosenBy::Search));
    // Where the estimate's choice fails on trial, the others are left.
    let world = World::new(&[("a", 0.5, &[broken]), ("b", 1.0, &[way("works", 2)])]);
    assert_eq!(world.choose(&searching(patient())).0, "works");
}

#[test]
fn only_inference_with_constant_weights_is_tried() {
    let world = World::new(&[("a", 0.5, &[way("slow", 3), way("fast", 1)])]);
    let tuning = searching(patient());
    let by = |tuning: &Tuning, is_constant: &[bool], is_train: bool| {
        world.choose_as(tuning, is_constant, is_train).unwrap().chosen_by
    };
    assert_eq!(by(&tuning, &[false, true], true), ChosenBy::Estimate);
    assert_eq!(by(&tuning, &[false, false], false), ChosenBy::Estimate);
    assert_eq!(by(&tuning, &[true, true], false), ChosenBy::Estimate);
    let of_types = |dtypes: &[DType]| Tuning { dtypes: Some(dtypes.to_vec()), ..tuning.clone() };
    assert_eq!(by(&of_types(&[DType::F64]), &[false, true], false), ChosenBy::Estimate);
    assert_eq!(world.runs(), 0);
    assert_eq!(by(&of_types(&[DType::F32]), &[false, true], false), ChosenBy::Search);
}

#[test]
fn what_cannot_be_chosen_is_not_tried() {
    // A single way, and a backend for comparison.
    let world = World::new(&[("a", 1.0, &[way("only", 1)]), ("slow", -9.0, &[way("never", 0)])]);
    let tuning = searching(patient());
    assert_eq!(world.choose(&tuning), ("only".into(), ChosenBy::Estimate));
    assert_eq!((world.runs(), tuning.known.unwrap().found().len()), (0, 0));
}

#[test]
fn a_result_that_nobody_has_is_passed_over() {
    let world = World::new(&[("a", 0.5, &[way("first", 1), way("second", 1)])]);
    let tuning = searching(patient());
    world.choose(&tuning);
    let (call, kernel) = tuning.known.as_ref().unwrap().found().remove(0);
    for (backend, way, expected) in [
        ("a", "second", ("second", ChosenBy::Cache)),
        ("a", "gone", ("first", ChosenBy::Estimate)),
        ("gone", "second", ("first", ChosenBy::Estimate)),
    ] {
        let kernel = KnownKernel { backend: backend.into(), way: way.into(), is_new: false, ..kernel.clone() };
        let known = Arc::new(KnownKernels::new([(call.clone(), kernel)]));
        let (name, by) = world.choose(&Tuning { known: Some(known), ..Tuning::default() });
        assert_eq!((name.as_str(), by), expected, "{backend} {way}");
    }
}

#[test]
fn whoever_looks_on_sees_each_call_and_can_end_it() {
    let world = World::new(&[("a", 0.5, &[way("slow", 3), way("fast", 1)])]);
    let seen = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&seen);
    let tuning = searching(patient().looked_on_by(move |call| {
        let n = count.fetch_add(1, Ordering::Relaxed);
        assert_eq!((call.node.as_str(), call.way.as_str()), ("node", "fast"));
        assert_eq!(call.n_tried, if n == 0 { 2 } else { 0 });
        if n == 2 { Err(Error::not_built("more", "it is enough")) } else { Ok(()) }
    }));
    assert_eq!((world.choose(&tuning).1, world.choose(&tuning).1), (ChosenBy::Search, ChosenBy::Search));
    assert!(world.choose_as(&tuning, &[false, true], false).is_err());
    assert_eq!(seen.load(Ordering::Relaxed), 3);
}
