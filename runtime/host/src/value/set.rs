//! set and frozenset objects: one representation, in insertion order.

use std::cell::{Ref, RefCell, RefMut};
use std::hash::BuildHasherDefault;

use indexmap::IndexMap;

use super::{HashedKey, PassHash, Value, teardown};

/// A map without values, because the machine looks keys up with the map's raw interface.
pub type Elements = IndexMap<HashedKey, (), BuildHasherDefault<PassHash>>;

/// A set; a frozenset is an immutable one. Scripts' elements use `Vm::set_add` and similar functions.
#[derive(Default)]
pub struct Set(RefCell<Elements>);

impl Set {
    pub fn new() -> Set {
        Set::default()
    }

    pub fn from_elements(elements: Elements) -> Set {
        Set(RefCell::new(elements))
    }

    pub fn borrow(&self) -> Ref<'_, Elements> {
        self.0.borrow()
    }

    pub fn borrow_mut(&self) -> RefMut<'_, Elements> {
        self.0.borrow_mut()
    }

    pub fn len(&self) -> usize {
        self.0.borrow().len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// Element number `at`, in the order of insertion.
    pub fn element_at(&self, at: usize) -> Option<Value> {
        self.0.borrow().get_index(at).map(|(key, ())| key.value.clone())
    }

    pub fn to_vec(&self) -> Vec<Value> {
        self.0.borrow().keys().map(|key| key.value.clone()).collect()
    }
}

impl Drop for Set {
    fn drop(&mut self) {
        let elements = std::mem::take(self.0.get_mut());
        if !elements.is_empty() {
            teardown(elements);
        }
    }
}
