//! Tests of decoded, resized and cropped pixels against MXNet: PNG and resizing exactly, JPEG within a few gray levels.

mod golden;

use golden::{Difference, Expected, bytes, image};
use mxrs_data::{DecodeLimits, Image, ImageOptions, decode, prepare};

fn decoded(encoded: &[u8], channels: usize) -> Image {
    decode(encoded, channels, &DecodeLimits::default()).unwrap()
}

/// Rows 0, 32, 64, ... of an image.
fn every_32nd_row(image: &Image) -> Vec<u8> {
    let stride = image.width() * image.channels();
    image.pixels().chunks_exact(stride).step_by(32).flatten().copied().collect()
}

/// Pixels in the order (channel, row, column), in which MXNet's results are stored.
fn planes(image: &Image) -> Vec<u8> {
    let c = image.channels();
    (0..c).flat_map(|i| image.pixels().iter().skip(i).step_by(c).copied().collect::<Vec<_>>()).collect()
}

#[test]
fn photographs() {
    let expected = Expected::load();
    for name in ["china", "flower"] {
        let photo = bytes(&format!("tests/fixtures/{name}.jpg"));
        for (channels, kind) in [(3, "rgb"), (1, "gray")] {
            let image = decoded(&photo, channels);
            assert_eq!((image.height(), image.width(), image.channels()), (427, 640, channels));
            let difference = Difference::of(&every_32nd_row(&image), expected.get(&format!("{name}.{kind}")));
            assert!(difference.is_small(channels == 3), "{name} {kind}: {difference:?}");
        }
    }
}

#[test]
fn png_of_every_kind_is_exact() {
    let expected = Expected::load();
    let mut n_cases = 0;
    for kind in ["1", "L", "LA", "P", "RGB", "RGBA", "I16"] {
        let encoded = image(&format!("{kind}.png"));
        for channels in [1, 3, 4] {
            let name = format!("png.{kind}.{channels}");
            let image = decoded(&encoded, channels);
            if expected.has(&name) {
                assert_eq!(planes(&image), expected.get::<u8>(&name), "{name}");
                n_cases += 1;
            } else {
                // MXNet refuses to add an alpha channel; this crate adds an opaque one.
                assert!(image.pixels().chunks_exact(4).all(|p| p[3] == 255), "{name}");
            }
        }
    }
    assert_eq!(n_cases, 16);
    let mut options = ImageOptions { scale: 0.3, ..ImageOptions::new([4, 9, 11]) };
    (options.mean, options.std) = ([1.5, 2.5, 3.5, 4.5], [2.0, 3.0, 5.0, 7.0]);
    let mut out = vec![0.0; 4 * 9 * 11];
    prepare(&decoded(&image("RGBA.png"), 4), &options, &mut out).unwrap();
    assert_eq!(out, expected.get::<f32>("png.RGBA.normalized"));
}

#[test]
fn jpeg_of_every_kind() {
    let expected = Expected::load();
    let mut n_cases = 0;
    for name in expected.names().filter(|n| n.starts_with("jpeg.")) {
        let (file, channels) = name.trim_start_matches("jpeg.").rsplit_once('.').unwrap();
        let image = decoded(&image(&format!("{file}.jpg")), channels.parse().unwrap());
        let tall = matches!(file, "exif5" | "exif6" | "exif7" | "exif8");
        assert_eq!((image.height(), image.width()), if tall { (53, 37) } else { (37, 53) }, "{name}");
        let difference = Difference::of(&planes(&image), expected.get(name));
        let half_size_colors = matches!(file, "s2b" | "s2p" | "restart") && channels == "3";
        assert!(difference.is_small(half_size_colors), "{name}: {difference:?}");
        n_cases += 1;
    }
    assert_eq!(n_cases, 9 * 2 + 8);
}

#[test]
fn sizes_are_exact() {
    let expected = Expected::load();
    let mut n_cases = 0;
    for name in expected.names().filter(|n| n.starts_with("size.") && !n.ends_with(".in")) {
        let numbers: Vec<usize> = name.split('.').skip(1).map(|n| n.parse().unwrap()).collect();
        let [h, w, out_h, out_w, edge] = numbers[..] else { panic!("{name}") };
        let image = Image::new(h, w, 1, expected.get(&format!("{name}.in")).to_vec()).unwrap();
        let options = ImageOptions { resize: (edge > 0).then_some(edge), ..ImageOptions::new([1, out_h, out_w]) };
        let mut out = vec![0.0; out_h * out_w];
        prepare(&image, &options, &mut out).unwrap();
        let want: Vec<f32> = expected.get::<u8>(name).iter().map(|p| f32::from(*p)).collect();
        assert_eq!(out, want, "{name}");
        n_cases += 1;
    }
    assert_eq!(n_cases, 15);
}
