//! Strings, names, and maps from names to values.

use std::cell::Cell;
use std::fmt;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::ops::Deref;
use std::rc::Rc;

use indexmap::{Equivalent, IndexMap};
use siphasher::sip::SipHasher13;

use super::{PassHash, Result, Value};
use crate::memory;

/// A str object: text with its hash and its length in characters, both computed at their first use.
pub struct Str {
    text: String,
    /// 0 means "not yet known".
    hash: Cell<u64>,
    /// `usize::MAX` means "not yet known".
    n_chars: Cell<usize>,
}

impl Str {
    pub fn new(text: impl Into<String>) -> Str {
        Str { text: text.into(), hash: Cell::new(0), n_chars: Cell::new(usize::MAX) }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Number of characters: Python's `len`.
    pub fn n_chars(&self) -> usize {
        if self.n_chars.get() == usize::MAX {
            self.n_chars.set(if self.text.is_ascii() { self.text.len() } else { self.text.chars().count() });
        }
        self.n_chars.get()
    }

    pub fn is_ascii(&self) -> bool {
        self.n_chars() == self.text.len()
    }

    /// Character number `at`, which must be in range.
    pub fn char_at(&self, at: usize) -> Option<char> {
        if self.is_ascii() {
            return self.text.as_bytes().get(at).map(|&byte| byte as char);
        }
        self.text.chars().nth(at)
    }

    pub fn hash(&self) -> u64 {
        if self.hash.get() == 0 {
            self.hash.set(hash_text(&self.text));
        }
        self.hash.get()
    }

    /// Appends in place. Only for a string without other references.
    pub fn push_str(&mut self, tail: &str) -> Result<()> {
        memory::make_text_room(&mut self.text, tail.len())?;
        self.text.push_str(tail);
        self.hash.set(0);
        self.n_chars.set(usize::MAX);
        Ok(())
    }
}

impl Deref for Str {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

/// Never 0, which means "not yet known".
///
/// SipHash with a constant key: `hash` does not change from run to run, and texts with equal hashes cannot be
/// constructed, as they can for multiplicative hashes.
fn hash_text(text: &str) -> u64 {
    let mut hasher = SipHasher13::new_with_keys(0, 0);
    hasher.write(text.as_bytes());
    hasher.finish().max(1)
}

/// The name of an attribute, a global or a keyword: a shared str with its hash at hand.
#[derive(Clone)]
pub struct Name(pub Rc<Str>);

impl Name {
    pub fn new(text: impl Into<String>) -> Name {
        Name(Rc::new(Str::new(text)))
    }

    pub fn value(&self) -> Value {
        Value::Str(self.0.clone())
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Name {
        Name::new(text)
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        self.0.as_str()
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Name) -> bool {
        Rc::ptr_eq(&self.0, &other.0) || self.0.as_str() == other.0.as_str()
    }
}

impl Eq for Name {}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash());
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0.as_str())
    }
}

/// A text to look a [`Name`] up by.
pub struct TextKey<'a>(pub &'a str);

impl Hash for TextKey<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(hash_text(self.0));
    }
}

impl Equivalent<Name> for TextKey<'_> {
    fn equivalent(&self, name: &Name) -> bool {
        self.0 == &**name
    }
}

/// Names and their values, in the order of definition.
#[derive(Clone, Default)]
pub struct Attrs(IndexMap<Name, Value, BuildHasherDefault<PassHash>>);

impl Attrs {
    pub fn get(&self, name: &Name) -> Option<&Value> {
        self.0.get(name)
    }

    pub fn get_text(&self, name: &str) -> Option<&Value> {
        self.0.get(&TextKey(name))
    }

    pub fn insert(&mut self, name: Name, value: Value) -> Option<Value> {
        self.0.insert(name, value)
    }

    pub fn remove(&mut self, name: &Name) -> Option<Value> {
        self.0.shift_remove(name)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Name, &Value)> {
        self.0.iter()
    }

    pub fn values(&self) -> impl Iterator<Item = &Value> {
        self.0.values()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
