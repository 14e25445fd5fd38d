//! Objects, types and modules of the host, written in Rust.
//!
//! **A native type**: a `static` [`NativeType`] names it, its constructor and its methods. A Rust type
//! implements [`Native`], whose `native_type` returns that static. Default hooks return "not supported", and
//! the machine raises CPython's error. State is in `Cell` and `RefCell`, because every hook takes `&self`.
//! Borrow for one step, never across a call into the machine.
//!
//! ```text
//! static COUNTER: NativeType = NativeType {
//!     new: Some(new),
//!     methods: &[NativeDef::method("step", step).doc("(by=1)", "Adds to the count.")],
//!     ..NativeType::new("Counter", "demo").doc("(start=0)", "A count that steps forward.")
//! };
//! impl Native for Counter { fn native_type(&self) -> &'static NativeType { &COUNTER } .. }
//! fn new(_: &mut Vm, _: &Args) -> Result { Ok(Value::native(Counter::default())) }
//! fn step(_: &mut Vm, args: &Args) -> Result { let counter: &Counter = args.this()?; .. }
//! ```
//!
//! **A module**: a `static` [`NativeModule`] in `modules/<name>.rs`, listed in `modules/mod.rs`.
//! **A function**: a [`super::NativeDef`] in a module's `functions` or in `builtins/mod.rs`.
//! **A method** of a built-in type: a `NativeDef::method` in that type's table under `builtins/`.
//! **Documentation**: `.doc(..)` of a function, a type or a module is its `__doc__` and what `help` prints.

use std::any::Any;
use std::cell::{Ref, RefCell};
use std::hash::BuildHasherDefault;
use std::path::PathBuf;
use std::rc::Rc;

use indexmap::IndexMap;
pub use kps_syntax::ast::{BinaryOp, CompareOp};

use super::{Args, BuiltinType, Doc, Name, NativeDef, NativeFn, PassHash, Result, TextKey, Value, teardown};
use crate::vm::Vm;

/// A type of host objects. Always a `static`: its address is its identity.
pub struct NativeType {
    pub name: &'static str,
    pub module: &'static str,
    pub base: Option<&'static NativeType>,
    /// Creates an object when a script calls the type.
    pub new: Option<NativeFn>,
    /// Methods, getters, static and class methods.
    pub methods: &'static [NativeDef],
    /// A built-in type for which `isinstance` accepts its objects, too.
    pub passes_for: Option<BuiltinType>,
    pub doc: Option<Doc>,
}

impl NativeType {
    /// A type without constructor and methods, to be completed with `..`.
    pub const fn new(name: &'static str, module: &'static str) -> NativeType {
        NativeType { name, module, base: None, new: None, methods: &[], passes_for: None, doc: None }
    }

    /// Documents the type: the parameters of its constructor, if scripts may call it, and a sentence.
    pub const fn doc(self, signature: &'static str, sentence: &'static str) -> NativeType {
        NativeType { doc: Some(Doc { signature, sentence }), ..self }
    }
}

/// The side of a binary operation that an object is on.
pub use crate::ops::Side;

/// The hooks of a host object. `this` is the object itself as a value, for results that refer to it.
///
/// `None` and `false` mean "not supported": the machine tries the other operand, or raises.
#[allow(unused_variables)]
pub trait Native: Any {
    fn native_type(&self) -> &'static NativeType;

    /// The built-in type that scripts see instead.
    fn builtin_type(&self) -> Option<BuiltinType> {
        None
    }

    /// Visits the values that the object holds, once for each reference, so that cycles through it end with their host.
    /// An object that leaves some out keeps them alive.
    fn each_value(&self, visit: &mut dyn FnMut(&Value)) {}

    /// Attributes outside of the method tables; tried after the type's.
    fn get_attr(&self, this: &Value, vm: &mut Vm, name: &str) -> Result<Option<Value>> {
        Ok(None)
    }

    fn set_attr(&self, this: &Value, vm: &mut Vm, name: &str, value: &Value) -> Result<bool> {
        Ok(false)
    }

    fn get_item(&self, this: &Value, vm: &mut Vm, index: &Value) -> Result<Option<Value>> {
        Ok(None)
    }

    fn set_item(&self, this: &Value, vm: &mut Vm, index: &Value, value: &Value) -> Result<bool> {
        Ok(false)
    }

    fn delete_item(&self, this: &Value, vm: &mut Vm, index: &Value) -> Result<bool> {
        Ok(false)
    }

    fn len(&self, vm: &mut Vm) -> Result<Option<usize>> {
        Ok(None)
    }

    /// Whether `case [a, *rest]` looks into it.
    fn is_sequence(&self) -> bool {
        false
    }

    /// A fresh iterator: [`Value::native_iter`], or any value that iterates.
    fn iter(&self, this: &Value, vm: &mut Vm) -> Result<Option<Value>> {
        Ok(None)
    }

    fn contains(&self, this: &Value, vm: &mut Vm, item: &Value) -> Result<Option<bool>> {
        Ok(None)
    }

    fn is_callable(&self) -> bool {
        false
    }

    fn call(&self, this: &Value, vm: &mut Vm, args: &Args) -> Result<Option<Value>> {
        Ok(None)
    }

    /// `this op other`, or `other op this` if it is on the right. `op` is never in place.
    fn binary(
        &self,
        this: &Value,
        vm: &mut Vm,
        op: BinaryOp,
        side: Side,
        other: &Value,
    ) -> Result<Option<Value>> {
        Ok(None)
    }

    /// `this op= other`, if it changes the object; else the machine falls back on `binary`.
    fn binary_in_place(
        &self,
        this: &Value,
        vm: &mut Vm,
        op: BinaryOp,
        other: &Value,
    ) -> Result<Option<Value>> {
        Ok(None)
    }

    fn unary(&self, this: &Value, vm: &mut Vm, op: kps_syntax::ast::UnaryOp) -> Result<Option<Value>> {
        Ok(None)
    }

    /// Any of `== != < <= > >=`; the result may be any value (an array of bools).
    fn compare(&self, this: &Value, vm: &mut Vm, op: CompareOp, other: &Value) -> Result<Option<Value>> {
        Ok(None)
    }

    fn truth(&self, vm: &mut Vm) -> Result<bool> {
        Ok(self.len(vm)?.is_none_or(|len| len != 0))
    }

    fn repr(&self, this: &Value, vm: &mut Vm) -> Result<String> {
        let native_type = self.native_type();
        let address = this.address().unwrap_or(0);
        Ok(format!("<{}.{} object at {address:#x}>", native_type.module, native_type.name))
    }

    fn str(&self, this: &Value, vm: &mut Vm) -> Result<String> {
        self.repr(this, vm)
    }

    /// `format(this, spec)`, if it differs from formatting `str(this)`.
    fn format(&self, this: &Value, vm: &mut Vm, spec: &str) -> Result<Option<String>> {
        Ok(None)
    }

    /// The hash, or `None` for objects that are not hashable. Equal objects must have equal hashes.
    fn hash(&self, this: &Value, vm: &mut Vm) -> Result<Option<i64>> {
        Ok(this.address().map(|address| address as i64 >> 4))
    }

    /// The number that this object equals, and hashes as; `None` if it is not a number.
    fn number(&self) -> Option<Value> {
        None
    }

    /// Whether this object equals another as a key of a dict: a comparison that calls no script.
    fn same_key(&self, other: &Value) -> bool {
        false
    }
}

/// A host object behind a thin pointer.
pub struct NativeObject(Option<Box<dyn Native>>);

impl NativeObject {
    pub fn new(object: impl Native) -> NativeObject {
        NativeObject(Some(Box::new(object)))
    }

    pub fn object(&self) -> &dyn Native {
        self.0.as_deref().expect("a host object is there until its last reference goes")
    }

    pub fn native_type(&self) -> &'static NativeType {
        self.object().native_type()
    }

    pub fn downcast<T: Native>(&self) -> Option<&T> {
        let any: &dyn Any = self.object();
        any.downcast_ref::<T>()
    }
}

impl Drop for NativeObject {
    fn drop(&mut self) {
        if let Some(object) = self.0.take() {
            teardown(object);
        }
    }
}

/// Global names of a module and their values. A name keeps its slot for good: compiled code remembers it.
#[derive(Default)]
pub struct Namespace(RefCell<IndexMap<Name, Value, BuildHasherDefault<PassHash>>>);

impl Namespace {
    pub fn new() -> Rc<Namespace> {
        Rc::default()
    }

    /// The slot of a name; empty until the name is assigned.
    pub fn slot(&self, name: &Name) -> usize {
        let mut names = self.0.borrow_mut();
        match names.get_index_of(name) {
            Some(slot) => slot,
            None => names.insert_full(name.clone(), Value::Unset).0,
        }
    }

    /// The value in a slot, which may be `Unset`.
    #[inline]
    pub fn at(&self, slot: usize) -> Value {
        self.0.borrow().get_index(slot).map_or(Value::Unset, |(_, value)| value.clone())
    }

    /// Reads the value in a slot, which is unset until the name is assigned.
    #[inline(always)]
    pub fn look<T>(&self, slot: usize, look: impl FnOnce(&Value) -> T) -> T {
        let names = self.0.borrow();
        look(names.get_index(slot).map_or(&Value::Unset, |(_, value)| value))
    }

    /// Stores a value in a slot and returns the previous one.
    #[inline]
    pub fn put(&self, slot: usize, value: Value) -> Value {
        match self.0.borrow_mut().get_index_mut(slot) {
            Some((_, place)) => std::mem::replace(place, value),
            None => value,
        }
    }

    pub fn get(&self, name: &str) -> Option<Value> {
        self.0.borrow().get(&TextKey(name)).filter(|value| !value.is_unset()).cloned()
    }

    pub fn set(&self, name: &str, value: Value) {
        let slot = self.slot(&Name::from(name));
        let previous = self.put(slot, value);
        drop(previous);
    }

    /// Removes a name; false when it was not there.
    pub fn remove(&self, name: &str) -> bool {
        let slot = self.0.borrow().get_index_of(&TextKey(name));
        slot.is_some_and(|slot| !self.put(slot, Value::Unset).is_unset())
    }

    /// The names that have a value, in the order of their slots.
    pub fn to_pairs(&self) -> Vec<(Name, Value)> {
        let names: Ref<'_, _> = self.0.borrow();
        let set = names.iter().filter(|(_, value)| !value.is_unset());
        set.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// Visits the values of all names.
    pub(crate) fn each_value(&self, visit: &mut dyn FnMut(&Value)) {
        self.0.borrow().values().for_each(visit);
    }

    /// Empties every slot, as when a host ends: functions and their module hold each other.
    pub fn clear(&self) {
        let values: Vec<Value> =
            self.0.borrow_mut().values_mut().map(|value| std::mem::replace(value, Value::Unset)).collect();
        teardown(values);
    }
}

/// A module object.
pub struct Module {
    pub name: Name,
    pub namespace: Rc<Namespace>,
    /// The file of a module written as a script.
    pub file: Option<PathBuf>,
    /// Whether it may have submodules: a folder with an `__init__.kps`.
    pub is_package: bool,
}

impl Module {
    pub fn new(name: impl Into<Name>) -> Module {
        Module { name: name.into(), namespace: Namespace::new(), file: None, is_package: false }
    }

    pub fn get(&self, name: &str) -> Option<Value> {
        self.namespace.get(name)
    }

    pub fn set(&self, name: &str, value: impl Into<Value>) {
        self.namespace.set(name, value.into());
    }
}

/// A module written in Rust, created at its first import.
pub struct NativeModule {
    /// Dotted for a module within a package: `os.path`.
    pub name: &'static str,
    pub functions: &'static [NativeDef],
    pub types: &'static [&'static NativeType],
    /// Adds members that are neither functions nor types: constants, submodules.
    pub init: Option<fn(&mut Vm, &Module) -> Result<()>>,
    pub doc: Option<Doc>,
}

impl NativeModule {
    /// An empty module, to be completed with `..`.
    pub const fn new(name: &'static str) -> NativeModule {
        NativeModule { name, functions: &[], types: &[], init: None, doc: None }
    }

    /// Documents the module by a sentence.
    pub const fn doc(self, sentence: &'static str) -> NativeModule {
        NativeModule { doc: Some(Doc { signature: "", sentence }), ..self }
    }
}
