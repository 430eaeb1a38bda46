//! Creates metrics by MXNet's names and aliases.

use super::accuracy::Accuracy;
use super::binary::Average;
use super::cross_entropy::CrossEntropy;
use super::deferred::{Deferred, Measure};
use super::f1::f1;
use super::loss::Loss;
use super::mcc::mcc;
use super::pcc::Pcc;
use super::pearson::Pearson;
use super::perplexity::Perplexity;
use super::regression::Regression;
use super::top_k::TopK;
use super::{CompositeEvalMetric, EvalMetric, Wanted};
use mxrs_types::{Error, Result};

/// Parameters by name: `[("top_k", "5")]`.
pub type MetricOptions<'a> = [(&'a str, &'a str)];

/// The names of each metric, and its parameters besides `name`, `output_names` and `label_names`.
const NAMES: [(&[&str], &[&str]); 16] = [
    (&["accuracy", "acc"], &["axis"]),
    (&["topkaccuracy", "top_k_accuracy", "top_k_acc"], &["top_k"]),
    (&["f1"], &["average"]),
    (&["mcc"], &["average"]),
    (&["pcc"], &[]),
    (&["perplexity"], &["ignore_label", "axis"]),
    (&["crossentropy", "ce", "cross-entropy"], &["eps"]),
    (&["negativeloglikelihood", "nll_loss", "nll-loss"], &["eps"]),
    (&["mae"], &[]),
    (&["mse"], &[]),
    (&["rmse"], &[]),
    (&["pearsoncorrelation", "pearsonr"], &["average"]),
    (&["loss"], &[]),
    (&["torch"], &[]),
    (&["caffe"], &[]),
    (&["compositeevalmetric", "composite"], &[]),
];

struct Params<'a>(&'a MetricOptions<'a>);

impl<'a> Params<'a> {
    fn text(&self, key: &str) -> Option<&'a str> {
        self.0.iter().rev().find(|(k, _)| *k == key).map(|(_, value)| *value)
    }

    fn integer(&self, key: &str, default: i64) -> Result<i64> {
        self.text(key).map_or(Ok(default), |text| text.parse().map_err(|_| Error::invalid(key, text, "an integer")))
    }

    fn number(&self, key: &str, default: f64) -> Result<f64> {
        self.text(key).map_or(Ok(default), |text| text.parse().map_err(|_| Error::invalid(key, text, "a number")))
    }

    fn average(&self, name: &str) -> Result<Average> {
        let average = Average::parse(self.text("average").unwrap_or("macro"))?;
        average.warn(name);
        Ok(average)
    }

    fn names(&self, key: &str) -> Option<Vec<String>> {
        self.text(key).map(|text| text.split(',').map(|name| name.trim().to_owned()).collect())
    }
}

/// Creates a metric by name (`acc`, `top_k_accuracy`, `ce`, …), ignoring upper and lower case. `output_names` and
/// `label_names` are lists separated by commas; `name` replaces the printed name.
///
/// # Errors
/// Returns an error if the name is unknown (the error suggests the nearest names), if a parameter is unknown or cannot be
/// parsed, or if a required parameter is missing.
pub fn create(name: &str, options: &MetricOptions<'_>) -> Result<Box<dyn EvalMetric>> {
    let lower = name.to_lowercase();
    let Some((names, known)) = NAMES.iter().find(|(names, _)| names.contains(&lower.as_str())) else {
        let all = NAMES.iter().flat_map(|(names, _)| names.iter().copied());
        let mut all: Vec<(usize, &str)> = all.map(|known| (strsim::levenshtein(&lower, known), known)).collect();
        all.sort_unstable();
        let nearest: Vec<&str> = all.iter().take(3).map(|(_, name)| *name).collect();
        return Err(Error::invalid(
            "metric",
            format!("`{name}`"),
            format!("a metric; nearest: {}", nearest.join(", ")),
        ));
    };
    let common = ["name", "output_names", "label_names"];
    if let Some((key, _)) = options.iter().find(|(key, _)| !known.contains(key) && !common.contains(key)) {
        let takes: Vec<&str> = known.iter().chain(&common).copied().collect();
        return Err(Error::invalid(format!("parameter of metric {name}"), key, format!("one of {}", takes.join(", "))));
    }
    let params = Params(options);
    match names[0] {
        "accuracy" => done(Accuracy { axis: params.integer("axis", 1)? }, &params),
        "topkaccuracy" => done(TopK::new(params.integer("top_k", 1)?)?, &params),
        "f1" => done(f1(params.average("f1")?), &params),
        "mcc" => done(mcc(params.average("mcc")?), &params),
        "pcc" => done(Pcc, &params),
        "perplexity" => {
            let Some(ignored) = params.text("ignore_label") else {
                let expected = "a label that is not counted, or None";
                return Err(Error::invalid("ignore_label of metric perplexity", "nothing", expected));
            };
            let ignore_label = if ignored == "None" { None } else { Some(params.integer("ignore_label", -1)?) };
            done(Perplexity { ignore_label, axis: params.integer("axis", -1)? }, &params)
        }
        "crossentropy" => done(CrossEntropy { name: "cross-entropy", eps: params.number("eps", 1e-12)? }, &params),
        "negativeloglikelihood" => done(CrossEntropy { name: "nll-loss", eps: params.number("eps", 1e-12)? }, &params),
        "mae" => done(Regression::Absolute, &params),
        "mse" => done(Regression::Squared, &params),
        "rmse" => done(Regression::RootSquared, &params),
        "pearsoncorrelation" => done(Pearson(params.average("pearsonr")?), &params),
        "loss" => done(Loss { name: "loss" }, &params),
        "torch" => done(Loss { name: "torch" }, &params),
        "caffe" => done(Loss { name: "caffe" }, &params),
        _ => Ok(Box::new(CompositeEvalMetric::default())),
    }
}

fn done(measure: impl Measure, params: &Params<'_>) -> Result<Box<dyn EvalMetric>> {
    let wanted = Wanted { outputs: params.names("output_names"), labels: params.names("label_names") };
    Ok(Box::new(Deferred::new(measure, params.text("name").map(str::to_owned), wanted)))
}

/// Creates several metrics, each by name with its parameters, and combines them into one.
///
/// # Errors
/// Fails as [`create`] does.
pub fn create_all(metrics: &[(&str, &MetricOptions<'_>)]) -> Result<CompositeEvalMetric> {
    let all = metrics.iter().map(|(name, options)| create(name, options)).collect::<Result<_>>()?;
    Ok(CompositeEvalMetric::new(all))
}
