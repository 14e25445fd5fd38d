//! The lazy iterators: `enumerate`, `zip`, `map`, `filter`, `reversed`, and `iter(callable, sentinel)`.
//!
//! Each is a type, so that `isinstance(x, zip)` and `map.__name__` work; `__next__` advances its state.

use std::cell::RefCell;
use std::rc::Rc;

use super::big_range::{self, BigRange};
use super::support::flag;
use crate::errors;
use crate::value::{Args, BinaryOp, Dict, List, Native, NativeDef, NativeIter, NativeType, Result, Value};
use crate::vm::Vm;

macro_rules! iterator_types {
    ($($type:ident = $name:literal, $new:expr, $signature:literal, $doc:literal;)*) => {
        $(pub static $type: NativeType = NativeType {
            new: Some($new),
            methods: METHODS,
            ..NativeType::new($name, "builtins").doc($signature, $doc)
        };)*
    };
}

iterator_types! {
    ENUMERATE = "enumerate", new_enumerate,
        "(iterable, start=0)",
        "Yields pairs of a count and an item of the iterable.";
    ZIP = "zip", new_zip,
        "(*iterables, strict=False)",
        "Yields tuples with an item of each iterable, until the shortest ends.";
    MAP = "map", new_map,
        "(func, *iterables)",
        "Yields what a function returns for the items of each iterable.";
    FILTER = "filter", new_filter,
        "(function_or_None, iterable)",
        "Yields the items for which a function is true, or that are true themselves.";
    REVERSED = "reversed", new_reversed,
        "(sequence, /)",
        "Yields the items of a sequence from the last to the first.";
}

static METHODS: &[NativeDef] =
    &[NativeDef::method("__next__", step), NativeDef::method("__iter__", |_, args| args.receiver().cloned())];

/// Of iterators over built-in values.
pub static BUILTIN_METHODS: &[NativeDef] = &[
    NativeDef::method("__next__", next_of_builtin),
    NativeDef::method("__iter__", |_, args| args.receiver().cloned()),
];

fn next_of_builtin(vm: &mut Vm, args: &Args) -> Result {
    let [] = args.rest().exactly("__next__")?;
    vm.next(args.receiver()?)?.ok_or_else(|| errors::stop_iteration(Value::None))
}

/// An iterator of one of the types above.
struct LazyIter {
    ty: &'static NativeType,
    /// `None` while a step runs, and after the end.
    state: RefCell<Option<State>>,
}

enum State {
    Enumerate {
        items: Value,
        next: Value,
    },
    Zip {
        iters: Vec<Value>,
        strict: bool,
    },
    Map {
        func: Value,
        iters: Vec<Value>,
    },
    /// `func` is None to filter by the truth of the items.
    Filter {
        func: Value,
        items: Value,
    },
    /// `at` counts the items that are left.
    Reversed {
        sequence: Value,
        at: usize,
    },
}

impl LazyIter {
    fn value(ty: &'static NativeType, state: State) -> Value {
        Value::native(LazyIter { ty, state: RefCell::new(Some(state)) })
    }
}

impl Native for LazyIter {
    fn native_type(&self) -> &'static NativeType {
        self.ty
    }

    fn iter(&self, this: &Value, _: &mut Vm) -> Result<Option<Value>> {
        Ok(Some(this.clone()))
    }
}

/// `__next__`: the state is taken out while it advances, because a step may run a script.
fn step(vm: &mut Vm, args: &Args) -> Result {
    let iter = args.this::<LazyIter>()?;
    let taken = iter.state.borrow_mut().take();
    let Some(mut state) = taken else { return Err(errors::stop_iteration(Value::None)) };
    let item = state.step(vm);
    // An error leaves the iterator as it was, as in CPython; only the end is for ever.
    if !matches!(item, Ok(Err(_))) {
        *iter.state.borrow_mut() = Some(state);
    }
    item?.map_err(errors::stop_iteration)
}

/// An item, or the return value of an exhausted iterator.
type Step<T = Value> = std::result::Result<T, Value>;

impl State {
    fn step(&mut self, vm: &mut Vm) -> Result<Step> {
        match self {
            State::Enumerate { items, next } => {
                let item = match vm.advance(items)? {
                    Ok(item) => item,
                    end => return Ok(end),
                };
                let following = vm.binary(BinaryOp::Add, next, &Value::Int(1))?;
                Ok(Ok(Value::tuple([std::mem::replace(next, following), item])))
            }
            State::Zip { iters, strict: false } => Ok(next_of_each(vm, iters)?.map(Value::tuple)),
            State::Zip { iters, strict: true } => Ok(next_of_all(vm, iters)?.ok_or(Value::None)),
            State::Map { func, iters } => match next_of_each(vm, iters)? {
                Ok(items) => vm.call(func, &items).map(Ok),
                Err(end) => Ok(Err(end)),
            },
            State::Filter { func, items } => loop {
                let item = match vm.advance(items)? {
                    Ok(item) => item,
                    end => return Ok(end),
                };
                vm.poll()?;
                let verdict =
                    if func.is_none() { item.clone() } else { vm.call(func, std::slice::from_ref(&item))? };
                if vm.truth(&verdict)? {
                    return Ok(Ok(item));
                }
            },
            State::Reversed { sequence, at } => {
                let Some(previous) = at.checked_sub(1) else { return Ok(Err(Value::None)) };
                *at = previous;
                match vm.get_item(sequence, &Value::from(previous)) {
                    // The sequence became shorter meanwhile.
                    Err(raise) if raise.is(crate::value::ExceptionKind::IndexError) => Ok(Err(Value::None)),
                    item => item.map(Ok),
                }
            }
        }
    }
}

/// One item of each iterator; `Err` if one is exhausted, or there is none.
fn next_of_each(vm: &mut Vm, iters: &[Value]) -> Result<Step<Vec<Value>>> {
    let mut items = Vec::with_capacity(iters.len());
    for iter in iters {
        match vm.advance(iter)? {
            Ok(item) => items.push(item),
            Err(end) => return Ok(Err(end)),
        }
    }
    Ok(if iters.is_empty() { Err(Value::None) } else { Ok(items) })
}

/// As [`next_of_each`], for `zip(strict=True)`: all must end together.
fn next_of_all(vm: &mut Vm, iters: &[Value]) -> Result<Option<Value>> {
    let mut items = Vec::with_capacity(iters.len());
    for (at, iter) in iters.iter().enumerate() {
        match vm.next(iter)? {
            Some(item) if items.len() == at => items.push(item),
            Some(_) => return Err(uneven("longer", at)),
            None if at > 0 && items.len() == at => return Err(uneven("shorter", at)),
            None => {}
        }
    }
    Ok(if items.is_empty() { None } else { Some(Value::tuple(items)) })
}

/// Iterator number `at`, from 0, is of another length than those before it.
fn uneven(how: &str, at: usize) -> crate::value::Raise {
    let others = if at == 1 { "argument 1".to_owned() } else { format!("arguments 1-{at}") };
    errors::value_error(format!("zip() argument {} is {how} than {others}", at + 1))
}

fn new_enumerate(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("enumerate");
    let items = parser.required("iterable")?;
    let start = parser.optional("start")?;
    parser.finish()?;
    let next = match start {
        None => Value::Int(0),
        Some(start) => Value::big(super::int::required(vm, start)?),
    };
    let items = vm.iter(items)?;
    Ok(LazyIter::value(&ENUMERATE, State::Enumerate { items, next }))
}

fn new_zip(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("zip");
    let items = parser.rest();
    let strict = parser.keyword_only("strict");
    parser.finish()?;
    let strict = flag(vm, strict, false)?;
    let mut iters = Vec::with_capacity(items.len());
    for (at, items) in items.iter().enumerate() {
        iters.push(vm.iter(items).map_err(|raise| {
            let message = format!("'{}' object is not iterable", items.type_name());
            let is_not_iterable =
                raise.is(crate::value::ExceptionKind::TypeError) && !matches!(items, Value::Instance(_));
            if is_not_iterable {
                errors::type_error(message).help(format!("it is argument {} of zip()", at + 1))
            } else {
                raise
            }
        })?);
    }
    Ok(LazyIter::value(&ZIP, State::Zip { iters, strict }))
}

fn new_map(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("map");
    let all = parser.rest();
    parser.finish()?;
    let [func, items @ ..] = all else {
        return Err(errors::type_error("map() must have at least two arguments."));
    };
    if items.is_empty() {
        return Err(errors::type_error("map() must have at least two arguments."));
    }
    let iters: Result<Vec<Value>> = items.iter().map(|items| vm.iter(items)).collect();
    Ok(LazyIter::value(&MAP, State::Map { func: func.clone(), iters: iters? }))
}

fn new_filter(vm: &mut Vm, args: &Args) -> Result {
    let [func, items] = args.exactly("filter")?;
    let items = vm.iter(items)?;
    Ok(LazyIter::value(&FILTER, State::Filter { func: func.clone(), items }))
}

fn new_reversed(vm: &mut Vm, args: &Args) -> Result {
    let [sequence] = args.exactly("reversed")?;
    if let Some(function) = vm.script_method(sequence, "__reversed__") {
        return vm.call_method_value(&function, sequence, &[]);
    }
    let not_reversible =
        || errors::type_error(format!("'{}' object is not reversible", sequence.type_name()));
    match sequence.base_value() {
        Value::List(list) => Ok(Value::native_iter(ReversedList { list: list.clone(), at: list.len() })),
        Value::Dict(dict) => Ok(reversed_dict(dict)),
        Value::Str(_) | Value::Tuple(_) | Value::Bytes(_) | Value::Range(_) => {
            reversed_items(vm, sequence.base_value())
        }
        Value::Native(object)
            if object.native_type().methods.iter().any(|def| def.name == "__reversed__") =>
        {
            let items = vm.collect(sequence)?;
            reversed_items(vm, &Value::tuple(items))
        }
        Value::Native(_) => match sequence.downcast::<BigRange>() {
            Some(range) => Ok(big_range::reversed(range)),
            None => reversed_items(vm, sequence),
        },
        Value::Instance(_) if vm.script_method(sequence, "__getitem__").is_some() => {
            reversed_items(vm, sequence)
        }
        _ => Err(not_reversible()),
    }
}

/// `__reversed__` of the built-in types that have one.
pub fn reversed_method(vm: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("__reversed__")?;
    new_reversed(vm, &Args::new(std::slice::from_ref(args.receiver()?), &[]))
}

fn reversed_items(vm: &mut Vm, sequence: &Value) -> Result {
    let at = vm.len(sequence)?;
    Ok(LazyIter::value(&REVERSED, State::Reversed { sequence: sequence.clone(), at }))
}

/// A list may change while it is walked.
struct ReversedList {
    list: Rc<List>,
    at: usize,
}

impl NativeIter for ReversedList {
    fn next(&mut self, _: &mut Vm) -> Result<Option<Value>> {
        let item = self.at.checked_sub(1).and_then(|at| self.list.borrow().get(at).cloned());
        self.at = if item.is_some() { self.at - 1 } else { 0 };
        Ok(item)
    }

    fn type_name(&self) -> &'static str {
        "list_reverseiterator"
    }
}

struct ReversedDict {
    dict: Rc<Dict>,
    at: usize,
    len: usize,
}

fn reversed_dict(dict: &Rc<Dict>) -> Value {
    Value::native_iter(ReversedDict { dict: dict.clone(), at: dict.len(), len: dict.len() })
}

impl NativeIter for ReversedDict {
    fn next(&mut self, _: &mut Vm) -> Result<Option<Value>> {
        if self.dict.len() != self.len {
            return Err(errors::runtime_error("dictionary changed size during iteration"));
        }
        let Some(at) = self.at.checked_sub(1) else { return Ok(None) };
        self.at = at;
        Ok(self.dict.entry_at(at).map(|(key, _)| key))
    }

    fn type_name(&self) -> &'static str {
        "dict_reversekeyiterator"
    }
}

/// `iter(callable, sentinel)`: calls until the result equals the sentinel.
pub struct CallIter {
    pub callee: Value,
    pub sentinel: Value,
}

impl NativeIter for CallIter {
    fn next(&mut self, vm: &mut Vm) -> Result<Option<Value>> {
        let item = vm.call(&self.callee, &[])?;
        let is_end = vm.same(&item, &self.sentinel)?;
        Ok(if is_end { None } else { Some(item) })
    }

    fn type_name(&self) -> &'static str {
        "callable_iterator"
    }
}
