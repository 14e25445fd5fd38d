//! bytearray: mutable bytes. Its methods are those of bytes and those of a list of bytes.

use std::cell::RefCell;

use super::support::{bound, index};
use super::{bytes, protocol};
use crate::errors;
use crate::memory;
use crate::ops::Side;
use crate::text::quote;
use crate::text::slice::SliceIndices;
use crate::value::{
    Args, BinaryOp, CompareOp, IterState, Native, NativeDef, NativeIter, NativeType, Result, Slice, Value,
};
use crate::vm::Vm;

pub static TYPE: NativeType = NativeType {
    new: Some(new),
    methods: METHODS,
    ..NativeType::new("bytearray", "builtins")
        .doc("(source=b''[, encoding[, errors]])", "A mutable sequence of bytes, of ints, a text or a size.")
};

static METHODS: &[NativeDef] = &[
    NativeDef::method("append", append),
    NativeDef::method("extend", extend),
    NativeDef::method("insert", insert),
    NativeDef::method("pop", pop),
    NativeDef::method("remove", remove),
    NativeDef::method("reverse", reverse),
    NativeDef::method("clear", clear),
    NativeDef::method("copy", copy),
    NativeDef::static_method("fromhex", fromhex),
    NativeDef::method("__setitem__", protocol::set_item),
    NativeDef::method("__delitem__", protocol::delete_item),
];

/// A bytearray object.
#[derive(Default)]
pub struct ByteArray(RefCell<Vec<u8>>);

impl ByteArray {
    pub fn new(bytes: Vec<u8>) -> ByteArray {
        ByteArray(RefCell::new(bytes))
    }

    pub fn to_vec(&self) -> Vec<u8> {
        self.0.borrow().clone()
    }

    fn len(&self) -> usize {
        self.0.borrow().len()
    }

    /// The indices that a slice selects. Its bounds are evaluated first: their `__index__` may change the
    /// array.
    fn indices(&self, vm: &mut Vm, slice: &Slice) -> Result<SliceIndices> {
        let start = bound(vm, Some(&slice.start))?;
        let stop = bound(vm, Some(&slice.stop))?;
        let step = bound(vm, Some(&slice.step))?;
        Ok(SliceIndices::new(start, stop, step, self.len())?)
    }
}

impl Native for ByteArray {
    fn native_type(&self) -> &'static NativeType {
        &TYPE
    }

    fn get_attr(&self, this: &Value, _: &mut Vm, name: &str) -> Result<Option<Value>> {
        // The methods that only read are those of bytes.
        let Some(def) = bytes::METHODS.iter().find(|def| def.name == name) else { return Ok(None) };
        let function = Value::NativeFunction(crate::value::NativeFunction::of_module(def).into());
        if def.kind == crate::value::NativeKind::Static {
            return Ok(Some(function));
        }
        let receiver = this.clone();
        Ok(Some(Value::Method(crate::value::BoundMethod { function, receiver }.into())))
    }

    fn get_item(&self, _: &Value, vm: &mut Vm, index: &Value) -> Result<Option<Value>> {
        if let Value::Slice(slice) = index {
            let indices = self.indices(vm, slice)?;
            let bytes = self.0.borrow();
            let part = indices.positions().map(|at| bytes[at]).collect();
            return Ok(Some(Value::native(ByteArray::new(part))));
        }
        let len = self.len();
        let at = vm.position(index, len, "bytearray")?;
        Ok(self.0.borrow().get(at).map(|&byte| Value::Int(byte as i64)))
    }

    fn set_item(&self, _: &Value, vm: &mut Vm, index: &Value, value: &Value) -> Result<bool> {
        let Value::Slice(slice) = index else {
            let byte = byte(vm, value)?;
            let len = self.len();
            let at = vm.position(index, len, "bytearray")?;
            if let Some(place) = self.0.borrow_mut().get_mut(at) {
                *place = byte;
            }
            return Ok(true);
        };
        let items = match bytes::like(value) {
            Some(items) => items,
            None => bytes::from_items(vm, value)?,
        };
        let indices = self.indices(vm, slice)?;
        let mut bytes = self.0.borrow_mut();
        if indices.step == 1 {
            let start = indices.start as usize;
            bytes.splice(start..start + indices.len, items);
            return Ok(true);
        }
        if items.len() != indices.len {
            return Err(errors::value_error(format!(
                "attempt to assign bytes of size {} to extended slice of size {}",
                items.len(),
                indices.len
            )));
        }
        indices.positions().zip(items).for_each(|(at, item)| bytes[at] = item);
        Ok(true)
    }

    fn delete_item(&self, _: &Value, vm: &mut Vm, index: &Value) -> Result<bool> {
        let doomed: Vec<usize> = match index {
            Value::Slice(slice) => self.indices(vm, slice)?.positions().collect(),
            _ => {
                let len = self.len();
                vec![vm.position(index, len, "bytearray")?]
            }
        };
        let mut keep = vec![true; self.len().max(doomed.iter().max().map_or(0, |last| last + 1))];
        doomed.into_iter().for_each(|at| keep[at] = false);
        let mut keep = keep.into_iter();
        self.0.borrow_mut().retain(|_| keep.next().unwrap_or(true));
        Ok(true)
    }

    fn len(&self, _: &mut Vm) -> Result<Option<usize>> {
        Ok(Some(self.0.borrow().len()))
    }

    fn iter(&self, this: &Value, _: &mut Vm) -> Result<Option<Value>> {
        Ok(Some(Value::iter(IterState::Native(Box::new(Bytes { array: this.clone(), at: 0 })))))
    }

    fn contains(&self, _: &Value, vm: &mut Vm, item: &Value) -> Result<Option<bool>> {
        let item = bytes::like(item).map_or_else(|| item.clone(), Value::bytes);
        vm.contains(&Value::bytes(self.to_vec()), &item).map(Some)
    }

    fn binary(
        &self,
        _: &Value,
        vm: &mut Vm,
        op: BinaryOp,
        side: Side,
        other: &Value,
    ) -> Result<Option<Value>> {
        let this = Value::bytes(self.to_vec());
        let other = bytes::like(other).map_or_else(|| other.clone(), Value::bytes);
        let (left, right) = if side == Side::Left { (&this, &other) } else { (&other, &this) };
        let result = vm.try_binary(op, left, right)?;
        Ok(result.map(|value| match bytes::like(&value) {
            Some(bytes) if side == Side::Left => Value::native(ByteArray::new(bytes)),
            _ => value,
        }))
    }

    fn binary_in_place(
        &self,
        this: &Value,
        vm: &mut Vm,
        op: BinaryOp,
        other: &Value,
    ) -> Result<Option<Value>> {
        match (op, bytes::like(other)) {
            (BinaryOp::Mul, None) => {
                let repeated = vm.binary(op, &Value::bytes(self.to_vec()), other)?;
                let Some(repeated) = bytes::like(&repeated) else { return Ok(None) };
                *self.0.borrow_mut() = repeated;
                Ok(Some(this.clone()))
            }
            (BinaryOp::Add, Some(more)) => {
                memory::make_more_room(&mut self.0.borrow_mut(), more.len())?;
                self.0.borrow_mut().extend(more);
                Ok(Some(this.clone()))
            }
            _ => Ok(None),
        }
    }

    fn compare(&self, _: &Value, vm: &mut Vm, op: CompareOp, other: &Value) -> Result<Option<Value>> {
        let Some(other) = bytes::like(other) else { return Ok(None) };
        vm.compare(op, &Value::bytes(self.to_vec()), &Value::bytes(other)).map(Some)
    }

    fn repr(&self, _: &Value, _: &mut Vm) -> Result<String> {
        Ok(format!("bytearray({})", quote::bytes_repr(&self.0.borrow())))
    }

    fn hash(&self, _: &Value, _: &mut Vm) -> Result<Option<i64>> {
        Ok(None)
    }
}

struct Bytes {
    array: Value,
    at: usize,
}

impl NativeIter for Bytes {
    fn next(&mut self, _: &mut Vm) -> Result<Option<Value>> {
        let Some(array) = self.array.downcast::<ByteArray>() else { return Ok(None) };
        let byte = array.0.borrow().get(self.at).copied();
        self.at += 1;
        Ok(byte.map(|byte| Value::Int(byte as i64)))
    }

    fn type_name(&self) -> &'static str {
        "bytearray_iterator"
    }
}

fn new(vm: &mut Vm, args: &Args) -> Result {
    Ok(Value::native(ByteArray::new(bytes::from_args(vm, args, "bytearray")?)))
}

fn byte(vm: &mut Vm, value: &Value) -> Result<u8> {
    match value.base_value() {
        Value::Int(_) | Value::Bool(_) | Value::BigInt(_) => {
            let int = value.as_int().and_then(|int| u8::try_from(int).ok());
            int.ok_or_else(errors::byte_out_of_range)
        }
        _ => bytes::byte(vm, value),
    }
}

fn append(vm: &mut Vm, args: &Args) -> Result {
    let [item] = args.rest().exactly("bytearray.append")?;
    let byte = byte(vm, item)?;
    let mut bytes = args.this::<ByteArray>()?.0.borrow_mut();
    memory::make_room(&mut bytes)?;
    bytes.push(byte);
    Ok(Value::None)
}

fn extend(vm: &mut Vm, args: &Args) -> Result {
    let [items] = args.rest().exactly("bytearray.extend")?;
    let more = match bytes::like(items) {
        Some(bytes) => bytes,
        None => bytes::from_items(vm, items)?,
    };
    let mut bytes = args.this::<ByteArray>()?.0.borrow_mut();
    memory::make_more_room(&mut bytes, more.len())?;
    bytes.extend(more);
    Ok(Value::None)
}

fn insert(vm: &mut Vm, args: &Args) -> Result {
    let [at, item] = args.rest().exactly("insert")?;
    let (at, byte) = (index(vm, at)?, byte(vm, item)?);
    let mut bytes = args.this::<ByteArray>()?.0.borrow_mut();
    let at = super::list::insertion_point(at, bytes.len());
    memory::make_room(&mut bytes)?;
    bytes.insert(at, byte);
    Ok(Value::None)
}

fn pop(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.method_parser("pop");
    let at = parser.optional_positional();
    parser.finish()?;
    let at = at.map_or(Ok(-1), |at| index(vm, at))?;
    let mut bytes = args.this::<ByteArray>()?.0.borrow_mut();
    if bytes.is_empty() {
        return Err(errors::index_error("pop from empty bytearray"));
    }
    match crate::text::slice::position(at, bytes.len()) {
        Some(at) => Ok(Value::Int(bytes.remove(at) as i64)),
        None => Err(errors::index_error("pop index out of range")),
    }
}

fn remove(vm: &mut Vm, args: &Args) -> Result {
    let [item] = args.rest().exactly("bytearray.remove")?;
    let byte = byte(vm, item)?;
    let mut bytes = args.this::<ByteArray>()?.0.borrow_mut();
    match bytes.iter().position(|&candidate| candidate == byte) {
        Some(at) => {
            bytes.remove(at);
            Ok(Value::None)
        }
        None => Err(errors::value_error("value not found in bytearray")),
    }
}

fn reverse(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("bytearray.reverse")?;
    args.this::<ByteArray>()?.0.borrow_mut().reverse();
    Ok(Value::None)
}

fn clear(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("bytearray.clear")?;
    args.this::<ByteArray>()?.0.borrow_mut().clear();
    Ok(Value::None)
}

fn copy(_: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("bytearray.copy")?;
    Ok(Value::native(ByteArray::new(args.this::<ByteArray>()?.to_vec())))
}

fn fromhex(_: &mut Vm, args: &Args) -> Result {
    let [text] = args.exactly("fromhex")?;
    let text = super::support::str_arg(text, "fromhex", 1)?;
    Ok(Value::native(ByteArray::new(bytes::parse_hex(text)?)))
}
