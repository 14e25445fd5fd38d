//! Hashes, with Python's rules: equal numbers of any type hash alike, mutable containers are not hashable.

use num_bigint::BigInt;

use super::number;
use crate::builtins::BigRange;
use crate::errors;
use crate::value::{HashedKey, Result, Value};
use crate::vm::Vm;

/// How numbers are hashed, at any depth of a value.
struct Numbers {
    int: fn(i64) -> i64,
    big: fn(&BigInt) -> i64,
    float: fn(f64) -> i64,
}

/// As `hash` returns them: CPython's values.
const SHOWN: Numbers = Numbers { int: number::hash_int, big: number::hash_big, float: number::hash_float };

/// As tables keep them.
const KEPT: Numbers =
    Numbers { int: number::key_of_int, big: number::key_of_big, float: number::key_of_float };

impl Vm {
    /// The value as a key of dicts and sets.
    #[inline]
    pub fn key(&mut self, value: &Value) -> Result<HashedKey> {
        Ok(HashedKey { hash: self.hash_by(&KEPT, value)?, value: value.clone() })
    }

    /// `hash(value)`.
    pub fn hash(&mut self, value: &Value) -> Result<i64> {
        self.hash_by(&SHOWN, value)
    }

    fn hash_by(&mut self, numbers: &Numbers, value: &Value) -> Result<i64> {
        Ok(match value {
            Value::Str(text) => text.hash() as i64,
            Value::Int(int) => (numbers.int)(*int),
            Value::Bool(truth) => *truth as i64,
            Value::Float(float) => (numbers.float)(*float),
            Value::BigInt(big) => (numbers.big)(big),
            Value::None => 0x00C0_FFEE,
            Value::Ellipsis => 0x00E1_1195,
            Value::NotImplemented => 0x0707_1359,
            Value::Tuple(tuple) => {
                self.check_stack()?;
                let mut hash = 0x345678_i64;
                for item in tuple.iter() {
                    hash = mix(hash, self.hash_by(numbers, item)?);
                }
                hash
            }
            Value::Bytes(bytes) => bytes.iter().fold(0x0B17E5, |hash, &byte| mix(hash, byte as i64)),
            // Order must not matter.
            Value::FrozenSet(set) => {
                set.borrow().keys().fold(set.len() as i64, |hash, key| hash ^ mix(0x5E7, key.hash))
            }
            Value::Range(range) => return self.hash(&crate::builtins::range_parts(&BigRange::of(range))),
            Value::List(_) | Value::Dict(_) | Value::Set(_) | Value::Slice(_) => {
                return Err(errors::unhashable(value));
            }
            Value::Native(object) => {
                if let Some(number) = object.object().number() {
                    return self.hash_by(numbers, &number);
                }
                let hash = object.object().hash(value, self)?;
                return hash.ok_or_else(|| errors::unhashable(value));
            }
            Value::Instance(_) => return self.hash_instance(numbers, value),
            Value::Method(method) => {
                let function = method.function.address().unwrap_or(0) as i64;
                mix(function, self.hash_by(numbers, &method.receiver).unwrap_or(0))
            }
            other => other.address().unwrap_or(0) as i64 >> 4,
        })
    }

    fn hash_instance(&mut self, numbers: &Numbers, value: &Value) -> Result<i64> {
        let Value::Instance(instance) = value else { unreachable!("only instances come here") };
        if let Some(function) = self.script_method(value, "__hash__") {
            if function.is_none() {
                return Err(errors::unhashable(value));
            }
            let hash = self.call_method_value(&function, value, &[])?;
            return match number::to_big(&hash) {
                Some(big) => Ok(number::hash_big(&big)),
                None => Err(errors::type_error("__hash__ method should return an integer")),
            };
        }
        if self.script_method(value, "__eq__").is_some() {
            return Err(errors::unhashable(value));
        }
        match instance.payload_value() {
            Some(payload) => self.hash_by(numbers, &payload.clone()),
            None => Ok(value.address().unwrap_or(0) as i64 >> 4),
        }
    }
}

fn mix(hash: i64, item: i64) -> i64 {
    (hash ^ item).wrapping_mul(1_000_003).rotate_left(17).wrapping_add(0x9E37_79B9)
}
