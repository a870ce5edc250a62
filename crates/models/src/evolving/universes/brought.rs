//! How old universes are: which of them each step brought.

use quadcast_core::ModelError;
use serde::{Deserialize, Serialize};

use super::settings::unreadable;

/// How many universes each step brought, the oldest first. Steps that brought none are left out: if they counted, a graph that
/// is empty for a while would leave nobody to ask.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Brought(Vec<usize>);

impl Brought {
    /// A step ends with so many new universes.
    pub fn add(&mut self, universes: usize) {
        if universes > 0 {
            self.0.push(universes);
        }
    }

    /// How many of the first universes are too old, if each is asked for `keep_steps` steps and `coming` steps are about to
    /// bring more.
    pub fn too_old(&self, keep_steps: usize, coming: usize) -> usize {
        let steps = (self.0.len() + coming).saturating_sub(keep_steps);
        self.0.iter().take(steps).sum()
    }

    /// What was saved beside so many universes. Earlier versions did not save it: to them one step brought all, the last one.
    pub fn checked(self, universes: usize) -> Result<Self, ModelError> {
        if self.0.is_empty() {
            let mut one = Self::default();
            one.add(universes);
            return Ok(one);
        }
        let all = self.0.iter().try_fold(0_usize, |sum, &count| sum.checked_add(count));
        if all == Some(universes) && !self.0.contains(&0) {
            Ok(self)
        } else {
            Err(unreadable("steps with other universes"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_brought_none_make_nobody_older() {
        let mut brought = Brought::default();
        assert_eq!(brought.too_old(1, 1), 0, "there is nobody");
        [3, 0, 5, 0, 0, 2].into_iter().for_each(|universes| brought.add(universes));
        assert_eq!(brought, Brought(vec![3, 5, 2]));
        assert_eq!([1, 2, 3, 4].map(|steps| brought.too_old(steps, 0)), [8, 3, 0, 0]);
        assert_eq!([1, 2, 3, 4].map(|steps| brought.too_old(steps, 1)), [10, 8, 3, 0]);
    }

    #[test]
    fn what_was_saved_fits_its_universes() {
        let checked = |steps: &[usize], universes: usize| Brought(steps.to_vec()).checked(universes);
        assert_eq!(checked(&[3, 5], 8).expect("they are 8"), Brought(vec![3, 5]));
        assert_eq!(checked(&[], 8).expect("of an earlier version"), Brought(vec![8]));
        assert_eq!(checked(&[], 0).expect("there are none"), Brought::default());
        for damaged in [&[3, 4][..], &[3, 0, 5], &[usize::MAX, 9]] {
            let error = checked(damaged, 8).expect_err("damage").to_string();
            assert!(error.contains("other universes"), "{error}");
        }
    }
}
