//! Methods and attributes of tuple, range and slice.

use std::rc::Rc;

use super::big_range::BigRange;
use super::protocol;
use super::support::{bound, window};
use crate::errors;
use crate::text::slice::SliceIndices;
use crate::value::{Args, NativeDef, Result, Slice, Tuple, Value};
use crate::vm::Vm;

pub static TUPLE_METHODS: &[NativeDef] = &[
    NativeDef::class_method("__class_getitem__", super::generic_alias::of_class),
    NativeDef::method("index", tuple_index),
    NativeDef::method("count", tuple_count),
    NativeDef::method("__len__", protocol::len),
    NativeDef::method("__iter__", protocol::iter),
    NativeDef::method("__contains__", protocol::contains),
    NativeDef::method("__getitem__", protocol::get_item),
    NativeDef::method("__add__", protocol::add),
    NativeDef::method("__mul__", protocol::mul),
    NativeDef::method("__rmul__", protocol::rmul),
    NativeDef::method("__lt__", protocol::lt),
    NativeDef::method("__le__", protocol::le),
    NativeDef::method("__gt__", protocol::gt),
    NativeDef::method("__ge__", protocol::ge),
];

pub static RANGE_METHODS: &[NativeDef] = &[
    NativeDef::getter("start", |_, args| Ok(Value::big(range(args)?.start))),
    NativeDef::getter("stop", |_, args| Ok(Value::big(range(args)?.stop))),
    NativeDef::getter("step", |_, args| Ok(Value::big(range(args)?.step))),
    NativeDef::method("index", range_index),
    NativeDef::method("count", range_count),
    NativeDef::method("__len__", protocol::len),
    NativeDef::method("__iter__", protocol::iter),
    NativeDef::method("__contains__", protocol::contains),
    NativeDef::method("__getitem__", protocol::get_item),
    NativeDef::method("__reversed__", super::iterators::reversed_method),
];

pub static SLICE_METHODS: &[NativeDef] = &[
    NativeDef::getter("start", |_, args| Ok(slice(args)?.start.clone())),
    NativeDef::getter("stop", |_, args| Ok(slice(args)?.stop.clone())),
    NativeDef::getter("step", |_, args| Ok(slice(args)?.step.clone())),
    NativeDef::method("indices", slice_indices),
];

fn tuple<'a>(args: &Args<'a>) -> Result<&'a Rc<Tuple>> {
    match args.receiver()? {
        Value::Tuple(tuple) => Ok(tuple),
        other => Err(errors::wrong_receiver(other)),
    }
}

fn range(args: &Args) -> Result<BigRange> {
    let receiver = args.receiver()?;
    BigRange::from_value(receiver).ok_or_else(|| errors::wrong_receiver(receiver))
}

fn slice<'a>(args: &Args<'a>) -> Result<&'a Rc<Slice>> {
    match args.receiver()? {
        Value::Slice(slice) => Ok(slice),
        other => Err(errors::wrong_receiver(other)),
    }
}

fn tuple_index(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("index");
    let value = parser.positional("value")?;
    let (start, end) = (parser.optional_positional(), parser.optional_positional());
    parser.finish()?;
    let (start, end) = (bound(vm, start)?, bound(vm, end)?);
    let tuple = tuple(args)?;
    let (start, end) = window(start, end, tuple.len()).unwrap_or((0, 0));
    for at in start..end {
        if vm.same(&tuple[at], value)? {
            return Ok(Value::from(at));
        }
    }
    Err(errors::value_error("tuple.index(x): x not in tuple"))
}

fn tuple_count(vm: &mut Vm, args: &Args) -> Result {
    let [value] = args.rest().exactly("tuple.count")?;
    let mut n_found = 0;
    for item in tuple(args)?.iter() {
        n_found += vm.same(item, value)? as i64;
    }
    Ok(Value::Int(n_found))
}

fn range_index(vm: &mut Vm, args: &Args) -> Result {
    let [value] = args.rest().exactly("range.index")?;
    match range(args)?.position(value) {
        Some(at) => Ok(Value::big(at)),
        None => {
            let message = format!("{} is not in range", vm.repr(value)?);
            Err(errors::value_error(message))
        }
    }
}

fn range_count(_: &mut Vm, args: &Args) -> Result {
    let [value] = args.rest().exactly("range.count")?;
    Ok(Value::Int(range(args)?.position(value).is_some() as i64))
}

fn slice_indices(vm: &mut Vm, args: &Args) -> Result {
    let [len] = args.rest().exactly("slice.indices")?;
    let slice = slice(args)?;
    let Ok(len) = usize::try_from(super::support::index(vm, len)?) else {
        return Err(errors::value_error("length should not be negative"));
    };
    let start = bound(vm, Some(&slice.start))?;
    let stop = bound(vm, Some(&slice.stop))?;
    let step = bound(vm, Some(&slice.step))?;
    let indices = SliceIndices::new(start, stop, step, len)?;
    Ok(Value::tuple([indices.start, indices.stop, indices.step].map(Value::Int)))
}
