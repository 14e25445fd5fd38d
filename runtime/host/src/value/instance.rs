//! Instances of classes, and the shapes that make attribute lookup fast.
//!
//! Instances that got the same attributes in the same order share a [`Shape`], which maps names to slots. So
//! an inline cache with a shape's id determines class and slot at once.

use std::cell::{Cell, OnceCell, RefCell};
use std::hash::BuildHasherDefault;
use std::rc::Rc;

use indexmap::IndexSet;

use super::{Class, Dict, ExceptionData, Name, PassHash, TextKey, Value, teardown};

/// More attributes than this get a private shape, so that no chain of shapes grows long.
const MAX_SHARED: usize = 64;

type Names = IndexSet<Name, BuildHasherDefault<PassHash>>;

/// A map from attribute names to slots.
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
    /// The attributes after a script has accessed `__dict__`. The shape is then private and has no names.
    dict: Option<Rc<Dict>>,
}

impl Fields {
    fn new(shape: Rc<Shape>) -> Fields {
        Fields { shape, values: Vec::new(), dict: None }
    }

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

    /// The slot of an attribute; none if the attributes are in a dict.
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

    pub fn get(&self, name: &Name) -> Option<Value> {
        match &self.dict {
            Some(dict) => dict.get_name(name),
            None => self.values.get(self.shape.slot(name)?).cloned(),
        }
    }

    pub fn contains(&self, name: &Name) -> bool {
        match &self.dict {
            Some(dict) => dict.get_name(name).is_some(),
            None => self.shape.slot(name).is_some(),
        }
    }

    pub fn get_text(&self, name: &str) -> Option<Value> {
        if let Some(dict) = &self.dict {
            return dict.get_text(name);
        }
        let slot = self.shape.names.borrow().get_index_of(&TextKey(name))?;
        self.values.get(slot).cloned()
    }

    /// Sets the attribute and returns the previous value.
    pub fn set(&mut self, name: &Name, value: Value) -> Option<Value> {
        if let Some(dict) = &self.dict {
            return dict.set_name(name, value);
        }
        if let Some(slot) = self.shape.slot(name) {
            return Some(std::mem::replace(&mut self.values[slot], value));
        }
        self.shape = self.shape.with(name);
        self.values.push(value);
        None
    }

    /// Removes the attribute; the instance leaves its shared shape.
    pub fn remove(&mut self, name: &Name) -> Option<Value> {
        if let Some(dict) = &self.dict {
            return dict.remove_name(name);
        }
        let slot = self.shape.slot(name)?;
        let mut names = self.shape.names.borrow().clone();
        names.shift_remove(name);
        self.shape = Shape::private(names);
        Some(self.values.remove(slot))
    }

    pub fn to_pairs(&self) -> Vec<(Name, Value)> {
        match &self.dict {
            Some(dict) => dict.named_pairs(),
            None => self.shape.names.borrow().iter().cloned().zip(self.values.iter().cloned()).collect(),
        }
    }

    /// Visits each value that the attributes hold, once for each reference.
    pub(crate) fn each_value(&self, visit: &mut dyn FnMut(&Value)) {
        self.values.iter().for_each(&mut *visit);
        self.dict.iter().for_each(|dict| visit(&Value::Dict(dict.clone())));
    }

    pub fn is_empty(&self) -> bool {
        self.dict.as_ref().map_or(self.values.is_empty(), |dict| dict.is_empty())
    }

    /// `__dict__`: moves the attributes to a dict, so that changes by a script affect the instance.
    pub fn to_dict(&mut self) -> Rc<Dict> {
        if self.dict.is_none() {
            let dict = Dict::new();
            for (name, value) in self.to_pairs() {
                dict.set_name(&name, value);
            }
            drop(self.replace_dict(Rc::new(dict)));
        }
        self.dict.clone().expect("the attributes were just put in a dict")
    }

    /// Moves the attributes to this dict; the caller drops the previous storage.
    pub fn replace_dict(&mut self, dict: Rc<Dict>) -> (Option<Rc<Dict>>, Vec<Value>) {
        self.shape = Shape::private(Names::default());
        (self.dict.replace(dict), std::mem::take(&mut self.values))
    }

    /// Moves the attributes to shapes that start at another one: those of another class.
    fn restart(&mut self, shape: &Rc<Shape>) {
        if self.dict.is_none() {
            let names = self.shape.names.borrow().clone();
            self.shape = names.iter().fold(shape.clone(), |shape, name| shape.with(name));
        }
    }
}

/// The content of an instance besides its attributes.
pub enum Payload {
    None,
    /// The value of the built-in type that the class derives from.
    Value(OnceCell<Value>),
    Exception(Box<ExceptionData>),
}

/// An instance of a class written in a script, or an exception.
pub struct Instance {
    class: Rc<Class>,
    /// Set if a script assigned `__class__`.
    reclassed: OnceCell<Box<Reclassed>>,
    pub fields: RefCell<Fields>,
    pub payload: Payload,
    /// Whether the machine remembers it for the end of the host.
    pub(crate) is_remembered: Cell<bool>,
}

/// The classes that an instance has had. They live as long as the instance, so references to them stay valid.
struct Reclassed {
    classes: Link,
    /// Which of them it has now.
    at: Cell<usize>,
}

struct Link {
    class: Rc<Class>,
    next: OnceCell<Box<Link>>,
}

impl Reclassed {
    fn links(&self) -> impl Iterator<Item = &Link> {
        std::iter::successors(Some(&self.classes), |link| link.next.get().map(|next| &**next))
    }

    fn change(&self, class: Rc<Class>) {
        let known = self.links().position(|link| Rc::ptr_eq(&link.class, &class));
        let at = known.unwrap_or_else(|| {
            let last = self.links().last().expect("there is a first class");
            last.next.get_or_init(|| Box::new(Link { class, next: OnceCell::new() }));
            self.links().count() - 1
        });
        self.at.set(at);
    }
}

impl Instance {
    pub fn new(class: Rc<Class>, payload: Payload) -> Instance {
        let fields = RefCell::new(Fields::new(class.shape.clone()));
        Instance { class, reclassed: OnceCell::new(), fields, payload, is_remembered: Cell::new(false) }
    }

    /// Removes all attributes, when a host ends.
    pub(crate) fn take_fields(&self) -> Fields {
        self.fields.replace(Fields::new(self.class.shape.clone()))
    }

    #[inline]
    pub fn class(&self) -> &Rc<Class> {
        match self.reclassed.get() {
            None => &self.class,
            Some(reclassed) => {
                let link = reclassed.links().nth(reclassed.at.get());
                &link.expect("the class was noted").class
            }
        }
    }

    /// Changes the class to another one with the same layout.
    pub(crate) fn set_class(&self, class: Rc<Class>) {
        self.fields.borrow_mut().restart(&class.shape);
        let first = || Link { class: self.class.clone(), next: OnceCell::new() };
        let reclassed =
            self.reclassed.get_or_init(|| Box::new(Reclassed { classes: first(), at: Cell::new(0) }));
        reclassed.change(class);
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
        self.fields.borrow().get_text(name)
    }

    pub fn set_text(&self, name: &str, value: Value) {
        let previous = self.fields.borrow_mut().set(&Name::from(name), value);
        drop(previous);
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let fields = self.fields.get_mut();
        let (values, dict) = (std::mem::take(&mut fields.values), fields.dict.take());
        let payload = std::mem::replace(&mut self.payload, Payload::None);
        if !values.is_empty() || dict.is_some() || !matches!(payload, Payload::None) {
            teardown((values, dict, payload));
        }
    }
}
