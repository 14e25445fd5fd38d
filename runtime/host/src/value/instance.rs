//! Instances of classes, and the shapes that make their attributes quick to find.
//!
//! Instances that got the same attributes in the same order share a [`Shape`], which says in which
//! slot each lies. An inline cache that remembers a shape's id therefore knows class and slot at once.

use std::cell::{Cell, OnceCell, RefCell};
use std::hash::BuildHasherDefault;
use std::rc::Rc;

use indexmap::IndexSet;

use super::{Class, ExceptionData, Name, PassHash, TextKey, Value, teardown};

/// Attributes past this number get a shape of their own, so that no chain of shapes grows long.
const MAX_SHARED: usize = 64;

type Names = IndexSet<Name, BuildHasherDefault<PassHash>>;

/// Which attribute lies in which slot.
pub struct Shape {
    /// Unique, or 0 for a shape that belongs to one instance and may change.
    id: u64,
    names: RefCell<Names>,
    /// The shapes with one attribute more.
    next: RefCell<Vec<(Name, Rc<Shape>)>>,
}

thread_local! {
    static NEXT_ID: Cell<u64> = const { Cell::new(1) };
}

impl Shape {
    pub fn empty() -> Rc<Shape> {
        Shape::shared(Names::default())
    }

    fn shared(names: Names) -> Rc<Shape> {
        let id = NEXT_ID.get();
        NEXT_ID.set(id + 1);
        Rc::new(Shape { id, names: RefCell::new(names), next: RefCell::default() })
    }

    fn private(names: Names) -> Rc<Shape> {
        Rc::new(Shape { id: 0, names: RefCell::new(names), next: RefCell::default() })
    }

    #[inline]
    pub fn id(&self) -> u64 {
        self.id
    }

    pub fn slot(&self, name: &Name) -> Option<usize> {
        self.names.borrow().get_index_of(name)
    }

    /// The shape with `name` added in the next slot.
    fn with(self: &Rc<Shape>, name: &Name) -> Rc<Shape> {
        if self.id == 0 {
            self.names.borrow_mut().insert(name.clone());
            return self.clone();
        }
        if let Some((_, next)) = self.next.borrow().iter().find(|(next, _)| next == name) {
            return next.clone();
        }
        let mut names = self.names.borrow().clone();
        names.insert(name.clone());
        if names.len() > MAX_SHARED {
            return Shape::private(names);
        }
        let next = Shape::shared(names);
        self.next.borrow_mut().push((name.clone(), next.clone()));
        next
    }
}

/// The attributes of one instance.
pub struct Fields {
    shape: Rc<Shape>,
    values: Vec<Value>,
}

impl Fields {
    #[inline]
    pub fn shape_id(&self) -> u64 {
        self.shape.id
    }

    /// The value in a slot that the shape named.
    #[inline]
    pub fn at(&self, slot: usize) -> Option<&Value> {
        self.values.get(slot)
    }

    #[inline]
    pub fn at_mut(&mut self, slot: usize) -> Option<&mut Value> {
        self.values.get_mut(slot)
    }

    pub fn slot(&self, name: &Name) -> Option<usize> {
        self.shape.slot(name)
    }

    pub fn shape(&self) -> &Rc<Shape> {
        &self.shape
    }

    /// Adds the attribute that `next` has beyond the present shape.
    #[inline]
    pub fn extend(&mut self, next: Rc<Shape>, value: Value) {
        self.shape = next;
        self.values.push(value);
    }

    pub fn get(&self, name: &Name) -> Option<&Value> {
        self.values.get(self.shape.slot(name)?)
    }

    pub fn get_text(&self, name: &str) -> Option<&Value> {
        let slot = self.shape.names.borrow().get_index_of(&TextKey(name))?;
        self.values.get(slot)
    }

    /// Sets the attribute and returns what it held.
    pub fn set(&mut self, name: &Name, value: Value) -> Option<Value> {
        if let Some(slot) = self.shape.slot(name) {
            return Some(std::mem::replace(&mut self.values[slot], value));
        }
        self.shape = self.shape.with(name);
        self.values.push(value);
        None
    }

    /// Removes the attribute; the instance leaves its shared shape.
    pub fn remove(&mut self, name: &Name) -> Option<Value> {
        let slot = self.shape.slot(name)?;
        let mut names = self.shape.names.borrow().clone();
        names.shift_remove(name);
        self.shape = Shape::private(names);
        Some(self.values.remove(slot))
    }

    pub fn to_pairs(&self) -> Vec<(Name, Value)> {
        self.shape.names.borrow().iter().cloned().zip(self.values.iter().cloned()).collect()
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

/// What an instance holds besides its attributes.
pub enum Payload {
    None,
    /// The value of the built-in type that the class derives from.
    Value(OnceCell<Value>),
    Exception(Box<ExceptionData>),
}

/// An instance of a class written in a script, or an exception.
pub struct Instance {
    class: Rc<Class>,
    pub fields: RefCell<Fields>,
    pub payload: Payload,
}

impl Instance {
    pub fn new(class: Rc<Class>, payload: Payload) -> Instance {
        let fields = RefCell::new(Fields { shape: class.shape.clone(), values: Vec::new() });
        Instance { class, fields, payload }
    }

    pub fn class(&self) -> &Rc<Class> {
        &self.class
    }

    pub fn payload_value(&self) -> Option<&Value> {
        match &self.payload {
            Payload::Value(value) => value.get(),
            _ => None,
        }
    }

    pub fn exception(&self) -> Option<&ExceptionData> {
        match &self.payload {
            Payload::Exception(data) => Some(data),
            _ => None,
        }
    }

    pub fn get_text(&self, name: &str) -> Option<Value> {
        self.fields.borrow().get_text(name).cloned()
    }

    pub fn set_text(&self, name: &str, value: Value) {
        let previous = self.fields.borrow_mut().set(&Name::from(name), value);
        drop(previous);
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let values = std::mem::take(&mut self.fields.get_mut().values);
        let payload = std::mem::replace(&mut self.payload, Payload::None);
        if !values.is_empty() || !matches!(payload, Payload::None) {
            teardown((values, payload));
        }
    }
}
