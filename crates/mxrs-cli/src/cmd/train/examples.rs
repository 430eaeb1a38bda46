//! The source of a trainer's batches: record files, the files of MNIST, or one synthetic batch that repeats.

use super::kind::Kind;
use super::plan::Plan;
use crate::batches::{self, Parameters};
use crate::exit::{Failure, Outcome};
use mxrs::data::{DataIter, MnistIter, NdArrayIter, ResizeIter};
use mxrs::env::Settings;
use mxrs::format::Tensor;
use mxrs::types::Error;
use std::path::{Path, PathBuf};

/// Number of batches in an epoch of `--benchmark 1`.
const BENCHMARK_BATCHES: u64 = 500;

/// Iterators over the training and validation batches, and the number of examples.
pub struct Source {
    /// Training batches.
    pub train: Box<dyn DataIter>,
    /// Validation batches.
    pub eval: Option<Box<dyn DataIter>>,
    /// Number of examples in an epoch.
    pub n_examples: u64,
}

/// The share of the training examples that one worker reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The number of the worker, from 0.
    pub rank: usize,
    /// The number of workers.
    pub n_workers: usize,
}

impl Source {
    /// Opens the files that the flags name, or the files of MNIST in the folder that the settings name. Of the training
    /// examples, this worker reads its share; validation reads all examples.
    ///
    /// # Errors
    /// [`Failure::Input`] if a file is missing or malformed; [`Failure::Usage`] if an iterator parameter has an invalid value.
    pub fn open(plan: &Plan, settings: &Settings, share: Share) -> Outcome<Self> {
        if plan.data.benchmark {
            let n_examples = BENCHMARK_BATCHES.saturating_mul(plan.batch_size as u64);
            return Ok(Self { train: synthetic(plan)?, eval: None, n_examples });
        }
        match plan.kind {
            Kind::Mnist => mnist(plan, settings, share),
            _ => records(plan, share),
        }
    }
}

impl Source {
    /// Makes epochs of `n_batches` batches. If there are fewer examples, those of the next epoch follow.
    ///
    /// # Errors
    /// Fails if the number is 0.
    pub fn resized(self, n_batches: u64) -> Outcome<Self> {
        Ok(Self { train: Box::new(ResizeIter::new(self.train, n_batches, true)?), ..self })
    }
}

/// Opens the record files that the flags name.
fn records(plan: &Plan, share: Share) -> Outcome<Source> {
    let data = &plan.data;
    let Some(path) = &data.data_train else {
        return Err(Failure::Usage("--data-train FILE is needed, or --benchmark 1".into()));
    };
    let mut parameters = data.parameters(&plan.defaults);
    parameters.push(("shuffle", "1".into()));
    if share.n_workers > 1 {
        parameters.push(("num_parts", share.n_workers.to_string()));
        parameters.push(("part_index", share.rank.to_string()));
    }
    let train = record_iterator(plan, path, data.data_train_idx.as_deref(), parameters)?;
    let val = data.data_val.as_deref();
    let eval =
        val.map(|path| record_iterator(plan, path, data.data_val_idx.as_deref(), Parameters::new())).transpose()?;
    let n_examples = counted(plan, train.n_examples(), share, &path.display().to_string());
    if n_examples == 0 {
        return Err(Failure::Input(Error::invalid(format!("records of {}", path.display()), 0, "at least one")));
    }
    Ok(Source { train, eval, n_examples })
}

/// Number of examples of a worker in an epoch: `there`, the number of records, if it is known, otherwise this worker's share
/// of `--num-examples`. Logs a warning if the two differ.
fn counted(plan: &Plan, there: Option<u64>, share: Share, from: &str) -> u64 {
    // The flag counts the examples of all workers.
    let of_worker = |n: u64| n.div_ceil(share.n_workers as u64);
    match (plan.data.num_examples.map(of_worker), there) {
        (Some(said), Some(there)) if said != there => {
            tracing::warn!("--num-examples is {said}, but {from} has {there} records: these count");
            there
        }
        (said, there) => there.or(said).unwrap_or(of_worker(plan.defaults.num_examples)),
    }
}

/// An iterator over the batches of a record file, which are decoded ahead.
///
/// # Errors
/// Fails if a file is missing or malformed, or if an iterator parameter has an invalid value.
pub fn record_iterator(
    plan: &Plan,
    path: &Path,
    index: Option<&Path>,
    extra: Parameters,
) -> Outcome<Box<dyn DataIter>> {
    let [channels, height, width] = plan.image;
    let seed = plan.training.seed.to_string();
    let mut parameters: Parameters = vec![
        ("path_imgrec", path.display().to_string()),
        ("data_shape", format!("({channels},{height},{width})")),
        ("batch_size", plan.batch_size.to_string()),
        ("preprocess_threads", plan.data.data_nthreads.unwrap_or(4).to_string()),
        ("seed", seed.clone()),
        ("seed_aug", seed),
        batches::max_bad_records(plan.data.strict),
    ];
    if let Some(index) = index.filter(|index| !index.as_os_str().is_empty()) {
        parameters.push(("path_imgidx", index.display().to_string()));
    }
    parameters.extend(plan.data.normalization());
    parameters.extend(extra);
    batches::open(&parameters)
}

/// Opens the four files of MNIST, which may be compressed.
fn mnist(plan: &Plan, settings: &Settings, share: Share) -> Outcome<Source> {
    let open = |images: &str, labels: &str, shuffle: bool| {
        let (images, labels) = (mnist_file(images, settings)?, mnist_file(labels, settings)?);
        let seed = plan.training.seed.to_string();
        let (images, labels) = (images.display().to_string(), labels.display().to_string());
        let batch_size = plan.batch_size.to_string();
        let flat = u8::from(plan.network == "mlp" && plan.data.image_shape.is_none()).to_string();
        let parameters = [
            ("image", images.as_str()),
            ("label", labels.as_str()),
            ("batch_size", batch_size.as_str()),
            ("seed", seed.as_str()),
            ("flat", flat.as_str()),
            ("last_batch_handle", "pad"),
        ];
        let settings = MnistIter::from_params(&parameters).map_err(Failure::binding)?;
        // `shuffle` and `white` have the values that match MXNet's script, which reads the files without this iterator.
        let settings = MnistIter { shuffle, white: 255, ..settings };
        // Only the training data, which is shuffled, is divided among workers.
        let (part_index, num_parts) = if shuffle { (share.rank, share.n_workers) } else { (0, 1) };
        let settings = MnistIter { part_index, num_parts, ..settings };
        Ok::<_, Failure>(Box::new(settings.build().map_err(Failure::input)?))
    };
    let train = open("train-images-idx3-ubyte", "train-labels-idx1-ubyte", true)?;
    let eval = open("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte", false)?;
    let n_examples = counted(plan, train.n_examples(), share, "MNIST");
    Ok(Source { train, eval: Some(eval), n_examples })
}

/// Path of a file of MNIST, in the folder `data` or in `datasets/mnist` of the user's data folder (`MXNET_HOME`).
fn mnist_file(name: &str, settings: &Settings) -> Outcome<PathBuf> {
    let of_user = settings.data_folder().map(|folder| folder.join("datasets").join("mnist"));
    let folders = std::iter::once(PathBuf::from("data")).chain(of_user);
    let names: Vec<PathBuf> =
        folders.flat_map(|folder| [folder.join(name), folder.join(format!("{name}.gz"))]).collect();
    names.iter().find(|path| path.is_file()).cloned().ok_or_else(|| {
        let missing = std::io::Error::new(std::io::ErrorKind::NotFound, "not found, nor with .gz at its end");
        Failure::Input(Error::io(&names[0], &missing))
    })
}

/// An iterator that repeats one batch of uniform random pixels and random classes.
fn synthetic(plan: &Plan) -> Outcome<Box<dyn DataIter>> {
    let [channels, height, width] = plan.image;
    let sizes = [plan.batch_size, channels, height, width];
    let n = sizes.iter().try_fold(1usize, |n, size| n.checked_mul(*size));
    let mut pixels: Vec<f32> = Vec::new();
    let n = n.filter(|n| pixels.try_reserve_exact(*n).is_ok()).ok_or_else(|| {
        let images = plan.batch_size;
        Failure::Usage(format!("--batch-size: {images} images of {channels}x{height}x{width} do not fit into memory"))
    })?;
    // A multiplicative hash of the index, as fixed noise.
    let noise = |i: usize| ((i as u32).wrapping_mul(2_654_435_761) >> 8) as f32 / (1 << 24) as f32;
    pixels.extend((0..n).map(|i| 2.0 * noise(i) - 1.0));
    let labels: Vec<f32> = (0..plan.batch_size).map(|i| (noise(i + n) * plan.num_classes as f32).floor()).collect();
    let data = Tensor::from_slice(sizes, &pixels)?.into_dense()?;
    let label = Tensor::from_slice([plan.batch_size], &labels)?.into_dense()?;
    let batches = NdArrayIter::builder(plan.batch_size).data("data", data).label("softmax_label", label).build()?;
    Ok(Box::new(ResizeIter::new(batches, BENCHMARK_BATCHES, true)?))
}
