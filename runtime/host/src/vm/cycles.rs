//! Frees cycles of objects, which reference counts never free, when their host ends.
//!
//! The objects that a host can still find, and some recorded at their creation, go in. Those of them that are
//! unreachable from outside are cleared. Objects that an embedder or another host references stay intact,
//! with all that they reach. As in CPython's collector, references within the graph are subtracted from each
//! object's count. An object with a remainder is referenced from outside.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use rustc_hash::{FxHashMap, FxHashSet};

use super::LoadedCode;
use crate::value::{Class, Function, GeneratorState, Instance, IterState, Payload, Value};

/// Objects that are remembered before the first look for those that are gone.
const FEW: usize = 1024;

/// Objects that close most cycles, and that the host may have lost: no other reference leads to them.
#[derive(Default)]
pub(crate) struct Remembered {
    objects: RefCell<Vec<Object>>,
    /// The number of entries at which dead ones are removed.
    most: Cell<usize>,
}

enum Object {
    Function(Weak<Function>),
    Class(Weak<Class>),
    Instance(Weak<Instance>),
}

impl Object {
    fn is_alive(&self) -> bool {
        match self {
            Object::Function(function) => function.strong_count() > 0,
            Object::Class(class) => class.strong_count() > 0,
            Object::Instance(instance) => instance.strong_count() > 0,
        }
    }

    fn value(&self) -> Option<Value> {
        match self {
            Object::Function(function) => function.upgrade().map(Value::Function),
            Object::Class(class) => class.upgrade().map(Value::Class),
            Object::Instance(instance) => instance.upgrade().map(Value::Instance),
        }
    }
}

impl Remembered {
    /// A function that captures a variable, which may hold the function.
    pub fn function(&self, function: &Rc<Function>) {
        if !function.closure.is_empty() {
            self.push(Object::Function(Rc::downgrade(function)));
        }
    }

    /// A class: its methods name it.
    pub fn class(&self, class: &Rc<Class>) {
        self.push(Object::Class(Rc::downgrade(class)));
    }

    /// An instance that is assigned a value, which may lead back to it.
    #[inline]
    pub fn instance(&self, instance: &Rc<Instance>, value: &Value) {
        if may_lead_on(value) && !instance.is_remembered.replace(true) {
            self.push(Object::Instance(Rc::downgrade(instance)));
        }
    }

    fn push(&self, object: Object) {
        let mut objects = self.objects.borrow_mut();
        if objects.len() >= self.most.get() {
            objects.retain(Object::is_alive);
            self.most.set(FEW.max(2 * objects.len()));
        }
        objects.push(object);
    }

    pub fn take(&self) -> Vec<Value> {
        self.objects.take().iter().filter_map(Object::value).collect()
    }
}

/// Clears the objects that the roots reach and nothing outside reaches. Consumes the roots.
pub(crate) fn end(roots: Vec<Value>) {
    let graph = Graph::of(roots);
    let reachable = graph.reachable_from_outside();
    let is_reachable = |node: &Node| address(&node.value).is_some_and(|address| reachable.contains(&address));
    let mut contents = Vec::new();
    for node in graph.nodes.values().filter(|node| !is_reachable(node)) {
        take_contents(&node.value, &mut contents);
    }
    // Objects tear themselves down without a deep stack, and never find a half-cleared one.
    drop(graph);
    drop(contents);
}

#[derive(Default)]
struct Graph {
    nodes: FxHashMap<usize, Node>,
}

struct Node {
    value: Value,
    /// References to it from other nodes.
    n_inner: usize,
}

impl Graph {
    fn of(roots: Vec<Value>) -> Graph {
        let mut graph = Graph::default();
        let mut codes = FxHashSet::default();
        let mut waiting = roots;
        while let Some(value) = waiting.pop() {
            let Some(address) = address(&value).filter(|address| !graph.nodes.contains_key(address)) else {
                continue;
            };
            forget_caches(&value, &mut codes);
            each_reference(&value, &mut |referent| waiting.push(referent.clone()));
            graph.nodes.insert(address, Node { value, n_inner: 0 });
        }
        let mut references = Vec::new();
        for node in graph.nodes.values() {
            each_reference(&node.value, &mut |referent| references.extend(address(referent)));
        }
        for reference in references {
            if let Some(node) = graph.nodes.get_mut(&reference) {
                node.n_inner += 1;
            }
        }
        graph
    }

    /// The objects with references from outside, and all that these reach.
    fn reachable_from_outside(&self) -> FxHashSet<usize> {
        // One reference is the graph's own.
        let is_root = |node: &&Node| n_references(&node.value) > node.n_inner + 1;
        let mut waiting: Vec<usize> =
            self.nodes.values().filter(is_root).filter_map(|node| address(&node.value)).collect();
        let mut reachable = FxHashSet::default();
        while let Some(next) = waiting.pop() {
            if let Some(node) = self.nodes.get(&next)
                && reachable.insert(next)
            {
                each_reference(&node.value, &mut |value| waiting.extend(address(value)));
            }
        }
        reachable
    }
}

/// Whether a value holds others. Modules do not count: their names are cleared when the host ends.
fn may_lead_on(value: &Value) -> bool {
    value.is_object() && !matches!(value, Value::Module(_)) && address(value).is_some()
}

/// The address of an object that may reference others.
fn address(value: &Value) -> Option<usize> {
    fn of<T>(object: &Rc<T>) -> Option<usize> {
        Some(Rc::as_ptr(object) as usize)
    }
    match value {
        Value::List(list) => of(list),
        Value::Tuple(tuple) => of(tuple),
        Value::Dict(dict) => of(dict),
        Value::Set(set) | Value::FrozenSet(set) => of(set),
        Value::Slice(slice) => of(slice),
        Value::Function(function) => of(function),
        Value::Method(method) => of(method),
        Value::Descriptor(descriptor) => of(descriptor),
        Value::Super(found) => of(found),
        Value::Class(class) => of(class),
        Value::Instance(instance) => of(instance),
        Value::Module(module) => of(module),
        Value::Iter(iter) => of(iter),
        Value::Generator(generator) => of(generator),
        Value::Native(object) => of(object),
        Value::Cell(cell) => of(cell),
        _ => None,
    }
}

/// How many references there are to an object that has an address.
fn n_references(value: &Value) -> usize {
    match value {
        Value::List(list) => Rc::strong_count(list),
        Value::Tuple(tuple) => Rc::strong_count(tuple),
        Value::Dict(dict) => Rc::strong_count(dict),
        Value::Set(set) | Value::FrozenSet(set) => Rc::strong_count(set),
        Value::Slice(slice) => Rc::strong_count(slice),
        Value::Function(function) => Rc::strong_count(function),
        Value::Method(method) => Rc::strong_count(method),
        Value::Descriptor(descriptor) => Rc::strong_count(descriptor),
        Value::Super(found) => Rc::strong_count(found),
        Value::Class(class) => Rc::strong_count(class),
        Value::Instance(instance) => Rc::strong_count(instance),
        Value::Module(module) => Rc::strong_count(module),
        Value::Iter(iter) => Rc::strong_count(iter),
        Value::Generator(generator) => Rc::strong_count(generator),
        Value::Native(object) => Rc::strong_count(object),
        Value::Cell(cell) => Rc::strong_count(cell),
        _ => 0,
    }
}

/// Visits each value that an object references, once for each reference. A reference that is not visited
/// counts as one from outside, so its target stays.
fn each_reference(value: &Value, visit: &mut dyn FnMut(&Value)) {
    match value {
        Value::List(list) => list.borrow().iter().for_each(visit),
        Value::Tuple(tuple) => tuple.iter().for_each(visit),
        Value::Dict(dict) => {
            for (key, value) in &*dict.borrow() {
                visit(&key.value);
                visit(value);
            }
        }
        Value::Set(set) | Value::FrozenSet(set) => set.borrow().keys().for_each(|key| visit(&key.value)),
        Value::Slice(slice) => [&slice.start, &slice.stop, &slice.step].into_iter().for_each(visit),
        Value::Function(function) => function.each_value(visit),
        Value::Method(method) => [&method.function, &method.receiver].into_iter().for_each(visit),
        Value::Descriptor(descriptor) => descriptor.each_value(visit),
        Value::Super(found) => {
            visit(&Value::Class(found.class.clone()));
            visit(&found.receiver);
        }
        Value::Class(class) => {
            class.own_attrs().values().for_each(&mut *visit);
            class.base.iter().for_each(|base| visit(&Value::Class(base.clone())));
        }
        Value::Instance(instance) => {
            visit(&Value::Class(instance.class().clone()));
            instance.fields.borrow().each_value(visit);
            match &instance.payload {
                Payload::None => {}
                Payload::Value(value) => value.get().into_iter().for_each(visit),
                Payload::Exception(data) => {
                    data.args.borrow().iter().for_each(&mut *visit);
                    data.members.borrow().values().for_each(&mut *visit);
                    for linked in [&data.cause, &data.context] {
                        linked.borrow().iter().for_each(|linked| visit(&Value::Instance(linked.clone())));
                    }
                }
            }
        }
        Value::Module(module) => module.namespace.each_value(visit),
        Value::Iter(iter) => match &*iter.0.borrow() {
            IterState::List { list, .. } => visit(&Value::List(list.clone())),
            IterState::Tuple { tuple, .. } => visit(&Value::Tuple(tuple.clone())),
            IterState::DictKeys { dict, .. }
            | IterState::DictValues { dict, .. }
            | IterState::DictItems { dict, .. } => visit(&Value::Dict(dict.clone())),
            IterState::Set { set, .. } => visit(&Value::Set(set.clone())),
            IterState::Sequence { object, .. } => visit(object),
            _ => {}
        },
        Value::Generator(generator) => {
            if let GeneratorState::Suspended { function, registers, .. } = &*generator.state.borrow() {
                visit(&Value::Function(function.clone()));
                registers.iter().for_each(visit);
            }
        }
        Value::Native(object) => object.object().each_value(visit),
        Value::Cell(cell) => visit(&cell.get()),
        _ => {}
    }
}

/// Empties the caches of an object's code, which hold functions and classes beside the counts of the graph.
fn forget_caches(value: &Value, codes: &mut FxHashSet<*const LoadedCode>) {
    let code = match value {
        Value::Function(function) => Some(&function.code),
        Value::Class(class) => {
            class.forget_init();
            class.body.as_ref()
        }
        Value::Generator(generator) => {
            if let GeneratorState::Suspended { function, .. } = &*generator.state.borrow() {
                function.code.forget_caches(codes);
            }
            None
        }
        _ => None,
    };
    if let Some(code) = code {
        code.forget_caches(codes);
    }
}

/// Removes the references of an object that can be changed: every cycle includes such an object.
fn take_contents(value: &Value, contents: &mut Vec<Box<dyn Any>>) {
    match value {
        Value::List(list) => contents.push(Box::new(std::mem::take(&mut *list.borrow_mut()))),
        Value::Dict(dict) => contents.push(Box::new(std::mem::take(&mut *dict.borrow_mut()))),
        Value::Set(set) => contents.push(Box::new(std::mem::take(&mut *set.borrow_mut()))),
        Value::Function(function) => contents.push(Box::new(function.take_contents())),
        Value::Class(class) => contents.push(Box::new(class.take_attrs())),
        Value::Instance(instance) => {
            contents.push(Box::new(instance.take_fields()));
            if let Some(data) = instance.exception() {
                contents.push(Box::new((
                    data.args.take(),
                    data.members.take(),
                    data.cause.take(),
                    data.context.take(),
                )));
            }
        }
        Value::Iter(iter) => contents.push(Box::new(iter.0.replace(IterState::Done))),
        Value::Generator(generator) => {
            contents.push(Box::new(generator.state.replace(GeneratorState::Done)));
        }
        Value::Cell(cell) => contents.push(Box::new(cell.put(Value::Unset))),
        _ => {}
    }
}
