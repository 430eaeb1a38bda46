//! Measures the images per second read from a record file with ImageNet augmentation: `read_speed FILE.rec [threads]
//! [batches]`.

use mxrs_data::{Augment, DataIter, ImageRecordIter};
use std::time::Instant;

fn main() -> mxrs_types::Result<()> {
    let mut args = std::env::args().skip(1);
    let rec = args.next().unwrap_or_else(|| "train.rec".into());
    let threads = args.next().and_then(|n| n.parse().ok()).unwrap_or(2);
    let n_batches = args.next().and_then(|n| n.parse().ok()).unwrap_or(8);
    let mut iter = ImageRecordIter::builder(rec, [3, 224, 224], 64)
        .shuffle(0)
        .augment(Augment::imagenet())
        .mean([123.68, 116.779, 103.939, 0.0])
        .std([58.393, 57.12, 57.375, 1.0])
        .preprocess_threads(threads)
        .build_prefetching()?;
    iter.next_batch()?;
    let start = Instant::now();
    let mut n_images = 0;
    for _ in 0..n_batches {
        match iter.next_batch()? {
            Some(batch) => n_images += batch.index.len(),
            None => iter.reset()?,
        }
    }
    println!("{threads} threads: {:.1} images/sec", n_images as f64 / start.elapsed().as_secs_f64());
    Ok(())
}
