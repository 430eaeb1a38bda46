//! The inputs of a call: their shapes, and which random numbers they hold. All libraries read the same numbers from files.

use anyhow::{Context, Result, bail, ensure};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::{Path, PathBuf};

/// An input of a call, in float32.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// Its shape.
    pub shape: Vec<usize>,
    /// Its numbers.
    pub values: Values,
    /// Whether the gradient of this input is computed when gradients are.
    pub has_gradient: bool,
}

/// The numbers of an input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Values {
    /// Random numbers between two bounds.
    Uniform(f32, f32),
    /// Random whole numbers: at least the first bound, below the second.
    Whole(u32, u32),
    /// Zeros.
    Zeros,
    /// Ones.
    Ones,
    /// Lower triangular matrices, far from singular.
    Lower,
    /// A symmetric positive definite matrix.
    Definite,
    /// Positive numbers whose sum along the last axis is 1.
    Shares,
    /// Regions of images: the place of the image, then two corners in pixels.
    Regions {
        /// Number of images.
        images: u32,
        /// Height and width of an image.
        side: f32,
    },
    /// Boxes in the unit square: a class and a score, unless there are no classes, then two corners.
    Boxes {
        /// Number of classes.
        classes: u32,
    },
}

impl Input {
    /// Reads an input such as `32x10 0.1..9 fixed`: the shape, the kind of its numbers (by default -1..1), and `fixed` if no
    /// gradient is computed.
    ///
    /// # Errors
    /// Fails if the text has another form.
    pub fn read(text: &str) -> Result<Self> {
        let mut words = text.split(' ');
        let sizes = words.next().unwrap_or_default().split('x').map(str::parse::<usize>);
        let shape: Vec<usize> = sizes.collect::<Result<_, _>>().with_context(|| format!("the shape of `{text}`"))?;
        ensure!(shape.iter().all(|size| *size > 0), "`{text}` has a size of 0");
        let mut input = Self { shape, values: Values::Uniform(-1.0, 1.0), has_gradient: true };
        for word in words {
            if word == "fixed" {
                input.has_gradient = false;
            } else {
                input.values = Values::read(word).with_context(|| format!("the numbers of `{text}`"))?;
            }
        }
        let is_discrete = matches!(input.values, Values::Whole(..) | Values::Regions { .. } | Values::Boxes { .. });
        input.has_gradient &= !is_discrete;
        Ok(input)
    }

    /// The shape as the report shows it.
    pub fn sizes(&self) -> String {
        self.shape.iter().map(usize::to_string).collect::<Vec<_>>().join("x")
    }

    /// The numbers, row-major. The same seed gives the same numbers.
    pub fn numbers(&self, seed: u64) -> Vec<f32> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let n: usize = self.shape.iter().product();
        let last = self.shape.last().copied().unwrap_or(1);
        match self.values {
            Values::Uniform(from, to) => (0..n).map(|_| random.random_range(from..to)).collect(),
            Values::Whole(from, below) => (0..n).map(|_| random.random_range(from..below) as f32).collect(),
            Values::Zeros => vec![0.0; n],
            Values::Ones => vec![1.0; n],
            Values::Lower => {
                let place = |at: usize| (at / last % last, at % last);
                (0..n).map(|at| entry(&mut random, place(at), last)).collect()
            }
            Values::Definite => {
                let mut matrix: Vec<f32> = (0..n).map(|at| entry(&mut random, (at / last, at % last), last)).collect();
                for row in 0..last {
                    for column in row + 1..last {
                        matrix[row * last + column] = matrix[column * last + row];
                    }
                }
                matrix
            }
            Values::Shares => {
                let mut shares: Vec<f32> = (0..n).map(|_| random.random_range(0.1..1.0)).collect();
                for row in shares.chunks_mut(last) {
                    let sum: f32 = row.iter().sum();
                    row.iter_mut().for_each(|share| *share /= sum);
                }
                shares
            }
            Values::Regions { images, side } => {
                let region = |_| {
                    let image = random.random_range(0..images) as f32;
                    let [x, y, right, top] = corners(&mut random, side, (side / 8.0, side / 2.0));
                    [image, x, y, right - 1.0, top - 1.0]
                };
                (0..n / last).flat_map(region).collect()
            }
            Values::Boxes { classes } => {
                let one = |_| {
                    let head =
                        (classes > 0).then(|| [random.random_range(0..classes) as f32, random.random_range(0.0..1.0)]);
                    head.into_iter().flatten().chain(corners(&mut random, 1.0, (0.05, 0.25))).collect::<Vec<f32>>()
                };
                (0..n / last).flat_map(one).collect()
            }
        }
    }
}

/// An element of a lower triangular matrix of this size whose diagonal outweighs the rest of its row and column.
fn entry(random: &mut ChaCha8Rng, (row, column): (usize, usize), size: usize) -> f32 {
    match row.cmp(&column) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal => random.random_range(1.0..2.0),
        std::cmp::Ordering::Greater => {
            let number: f32 = random.random_range(-1.0..1.0);
            number / size as f32
        }
    }
}

/// Two corners of a random box in a square. Its sides have lengths between two bounds, of which the second is at most half
/// the side of the square.
fn corners(random: &mut ChaCha8Rng, side: f32, (least, most): (f32, f32)) -> [f32; 4] {
    let mut start = || random.random_range(0.0..side - most);
    let (x, y) = (start(), start());
    let mut length = || random.random_range(least..most);
    [x, y, x + length(), y + length()]
}

fn number(text: &str) -> Result<f32> {
    text.parse().with_context(|| format!("`{text}` is not a number"))
}

impl Values {
    fn read(word: &str) -> Result<Self> {
        if let Some((from, to)) = word.split_once("..") {
            let (from, to) = (number(from)?, number(to)?);
            ensure!(from < to, "`{word}` is empty");
            return Ok(Self::Uniform(from, to));
        }
        if let Some((from, below)) = word.split_once('<') {
            let (from, below) = (from.parse::<u32>()?, below.parse::<u32>()?);
            ensure!(from < below, "`{word}` is empty");
            return Ok(Self::Whole(from, below));
        }
        let (name, rest) = word.split_once('(').unwrap_or((word, ""));
        let arguments: Vec<&str> = rest.trim_end_matches(')').split(',').filter(|text| !text.is_empty()).collect();
        Ok(match (name, &arguments[..]) {
            ("zeros", []) => Self::Zeros,
            ("ones", []) => Self::Ones,
            ("lower", []) => Self::Lower,
            ("definite", []) => Self::Definite,
            ("shares", []) => Self::Shares,
            ("rois", [images, side]) => Self::Regions { images: images.parse()?, side: number(side)? },
            ("boxes", []) => Self::Boxes { classes: 0 },
            ("boxes", [classes]) => Self::Boxes { classes: classes.parse()? },
            _ => bail!("`{word}` is not a kind of numbers"),
        })
    }
}

/// Writes the numbers of inputs to files of this folder, one file each, and returns their paths. Files of earlier inputs are
/// replaced.
///
/// # Errors
/// Fails if the folder cannot be written to.
pub fn write(inputs: &[Input], folder: &Path) -> Result<Vec<PathBuf>> {
    let file = |(at, input): (usize, &Input)| {
        let path = folder.join(format!("input{at}"));
        let numbers = input.numbers(at as u64);
        std::fs::write(&path, bytemuck::cast_slice(&numbers)).with_context(|| format!("writing {}", path.display()))?;
        Ok(path)
    };
    inputs.iter().enumerate().map(file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str) -> Vec<f32> {
        let input = Input::read(text).unwrap();
        let numbers = input.numbers(1);
        assert_eq!(numbers.len(), input.shape.iter().product::<usize>(), "{text}");
        numbers
    }

    #[test]
    fn numbers_are_of_their_kind() {
        assert!(numbers("30x10").iter().all(|x| (-1.0..1.0).contains(x)));
        assert!(numbers("30x10 0.5..2").iter().all(|x| (0.5..2.0).contains(x)));
        let whole = numbers("30x10 1<4");
        assert!((1..4).all(|n| whole.contains(&(n as f32))) && whole.iter().all(|x| [1.0, 2.0, 3.0].contains(x)));
        assert_eq!((numbers("2 zeros"), numbers("2 ones")), (vec![0.0; 2], vec![1.0; 2]));
        let lower = numbers("2x3x3 lower");
        assert!(lower[1] == 0.0 && lower[3] != 0.0 && lower[4] >= 1.0 && lower[11] == 0.0 && lower[17] >= 1.0);
        let definite = numbers("3x3 definite");
        assert!(definite[1] == definite[3] && definite[5] == definite[7] && definite[8] >= 1.0);
        let shares = numbers("2x4 shares");
        assert!(shares.iter().all(|x| *x > 0.0) && (shares[4..].iter().sum::<f32>() - 1.0).abs() < 1e-6);
        for region in numbers("20x5 rois(3,64)").chunks(5) {
            assert!([0.0, 1.0, 2.0].contains(&region[0]) && region[1] < region[3] && region[4] < 64.0, "{region:?}");
        }
        for one in numbers("1x20x6 boxes(2)").chunks(6) {
            assert!([0.0, 1.0].contains(&one[0]) && one[2] < one[4] && one[3] < one[5] && one[5] <= 1.0, "{one:?}");
        }
        assert!(numbers("20x4 boxes").chunks(4).all(|one| one[0] < one[2] && one[1] < one[3]));
    }

    #[test]
    fn inputs_without_a_gradient_are_known() {
        let has_gradient = |text: &str| Input::read(text).unwrap().has_gradient;
        assert!(has_gradient("2x3") && has_gradient("2 zeros") && has_gradient("2 -1..3"));
        assert!(!has_gradient("2x3 fixed") && !has_gradient("2 0.5..2 fixed") && !has_gradient("2 0<3"));
        assert_eq!(Input::read("2x3x4 0<3").unwrap().sizes(), "2x3x4");
    }

    #[test]
    fn wrong_texts_are_refused() {
        for text in ["", "2x", "0x2", "2 x", "2 1..", "2 2..1", "2 3<3", "2 -1<3", "2 rois", "2 rois(1)", "2 zeros(1)"]
        {
            assert!(Input::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn files_have_the_bytes_of_float32() {
        let folder = tempfile::tempdir().unwrap();
        let inputs = [Input::read("2 ones").unwrap(), Input::read("3x5").unwrap()];
        let files = write(&inputs, folder.path()).unwrap();
        assert_eq!(std::fs::read(&files[0]).unwrap(), [0, 0, 128, 63, 0, 0, 128, 63]);
        assert_eq!(std::fs::read(&files[1]).unwrap().len(), 60);
    }
}
