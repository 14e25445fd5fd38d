//! The result of `tensor.data()`: a live, flat view of the tensor's elements, in the form of a list.
//!
//! It prints and compares as a list does. Reads see the newest elements, assignments write to the tensor, and
//! its `base` is the tensor. The other members of an ndarray come from an ndarray over the same memory.

use std::rc::Rc;

use kps_compute::{Number, Tensor};
use kps_syntax::ast::UnaryOp;

use super::errors::{self, compute};
use super::values::{self, Elements};
use crate::errors::value_error;
use crate::modules::numpy::NdArray;
use crate::value::{Args, BinaryOp, CompareOp, Native, NativeDef, NativeType, Result, Slice, Value};
use crate::vm::Vm;

pub static TENSOR_DATA: NativeType = NativeType {
    methods: &[
        NativeDef::method("tolist", tolist),
        NativeDef::method("__array__", array),
        NativeDef::method("__abs__", |vm, args| of_array(vm, args, "__abs__")),
        NativeDef::method("__copy__", |vm, args| of_array(vm, args, "copy")),
        NativeDef::method("__deepcopy__", |vm, args| of_array(vm, args, "copy")),
        NativeDef::getter("base", base),
        NativeDef::getter("size", size),
        NativeDef::getter("shape", shape),
        NativeDef::getter("dtype", dtype),
    ],
    ..NativeType::new("TensorData", "kp")
};

/// Some of the elements of a tensor: `n` from `start` on in steps of `step`.
pub struct TensorData {
    base: Value,
    tensor: Tensor,
    start: i64,
    step: i64,
    n: usize,
}

/// Whether an index selects by axes, as an array's does: `t[:, 1]`, `t[..., 0]`, `t[mask]`. One number or one
/// slice counts elements, whatever the shape.
pub fn selects_by_axes(index: &Value) -> bool {
    let is_many = |part: &Value| match part {
        Value::Ellipsis | Value::None | Value::List(_) | Value::Bool(_) => true,
        part => values::is_array(part),
    };
    match index {
        Value::Tuple(parts) => {
            parts.iter().any(|part| is_many(part) || matches!(part, Value::Slice(_) | Value::Tuple(_)))
        }
        index => is_many(index),
    }
}

/// `t[()]` is `t[:]`.
pub fn all_for_none(index: &Value) -> Value {
    match index {
        Value::Tuple(parts) if parts.is_empty() => {
            Value::Slice(Rc::new(Slice { start: Value::None, stop: Value::None, step: Value::None }))
        }
        index => index.clone(),
    }
}

impl TensorData {
    /// All elements. `base` is the tensor as the script holds it.
    pub fn whole(base: Value, tensor: &Tensor) -> Value {
        Value::native(TensorData::whole_view(base, tensor))
    }

    pub fn whole_view(base: Value, tensor: &Tensor) -> TensorData {
        TensorData { base, tensor: tensor.clone(), start: 0, step: 1, n: tensor.size() }
    }

    pub fn tensor(&self) -> &Tensor {
        &self.tensor
    }

    /// Whether it shows all elements in their order.
    pub fn is_whole(&self) -> bool {
        (self.start, self.step, self.n) == (0, 1, self.tensor.size())
    }

    fn flat(&self, at: usize) -> usize {
        (self.start + at as i64 * self.step) as usize
    }

    pub fn numbers(&self) -> Result<Vec<Number>> {
        if self.step == 1 {
            let start = self.flat(0);
            return self.tensor.range_numbers(start..start + self.n).map_err(compute);
        }
        (0..self.n).map(|at| self.tensor.get(self.flat(at)).map_err(compute)).collect()
    }

    pub fn elements(&self) -> Result<Elements> {
        let dtype = self.tensor.dtype();
        let mut bytes = vec![0; self.n * dtype.size()];
        for (number, place) in self.numbers()?.into_iter().zip(bytes.chunks_exact_mut(dtype.size())) {
            number.wrap(dtype, place);
        }
        Ok(Elements { dtype, shape: vec![self.n], bytes, written: self.array().written()? })
    }

    pub fn get(&self, vm: &mut Vm, index: &Value) -> Result {
        if let Value::Slice(slice) = index {
            let span = slice.span(vm, self.n)?;
            let start = self.start + span.start * self.step;
            let (base, tensor, step) = (self.base.clone(), self.tensor.clone(), self.step * span.step);
            return Ok(Value::native(TensorData { base, tensor, start, step, n: span.n }));
        }
        let at = vm.position(index, self.n, "list")?;
        Ok(values::value(self.tensor.get(self.flat(at)).map_err(compute)?))
    }

    pub fn set(&self, vm: &mut Vm, index: &Value, item: &Value) -> Result<()> {
        let Value::Slice(slice) = index else {
            let at = vm.position(index, self.n, "list")?;
            let number = values::number(item)?.ok_or_else(|| errors::not_numbers("a tensor", item))?;
            return self.tensor.set(self.flat(at), number).map_err(compute);
        };
        let span = slice.span(vm, self.n)?;
        let numbers = match values::number(item)? {
            Some(one) => vec![one; span.n],
            None => values::numbers(vm, item, "a tensor")?,
        };
        if numbers.len() != span.n {
            let message = format!("cannot assign {} elements to a slice of {}", numbers.len(), span.n);
            return Err(value_error(message));
        }
        for (at, number) in span.indices().zip(numbers) {
            self.tensor.set(self.flat(at), number).map_err(compute)?;
        }
        Ok(())
    }

    /// The ndarray over the same elements.
    pub fn array(&self) -> NdArray {
        let storage = self.tensor.storage().clone();
        let start = usize::try_from(self.start).unwrap_or(0);
        let array = NdArray::strided(storage, self.tensor.dtype(), start, self.step as isize, self.n);
        array.with_base(self.base.clone())
    }

    fn list(&self) -> Result {
        Ok(Value::list(self.numbers()?.into_iter().map(values::value).collect()))
    }
}

fn tolist(_: &mut Vm, args: &Args) -> Result {
    args.this::<TensorData>()?.list()
}

fn array(_: &mut Vm, args: &Args) -> Result {
    Ok(Value::native(args.this::<TensorData>()?.array()))
}

/// The result of a method of the ndarray without arguments.
fn of_array(vm: &mut Vm, args: &Args, method: &str) -> Result {
    vm.call_method(&Value::native(args.this::<TensorData>()?.array()), method, &[])
}

fn base(_: &mut Vm, args: &Args) -> Result {
    Ok(args.this::<TensorData>()?.base.clone())
}

fn size(_: &mut Vm, args: &Args) -> Result {
    Ok(args.this::<TensorData>()?.n.into())
}

fn shape(_: &mut Vm, args: &Args) -> Result {
    Ok(Value::tuple([args.this::<TensorData>()?.n.into()]))
}

fn dtype(vm: &mut Vm, args: &Args) -> Result {
    super::dtype_value(vm, args.this::<TensorData>()?.tensor.dtype())
}

impl Native for TensorData {
    fn native_type(&self) -> &'static NativeType {
        &TENSOR_DATA
    }

    fn get_attr(&self, _: &Value, vm: &mut Vm, name: &str) -> Result<Option<Value>> {
        vm.find_attr(&Value::native(self.array()), name)
    }

    fn is_sequence(&self) -> bool {
        true
    }

    fn len(&self, _: &mut Vm) -> Result<Option<usize>> {
        Ok(Some(self.n))
    }

    fn get_item(&self, _: &Value, vm: &mut Vm, index: &Value) -> Result<Option<Value>> {
        let index = &all_for_none(index);
        if selects_by_axes(index) {
            return vm.get_item(&Value::native(self.array()), index).map(Some);
        }
        self.get(vm, index).map(Some)
    }

    fn set_item(&self, _: &Value, vm: &mut Vm, index: &Value, item: &Value) -> Result<bool> {
        let index = &all_for_none(index);
        if selects_by_axes(index) {
            return vm.set_item(&Value::native(self.array()), index, item.clone()).map(|()| true);
        }
        self.set(vm, index, item).map(|()| true)
    }

    fn iter(&self, _: &Value, vm: &mut Vm) -> Result<Option<Value>> {
        let list = self.list()?;
        vm.iter(&list).map(Some)
    }

    fn contains(&self, _: &Value, vm: &mut Vm, item: &Value) -> Result<Option<bool>> {
        let list = self.list()?;
        vm.contains(&list, item).map(Some)
    }

    /// As a list compares with lists; with an array or a number on the other side, element by element.
    fn compare(&self, _: &Value, vm: &mut Vm, op: CompareOp, other: &Value) -> Result<Option<Value>> {
        if values::number(other)?.is_some() {
            return vm.compare(op, &Value::native(self.array()), other).map(Some);
        }
        let other = match other.downcast::<TensorData>() {
            Some(view) => view.list()?,
            None => match other.base_value() {
                Value::List(_) => other.clone(),
                Value::Tuple(items) => Value::list(items.to_vec()),
                _ => return Ok(None),
            },
        };
        let list = self.list()?;
        vm.compare(op, &list, &other).map(Some)
    }

    /// Arithmetic is NumPy's.
    fn binary(
        &self,
        _: &Value,
        vm: &mut Vm,
        op: BinaryOp,
        side: crate::ops::Side,
        other: &Value,
    ) -> Result<Option<Value>> {
        super::array_binary(vm, self, op, side, other)
    }

    /// Into the tensor.
    fn binary_in_place(
        &self,
        this: &Value,
        vm: &mut Vm,
        op: BinaryOp,
        other: &Value,
    ) -> Result<Option<Value>> {
        vm.binary_in_place(op, &Value::native(self.array()), other)?;
        Ok(Some(this.clone()))
    }

    fn unary(&self, _: &Value, vm: &mut Vm, op: UnaryOp) -> Result<Option<Value>> {
        match op {
            UnaryOp::Not => Ok(None),
            op => vm.unary(op, &Value::native(self.array())).map(Some),
        }
    }

    fn repr(&self, _: &Value, vm: &mut Vm) -> Result<String> {
        let list = self.list()?;
        vm.repr(&list)
    }

    fn hash(&self, _: &Value, _: &mut Vm) -> Result<Option<i64>> {
        Ok(None)
    }
}
