//! Keys of dicts and sets, for which a script's `__eq__` may be called.

use std::hash::{BuildHasher, BuildHasherDefault};
use std::rc::Rc;

use indexmap::IndexMap;
use indexmap::map::raw_entry_v1::RawEntryApiV1;

use crate::errors;
use crate::memory;
use crate::value::{BinaryOp, CompareOp, Dict, HashedKey, PassHash, PlainKey, Result, Set, Value};
use crate::vm::Vm;

type Map<V> = IndexMap<HashedKey, V, BuildHasherDefault<PassHash>>;

/// Whether comparing this key may run a script.
fn asks_script(key: &Value) -> bool {
    match key {
        Value::Instance(instance) => {
            instance.payload_value().is_some() || instance.class().lookup_script("__eq__").is_some()
        }
        Value::Tuple(tuple) => tuple.iter().any(asks_script),
        _ => false,
    }
}

/// The keys in `map` with the hash of `key`.
fn candidates<V>(map: &Map<V>, key: &HashedKey) -> Vec<HashedKey> {
    let mut found = Vec::new();
    map.raw_entry_v1().index_from_hash(map.hasher().hash_one(key), |candidate| {
        if candidate.hash == key.hash {
            found.push(candidate.clone());
        }
        false
    });
    found
}

impl Vm {
    /// `key`, or the key of the map that equals it: one that the map's own comparison finds.
    fn resolve(&mut self, candidates: Vec<HashedKey>, key: HashedKey) -> Result<HashedKey> {
        for candidate in candidates {
            if self.same(&candidate.value, &key.value)? {
                return Ok(candidate);
            }
        }
        Ok(key)
    }

    fn dict_key(&mut self, dict: &Dict, key: &Value) -> Result<HashedKey> {
        if let Some(plain) = PlainKey::new(key) {
            return Ok(plain.to_key());
        }
        let key = self.key(key)?;
        if !asks_script(&key.value) {
            return Ok(key);
        }
        let candidates = candidates(&dict.borrow(), &key);
        self.resolve(candidates, key)
    }

    fn set_key(&mut self, set: &Set, key: &Value) -> Result<HashedKey> {
        if let Some(plain) = PlainKey::new(key) {
            return Ok(plain.to_key());
        }
        let key = self.key(key)?;
        if !asks_script(&key.value) {
            return Ok(key);
        }
        let candidates = candidates(&set.borrow(), &key);
        self.resolve(candidates, key)
    }

    pub fn dict_get(&mut self, dict: &Dict, key: &Value) -> Result<Option<Value>> {
        if let Some(found) = dict.get_plain(key) {
            return Ok(found);
        }
        let key = self.dict_key(dict, key)?;
        Ok(dict.borrow().get(&key).cloned())
    }

    pub fn dict_insert(&mut self, dict: &Dict, key: &Value, value: Value) -> Result<()> {
        let key = self.dict_key(dict, key)?;
        let mut entries = dict.borrow_mut();
        memory::make_table_room(&mut entries)?;
        let previous = entries.insert(key, value);
        drop(entries);
        drop(previous);
        Ok(())
    }

    pub fn dict_remove(&mut self, dict: &Dict, key: &Value) -> Result<Option<Value>> {
        let key = self.dict_key(dict, key)?;
        let removed = dict.borrow_mut().shift_remove(&key);
        Ok(removed)
    }

    /// `dict.update(source)`: a mapping (an object with `keys`), or an iterable of pairs.
    pub fn dict_update(&mut self, dict: &Rc<Dict>, source: &Value) -> Result<()> {
        if let Value::Dict(other) = source.base_value() {
            for (key, value) in other.to_pairs() {
                self.dict_insert(dict, &key, value)?;
            }
            return Ok(());
        }
        if let Some(keys) = self.find_attr(source, "keys")? {
            let keys = self.call(&keys, &[])?;
            for key in self.collect(&keys)? {
                let value = self.get_item(source, &key)?;
                self.dict_insert(dict, &key, value)?;
            }
            return Ok(());
        }
        for (at, pair) in self.collect(source)?.into_iter().enumerate() {
            let items = self.collect(&pair).map_err(|_| {
                errors::type_error(format!(
                    "cannot convert dictionary update sequence element #{at} to a sequence"
                ))
            })?;
            let [key, value] = &items[..] else {
                return Err(errors::value_error(format!(
                    "dictionary update sequence element #{at} has length {}; 2 is required",
                    items.len()
                )));
            };
            self.dict_insert(dict, key, value.clone())?;
        }
        Ok(())
    }

    pub fn dicts_equal(&mut self, left: &Rc<Dict>, right: &Rc<Dict>) -> Result<bool> {
        self.check_stack()?;
        if left.len() != right.len() {
            return Ok(false);
        }
        for (key, value) in left.to_pairs() {
            match self.dict_get(right, &key)? {
                Some(other) if self.same(&value, &other)? => {}
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    pub fn set_contains(&mut self, set: &Set, item: &Value) -> Result<bool> {
        let key = self.set_key(set, item)?;
        Ok(set.borrow().contains_key(&key))
    }

    /// Adds the element; false when it was there.
    pub fn set_add(&mut self, set: &Set, item: &Value) -> Result<bool> {
        let key = self.set_key(set, item)?;
        let mut elements = set.borrow_mut();
        if elements.contains_key(&key) {
            return Ok(false);
        }
        memory::make_table_room(&mut elements)?;
        elements.insert(key, ());
        Ok(true)
    }

    /// Removes the element; false when it was not there.
    pub fn set_remove(&mut self, set: &Set, item: &Value) -> Result<bool> {
        let key = self.set_key(set, item)?;
        let removed = set.borrow_mut().shift_remove_entry(&key);
        Ok(removed.is_some())
    }

    /// A set of the items of an iterable.
    pub fn set_from(&mut self, items: &Value) -> Result<Set> {
        let set = Set::new();
        if let Value::Set(other) | Value::FrozenSet(other) = items {
            memory::grant_items::<(HashedKey, usize)>(other.len())?;
            set.borrow_mut().clone_from(&other.borrow());
            return Ok(set);
        }
        let iter = self.iter(items)?;
        while let Some(item) = self.next(&iter)? {
            self.poll()?;
            self.set_add(&set, &item)?;
        }
        Ok(set)
    }

    /// `| & - ^` of two sets; the result is of the left one's type.
    pub fn set_binary(&mut self, op: BinaryOp, left: &Value, right: &Value) -> Result {
        let (Value::Set(a) | Value::FrozenSet(a), Value::Set(b) | Value::FrozenSet(b)) = (left, right) else {
            unreachable!("both operands were checked to be sets")
        };
        let result = Set::new();
        for item in a.to_vec() {
            let keep = match op {
                BinaryOp::BitOr => true,
                BinaryOp::BitAnd => self.set_contains(b, &item)?,
                _ => !self.set_contains(b, &item)?,
            };
            if keep {
                self.set_add(&result, &item)?;
            }
        }
        if matches!(op, BinaryOp::BitOr | BinaryOp::BitXor) {
            for item in b.to_vec() {
                if op == BinaryOp::BitOr || !self.set_contains(a, &item)? {
                    self.set_add(&result, &item)?;
                }
            }
        }
        let result = Rc::new(result);
        Ok(if matches!(left, Value::Set(_)) { Value::Set(result) } else { Value::FrozenSet(result) })
    }

    /// Subset and superset tests.
    pub fn sets_compare(&mut self, op: CompareOp, left: &Set, right: &Set) -> Result<bool> {
        let by_size = match op {
            CompareOp::Eq => left.len() == right.len(),
            CompareOp::NotEq => return Ok(!self.sets_compare(CompareOp::Eq, left, right)?),
            CompareOp::Less => left.len() < right.len(),
            CompareOp::LessEq => left.len() <= right.len(),
            CompareOp::Greater | CompareOp::GreaterEq => {
                let mirrored = if op == CompareOp::Greater { CompareOp::Less } else { CompareOp::LessEq };
                return self.sets_compare(mirrored, right, left);
            }
            _ => unreachable!("membership is not a comparison of sets"),
        };
        if !by_size {
            return Ok(false);
        }
        for item in left.to_vec() {
            if !self.set_contains(right, &item)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
