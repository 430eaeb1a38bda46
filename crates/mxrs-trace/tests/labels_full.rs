//! Tests labels when their table is full. The test has a process of its own, because the table is never emptied.
#![cfg(not(any(loom, miri)))]

use mxrs_trace::Label;
use std::collections::HashSet;

#[test]
fn a_full_table_keeps_its_labels_and_takes_no_more() {
    let known = Label::of("known");
    let labels: Vec<Label> = (0..60_000).map(|i| Label::of(&format!("name {i}"))).collect();
    let more = labels.iter().filter(|label| **label == Label::MORE).count();
    assert_eq!(labels.iter().collect::<HashSet<_>>().len(), 49_152, "49,151 names, and `MORE`");
    assert_eq!(more, 60_000 - 49_151);
    assert_eq!((Label::of("known"), Label::of("name 5"), Label::of("new")), (known, labels[5], Label::MORE));
    assert_eq!(labels[5].text(), "name 5");
    assert!(Label::MORE.text().contains("more names"));
}
