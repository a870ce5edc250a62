//! Named arrays to and from safetensors bytes, and checkpoints of training, bit by bit.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use quadcast_core::ModelError;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use thiserror::Error;

/// Why stored parameters do not fit.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The bytes have another format.
    #[error("not a safetensors file of 32-bit floats: {0}")]
    Format(String),
    /// An array is missing, not part of the model, or of another shape.
    #[error("{0}")]
    Array(String),
}

/// Why a file has other arrays than the model.
const OTHER_MODEL: &str = "the file belongs to another model or configuration";

/// Arrays by name, each with its shape.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Arrays {
    arrays: BTreeMap<String, (Vec<usize>, Vec<f32>)>,
    /// Short texts stored with the arrays.
    pub notes: BTreeMap<String, String>,
}

impl Arrays {
    pub fn insert(&mut self, name: impl Into<String>, shape: Vec<usize>, values: Vec<f32>) {
        self.arrays.insert(name.into(), (shape, values));
    }

    /// Removes and returns the numbers of an array.
    pub fn take(&mut self, name: &str, expected: &[usize]) -> Result<Vec<f32>, StoreError> {
        match self.arrays.remove(name) {
            Some((found, values)) if found == expected => Ok(values),
            Some((found, _)) => {
                Err(StoreError::Array(format!("`{name}` has the shape {found:?} instead of {expected:?}")))
            }
            None => Err(StoreError::Array(format!("there is no `{name}`; {OTHER_MODEL}"))),
        }
    }

    /// An error if anything is left.
    pub fn finish(self) -> Result<(), StoreError> {
        match self.arrays.into_keys().next() {
            Some(name) => Err(StoreError::Array(format!("`{name}` has no place; {OTHER_MODEL}"))),
            None => Ok(()),
        }
    }

    pub fn to_bytes(&self) -> Result<Vec<u8>, StoreError> {
        let bytes: Vec<_> =
            self.arrays.iter().map(|(name, (shape, values))| (name, shape, little_endian(values))).collect();
        let views = bytes
            .iter()
            .map(|(name, shape, bytes)| Ok((*name, TensorView::new(Dtype::F32, (*shape).clone(), bytes)?)))
            .collect::<Result<Vec<_>, safetensors::SafeTensorError>>()
            .map_err(|error| StoreError::Format(error.to_string()))?;
        // The only map of the format; with more than one entry its order would change from run to run.
        let notes: HashMap<String, String> = if self.notes.is_empty() {
            HashMap::new()
        } else {
            let notes = serde_json::to_string(&self.notes).map_err(|e| StoreError::Format(e.to_string()))?;
            HashMap::from([(NOTES.to_owned(), notes)])
        };
        safetensors::serialize(views, Some(notes)).map_err(|error| StoreError::Format(error.to_string()))
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StoreError> {
        let format = |error: safetensors::SafeTensorError| StoreError::Format(error.to_string());
        let file = SafeTensors::deserialize(bytes).map_err(format)?;
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(format)?;
        let mut arrays = Self::default();
        if let Some(notes) = metadata.metadata().as_ref().and_then(|notes| notes.get(NOTES)) {
            arrays.notes = serde_json::from_str(notes).map_err(|e| StoreError::Format(e.to_string()))?;
        }
        for (name, view) in file.tensors() {
            if view.dtype() != Dtype::F32 {
                return Err(StoreError::Format(format!("`{name}` has the type {:?}", view.dtype())));
            }
            let numbers = view.data().chunks_exact(4);
            let values = numbers.map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
            arrays.insert(name, view.shape().to_vec(), values);
        }
        Ok(arrays)
    }
}

/// Numbers as the bytes of a file: on most machines, the bytes in memory.
fn little_endian(numbers: &[f32]) -> Cow<'_, [u8]> {
    if cfg!(target_endian = "little") {
        Cow::Borrowed(bytemuck::cast_slice(numbers))
    } else {
        Cow::Owned(numbers.iter().flat_map(|x| x.to_le_bytes()).collect())
    }
}

/// The bytes of a checkpoint: a number of steps, then all numbers in order.
pub(crate) fn checkpoint_bytes(steps: u64, parts: &[&[f32]]) -> Vec<u8> {
    // The exact capacity: a growing list would be copied, and take more memory than the rest of the training.
    let count: usize = parts.iter().map(|part| part.len()).sum();
    let mut bytes = Vec::with_capacity(8 + 4 * count);
    bytes.extend(steps.to_le_bytes());
    for part in parts {
        bytes.extend_from_slice(&little_endian(part));
    }
    bytes
}

/// The numbers of a checkpoint that were not taken yet.
pub(crate) struct Checkpoint<'a> {
    pub steps: u64,
    numbers: &'a [[u8; 4]],
}

impl<'a> Checkpoint<'a> {
    /// Reads [`checkpoint_bytes`] that hold `count` numbers.
    pub fn read(bytes: &'a [u8], count: usize) -> Result<Self, ModelError> {
        let parts = bytes.split_first_chunk::<8>().map(|(steps, numbers)| (steps, numbers.as_chunks::<4>()));
        match parts {
            Some((steps, (numbers, []))) if numbers.len() == count => {
                Ok(Self { steps: u64::from_le_bytes(*steps), numbers })
            }
            _ => Err(ModelError::Saved("a checkpoint does not fit the model".to_owned())),
        }
    }

    /// The next `count` numbers.
    pub fn take(&mut self, count: usize) -> impl ExactSizeIterator<Item = f32> + use<'a> {
        let (own, rest) = self.numbers.split_at(count);
        self.numbers = rest;
        own.iter().map(|&bytes| f32::from_le_bytes(bytes))
    }

    /// Replaces numbers by the next ones.
    pub fn fill(&mut self, numbers: &mut [f32]) {
        let count = numbers.len();
        numbers.iter_mut().zip(self.take(count)).for_each(|(own, number)| *own = number);
    }
}

/// Key of the notes in the file's own map of texts.
const NOTES: &str = "quadcast";

#[cfg(test)]
mod tests {
    use super::{Arrays, Checkpoint, StoreError, checkpoint_bytes};

    #[test]
    fn bytes_are_exact_and_the_same_every_time() {
        let mut arrays = Arrays::default();
        arrays.insert("b", vec![2, 1], vec![f32::MIN_POSITIVE, -0.0]);
        arrays.insert("a", vec![], vec![0.1]);
        arrays.notes.insert("steps".into(), "3".into());
        arrays.notes.insert("rate".into(), "0.1".into());
        let bytes = arrays.to_bytes().unwrap();
        assert_eq!(bytes, arrays.clone().to_bytes().unwrap());
        let mut back = Arrays::from_bytes(&bytes).unwrap();
        assert_eq!(back, arrays);
        assert_eq!(back.take("b", &[2, 1]).unwrap()[1].to_bits(), (-0.0_f32).to_bits());
    }

    #[test]
    fn errors_name_the_array() {
        let mut arrays = Arrays::default();
        arrays.insert("a", vec![1], vec![0.1]);
        for (error, text) in [
            (
                arrays.take("b", &[1]).err(),
                "there is no `b`; the file belongs to another model or configuration",
            ),
            (arrays.clone().take("a", &[2]).err(), "`a` has the shape [1] instead of [2]"),
            (arrays.finish().err(), "`a` has no place; the file belongs to another model or configuration"),
        ] {
            assert_eq!(error.unwrap().to_string(), text);
        }
        assert!(matches!(Arrays::from_bytes(b"not a file"), Err(StoreError::Format(_))));
    }

    #[test]
    fn a_checkpoint_comes_back_and_must_have_the_right_length() {
        let bytes = checkpoint_bytes(7, &[&[1.5, -0.0], &[], &[2.0]]);
        let mut checkpoint = Checkpoint::read(&bytes, 3).unwrap();
        let mut first = [9.0; 2];
        checkpoint.fill(&mut first);
        assert_eq!((checkpoint.steps, first[0], first[1].to_bits()), (7, 1.5, (-0.0_f32).to_bits()));
        assert_eq!(checkpoint.take(1).collect::<Vec<_>>(), [2.0]);
        for (bytes, count) in [(&bytes[..], 2), (&bytes[..], 4), (&bytes[..19], 3), (&bytes[..7], 0)] {
            assert!(Checkpoint::read(bytes, count).is_err(), "{} {count}", bytes.len());
        }
    }
}
