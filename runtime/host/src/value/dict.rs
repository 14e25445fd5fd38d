//! dict objects: insertion order, keys compared as Python compares them.
//!
//! A key is stored with its hash, which the machine computes (`Vm::hash`), because a class may define
//! `__hash__`. Keys of built-in types are compared here. For classes with `__eq__`, the machine first
//! collects the keys of equal hash, and then calls the script (`ops::mapping`), never inside of a borrow.

use std::cell::{Ref, RefCell, RefMut};
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher, RandomState};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use indexmap::IndexMap;

use super::{Name, Value, teardown};

/// A hasher for keys with precomputed hashes. It mixes them with random numbers of this process, so that
/// nobody can construct keys that collide. The order of iteration does not depend on it.
#[derive(Default, Clone, Copy)]
pub struct PassHash(u64);

/// Two random numbers of this process, the second odd.
fn seeds() -> [u64; 2] {
    static SEEDS: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

    #[cold]
    fn choose() {
        // If several threads get here at once, the first one's numbers are used.
        let random = || RandomState::new().hash_one(0) | 1;
        for seed in SEEDS.iter().rev() {
            let _ = seed.compare_exchange(0, random(), Ordering::AcqRel, Ordering::Acquire);
        }
    }
    if SEEDS[0].load(Ordering::Acquire) == 0 {
        choose();
    }
    [SEEDS[0].load(Ordering::Relaxed), SEEDS[1].load(Ordering::Relaxed)]
}

impl Hasher for PassHash {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(byte as u64);
        }
    }

    #[inline]
    fn write_u64(&mut self, hash: u64) {
        let [first, second] = seeds();
        let product = u128::from(self.0 ^ hash ^ first) * u128::from(second);
        self.0 = product as u64 ^ (product >> 64) as u64;
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

/// A value with its hash.
#[derive(Clone)]
pub struct HashedKey {
    pub hash: i64,
    pub value: Value,
}

impl Hash for HashedKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash as u64);
    }
}

/// A borrowed key for a lookup: a value of a type whose equality needs no script.
pub(crate) struct PlainKey<'a> {
    hash: i64,
    value: &'a Value,
}

impl<'a> PlainKey<'a> {
    /// `None` for values that need the slow path.
    #[inline]
    pub fn new(value: &'a Value) -> Option<PlainKey<'a>> {
        let hash = match value {
            Value::Str(text) => text.hash() as i64,
            Value::Int(int) => crate::ops::number::key_of_int(*int),
            Value::Bool(truth) => *truth as i64,
            _ => return None,
        };
        Some(PlainKey { hash, value })
    }

    pub fn to_key(&self) -> HashedKey {
        HashedKey { hash: self.hash, value: self.value.clone() }
    }
}

impl Hash for PlainKey<'_> {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash as u64);
    }
}

impl indexmap::Equivalent<HashedKey> for PlainKey<'_> {
    #[inline]
    fn equivalent(&self, key: &HashedKey) -> bool {
        self.hash == key.hash && plain_equal(self.value, &key.value)
    }
}

impl PartialEq for HashedKey {
    fn eq(&self, other: &HashedKey) -> bool {
        self.hash == other.hash && plain_equal(&self.value, &other.value)
    }
}

impl Eq for HashedKey {}

/// Equality without scripts: for all types but classes with an `__eq__`.
pub(crate) fn plain_equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Str(left), Value::Str(right)) => Rc::ptr_eq(left, right) || left.as_str() == right.as_str(),
        (Value::Int(left), Value::Int(right)) => left == right,
        (Value::BigInt(left), Value::BigInt(right)) => left == right,
        (Value::Bytes(left), Value::Bytes(right)) => left.0 == right.0,
        (Value::Tuple(left), Value::Tuple(right)) => {
            Rc::ptr_eq(left, right)
                || left.len() == right.len() && left.iter().zip(right.iter()).all(|(l, r)| plain_equal(l, r))
        }
        (Value::Native(object), other) | (other, Value::Native(object)) => {
            left.is(right) || object.object().same_key(other)
        }
        (Value::Method(left), Value::Method(right)) => {
            left.receiver.is(&right.receiver) && left.function.is(&right.function)
        }
        (Value::Range(left), Value::Range(right)) => left.has_same_items(right),
        (Value::FrozenSet(left), Value::FrozenSet(right)) => {
            let elements = left.borrow();
            left.len() == right.len() && elements.keys().all(|key| right.borrow().contains_key(key))
        }
        (Value::Instance(instance), other) | (other, Value::Instance(instance)) => {
            // An instance that is a tuple or a str is the key that the plain one is.
            let is_payload = |payload: &Value| plain_equal(payload, other.base_value());
            left.is(right)
                || instance.class().lookup_script("__eq__").is_none()
                    && instance.payload_value().is_some_and(is_payload)
        }
        _ => left.is(right) || crate::ops::number::equal(left, right) == Some(true),
    }
}

pub type Entries = IndexMap<HashedKey, Value, BuildHasherDefault<PassHash>>;

/// A dict. Scripts' keys use `Vm::dict_get` and similar functions, which hash and compare. The methods here
/// are for keys that are known to be plain.
#[derive(Default)]
pub struct Dict(RefCell<Entries>);

impl Dict {
    pub fn new() -> Dict {
        Dict::default()
    }

    #[inline]
    pub fn borrow(&self) -> Ref<'_, Entries> {
        self.0.borrow()
    }

    #[inline]
    pub fn borrow_mut(&self) -> RefMut<'_, Entries> {
        self.0.borrow_mut()
    }

    pub fn len(&self) -> usize {
        self.0.borrow().len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// Entry number `at` in insertion order.
    pub fn entry_at(&self, at: usize) -> Option<(Value, Value)> {
        self.0.borrow().get_index(at).map(|(key, value)| (key.value.clone(), value.clone()))
    }

    /// The value of a plain key; the outer `None` for keys that need the slow path.
    #[inline]
    pub(crate) fn get_plain(&self, key: &Value) -> Option<Option<Value>> {
        let key = PlainKey::new(key)?;
        Some(self.0.borrow().get(&key).cloned())
    }

    pub fn get_text(&self, key: &str) -> Option<Value> {
        let key = HashedKey::text(&Value::str(key));
        self.0.borrow().get(&key).cloned()
    }

    pub fn get_name(&self, name: &Name) -> Option<Value> {
        self.0.borrow().get(&HashedKey::name(name)).cloned()
    }

    /// Sets the entry of a name and returns the previous value.
    pub fn set_name(&self, name: &Name, value: Value) -> Option<Value> {
        self.0.borrow_mut().insert(HashedKey::name(name), value)
    }

    pub fn remove_name(&self, name: &Name) -> Option<Value> {
        self.0.borrow_mut().shift_remove(&HashedKey::name(name))
    }

    /// The entries whose keys are strings.
    pub fn named_pairs(&self) -> Vec<(Name, Value)> {
        let entries = self.0.borrow();
        let named = entries.iter().filter_map(|(key, value)| match &key.value {
            Value::Str(text) => Some((Name(text.clone()), value.clone())),
            _ => None,
        });
        named.collect()
    }

    /// Names with their values, as a value.
    pub fn of_names(pairs: Vec<(Name, Value)>) -> Value {
        let dict = Dict::new();
        for (name, value) in pairs {
            dict.insert_text(name.value(), value);
        }
        Value::Dict(Rc::new(dict))
    }

    /// Sets the entry of a str key.
    pub fn insert_text(&self, key: impl Into<Value>, value: Value) {
        let key = HashedKey::text(&key.into());
        self.0.borrow_mut().insert(key, value);
    }

    pub fn to_pairs(&self) -> Vec<(Value, Value)> {
        self.0.borrow().iter().map(|(key, value)| (key.value.clone(), value.clone())).collect()
    }
}

impl HashedKey {
    pub fn name(name: &Name) -> HashedKey {
        HashedKey { hash: name.0.hash() as i64, value: name.value() }
    }

    /// The key of a str.
    pub fn text(value: &Value) -> HashedKey {
        let Value::Str(text) = value else { unreachable!("the key of a namespace is a str") };
        HashedKey { hash: text.hash() as i64, value: value.clone() }
    }
}

impl Drop for Dict {
    fn drop(&mut self) {
        let entries = std::mem::take(self.0.get_mut());
        if !entries.is_empty() {
            teardown(entries);
        }
    }
}
