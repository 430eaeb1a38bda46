//! Workers whose shares of the examples have different sizes.

use crate::launch::PATH;
use crate::launch_bits::write_images;
use crate::mxrs::mxrs_in_with;

/// "uneven last batches (pad or drop, said in the log)": of 241 images, worker 0 has 120 and worker 1 has 121. These are 12 and 13
/// batches of 10. Worker 0 repeats some of its examples and says so. Without that, worker 1 would wait for it in the 13th
/// step.
#[test]
fn workers_with_unequal_shares_take_equally_many_steps() {
    let folder = tempfile::tempdir().unwrap();
    write_images(folder.path(), 241);
    let launch = ["launch", "-n", "2", "--timeout", "60", "--", env!("CARGO_BIN_EXE_mxrs")];
    let train = ["train", "mnist", "--batch-size", "10", "--num-epochs", "2", "--threads", "1", "--disp-batches", "1"];
    for store in ["dist_sync", "p3"] {
        let ran = mxrs_in_with(folder.path(), &[PATH], [&launch[..], &train, &["--kv-store", store]].concat());
        let err = ran.err.clone();
        ran.ok();
        let of = |rank: usize| {
            let mark = format!("[worker {rank} ");
            err.lines().filter(move |line| line.starts_with(&mark))
        };
        let repeats = "epochs of 13 batches instead of 12, as other workers have";
        assert_eq!(of(0).filter(|line| line.contains(repeats)).count(), 1, "{store}: {err}");
        assert!(of(1).all(|line| !line.contains("batches instead of")), "{store}: {err}");
        for epoch in 0..2 {
            // The first batch of an epoch begins the measurement, so it has no line.
            let mark = format!("Epoch[{epoch}] Batch [");
            let n_lines = [0, 1].map(|rank| of(rank).filter(|line| line.contains(&mark)).count());
            assert_eq!(n_lines, [12, 12], "{store}, epoch {epoch}: {err}");
        }
    }
}
