//! A pool of buffers for temporaries.
//!
//! The operating system serves a large allocation with new pages, at a page fault per 4 KiB: often more than the
//! arithmetic on it. Kernels take their large temporaries from this pool; callers may, too.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::Real;
use crate::parallel::for_rows;

/// Largest total size of the unused buffers: 1 GiB of `f32`.
const KEPT: usize = 1 << 28;
/// Shorter slices come from the allocator, which handles them well.
const SMALL: usize = 1 << 12;

/// The kept buffers of one number type.
#[derive(Debug)]
pub struct Pool<T>(Mutex<Free<T>>);

/// Unused buffers, the oldest first.
#[derive(Debug)]
struct Free<T> {
    buffers: Vec<Vec<T>>,
    numbers: usize,
}

impl<T> Pool<T> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Free { buffers: Vec::new(), numbers: 0 }))
    }

    fn lock(&self) -> MutexGuard<'_, Free<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A slice that returns to the pool when dropped.
#[derive(Debug, PartialEq)]
pub struct Buffer<T: Real>(Vec<T>);

/// A buffer of `len` numbers with **unspecified values**.
pub fn take<T: Real>(len: usize) -> Buffer<T> {
    if len < SMALL {
        return Buffer(vec![T::ZERO; len]);
    }
    let mut free = T::pool().lock();
    // The smallest that fits and is not much too large. One of exactly this length is best: nothing must be cleared.
    let fits = |capacity: usize| capacity >= len && capacity / 2 <= len;
    let sizes = free.buffers.iter().map(|buffer| (buffer.len() != len, buffer.capacity())).enumerate();
    let best = sizes.filter(|&(_, (_, capacity))| fits(capacity)).min_by_key(|&(_, size)| size);
    let best = best.map(|(i, _)| i);
    let kept = best.map(|i| {
        let buffer = free.buffers.remove(i);
        free.numbers -= buffer.capacity();
        buffer
    });
    drop(free);
    // An eighth more, so that batches of about the same size share buffers.
    let mut data = kept.unwrap_or_else(|| Vec::with_capacity(len + len / 8));
    data.resize(len, T::ZERO);
    Buffer(data)
}

/// A buffer of `len` zeros.
pub fn take_zeroed<T: Real>(len: usize) -> Buffer<T> {
    let mut buffer = take(len);
    for_rows(&mut buffer, 1, |_, part| part.fill(T::ZERO));
    buffer
}

/// Gives any vector to the pool.
pub fn give<T: Real>(data: Vec<T>) {
    if data.capacity() < SMALL {
        return;
    }
    let mut free = T::pool().lock();
    free.numbers += data.capacity();
    free.buffers.push(data);
    let mut dropped = Vec::new();
    while free.numbers > KEPT {
        let oldest = free.buffers.remove(0);
        free.numbers -= oldest.capacity();
        dropped.push(oldest);
    }
    // Freeing memory is slow: unlock before `dropped` is freed.
    drop(free);
}

impl<T: Real> Buffer<T> {
    /// The numbers as a vector; [`give`] returns it to the pool.
    pub fn into_vec(mut self) -> Vec<T> {
        std::mem::take(&mut self.0)
    }
}

impl<T: Real> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        let mut copy = take(self.len());
        copy.copy_from_slice(self);
        copy
    }
}

impl<T: Real> Drop for Buffer<T> {
    fn drop(&mut self) {
        give(std::mem::take(&mut self.0));
    }
}

impl<T: Real> Deref for Buffer<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Real> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::{SMALL, give, take, take_zeroed};

    #[test]
    fn a_buffer_has_the_requested_length() {
        take::<f64>(2 * SMALL).fill(7.0);
        assert_eq!(take::<f64>(3).len(), 3);
        assert_eq!(take::<f64>(2 * SMALL - 5).len(), 2 * SMALL - 5);
        assert_eq!(take::<f64>(20 * SMALL).len(), 20 * SMALL);
        assert!(take_zeroed::<f64>(2 * SMALL).iter().all(|&x| x == 0.0));
    }

    #[test]
    fn a_given_vector_is_reused() {
        // An unusual size: other tests use the pool at the same time.
        let given = vec![1.5_f64; 77 * SMALL];
        let place = given.as_ptr();
        give(given);
        let small = take::<f64>(SMALL);
        assert_ne!(small.as_ptr(), place, "too large for a small request");
        let taken = take::<f64>(76 * SMALL);
        assert_eq!(taken.as_ptr(), place);
    }
}
