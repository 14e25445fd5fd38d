//! Ranges with a bound or a step outside of 64 bits. Scripts see no difference from other ranges.

use std::rc::Rc;

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{FromPrimitive, One, Signed, ToPrimitive, Zero};

use crate::errors;
use crate::ops::number;
use crate::value::{BuiltinType, CompareOp, Native, NativeIter, NativeType, Range, Result, Slice, Value};
use crate::vm::Vm;

static TYPE: NativeType = NativeType::new("range", "builtins");

#[derive(Clone)]
pub struct BigRange {
    pub start: BigInt,
    pub stop: BigInt,
    /// Never 0.
    pub step: BigInt,
}

impl BigRange {
    pub fn of(range: &Range) -> BigRange {
        BigRange { start: range.start.into(), stop: range.stop.into(), step: range.step.into() }
    }

    /// A range of either kind as one of this kind.
    pub fn from_value(value: &Value) -> Option<BigRange> {
        match value {
            Value::Range(range) => Some(BigRange::of(range)),
            other => other.downcast::<BigRange>().cloned(),
        }
    }

    /// The value of a range: one that fits into 64 bits is always a plain one.
    pub fn into_value(self) -> Value {
        match (self.start.to_i64(), self.stop.to_i64(), self.step.to_i64()) {
            (Some(start), Some(stop), Some(step)) => Value::Range(Rc::new(Range { start, stop, step })),
            _ => Value::native(self),
        }
    }

    pub fn n_items(&self) -> BigInt {
        let distance =
            if self.step.is_positive() { &self.stop - &self.start } else { &self.start - &self.stop };
        if !distance.is_positive() {
            return BigInt::zero();
        }
        (distance - 1u8).div_floor(&self.step.abs()) + 1u8
    }

    fn has_same_items(&self, other: &BigRange) -> bool {
        let n = self.n_items();
        n == other.n_items()
            && (n.is_zero() || self.start == other.start && (n.is_one() || self.step == other.step))
    }

    fn item(&self, at: &BigInt) -> BigInt {
        &self.start + at * &self.step
    }

    /// The index of an int in the range.
    pub fn position(&self, value: &Value) -> Option<BigInt> {
        let int = match value.base_value() {
            Value::Float(float) if float.fract() == 0.0 => BigInt::from_f64(*float)?,
            other => number::to_big(other)?,
        };
        let (at, rest) = (int - &self.start).div_rem(&self.step);
        (rest.is_zero() && !at.is_negative() && at < self.n_items()).then_some(at)
    }

    pub fn slice(&self, vm: &mut Vm, slice: &Slice) -> Result {
        let mut part = |value: &Value| -> Result<Option<BigInt>> {
            Ok(match value {
                Value::BigInt(big) => Some((**big).clone()),
                other => vm.slice_bound(other)?.map(BigInt::from),
            })
        };
        let (start, stop, step) = (part(&slice.start)?, part(&slice.stop)?, part(&slice.step)?);
        let step = step.unwrap_or_else(BigInt::one);
        if step.is_zero() {
            return Err(errors::value_error("slice step cannot be zero"));
        }
        let n = self.n_items();
        let (low, high) =
            if step.is_positive() { (BigInt::zero(), n.clone()) } else { (BigInt::from(-1), &n - 1u8) };
        let bound = |given: Option<BigInt>, default: &BigInt| match given {
            Some(at) if at.is_negative() => (at + &n).max(low.clone()),
            Some(at) => at.min(high.clone()),
            None => default.clone(),
        };
        let (first, last) = if step.is_positive() { (&low, &high) } else { (&high, &low) };
        let (start, stop) = (bound(start, first), bound(stop, last));
        let range = BigRange { start: self.item(&start), stop: self.item(&stop), step: &self.step * step };
        Ok(range.into_value())
    }
}

impl Native for BigRange {
    fn native_type(&self) -> &'static NativeType {
        &TYPE
    }

    fn builtin_type(&self) -> Option<BuiltinType> {
        Some(BuiltinType::Range)
    }

    fn get_item(&self, _: &Value, vm: &mut Vm, index: &Value) -> Result<Option<Value>> {
        if let Value::Slice(slice) = index {
            return self.slice(vm, slice).map(Some);
        }
        let at = match index {
            Value::BigInt(big) => (**big).clone(),
            other => match vm.try_index(other)? {
                Some(at) => at.into(),
                None => return Err(errors::bad_index("range", index)),
            },
        };
        let n = self.n_items();
        let at = if at.is_negative() { at + &n } else { at };
        if at.is_negative() || at >= n {
            return Err(errors::index_error("range object index out of range"));
        }
        Ok(Some(Value::big(self.item(&at))))
    }

    fn len(&self, _: &mut Vm) -> Result<Option<usize>> {
        let n = self.n_items().to_usize().filter(|&n| n <= isize::MAX as usize);
        n.map(Some).ok_or_else(errors::too_large_for_index)
    }

    fn is_sequence(&self) -> bool {
        true
    }

    fn iter(&self, _: &Value, _: &mut Vm) -> Result<Option<Value>> {
        Ok(Some(Value::native_iter(Items { range: self.clone(), at: BigInt::zero(), n: self.n_items() })))
    }

    /// A value that is not a number is compared with every item, as by any iteration.
    fn contains(&self, _: &Value, _: &mut Vm, item: &Value) -> Result<Option<bool>> {
        let is_number = number::to_big(item.base_value()).is_some() || matches!(item, Value::Float(_));
        Ok(is_number.then(|| self.position(item).is_some()))
    }

    fn compare(&self, _: &Value, _: &mut Vm, op: CompareOp, other: &Value) -> Result<Option<Value>> {
        let Some(other) = BigRange::from_value(other) else { return Ok(None) };
        let equal = self.has_same_items(&other);
        Ok(match op {
            CompareOp::Eq => Some(Value::Bool(equal)),
            CompareOp::NotEq => Some(Value::Bool(!equal)),
            _ => None,
        })
    }

    fn same_key(&self, other: &Value) -> bool {
        BigRange::from_value(other).is_some_and(|other| self.has_same_items(&other))
    }

    fn truth(&self, _: &mut Vm) -> Result<bool> {
        Ok(!self.n_items().is_zero())
    }

    fn repr(&self, _: &Value, _: &mut Vm) -> Result<String> {
        let BigRange { start, stop, step } = self;
        Ok(if step.is_one() {
            format!("range({start}, {stop})")
        } else {
            format!("range({start}, {stop}, {step})")
        })
    }

    fn hash(&self, _: &Value, vm: &mut Vm) -> Result<Option<i64>> {
        vm.hash(&range_parts(self)).map(Some)
    }
}

struct Items {
    range: BigRange,
    at: BigInt,
    n: BigInt,
}

impl NativeIter for Items {
    fn next(&mut self, _: &mut Vm) -> Result<Option<Value>> {
        if self.at >= self.n {
            return Ok(None);
        }
        let item = self.range.item(&self.at);
        self.at += 1u8;
        Ok(Some(Value::big(item)))
    }

    fn type_name(&self) -> &'static str {
        "longrange_iterator"
    }
}

/// `reversed(range)`.
pub fn reversed(range: &BigRange) -> Value {
    let n = range.n_items();
    let start = range.item(&(&n - 1u8));
    let backwards = BigRange { start, stop: range.start.clone() - &range.step, step: -&range.step };
    Value::native_iter(Items { range: backwards, at: BigInt::zero(), n })
}

/// The hashed parts of a range: equal ranges have equal hashes.
pub fn range_parts(range: &BigRange) -> Value {
    let n = range.n_items();
    Value::tuple(match n.to_u8() {
        Some(0) => [Value::Int(0), Value::None, Value::None],
        Some(1) => [Value::Int(1), Value::big(range.start.clone()), Value::None],
        _ => [Value::big(n), Value::big(range.start.clone()), Value::big(range.step.clone())],
    })
}
