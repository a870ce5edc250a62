//! Named arrays of numbers to and from safetensors bytes, exactly.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use thiserror::Error;

/// Why stored parameters do not fit.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The bytes are not what they should be.
    #[error("not a safetensors file of 32-bit floats: {0}")]
    Format(String),
    /// An array is not there.
    #[error("there is no `{0}`; the file belongs to another model or configuration")]
    Missing(String),
    /// An array is there that nobody asks for.
    #[error("`{0}` has no place; the file belongs to another model or configuration")]
    Unknown(String),
    /// An array has another size.
    #[error("`{name}` has the shape {found:?} instead of {expected:?}")]
    Shape {
        /// Its name.
        name: String,
        /// Shape in the file.
        found: Vec<usize>,
        /// Shape in the model.
        expected: Vec<usize>,
    },
}

/// Arrays by name, each with its shape.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Arrays {
    arrays: BTreeMap<String, (Vec<usize>, Vec<f32>)>,
    /// Short texts stored beside the arrays.
    pub notes: BTreeMap<String, String>,
}

impl Arrays {
    pub fn insert(&mut self, name: impl Into<String>, shape: Vec<usize>, values: Vec<f32>) {
        self.arrays.insert(name.into(), (shape, values));
    }

    /// Removes and returns the numbers of an array.
    pub fn take(&mut self, name: &str, expected: &[usize]) -> Result<Vec<f32>, StoreError> {
        let (found, values) = self.arrays.remove(name).ok_or_else(|| StoreError::Missing(name.to_owned()))?;
        if found != expected {
            return Err(StoreError::Shape { name: name.to_owned(), found, expected: expected.to_vec() });
        }
        Ok(values)
    }

    /// An error if anything is left.
    pub fn finish(self) -> Result<(), StoreError> {
        match self.arrays.into_keys().next() {
            Some(name) => Err(StoreError::Unknown(name)),
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

/// The bytes that a file has for numbers; on most machines they lie in memory like that.
fn little_endian(numbers: &[f32]) -> Cow<'_, [u8]> {
    if cfg!(target_endian = "little") {
        Cow::Borrowed(bytemuck::cast_slice(numbers))
    } else {
        Cow::Owned(numbers.iter().flat_map(|x| x.to_le_bytes()).collect())
    }
}

/// Key of the notes in the file's own map of texts.
const NOTES: &str = "quadcast";

#[cfg(test)]
mod tests {
    use super::{Arrays, StoreError};

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
    fn what_does_not_fit_is_named() {
        let mut arrays = Arrays::default();
        arrays.insert("a", vec![1], vec![0.1]);
        assert!(matches!(arrays.take("b", &[1]), Err(StoreError::Missing(name)) if name == "b"));
        let error = arrays.clone().take("a", &[2]).unwrap_err();
        assert_eq!(error.to_string(), "`a` has the shape [1] instead of [2]");
        assert!(matches!(arrays.finish(), Err(StoreError::Unknown(name)) if name == "a"));
        assert!(matches!(Arrays::from_bytes(b"not a file"), Err(StoreError::Format(_))));
    }
}
