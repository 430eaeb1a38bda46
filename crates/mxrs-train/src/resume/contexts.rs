//! What a states file holds for each context of a training: random numbers, and the parameters and auxiliary states that
//! differ from the parameter file.

use indexmap::IndexMap;
use mxrs_format::Tensor;
use mxrs_ndarray::RandomState;
use mxrs_types::{Error, Result};

/// The number of contexts. It is missing if there was one.
const N_CONTEXTS: &str = "train.contexts";
/// The largest number of contexts of a states file.
const MOST_CONTEXTS: u64 = 1 << 16;

/// What each context of a training has of its own, apart from random numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceCopies {
    /// The number of contexts.
    pub n_devices: usize,
    /// Parameters and auxiliary states by name. Each context has a copy of every array; with several contexts, the parameter
    /// file holds the mean of the copies (of integers, the first copy). This map contains the arrays of which at least one
    /// copy differs from the file: one tensor for each context, or a single one if all copies are equal. Equal copies can
    /// differ from their mean, because the sum and the quotient are rounded.
    pub arrays: IndexMap<String, Vec<Tensor>>,
    /// What the key-value store's compression has left over of the gradients of a parameter, by name: one tensor for each
    /// context.
    pub residuals: IndexMap<String, Vec<Tensor>>,
}

impl DeviceCopies {
    /// Adds these tensors to those of a states file, under the keys `copy/<context>/<name>` and `residual/<context>/<name>`.
    /// If all contexts have the same tensor, it is stored once, with `all` in place of the context.
    pub(super) fn put(&self, tensors: &mut IndexMap<String, Tensor>, metadata: &mut IndexMap<String, String>) {
        if self.n_devices > 1 {
            metadata.insert(N_CONTEXTS.to_owned(), self.n_devices.to_string());
        }
        for (kind, arrays) in [("copy", &self.arrays), ("residual", &self.residuals)] {
            for (name, copies) in arrays {
                for (context, tensor) in copies.iter().enumerate() {
                    let is_common = copies.len() == 1 && self.n_devices > 1;
                    let context = if is_common { "all".to_owned() } else { context.to_string() };
                    tensors.insert(format!("{kind}/{context}/{name}"), tensor.clone());
                }
            }
        }
    }

    /// Takes the tensors of the contexts out of the tensors of a states file.
    ///
    /// # Errors
    /// Returns an error if the number of contexts is not a number, or if a context lacks a tensor that others have.
    pub(super) fn take(
        tensors: &mut IndexMap<String, Tensor>,
        metadata: &mut IndexMap<String, String>,
    ) -> Result<Self> {
        let n_devices = match metadata.contains_key(N_CONTEXTS) {
            true => number(metadata, N_CONTEXTS)?,
            false => 1,
        };
        if n_devices > MOST_CONTEXTS {
            let expected = format!("at most {MOST_CONTEXTS}");
            return Err(Error::invalid("number of contexts of a states file", n_devices, expected));
        }
        let n_devices = n_devices as usize;
        let arrays = take_kind("copy/", n_devices, tensors)?;
        let residuals = take_kind("residual/", n_devices, tensors)?;
        Ok(Self { n_devices, arrays, residuals })
    }
}

/// Takes out the tensors whose keys begin with `kind`, and returns them by name.
fn take_kind(
    kind: &str,
    n_devices: usize,
    tensors: &mut IndexMap<String, Tensor>,
) -> Result<IndexMap<String, Vec<Tensor>>> {
    let (own, others): (IndexMap<String, Tensor>, _) =
        std::mem::take(tensors).into_iter().partition(|(key, _)| key.starts_with(kind));
    *tensors = others;
    // For each name: its tensors so far, and whether the key had `all` in place of a context.
    let mut arrays: IndexMap<String, (Vec<Tensor>, bool)> = IndexMap::new();
    for (key, tensor) in own {
        let refused = || {
            let got: String = key.chars().take(120).collect();
            let expected = format!("{kind}all/NAME, or one tensor for each of {n_devices} contexts in their order");
            Error::invalid("tensor of a states file", got, expected)
        };
        let (context, name) = key[kind.len()..].split_once('/').ok_or_else(refused)?;
        let (copies, is_common) = arrays.entry(name.to_owned()).or_default();
        let is_next = match context {
            "all" => copies.is_empty(),
            number => !*is_common && number.parse() == Ok(copies.len()),
        };
        if !is_next {
            return Err(refused());
        }
        *is_common = context == "all";
        copies.push(tensor);
    }
    if let Some((name, (copies, _))) = arrays.iter().find(|(_, (copies, all))| !all && copies.len() != n_devices) {
        let what = format!("tensors {kind}*/{} of a states file", name.chars().take(120).collect::<String>());
        return Err(Error::invalid(what, copies.len(), format!("{n_devices}, one for each context")));
    }
    Ok(arrays.into_iter().map(|(name, (copies, _))| (name, copies)).collect())
}

/// The beginning of the keys for the random numbers of this context. Those of the first context have no number, so they are
/// the same as in the file of a training with one context.
fn random_key(context: usize) -> String {
    if context == 0 { "train.random".into() } else { format!("train.random.{context}") }
}

/// Adds the random numbers of all contexts to the texts of a states file.
pub(super) fn put_random(random: &[RandomState], metadata: &mut IndexMap<String, String>) {
    for (context, RandomState { seed, next, turn }) in random.iter().enumerate() {
        let key = random_key(context);
        let next: Vec<String> = next.iter().map(u64::to_string).collect();
        metadata.insert(format!("{key}.seed"), seed.to_string());
        metadata.insert(format!("{key}.next"), next.join(","));
        metadata.insert(format!("{key}.turn"), turn.to_string());
    }
}

/// Removes the random numbers of all contexts from the texts of a states file.
///
/// # Errors
/// Returns an error if those of the first context are missing, or if a text is not a number.
pub(super) fn take_random(metadata: &mut IndexMap<String, String>) -> Result<Vec<RandomState>> {
    let mut all = Vec::new();
    loop {
        let key = random_key(all.len());
        if !all.is_empty() && !metadata.contains_key(&format!("{key}.seed")) {
            return Ok(all);
        }
        let next = text(metadata, &format!("{key}.next"))?;
        let next = next.split(',').filter(|n| !n.is_empty()).map(|n| {
            let what = format!("`{key}.next` of a states file");
            n.parse().map_err(|_| Error::invalid(what, n, "numbers with commas"))
        });
        all.push(RandomState {
            next: next.collect::<Result<_>>()?,
            seed: number(metadata, &format!("{key}.seed"))?,
            turn: number(metadata, &format!("{key}.turn"))? as usize,
        });
    }
}

fn text(metadata: &mut IndexMap<String, String>, key: &str) -> Result<String> {
    metadata.shift_remove(key).ok_or_else(|| Error::invalid(format!("`{key}` of a states file"), "none", "text"))
}

/// Removes a number from the texts of a states file.
pub(super) fn number(metadata: &mut IndexMap<String, String>, key: &str) -> Result<u64> {
    let text = text(metadata, key)?;
    text.parse().map_err(|_| Error::invalid(format!("`{key}` of a states file"), &text, "a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(value: f32) -> Tensor {
        Tensor::from_slice([1], &[value]).unwrap()
    }

    #[test]
    fn what_is_put_is_taken() {
        let arrays = IndexMap::from([
            ("bn/mean".to_owned(), vec![tensor(1.0), tensor(2.0), tensor(3.0)]),
            ("w".to_owned(), vec![tensor(4.0)]),
        ]);
        let residuals = IndexMap::from([("w".to_owned(), vec![tensor(6.0), tensor(7.0), tensor(8.0)])]);
        let copies = DeviceCopies { n_devices: 3, arrays, residuals };
        let random: Vec<RandomState> =
            (0..3).map(|i| RandomState { seed: i, next: vec![i, 7], turn: i as usize }).collect();
        let mut tensors = IndexMap::from([("state/w/mom".to_owned(), tensor(5.0))]);
        let mut metadata = IndexMap::from([("format".to_owned(), "x".to_owned())]);
        copies.put(&mut tensors, &mut metadata);
        put_random(&random, &mut metadata);
        assert_eq!((tensors.len(), metadata["train.random.2.next"].as_str()), (8, "2,7"));
        assert_eq!(DeviceCopies::take(&mut tensors, &mut metadata).unwrap(), copies);
        assert_eq!(take_random(&mut metadata).unwrap(), random);
        assert_eq!((tensors.len(), metadata.len()), (1, 1));
    }

    #[test]
    fn damaged_copies_are_refused() {
        let take = |n: &str, keys: &[&str]| {
            let mut tensors: IndexMap<String, Tensor> =
                keys.iter().map(|key| ((*key).to_owned(), tensor(0.0))).collect();
            let mut metadata = IndexMap::from([(N_CONTEXTS.to_owned(), n.to_owned())]);
            DeviceCopies::take(&mut tensors, &mut metadata).map(|copies| copies.arrays.len())
        };
        assert_eq!(take("2", &["copy/all/w", "copy/0/v", "copy/1/v"]).ok(), Some(2));
        for (n, keys) in [
            ("x", &[][..]),
            ("99999999999", &[]),
            ("2", &["copy/w"]),
            ("2", &["copy/1/w", "copy/0/w"]),
            ("3", &["copy/0/w", "copy/1/w"]),
            ("2", &["copy/0/w", "copy/all/w"]),
            ("2", &["copy/-1/w"]),
            ("2", &["copy/0/w"]),
            ("2", &["copy/all/w", "copy/1/w"]),
            ("2", &["residual/1/w"]),
            ("3", &["residual/0/w", "residual/1/w"]),
        ] {
            assert!(take(n, keys).is_err(), "{n} {keys:?}");
        }
    }
}
