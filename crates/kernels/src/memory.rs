//! Buffers for temporaries, kept between calls.
//!
//! A large allocation comes fresh from the operating system and costs a page fault per 4 KiB, often more than
//! the arithmetic done in it. Kernels take their large temporaries here; callers may, too.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

use crate::Real;

/// Buffers kept at most; the smallest one goes first.
const KEPT: usize = 32;

/// The kept buffers of one number type.
#[derive(Debug)]
pub struct Pool<T>(Mutex<Vec<Vec<T>>>);

impl<T> Pool<T> {
    /// A pool without buffers.
    pub const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// A slice that goes back to the pool when dropped.
#[derive(Debug)]
pub struct Buffer<T: Real>(Vec<T>);

/// A buffer of `len` numbers with **unspecified values**: what its last user left, or 0.
pub fn take<T: Real>(len: usize) -> Buffer<T> {
    let mut free = T::pool().0.lock().unwrap_or_else(PoisonError::into_inner);
    // The smallest that fits, so that a small request does not occupy the largest buffer.
    let best = (0..free.len()).filter(|&i| free[i].capacity() >= len).min_by_key(|&i| free[i].capacity());
    let mut data = best.map(|i| free.swap_remove(i)).unwrap_or_default();
    drop(free);
    data.resize(len, T::ZERO);
    Buffer(data)
}

/// A buffer of `len` zeros.
pub fn take_zeroed<T: Real>(len: usize) -> Buffer<T> {
    let mut buffer = take(len);
    buffer.fill(T::ZERO);
    buffer
}

/// Gives all kept buffers of one number type back to the system.
pub fn release<T: Real>() {
    T::pool().0.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

impl<T: Real> Drop for Buffer<T> {
    fn drop(&mut self) {
        let data = std::mem::take(&mut self.0);
        if data.capacity() == 0 {
            return;
        }
        let mut free = T::pool().0.lock().unwrap_or_else(PoisonError::into_inner);
        free.push(data);
        if free.len() > KEPT
            && let Some(smallest) = (0..free.len()).min_by_key(|&i| free[i].capacity())
        {
            free.swap_remove(smallest);
        }
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
    use super::{take, take_zeroed};

    #[test]
    fn a_buffer_has_the_asked_length_whatever_was_kept() {
        take::<f64>(100).fill(7.0);
        assert_eq!(take::<f64>(3).len(), 3);
        assert_eq!(take::<f64>(1000).len(), 1000);
        assert!(take_zeroed::<f64>(100).iter().all(|&x| x == 0.0));
    }
}
