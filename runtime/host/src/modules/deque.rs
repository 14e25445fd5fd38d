//! The Rust part of `collections`, whose rest is a script: `deque`, a list that is fast at both ends, with an
//! optional maximum length; and classes whose name is only known when they are created.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use crate::builtins::support::given;
use crate::errors;
use crate::memory;
use crate::ops::Side;
use crate::text::slice::position;
use crate::value::{
    Args, BinaryOp, Class, CompareOp, Dict, Native, NativeDef, NativeIter, NativeModule, NativeType, Result,
    Value,
};
use crate::vm::Vm;

pub static MODULE: NativeModule = NativeModule {
    types: &[&TYPE],
    functions: &[
        NativeDef::function("named_class", named_class),
        NativeDef::function("attributes", attributes),
        NativeDef::function("set_attributes", set_attributes),
    ],
    ..NativeModule::new("_collections")
};

/// `named_class(name, module, base)`: an empty class derived from a script's class.
fn named_class(vm: &mut Vm, args: &Args) -> Result {
    let [name, module, Value::Class(base)] = args.exactly("named_class")? else {
        return Err(errors::type_error("named_class() takes a name, a module and a class"));
    };
    let (name, module) = (vm.str(name)?, vm.str(module)?);
    let mut class = Class::new(vm.name(&name), Some(base.clone()), base.layout);
    class.is_script = true;
    class.slots = base.slots.clone().filter(|_| base.is_script);
    class.module = vm.name(&module);
    class.new = base.new;
    Ok(Value::Class(std::rc::Rc::new(class)))
}

/// `attributes(object)`: a copy of an instance's attributes as a dict, which leaves their fast lookup intact;
/// None for other objects.
fn attributes(_: &mut Vm, args: &Args) -> Result {
    let [value] = args.exactly("attributes")?;
    match value {
        Value::Instance(instance) => Ok(Dict::of_names(instance.fields.borrow().to_pairs())),
        _ => Ok(Value::None),
    }
}

/// `set_attributes(instance, dict)`: adds attributes without the class's `__setattr__`.
fn set_attributes(vm: &mut Vm, args: &Args) -> Result {
    let [Value::Instance(instance), Value::Dict(attributes)] = args.exactly("set_attributes")? else {
        return Err(errors::type_error("set_attributes() takes an instance and a dict"));
    };
    for (name, value) in attributes.to_pairs() {
        let Some(name) = name.as_str().map(|name| vm.name(name)) else {
            return Err(errors::type_error("the names of attributes are str"));
        };
        let previous = instance.fields.borrow_mut().set(&name, value);
        drop(previous);
    }
    Ok(Value::None)
}

static TYPE: NativeType =
    NativeType { new: Some(new), methods: METHODS, ..NativeType::new("deque", "collections") };

static METHODS: &[NativeDef] = &[
    NativeDef::class_method("__class_getitem__", crate::builtins::generic_alias::of_class),
    NativeDef::method("append", append),
    NativeDef::method("appendleft", appendleft),
    NativeDef::method("pop", pop),
    NativeDef::method("popleft", popleft),
    NativeDef::method("extend", extend),
    NativeDef::method("extendleft", extendleft),
    NativeDef::method("clear", clear),
    NativeDef::method("copy", copy),
    NativeDef::method("count", count),
    NativeDef::method("index", index_of),
    NativeDef::method("insert", insert),
    NativeDef::method("remove", remove),
    NativeDef::method("reverse", reverse),
    NativeDef::method("rotate", rotate),
    NativeDef::method("__reversed__", |vm, args| {
        let mut items = this(args)?.to_vec();
        items.reverse();
        vm.iter(&Value::list(items))
    }),
    NativeDef::getter("maxlen", |_, args| Ok(this(args)?.most.map_or(Value::None, Value::from))),
];

struct Deque {
    items: RefCell<VecDeque<Value>>,
    most: Option<usize>,
    /// Incremented by every change, so that an iteration notices.
    n_changes: Cell<u64>,
}

impl Deque {
    fn new(items: Vec<Value>, most: Option<usize>) -> Result<Deque> {
        let deque = Deque { items: RefCell::default(), most, n_changes: Cell::new(0) };
        items.into_iter().try_for_each(|item| deque.push_back(item))?;
        Ok(deque)
    }

    fn to_vec(&self) -> Vec<Value> {
        self.items.borrow().iter().cloned().collect()
    }

    fn touch(&self) {
        self.n_changes.set(self.n_changes.get() + 1);
    }

    /// Appends, and drops the other end if the deque is full.
    fn push_back(&self, item: Value) -> Result<()> {
        self.make_room()?;
        self.touch();
        self.items.borrow_mut().push_back(item);
        let surplus = if self.is_over() { self.items.borrow_mut().pop_front() } else { None };
        drop(surplus);
        Ok(())
    }

    fn push_front(&self, item: Value) -> Result<()> {
        self.make_room()?;
        self.touch();
        self.items.borrow_mut().push_front(item);
        let surplus = if self.is_over() { self.items.borrow_mut().pop_back() } else { None };
        drop(surplus);
        Ok(())
    }

    /// Reserves capacity if one more item makes the deque grow.
    fn make_room(&self) -> Result<()> {
        let items = self.items.borrow();
        if items.len() < items.capacity() { Ok(()) } else { memory::grant_items::<Value>(items.len() * 3) }
    }

    fn is_over(&self) -> bool {
        self.most.is_some_and(|most| self.items.borrow().len() > most)
    }

    fn at(&self, vm: &mut Vm, index: &Value) -> Result<usize> {
        let index = vm.index(index)?;
        let found = position(index, self.items.borrow().len());
        found.ok_or_else(|| errors::index_error("deque index out of range"))
    }
}

impl Drop for Deque {
    fn drop(&mut self) {
        let items: Vec<Value> = std::mem::take(self.items.get_mut()).into();
        crate::value::teardown(items);
    }
}

impl Native for Deque {
    fn native_type(&self) -> &'static NativeType {
        &TYPE
    }

    fn each_value(&self, visit: &mut dyn FnMut(&Value)) {
        self.items.borrow().iter().for_each(visit);
    }

    fn is_sequence(&self) -> bool {
        true
    }

    fn len(&self, _: &mut Vm) -> Result<Option<usize>> {
        Ok(Some(self.items.borrow().len()))
    }

    fn iter(&self, this: &Value, _: &mut Vm) -> Result<Option<Value>> {
        Ok(Some(Value::native_iter(Items { deque: this.clone(), at: 0, n_changes: self.n_changes.get() })))
    }

    fn get_item(&self, _: &Value, vm: &mut Vm, index: &Value) -> Result<Option<Value>> {
        let at = self.at(vm, index)?;
        Ok(self.items.borrow().get(at).cloned())
    }

    fn set_item(&self, _: &Value, vm: &mut Vm, index: &Value, value: &Value) -> Result<bool> {
        let at = self.at(vm, index)?;
        let previous = std::mem::replace(&mut self.items.borrow_mut()[at], value.clone());
        drop(previous);
        Ok(true)
    }

    fn delete_item(&self, _: &Value, vm: &mut Vm, index: &Value) -> Result<bool> {
        let at = self.at(vm, index)?;
        self.touch();
        let removed = self.items.borrow_mut().remove(at);
        drop(removed);
        Ok(true)
    }

    fn binary(
        &self,
        _: &Value,
        vm: &mut Vm,
        op: BinaryOp,
        side: Side,
        other: &Value,
    ) -> Result<Option<Value>> {
        let items = match (op, side, other.downcast::<Deque>()) {
            (BinaryOp::Add, Side::Left, Some(other)) => [self.to_vec(), other.to_vec()].concat(),
            (BinaryOp::Mul, _, None) => {
                let repeated = vm.binary(op, &Value::list(self.to_vec()), other)?;
                vm.collect(&repeated)?
            }
            _ => return Ok(None),
        };
        Ok(Some(Value::native(Deque::new(items, self.most)?)))
    }

    fn binary_in_place(
        &self,
        this: &Value,
        vm: &mut Vm,
        op: BinaryOp,
        other: &Value,
    ) -> Result<Option<Value>> {
        match op {
            BinaryOp::Add => vm.collect(other)?.into_iter().try_for_each(|item| self.push_back(item))?,
            BinaryOp::Mul => {
                let repeated = vm.binary(op, &Value::list(self.to_vec()), other)?;
                let repeated = vm.collect(&repeated)?;
                let previous = self.items.take();
                drop(previous);
                self.touch();
                repeated.into_iter().try_for_each(|item| self.push_back(item))?;
            }
            _ => return Ok(None),
        }
        Ok(Some(this.clone()))
    }

    fn compare(&self, _: &Value, vm: &mut Vm, op: CompareOp, other: &Value) -> Result<Option<Value>> {
        let Some(other) = other.downcast::<Deque>() else { return Ok(None) };
        vm.compare(op, &Value::list(self.to_vec()), &Value::list(other.to_vec())).map(Some)
    }

    fn repr(&self, this: &Value, vm: &mut Vm) -> Result<String> {
        let address = this.address().unwrap_or(0);
        if vm.repr_active.contains(&address) {
            return Ok("[...]".to_owned());
        }
        vm.repr_active.push(address);
        let items = vm.repr(&Value::list(self.to_vec()));
        vm.repr_active.pop();
        let most = self.most.map_or(String::new(), |most| format!(", maxlen={most}"));
        Ok(format!("deque({}{most})", items?))
    }

    fn hash(&self, _: &Value, _: &mut Vm) -> Result<Option<i64>> {
        Ok(None)
    }
}

struct Items {
    deque: Value,
    at: usize,
    n_changes: u64,
}

impl NativeIter for Items {
    fn next(&mut self, _: &mut Vm) -> Result<Option<Value>> {
        let Some(deque) = self.deque.downcast::<Deque>() else { return Ok(None) };
        if deque.n_changes.get() != self.n_changes {
            return Err(errors::runtime_error("deque mutated during iteration"));
        }
        self.at += 1;
        Ok(deque.items.borrow().get(self.at - 1).cloned())
    }

    fn type_name(&self) -> &'static str {
        "_collections._deque_iterator"
    }
}

fn this<'a>(args: &Args<'a>) -> Result<&'a Deque> {
    args.this::<Deque>()
}

fn new(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("deque");
    let items = given(parser.optional("iterable")?);
    let most = given(parser.optional("maxlen")?);
    parser.finish()?;
    let most = match most {
        None => None,
        Some(most) => match usize::try_from(vm.index(most)?) {
            Ok(most) => Some(most),
            Err(_) => return Err(errors::value_error("maxlen must be non-negative")),
        },
    };
    let items = items.map_or(Ok(Vec::new()), |items| vm.collect(items))?;
    Ok(Value::native(Deque::new(items, most)?))
}

fn append(_: &mut Vm, args: &Args) -> Result {
    let [item] = args.rest().exactly("deque.append")?;
    this(args)?.push_back(item.clone())?;
    Ok(Value::None)
}

fn appendleft(_: &mut Vm, args: &Args) -> Result {
    let [item] = args.rest().exactly("deque.appendleft")?;
    this(args)?.push_front(item.clone())?;
    Ok(Value::None)
}

fn taken(deque: &Deque, item: Option<Value>) -> Result {
    deque.touch();
    item.ok_or_else(|| errors::index_error("pop from an empty deque"))
}

fn pop(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("deque.pop")?;
    let deque = this(args)?;
    let item = deque.items.borrow_mut().pop_back();
    taken(deque, item)
}

fn popleft(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("deque.popleft")?;
    let deque = this(args)?;
    let item = deque.items.borrow_mut().pop_front();
    taken(deque, item)
}

fn extend(vm: &mut Vm, args: &Args) -> Result {
    let [items] = args.rest().exactly("deque.extend")?;
    let deque = this(args)?;
    vm.collect(items)?.into_iter().try_for_each(|item| deque.push_back(item))?;
    Ok(Value::None)
}

fn extendleft(vm: &mut Vm, args: &Args) -> Result {
    let [items] = args.rest().exactly("deque.extendleft")?;
    let deque = this(args)?;
    vm.collect(items)?.into_iter().try_for_each(|item| deque.push_front(item))?;
    Ok(Value::None)
}

fn clear(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("deque.clear")?;
    let deque = this(args)?;
    deque.touch();
    let items = std::mem::take(&mut *deque.items.borrow_mut());
    drop(items);
    Ok(Value::None)
}

fn copy(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("deque.copy")?;
    let deque = this(args)?;
    Ok(Value::native(Deque::new(deque.to_vec(), deque.most)?))
}

fn count(vm: &mut Vm, args: &Args) -> Result {
    let [value] = args.rest().exactly("deque.count")?;
    let items = Value::list(this(args)?.to_vec());
    vm.call_method(&items, "count", std::slice::from_ref(value))
}

/// The first item that equals the value.
fn find(vm: &mut Vm, deque: &Deque, value: &Value) -> Result<Option<usize>> {
    for (at, item) in deque.to_vec().iter().enumerate() {
        if vm.same(item, value)? {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

fn index_of(vm: &mut Vm, args: &Args) -> Result {
    let [value] = args.rest().exactly("deque.index")?;
    match find(vm, this(args)?, value)? {
        Some(at) => Ok(Value::from(at)),
        None => {
            let message = format!("{} is not in deque", vm.repr(value)?);
            Err(errors::value_error(message))
        }
    }
}

fn insert(vm: &mut Vm, args: &Args) -> Result {
    let [at, item] = args.rest().exactly("insert")?;
    let at = vm.index(at)?;
    let deque = this(args)?;
    let len = deque.items.borrow().len();
    if deque.most.is_some_and(|most| len >= most) {
        return Err(errors::index_error("deque already at its maximum size"));
    }
    deque.touch();
    let from_start = if at < 0 { at.saturating_add(len as i64) } else { at };
    deque.items.borrow_mut().insert(from_start.clamp(0, len as i64) as usize, item.clone());
    Ok(Value::None)
}

fn remove(vm: &mut Vm, args: &Args) -> Result {
    let [value] = args.rest().exactly("deque.remove")?;
    let deque = this(args)?;
    let n_changes = deque.n_changes.get();
    let found = find(vm, deque, value)?;
    if deque.n_changes.get() != n_changes {
        return Err(errors::index_error("deque mutated during remove()."));
    }
    let Some(at) = found else {
        let message = format!("{} is not in deque", vm.repr(value)?);
        return Err(errors::value_error(message));
    };
    deque.touch();
    let removed = deque.items.borrow_mut().remove(at);
    drop(removed);
    Ok(Value::None)
}

fn reverse(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("deque.reverse")?;
    let deque = this(args)?;
    deque.touch();
    deque.items.borrow_mut().make_contiguous().reverse();
    Ok(Value::None)
}

fn rotate(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("rotate");
    let n = parser.optional_positional();
    parser.finish()?;
    let n = n.map_or(Ok(1), |n| vm.index(n))?;
    let deque = this(args)?;
    deque.touch();
    let mut items = deque.items.borrow_mut();
    if !items.is_empty() {
        let len = items.len() as i64;
        items.rotate_right(n.rem_euclid(len) as usize);
    }
    Ok(Value::None)
}
