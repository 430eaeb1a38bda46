//! `pcc`: Matthews' correlation coefficient for any number of classes, computed from the confusion matrix; NaN if all
//! predictions or all labels are of one class.

use super::View;
use super::deferred::Measure;
use mxrs_types::{Error, Result};
use std::collections::BTreeMap;

/// MXNet's metric `PCC`.
pub(super) struct Pcc;

/// Number of examples for each pair of predicted and true class.
type Pairs = BTreeMap<(i64, i64), u64>;

impl Measure for Pcc {
    type Part = Pairs;
    type Total = Pairs;

    fn default_name(&self) -> String {
        "pcc".into()
    }

    fn measure(&self, label: &View<'_>, pred: &View<'_>) -> Result<Pairs> {
        let classes: Vec<i64> = match pred.shape() == label.shape() {
            true => (0..pred.len()).map(|i| pred.class(i)).collect(),
            false => pred.argmax(1)?,
        };
        if classes.len() != label.len() {
            return Err(Error::shape("pcc", "label", format!("{} labels", classes.len()), label.shape()));
        }
        let mut pairs = Pairs::new();
        for (i, class) in classes.into_iter().enumerate() {
            *pairs.entry((class, label.class(i))).or_default() += 1;
        }
        Ok(pairs)
    }

    fn add(&self, total: &mut Pairs, parts: &[Pairs]) {
        for (pair, n) in parts.iter().flatten() {
            *total.entry(*pair).or_default() += n;
        }
    }

    fn value(&self, total: &Pairs) -> f64 {
        let n: f64 = total.values().map(|n| *n as f64).sum();
        let (mut rows, mut columns) = (BTreeMap::<i64, f64>::new(), BTreeMap::<i64, f64>::new());
        for ((class, label), count) in total {
            *rows.entry(*class).or_default() += *count as f64;
            *columns.entry(*label).or_default() += *count as f64;
        }
        let spread = |sums: &BTreeMap<i64, f64>| sums.values().map(|x| x * (n - x)).sum::<f64>();
        let (xx, yy) = (spread(&rows), spread(&columns));
        if xx == 0.0 || yy == 0.0 {
            return f64::NAN;
        }
        let right: f64 = total.iter().filter(|((class, label), _)| class == label).map(|(_, n)| *n as f64).sum();
        let chance: f64 = rows.iter().map(|(class, x)| x * columns.get(class).copied().unwrap_or(0.0)).sum();
        (right * n - chance) / (xx * yy).sqrt()
    }
}
