//! The values of a kernel. A number is its value, not its bits: an int is any int in its type's range, and
//! every float is an f64. The type is the node's, not the value's.

use std::fmt;
use std::rc::Rc;

use kps_kernel::{Constant, Kind, Scalar, Type};

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Bool(bool),
    Int(i128),
    Float(f64),
    /// Components, columns, elements, members or items; empty for `None`.
    Parts(Rc<Vec<Value>>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(value) => write!(f, "{value}"),
            Value::Int(value) => write!(f, "{value}"),
            Value::Float(value) => write!(f, "{value:?}"),
            Value::Parts(parts) => {
                let parts: Vec<String> = parts.iter().map(Value::to_string).collect();
                write!(f, "({})", parts.join(", "))
            }
        }
    }
}

impl Value {
    pub fn parts(parts: Vec<Value>) -> Value {
        Value::Parts(Rc::new(parts))
    }

    /// The result of a function without one.
    pub fn nothing() -> Value {
        Value::parts(Vec::new())
    }

    pub fn ints(values: [u32; 3]) -> Value {
        Value::parts(values.map(|value| Value::Int(value.into())).to_vec())
    }

    pub fn zero(ty: &Type) -> Value {
        match ty {
            Type::Scalar(scalar) => Value::number(*scalar, 0),
            ty => {
                let parts = 0..ty.n_parts().unwrap_or(0);
                Value::parts(parts.map(|at| Value::zero(&ty.part(at).expect("a part in range"))).collect())
            }
        }
    }

    /// The number with these bits; higher bits are ignored.
    pub fn number(scalar: Scalar, bits: u64) -> Value {
        match scalar.kind() {
            Kind::Bool => Value::Bool(bits != 0),
            Kind::Float => {
                let bits = Constant::of_bits(scalar, bits & (u64::MAX >> (64 - scalar.bits())));
                Value::Float(bits.as_float().expect("it is a float"))
            }
            _ => Value::Int(Constant::int(scalar, bits.into()).as_int().expect("it is an int")),
        }
    }

    /// Its bits, in the width of the type.
    pub fn bits(&self, scalar: Scalar) -> u64 {
        match self {
            Value::Bool(value) => u64::from(*value),
            Value::Int(value) => *value as u64 & (u64::MAX >> (64 - scalar.bits())),
            Value::Float(value) => Constant::float(scalar, *value).bits(),
            Value::Parts(_) => panic!("only numbers have bits"),
        }
    }

    pub fn as_bool(&self) -> bool {
        match self {
            Value::Bool(value) => *value,
            other => panic!("{other:?} is no bool, which `verify` holds it to be"),
        }
    }

    pub fn as_int(&self) -> i128 {
        match self {
            Value::Int(value) => *value,
            other => panic!("{other:?} is no int, which `verify` holds it to be"),
        }
    }

    pub fn as_float(&self) -> f64 {
        match self {
            Value::Float(value) => *value,
            other => panic!("{other:?} is no float, which `verify` holds it to be"),
        }
    }

    pub fn as_parts(&self) -> &[Value] {
        match self {
            Value::Parts(parts) => parts,
            other => panic!("{other:?} has no parts, which `verify` holds it to have"),
        }
    }

    /// The part at the end of a path; `None` if an index is out of range.
    pub fn at(&self, path: &[i128]) -> Option<&Value> {
        path.iter().try_fold(self, |whole, index| whole.as_parts().get(usize::try_from(*index).ok()?))
    }

    pub fn at_mut(&mut self, path: &[i128]) -> Option<&mut Value> {
        path.iter().try_fold(self, |whole, index| match whole {
            Value::Parts(parts) => Rc::make_mut(parts).get_mut(usize::try_from(*index).ok()?),
            other => panic!("{other:?} has no parts, which `verify` holds it to have"),
        })
    }

    /// Reads from memory in the host's layout.
    pub fn read(ty: &Type, bytes: &[u8]) -> Value {
        match ty {
            Type::Scalar(scalar) => {
                let mut wide = [0; 8];
                let size = scalar.size();
                wide[..size].copy_from_slice(&bytes[..size]);
                Value::number(*scalar, u64::from_le_bytes(wide))
            }
            Type::Matrix { .. } => Value::transposed(&Value::read_parts(ty, bytes)),
            _ => Value::read_parts(ty, bytes),
        }
    }

    fn read_parts(ty: &Type, bytes: &[u8]) -> Value {
        let parts = ty.offsets().into_iter();
        Value::parts(parts.map(|(offset, part)| Value::read(&part, &bytes[offset as usize..])).collect())
    }

    pub fn write(&self, ty: &Type, bytes: &mut [u8]) {
        match ty {
            Type::Scalar(scalar) => {
                let size = scalar.size();
                bytes[..size].copy_from_slice(&self.bits(*scalar).to_le_bytes()[..size]);
            }
            Type::Matrix { .. } => Value::transposed(self).write_parts(ty, bytes),
            _ => self.write_parts(ty, bytes),
        }
    }

    fn write_parts(&self, ty: &Type, bytes: &mut [u8]) {
        for ((offset, part), value) in ty.offsets().into_iter().zip(self.as_parts()) {
            value.write(&part, &mut bytes[offset as usize..]);
        }
    }

    /// Columns from rows: matrices are stored in row-major order.
    fn transposed(&self) -> Value {
        let rows = self.as_parts();
        let column = |at: usize| Value::parts(rows.iter().map(|row| row.as_parts()[at].clone()).collect());
        Value::parts((0..rows[0].as_parts().len()).map(column).collect())
    }
}
