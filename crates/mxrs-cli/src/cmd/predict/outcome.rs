//! The results of `predict`: the most probable classes per image, and the number of correct predictions.

use crate::records::ImageBatch;
use crate::terminal;
use serde::Serialize;
use serde_json::Number;

/// Largest number of wrong predictions in the table.
const MOST_WRONG: usize = 10;

/// A class and its probability.
#[derive(Serialize)]
pub struct Top {
    /// Number of the class, from 0.
    pub class: usize,
    /// Name of the class, if names were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Probability that the network assigns to the class.
    pub prob: f32,
}

impl Top {
    /// Name of the class, or its number if it has no name.
    pub fn class_text(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.class.to_string())
    }
}

/// The prediction for one image.
#[derive(Serialize)]
pub struct Prediction {
    /// Index among all images, from 0.
    pub index: usize,
    /// File of the image, if it came from a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The label of the image, if known.
    pub label: Option<Number>,
    /// The classes, most probable first.
    pub top: Vec<Top>,
}

/// The JSON report for all images.
#[derive(Serialize)]
pub struct Report<'a> {
    images: usize,
    correct: Option<usize>,
    accuracy: Option<f64>,
    predictions: &'a [Prediction],
    seconds: f64,
}

/// Collects the predictions of all batches.
pub struct Predictions {
    n_classes: usize,
    n_top: usize,
    names: Option<Vec<String>>,
    rows: Vec<Prediction>,
    probabilities: Vec<f32>,
    labels: Vec<f32>,
    correct: usize,
}

impl Predictions {
    /// Empty predictions for a network of `n_classes`, of which the `n_top` most probable are kept per image.
    pub fn new(n_classes: usize, n_top: usize, names: Option<Vec<String>>) -> Self {
        let (rows, probabilities, labels) = Default::default();
        Self { n_classes, n_top: n_top.min(n_classes), names, rows, probabilities, labels, correct: 0 }
    }

    /// Adds a batch with the probabilities that the network computed.
    pub fn add(&mut self, batch: &ImageBatch, probabilities: Vec<f32>) {
        for (i, row) in probabilities.chunks_exact(self.n_classes.max(1)).enumerate() {
            let label = batch.labels.as_ref().and_then(|labels| labels.get(i)).copied();
            let top = self.top(row);
            if let (Some(label), Some(best)) = (label, top.first()) {
                self.correct += usize::from(best.class as f32 == label);
            }
            self.labels.extend(label);
            let file = batch.files.get(i).map(|file| file.display().to_string());
            self.rows.push(Prediction { index: self.rows.len(), file, label: label.and_then(number), top });
        }
        self.probabilities.extend(probabilities);
    }

    /// The most probable classes. Of equal probabilities the lower class number comes first.
    fn top(&self, row: &[f32]) -> Vec<Top> {
        let mut order: Vec<usize> = (0..row.len()).collect();
        order.sort_by(|&a, &b| row[b].total_cmp(&row[a]));
        let name = |class: usize| self.names.as_ref().and_then(|names| names.get(class).cloned());
        order.into_iter().take(self.n_top).map(|class| Top { class, name: name(class), prob: row[class] }).collect()
    }

    /// Number of images.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// Predictions from `index` on.
    pub fn rows_from(&self, index: usize) -> &[Prediction] {
        &self.rows[index.min(self.rows.len())..]
    }

    /// Probabilities, row-major, with one row of classes per image.
    pub fn probabilities(&self) -> &[f32] {
        &self.probabilities
    }

    /// Labels, if every image has one.
    pub fn labels(&self) -> Option<&[f32]> {
        (self.labels.len() == self.rows.len() && !self.rows.is_empty()).then_some(&self.labels)
    }

    /// Number of correct predictions and their share, if labels are known.
    fn accuracy(&self) -> Option<(usize, f64)> {
        self.labels().map(|labels| (self.correct, self.correct as f64 / labels.len() as f64))
    }

    /// The report for JSON.
    pub fn report(&self, seconds: f64) -> Report<'_> {
        let (correct, accuracy) = self.accuracy().unzip();
        Report { images: self.len(), correct, accuracy, predictions: &self.rows, seconds }
    }

    /// The text output: every image if the images are files, and wrong predictions and accuracy if labels are known.
    pub fn text(&self, seconds: f64) -> String {
        let mut text = String::new();
        for row in self.rows.iter().filter(|row| row.file.is_some()) {
            text += &format!("{}\n", row.file.as_deref().unwrap_or_default());
            for top in &row.top {
                text += &format!("prob={:.6} class={}\n", top.prob, top.class_text());
            }
        }
        if let Some((correct, accuracy)) = self.accuracy() {
            text += &self.wrong();
            text += &format!("accuracy: {accuracy:.6} ({correct} of {} images)\n", self.len());
        }
        let rate = self.len() as f64 / seconds.max(f64::MIN_POSITIVE);
        text + &format!("{} images in {seconds:.3} s, {rate:.1} images/sec\n", self.len())
    }

    fn wrong(&self) -> String {
        let is_wrong = |row: &&Prediction| {
            let best = row.top.first().map(|top| top.class as f64);
            row.label.as_ref().and_then(Number::as_f64) != best
        };
        let wrong: Vec<&Prediction> = self.rows.iter().filter(is_wrong).collect();
        if wrong.is_empty() {
            return String::new();
        }
        let mut table = terminal::table(&["image", "label", "taken for", "prob"]);
        for row in wrong.iter().take(MOST_WRONG) {
            let Some(top) = row.top.first() else { continue };
            let label = row.label.as_ref().map_or_else(|| "?".to_owned(), Number::to_string);
            table.add_row(vec![row.index.to_string(), label, top.class_text(), percent(top.prob)]);
        }
        let more = wrong.len().saturating_sub(MOST_WRONG);
        let more = if more > 0 { format!("and {more} more\n") } else { String::new() };
        format!("wrong:\n{table}\n{more}")
    }
}

/// The label as a JSON number, an integer if it is whole.
fn number(label: f32) -> Option<Number> {
    if label.fract() == 0.0 && label.abs() < 1e9 {
        return Some(Number::from(label as i64));
    }
    Number::from_f64(label.into())
}

/// A probability in percent.
pub fn percent(prob: f32) -> String {
    format!("{:.1} %", prob * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(labels: Option<Vec<f32>>, n: usize) -> ImageBatch {
        ImageBatch { data: Vec::new(), labels, images: Vec::new(), files: Vec::new(), n }
    }

    #[test]
    fn right_answers_are_counted_and_the_best_come_first() {
        let mut predictions = Predictions::new(3, 2, None);
        predictions.add(&batch(Some(vec![2.0, 0.0]), 2), vec![0.1, 0.3, 0.6, 0.2, 0.4, 0.4]);
        let json = serde_json::to_value(predictions.report(0.5)).unwrap();
        assert_eq!((&json["images"], &json["correct"], &json["accuracy"]), (&2.into(), &1.into(), &0.5.into()));
        let second = &json["predictions"][1];
        assert_eq!(
            (&second["label"], &second["top"][0]["class"], &second["top"][1]["class"]),
            (&0.into(), &1.into(), &2.into())
        );
        assert_eq!(second["top"].as_array().map(Vec::len), Some(2));
        let text = predictions.text(0.5);
        assert!(text.contains("accuracy: 0.500000 (1 of 2 images)") && text.contains("taken for"), "{text}");
    }

    #[test]
    fn without_labels_there_is_no_accuracy() {
        let mut predictions = Predictions::new(2, 5, Some(vec!["cat".into(), "dog".into()]));
        predictions.add(&ImageBatch { files: vec!["a.png".into()], ..batch(None, 1) }, vec![0.25, 0.75]);
        let json = serde_json::to_value(predictions.report(1.0)).unwrap();
        assert!(json["accuracy"].is_null() && json["correct"].is_null());
        assert_eq!(json["predictions"][0]["top"][0]["name"], "dog");
        assert_eq!(predictions.text(1.0).lines().next(), Some("a.png"));
        assert!(predictions.text(1.0).contains("prob=0.750000 class=dog\n"));
        assert!(predictions.labels().is_none());
    }
}
