//! list, tuple, bytes, range and slice objects.

use std::cell::{Ref, RefCell, RefMut};

use super::{Result, Value, teardown};
use crate::memory;

/// A list. Borrow it for one step only: a script that is called meanwhile may change it.
pub struct List(RefCell<Vec<Value>>);

impl List {
    pub fn new(items: Vec<Value>) -> List {
        List(RefCell::new(items))
    }

    #[inline]
    pub fn borrow(&self) -> Ref<'_, Vec<Value>> {
        self.0.borrow()
    }

    #[inline]
    pub fn borrow_mut(&self) -> RefMut<'_, Vec<Value>> {
        self.0.borrow_mut()
    }

    pub fn len(&self) -> usize {
        self.0.borrow().len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// Appends an item; MemoryError if it cannot be allocated.
    #[inline]
    pub fn push(&self, item: Value) -> Result<()> {
        let mut items = self.0.borrow_mut();
        memory::make_room(&mut items)?;
        items.push(item);
        Ok(())
    }

    /// Appends items; MemoryError if they cannot be allocated.
    pub fn extend(&self, more: Vec<Value>) -> Result<()> {
        let mut items = self.0.borrow_mut();
        memory::make_more_room(&mut items, more.len())?;
        items.extend(more);
        Ok(())
    }

    /// A copy of the items, safe to walk while scripts run.
    pub fn to_vec(&self) -> Vec<Value> {
        self.0.borrow().clone()
    }
}

impl Drop for List {
    fn drop(&mut self) {
        let items = std::mem::take(self.0.get_mut());
        if !items.is_empty() {
            teardown(items);
        }
    }
}

/// A tuple; derefs to its items.
pub struct Tuple(Box<[Value]>);

impl Tuple {
    pub fn new(items: impl Into<Box<[Value]>>) -> Tuple {
        Tuple(items.into())
    }
}

impl std::ops::Deref for Tuple {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.0
    }
}

impl Drop for Tuple {
    fn drop(&mut self) {
        if !self.0.is_empty() {
            teardown(std::mem::take(&mut self.0));
        }
    }
}

pub struct Bytes(pub Vec<u8>);

impl std::ops::Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// `range(start, stop, step)`; `step` is never 0. Bounds outside of i64 are refused at creation.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    pub start: i64,
    pub stop: i64,
    pub step: i64,
}

impl Range {
    /// Number of items. A range over all of i64 has more than fit; its length saturates.
    pub fn len(&self) -> u64 {
        let (low, high, stride) = if self.step > 0 {
            (self.start, self.stop, self.step.unsigned_abs())
        } else {
            (self.stop, self.start, self.step.unsigned_abs())
        };
        if low >= high {
            return 0;
        }
        let distance = high.wrapping_sub(low) as u64;
        (distance - 1) / stride + 1
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Equality of ranges.
    pub fn has_same_items(&self, other: &Range) -> bool {
        let n = self.len();
        n == other.len() && (n == 0 || self.start == other.start && (n == 1 || self.step == other.step))
    }

    /// Item number `at`, counted from 0; it must be in range.
    pub fn item(&self, at: u64) -> i64 {
        self.start.wrapping_add((at as i64).wrapping_mul(self.step))
    }

    pub fn contains(&self, int: i64) -> bool {
        let inside = if self.step > 0 {
            self.start <= int && int < self.stop
        } else {
            self.stop < int && int <= self.start
        };
        inside && (int as i128 - self.start as i128) % self.step as i128 == 0
    }
}

/// `slice(start, stop, step)`, each any value or None.
pub struct Slice {
    pub start: Value,
    pub stop: Value,
    pub step: Value,
}

impl Drop for Slice {
    fn drop(&mut self) {
        if self.start.is_object() || self.stop.is_object() || self.step.is_object() {
            let parts = [&mut self.start, &mut self.stop, &mut self.step].map(std::mem::take);
            teardown(parts);
        }
    }
}
