//! Fills the rows of a batch from records, on the threads of the team, and replaces the rows of bad records.

use super::row::{Row, RowSettings};
use super::{ImageRecordIter, Records, Rows, Seen};
use crate::Image;
use crate::record_source::Record;
use mxrs_sync::Mutex;
use mxrs_types::Result;

impl ImageRecordIter {
    /// Decodes and preprocesses the records of one batch into `data` and `labels`; rows without a record stay zero. Returns
    /// `None` if all records that are not padding are bad.
    pub(super) fn fill(&mut self, records: &Records, data: &mut [u8], labels: &mut [f32]) -> Result<Option<Rows>> {
        let n_rows = self.settings.batch_size;
        let mut index = vec![0; n_rows];
        let outcomes = self.fill_rows(&records.records, data, labels, &mut index);
        let mut images = Vec::new();
        let mut bad = Vec::new();
        for (i, (outcome, record)) in outcomes.into_iter().zip(&records.records).enumerate() {
            match outcome {
                Ok(image) => images.extend(image),
                Err(e) => {
                    self.bad.note(&self.settings.path_imgrec, record.offset, e)?;
                    bad.push(i);
                }
            }
        }
        let n_valid = n_rows - records.pad;
        let n_bad = bad.iter().filter(|i| **i < n_valid).count();
        if n_bad == n_valid {
            if self.seen == Seen::Nothing {
                self.seen = Seen::OnlyBad;
            }
            return Ok(None);
        }
        self.seen = Seen::Good;
        if !bad.is_empty() {
            self.close_ranks(&bad, records.records.len(), data, labels, &mut index);
        }
        Ok(Some(Rows { index, images, pad: records.pad + n_bad }))
    }

    /// Decodes and preprocesses records into the first rows of `data`, `labels` and `index`, which all have `index.len()`
    /// rows. Returns the outcome for each record.
    pub(super) fn fill_rows(
        &self,
        records: &[Record],
        data: &mut [u8],
        labels: &mut [f32],
        index: &mut [u64],
    ) -> Vec<Result<Option<Image>>> {
        let settings = &self.settings;
        let row_len = data.len() / index.len();
        let shared = RowSettings {
            builder: settings,
            list: self.list.as_deref(),
            mean_image: self.mean_image.as_deref(),
            epoch: self.source.epoch(),
            path: &settings.path_imgrec,
        };
        let places = data.chunks_exact_mut(row_len).zip(labels.chunks_exact_mut(self.label_width));
        let places = places.zip(index).zip(records);
        let rows: Vec<Mutex<Row<'_>>> = places
            .map(|(((data, labels), id), record)| Mutex::new(Row { record, data, labels, id, outcome: Ok(None) }))
            .collect();
        let fill = |i: usize| rows[i].lock().fill(&shared);
        // With one thread the rows are filled without `Team::run`: inside a loop of a team, `ImageThreads` would not share
        // the work on an image.
        match self.team.size() {
            1 => (0..rows.len()).for_each(fill),
            _ => self.team.run(rows.len(), &fill),
        }
        rows.into_iter().map(|row| row.into_inner().outcome).collect()
    }

    /// Moves the good rows among the first `n` rows to the front. The rows after them, up to row `n`, become copies of the
    /// good rows, beginning with the first. At least one row is good.
    fn close_ranks(&self, bad: &[usize], n: usize, data: &mut [u8], labels: &mut [f32], index: &mut [u64]) {
        let (len, width) = (data.len() / index.len(), self.label_width);
        let good: Vec<usize> = (0..n).filter(|i| bad.binary_search(i).is_err()).collect();
        // While good rows move to the front, a source row is never before its target, so no row is overwritten too early.
        let behind = (good.len()..n).map(|to| (to, (to - good.len()) % good.len()));
        for (to, from) in good.iter().copied().enumerate().chain(behind) {
            data.copy_within(from * len..(from + 1) * len, to * len);
            labels.copy_within(from * width..(from + 1) * width, to * width);
            index[to] = index[from];
        }
    }
}
