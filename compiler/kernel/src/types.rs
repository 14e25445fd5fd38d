//! The types of kernels: names, sizes and memory layout.
//!
//! A [`Type`] is a value, cheap to clone and to compare. `Type::Error` is the type after a mistake: operations on it
//! report nothing, so that one mistake gives one message. No type that leaves the compiler is `Type::Error`.

use std::fmt;
use std::rc::Rc;

pub use kps_scalar::{Kind, Scalar};
use kps_syntax::ast::Name;

use crate::env::{EnvValue, HelperFunction};
use crate::matrices::{CoopType, CoopUse};
use crate::structs::StructType;

/// The type of a value in a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// The result of a function without one.
    Void,
    Scalar(Scalar),
    /// Two to four components.
    Vector(u8, Scalar),
    /// Columns that are vectors of floats. In memory its numbers are stored row by row, as in NumPy.
    Matrix {
        columns: u8,
        rows: u8,
        scalar: Scalar,
    },
    /// A fixed number of elements, as of a list literal.
    Array(Rc<ArrayType>),
    /// Named members.
    Struct(Rc<StructType>),
    /// The result of `return a, b`; it is never in memory that the host sees.
    Tuple(Rc<[Type]>),
    /// A matrix that a subgroup holds. Inference has its rows instead: see [`ArrayType::purpose`].
    Coop(CoopType),
    /// The type after a reported mistake.
    Error,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ArrayType {
    pub len: u32,
    pub element: Type,
    /// Set for the rows of a cooperative matrix, before legalisation decides whether a subgroup holds it.
    pub purpose: Option<CoopUse>,
}

impl Type {
    pub const BOOL: Type = Type::Scalar(Scalar::Bool);
    pub const I32: Type = Type::Scalar(Scalar::I32);
    pub const U32: Type = Type::Scalar(Scalar::U32);
    pub const F32: Type = Type::Scalar(Scalar::F32);
    pub const F64: Type = Type::Scalar(Scalar::F64);

    pub fn array(len: u32, element: Type) -> Type {
        Type::Array(Rc::new(ArrayType { len, element, purpose: None }))
    }

    pub fn tuple(items: impl IntoIterator<Item = Type>) -> Type {
        Type::Tuple(items.into_iter().collect())
    }

    /// The rows of a cooperative matrix.
    pub(crate) fn coop_rows(coop: CoopType) -> Type {
        let element = Type::array(coop.columns, coop.scalar.into());
        Type::Array(Rc::new(ArrayType { len: coop.rows, element, purpose: Some(coop.purpose) }))
    }

    /// The cooperative matrix whose rows these are.
    pub(crate) fn coop(&self) -> Option<CoopType> {
        let Type::Array(rows) = self else { return None };
        let (Some(purpose), Type::Array(row)) = (rows.purpose, &rows.element) else { return None };
        Some(CoopType { scalar: row.element.scalar()?, rows: rows.len, columns: row.len, purpose })
    }

    /// The type with something else in place of each cooperative matrix. `None` if it has none.
    pub(crate) fn with_coops(&self, to: &dyn Fn(CoopType) -> Type) -> Option<Type> {
        match self {
            Type::Array(array) => match self.coop() {
                Some(coop) => Some(to(coop)),
                None => Some(Type::array(array.len, array.element.with_coops(to)?)),
            },
            Type::Tuple(items) if items.iter().any(Type::holds_coops) => {
                let item = |item: &Type| item.with_coops(to).unwrap_or_else(|| item.clone());
                Some(Type::tuple(items.iter().map(item)))
            }
            _ => None,
        }
    }

    pub(crate) fn holds_coops(&self) -> bool {
        match self {
            Type::Array(array) => array.purpose.is_some() || array.element.holds_coops(),
            Type::Tuple(items) => items.iter().any(Type::holds_coops),
            _ => false,
        }
    }

    /// The type with plain rows in place of each cooperative matrix.
    pub(crate) fn with_plain_rows(&self) -> Type {
        let rows = |coop: CoopType| Type::array(coop.rows, Type::array(coop.columns, coop.scalar.into()));
        self.with_coops(&rows).unwrap_or_else(|| self.clone())
    }

    /// Whether two types are equal, or differ only in what cooperative matrices are for.
    pub(crate) fn has_rows_of(&self, other: &Type) -> bool {
        self == other
            || (self.holds_coops() || other.holds_coops())
                && self.with_plain_rows() == other.with_plain_rows()
    }

    /// A scalar for one component, else a vector.
    pub fn of(n: u8, scalar: Scalar) -> Type {
        if n == 1 { Type::Scalar(scalar) } else { Type::Vector(n, scalar) }
    }

    /// A type by its plain name: `f32`, `ivec3`, `int`.
    pub fn by_name(name: &str) -> Option<Type> {
        match name {
            "int" => return Some(Type::I32),
            "float" => return Some(Type::F32),
            "boolean" => return Some(Type::BOOL),
            _ => {}
        }
        // All others end in a digit, and most queried names do not.
        if name != Scalar::Bool.name() && !name.ends_with(|last: char| last.is_ascii_digit()) {
            return None;
        }
        if let Some(scalar) = Scalar::of_name(name) {
            return Some(Type::Scalar(scalar));
        }
        if let Some(sizes) = name.strip_prefix("mat") {
            let (columns, rows) = sizes.split_once('x').unwrap_or((sizes, sizes));
            return Some(Type::Matrix { columns: size(columns)?, rows: size(rows)?, scalar: Scalar::F32 });
        }
        let (prefix, n) = name.split_once("vec")?;
        let n = size(n)?;
        vector_prefix(prefix).map(|scalar| Type::Vector(n, scalar))
    }

    /// The one type of all numbers in a scalar, a vector or a matrix.
    pub fn number(&self) -> Option<Scalar> {
        match self {
            Type::Matrix { scalar, .. } => Some(*scalar),
            _ => self.scalar(),
        }
    }

    /// The type of a matrix's columns.
    pub fn column(&self) -> Option<Type> {
        match self {
            Type::Matrix { rows, scalar, .. } => Some(Type::Vector(*rows, *scalar)),
            _ => None,
        }
    }

    pub fn is_matrix(&self) -> bool {
        matches!(self, Type::Matrix { .. })
    }

    /// The scalar of a scalar or vector.
    pub fn scalar(&self) -> Option<Scalar> {
        match self {
            Type::Scalar(scalar) | Type::Vector(_, scalar) => Some(*scalar),
            _ => None,
        }
    }

    /// Components of a scalar (1) or vector; 0 for everything else.
    pub fn n_components(&self) -> u8 {
        match self {
            Type::Scalar(_) => 1,
            Type::Vector(n, _) => *n,
            _ => 0,
        }
    }

    /// The same shape with another scalar.
    pub fn with_scalar(&self, scalar: Scalar) -> Type {
        Type::of(self.n_components().max(1), scalar)
    }

    /// The type of a scalar or vector in the push constants.
    pub fn in_push_constants(&self) -> Type {
        match self.scalar() {
            Some(scalar) => self.with_scalar(scalar.in_push_constants()),
            None => self.clone(),
        }
    }

    pub fn is_error(&self) -> bool {
        matches!(self, Type::Error)
    }

    pub fn is_vector(&self) -> bool {
        matches!(self, Type::Vector(..))
    }

    /// The number of parts of a value; `None` without parts.
    pub fn n_parts(&self) -> Option<u32> {
        match self {
            Type::Vector(n, _) => Some(u32::from(*n)),
            Type::Matrix { columns, .. } => Some(u32::from(*columns)),
            Type::Array(array) => Some(array.len),
            Type::Struct(of) => Some(of.members.len() as u32),
            Type::Tuple(items) => Some(items.len() as u32),
            Type::Void | Type::Scalar(_) | Type::Coop(_) | Type::Error => None,
        }
    }

    /// The type of one part.
    pub fn part(&self, at: u32) -> Option<Type> {
        let at_most = self.n_parts()?;
        (at < at_most).then(|| match self {
            Type::Vector(_, scalar) => Type::Scalar(*scalar),
            Type::Matrix { rows, scalar, .. } => Type::Vector(*rows, *scalar),
            Type::Array(array) => array.element.clone(),
            Type::Struct(of) => of.members[at as usize].ty.clone(),
            Type::Tuple(items) => items[at as usize].clone(),
            Type::Void | Type::Scalar(_) | Type::Coop(_) | Type::Error => Type::Error,
        })
    }

    /// Whether it is an array or contains one. Names may alias such a part.
    pub(crate) fn holds_array(&self) -> bool {
        match self {
            Type::Array(_) => true,
            Type::Struct(of) => of.members.iter().any(|member| member.ty.holds_array()),
            _ => false,
        }
    }

    /// The methods of every struct in it.
    pub(crate) fn methods(&self) -> Vec<HelperFunction> {
        match self {
            Type::Array(array) => array.element.methods(),
            Type::Struct(of) => {
                let own = of.methods.iter().map(|method| method.function.clone());
                own.chain(of.members.iter().flat_map(|member| member.ty.methods())).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The constants of the class of every struct in it: `P.K` with its value.
    pub(crate) fn class_constants(&self) -> Vec<(Name, EnvValue)> {
        match self {
            Type::Array(array) => array.element.class_constants(),
            Type::Struct(of) => {
                let own = of.constant_names().into_iter().filter_map(|name| {
                    let value = of.constant(&name)?;
                    Some((format!("{of}.{name}").into(), value))
                });
                own.chain(of.members.iter().flat_map(|member| member.ty.class_constants())).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Every number of a value, with the bytes before it in memory that the host sees.
    pub fn numbers(&self) -> Vec<(u32, Scalar)> {
        let mut numbers = Vec::new();
        self.push_numbers(0, &mut numbers);
        numbers
    }

    fn push_numbers(&self, start: u32, numbers: &mut Vec<(u32, Scalar)>) {
        if let Type::Scalar(scalar) = self {
            return numbers.push((start, *scalar));
        }
        for (offset, part) in self.offsets() {
            part.push_numbers(start + offset, numbers);
        }
    }

    /// Every part of a value, with the bytes before it in memory that the host sees.
    pub fn offsets(&self) -> Vec<(u32, Type)> {
        let parts = (0..self.n_parts().unwrap_or(0)).filter_map(|at| self.part(at));
        match self {
            // Row by row, although its parts as a value are its columns.
            Type::Matrix { columns, rows, scalar } => {
                let row = Type::Vector(*columns, *scalar);
                (0..u32::from(*rows)).map(|at| (at * row.packed_size(), row.clone())).collect()
            }
            Type::Struct(of) => of.offsets().into_iter().zip(parts).collect(),
            _ => parts.enumerate().map(|(at, part)| (at as u32 * part.packed_size(), part)).collect(),
        }
    }

    /// Whether it has a place in memory that the host sees.
    pub fn has_layout(&self) -> bool {
        match self {
            Type::Void | Type::Tuple(_) | Type::Coop(_) | Type::Error => false,
            Type::Array(array) => array.element.has_layout(),
            Type::Struct(of) => of.members.iter().all(|member| member.ty.has_layout()),
            _ => true,
        }
    }

    /// Made of parts that are no components: an array, a struct or a tuple.
    pub fn is_aggregate(&self) -> bool {
        matches!(self, Type::Array(_) | Type::Struct(_) | Type::Tuple(_))
    }

    /// Bytes of one value in memory that the host sees, as NumPy packs it.
    pub fn packed_size(&self) -> u32 {
        match self {
            Type::Void | Type::Error => 0,
            Type::Scalar(scalar) => scalar.bytes(),
            Type::Vector(n, scalar) => u32::from(*n) * scalar.bytes(),
            Type::Matrix { columns, rows, scalar } => u32::from(*columns) * u32::from(*rows) * scalar.bytes(),
            Type::Array(array) => array.len.saturating_mul(array.element.packed_size()),
            Type::Struct(of) => of.size(),
            Type::Coop(coop) => coop.rows * coop.columns * coop.scalar.bytes(),
            Type::Tuple(items) => items.iter().fold(0, |sum, item| sum.saturating_add(item.packed_size())),
        }
    }

    /// Bytes that its place in a struct is a multiple of: those of its widest scalar.
    pub fn align(&self) -> u32 {
        match self {
            Type::Void | Type::Error => 1,
            Type::Scalar(scalar) | Type::Vector(_, scalar) | Type::Matrix { scalar, .. } => scalar.bytes(),
            Type::Array(array) => array.element.align(),
            Type::Struct(of) => of.align(),
            Type::Coop(coop) => coop.scalar.bytes(),
            Type::Tuple(items) => items.iter().map(Type::align).max().unwrap_or(1),
        }
    }

    /// Bytes that a scalar or vector is aligned to in a block with std430 layout.
    pub fn std430_align(&self) -> u32 {
        match self {
            Type::Vector(2, scalar) => 2 * scalar.bytes(),
            Type::Vector(_, scalar) => 4 * scalar.bytes(),
            Type::Scalar(scalar) => scalar.bytes(),
            Type::Matrix { columns, scalar, .. } => Type::Vector(*columns, *scalar).std430_align(),
            Type::Array(array) => array.element.std430_align(),
            Type::Struct(_) | Type::Tuple(_) | Type::Coop(_) => self.align(),
            Type::Void | Type::Error => 1,
        }
    }
}

/// 2, 3 or 4, as vectors and matrices have them.
fn size(text: &str) -> Option<u8> {
    text.parse().ok().filter(|n| (2..=4).contains(n) && text.len() == 1)
}

fn vector_prefix(prefix: &str) -> Option<Scalar> {
    Some(match prefix {
        "" => Scalar::F32,
        "i" => Scalar::I32,
        "u" => Scalar::U32,
        "b" => Scalar::Bool,
        "d" => Scalar::F64,
        "h" => Scalar::F16,
        _ => return None,
    })
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Void => f.write_str("None"),
            Type::Scalar(scalar) => f.write_str(scalar.name()),
            Type::Vector(n, scalar) => match scalar {
                Scalar::F32 => write!(f, "vec{n}"),
                Scalar::I32 => write!(f, "ivec{n}"),
                Scalar::U32 => write!(f, "uvec{n}"),
                Scalar::Bool => write!(f, "bvec{n}"),
                Scalar::F64 => write!(f, "dvec{n}"),
                Scalar::F16 => write!(f, "hvec{n}"),
                _ => write!(f, "Vector({n}, {scalar})"),
            },
            Type::Matrix { columns, rows, scalar: Scalar::F32 } if columns == rows => write!(f, "mat{rows}"),
            Type::Matrix { columns, rows, scalar: Scalar::F32 } => write!(f, "mat{columns}x{rows}"),
            Type::Matrix { columns, rows, scalar } => write!(f, "Matrix({columns}, {rows}, {scalar})"),
            Type::Array(array) => write!(f, "Array({}, {})", array.len, array.element),
            Type::Struct(of) => of.fmt(f),
            Type::Coop(coop) => coop.fmt(f),
            Type::Tuple(items) => {
                let items: Vec<String> = items.iter().map(Type::to_string).collect();
                write!(f, "tuple[{}]", items.join(", "))
            }
            Type::Error => f.write_str("?"),
        }
    }
}

impl From<Scalar> for Type {
    fn from(scalar: Scalar) -> Type {
        Type::Scalar(scalar)
    }
}
