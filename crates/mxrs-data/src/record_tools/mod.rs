//! Operations on whole record files: index, list, verify, shuffle, split.

mod copy;
mod survey;
mod verify;

pub use copy::{shuffle_records, split_records};
pub use survey::{RecordInfo, index_records, survey_records};
pub use verify::{BadRecord, VerifyReport, verify_records};
