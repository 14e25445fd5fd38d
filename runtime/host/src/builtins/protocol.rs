//! The dunder methods of built-in types. `hasattr(x, "__len__")` sees them, and a class derived from a
//! built-in type calls them through `super()`.
//!
//! Each acts on the built-in value itself, so that none calls the script's override again.

use kps_syntax::ast::UnaryOp;

use crate::errors;
use crate::value::{Args, BinaryOp, CompareOp, Result, Value};
use crate::vm::Vm;

pub fn len(vm: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("__len__")?;
    Ok(Value::from(vm.len(args.receiver()?)?))
}

pub fn iter(vm: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("__iter__")?;
    vm.iter(args.receiver()?)
}

pub fn contains(vm: &mut Vm, args: &Args) -> Result {
    let [item] = args.rest().exactly("__contains__")?;
    Ok(Value::Bool(vm.contains(args.receiver()?, item)?))
}

pub fn get_item(vm: &mut Vm, args: &Args) -> Result {
    let [index] = args.rest().exactly("__getitem__")?;
    vm.get_item(args.receiver()?, index)
}

pub fn set_item(vm: &mut Vm, args: &Args) -> Result {
    let [index, item] = args.rest().exactly("__setitem__")?;
    vm.set_item(args.receiver()?, index, item.clone())?;
    Ok(Value::None)
}

pub fn delete_item(vm: &mut Vm, args: &Args) -> Result {
    let [index] = args.rest().exactly("__delitem__")?;
    vm.delete_item(args.receiver()?, index)?;
    Ok(Value::None)
}

pub fn bool(vm: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("__bool__")?;
    Ok(Value::Bool(vm.truth(args.receiver()?)?))
}

pub fn format(vm: &mut Vm, args: &Args) -> Result {
    let [spec] = args.rest().exactly("__format__")?;
    let Some(spec) = spec.as_str() else {
        return Err(errors::type_error(format!(
            "__format__() argument must be str, not {}",
            spec.type_name()
        )));
    };
    Ok(Value::str(super::format::format_value(vm, args.receiver()?, spec)?))
}

fn binary(vm: &mut Vm, args: &Args, op: BinaryOp, method: &str) -> Result {
    let [other] = args.rest().exactly(method)?;
    let result = vm.try_binary(op, args.receiver()?, other.base_value())?;
    Ok(result.unwrap_or(Value::NotImplemented))
}

fn reflected(vm: &mut Vm, args: &Args, op: BinaryOp, method: &str) -> Result {
    let [other] = args.rest().exactly(method)?;
    let result = vm.try_binary(op, other.base_value(), args.receiver()?)?;
    Ok(result.unwrap_or(Value::NotImplemented))
}

fn unary(vm: &mut Vm, args: &Args, op: UnaryOp, method: &str) -> Result {
    args.rest().exactly::<0>(method)?;
    vm.unary(op, args.receiver()?)
}

fn compare(vm: &mut Vm, args: &Args, op: CompareOp, method: &str) -> Result {
    let [other] = args.rest().exactly(method)?;
    match vm.compare(op, args.receiver()?, other.base_value()) {
        Err(raise) if raise.is(crate::value::ExceptionKind::TypeError) => Ok(Value::NotImplemented),
        result => result,
    }
}

macro_rules! dunders {
    ($($func:ident = $door:ident($op:expr, $name:literal);)*) => {
        $(pub fn $func(vm: &mut Vm, args: &Args) -> Result {
            $door(vm, args, $op, $name)
        })*
    };
}

dunders! {
    add = binary(BinaryOp::Add, "__add__");
    sub = binary(BinaryOp::Sub, "__sub__");
    mul = binary(BinaryOp::Mul, "__mul__");
    truediv = binary(BinaryOp::Div, "__truediv__");
    floordiv = binary(BinaryOp::FloorDiv, "__floordiv__");
    modulo = binary(BinaryOp::Mod, "__mod__");
    pow = binary(BinaryOp::Pow, "__pow__");
    and = binary(BinaryOp::BitAnd, "__and__");
    or = binary(BinaryOp::BitOr, "__or__");
    xor = binary(BinaryOp::BitXor, "__xor__");
    lshift = binary(BinaryOp::LeftShift, "__lshift__");
    rshift = binary(BinaryOp::RightShift, "__rshift__");
    radd = reflected(BinaryOp::Add, "__radd__");
    rsub = reflected(BinaryOp::Sub, "__rsub__");
    rmul = reflected(BinaryOp::Mul, "__rmul__");
    rtruediv = reflected(BinaryOp::Div, "__rtruediv__");
    neg = unary(UnaryOp::Minus, "__neg__");
    pos = unary(UnaryOp::Plus, "__pos__");
    invert = unary(UnaryOp::Invert, "__invert__");
    lt = compare(CompareOp::Less, "__lt__");
    le = compare(CompareOp::LessEq, "__le__");
    gt = compare(CompareOp::Greater, "__gt__");
    ge = compare(CompareOp::GreaterEq, "__ge__");
}
