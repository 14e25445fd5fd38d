//! The environment of a kernel: the names of its module and of the enclosing functions.
//!
//! The host implements [`KernelEnv`] over its own values. It has only the names that the script defined or imported.
//! Built-in names (`f32`, `global_id`, `sqrt`) are known here; a name of the environment shadows them.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use kps_syntax::Source;
use kps_syntax::ast::{FunctionDef, Name};

use crate::constant::Constant;
use crate::found::{Found, one};
use crate::type_expr::TypeExpr;
use crate::types::Type;

/// The most items that a captured list or array may have.
pub const MAX_TABLE: usize = 1024;

/// The most numbers, or other values, that a captured value may be made of.
pub const MAX_PARTS: usize = 65532;

/// Resolves the names that a kernel captures.
pub trait KernelEnv {
    /// The value of `name` now.
    fn get(&self, name: &str) -> Option<EnvValue>;

    /// Every name there is.
    fn names(&self) -> Vec<Name>;

    /// The candidates for a misspelt name. `None` after so many misspelt names that further suggestions are not worth
    /// their time, which is linear in the number of names.
    fn candidates(&self) -> Option<Vec<Name>> {
        Some(self.names())
    }

    /// Which environment this is: two of one identity give the same values. One definition may make
    /// several functions, each of which captured values of its own.
    fn identity(&self) -> usize;

    /// The default of a parameter of this environment's function, if the definition has an expression: its value when
    /// the function was defined.
    fn default_of(&self, _param: &str) -> Option<EnvValue> {
        None
    }

    /// Whether the host has cancelled the compilation. The compiler polls this, and then fails with one error of the
    /// code [`CANCELLED`](crate::CANCELLED).
    fn is_cancelled(&self) -> bool {
        false
    }

    /// The module of the host's library that this belongs to; `None` for scripts.
    fn library(&self) -> Option<Name> {
        None
    }
}

/// A captured value, as far as a kernel can use it.
#[derive(Clone)]
pub enum EnvValue {
    /// A host int: a weak literal. One past 128 bits is an `Other`.
    Int(i128),
    /// A host float: a weak literal.
    Float(f64),
    Bool(bool),
    /// Start, stop and step, which is not 0.
    Range([i128; 3]),
    /// A scalar that has a type of its own, such as `numpy.float64(0.1)`.
    Constant(Constant),
    Type(Type),
    /// A type that only parameters have: `Array[f32]`, `const[i32]`.
    Declared(TypeExpr),
    Function(HelperFunction),
    /// A built-in function, under any imported name: `Builtin("sin")` for `math.sin`.
    Builtin(Name),
    /// For declarations such as `("texture", 0, "2d " + FORMAT)`; kernels themselves have no strings.
    Str(Name),
    Tuple(Rc<[EnvValue]>),
    /// A named tuple: its items by their names, and in order.
    Named(EnvModule, Rc<[EnvValue]>),
    /// A list or an array of the host as it is now, 1 to [`MAX_TABLE`] items: a table to kernels.
    List(Rc<[EnvValue]>),
    /// A vector, a matrix or a struct with its numbers in order, those of a matrix row by row.
    Numbers(Type, Rc<[Constant]>),
    Module(EnvModule),
    /// Known only when the script runs: a kernel that captures one can be checked, not specialised.
    Unknown,
    /// Anything else, with the name of its type for the error message.
    Other {
        type_name: String,
    },
}

/// A plain `def` that a kernel may call.
#[derive(Clone)]
pub struct HelperFunction {
    pub def: Arc<FunctionDef>,
    pub source: Source,
    /// The function's own environment.
    pub env: Rc<dyn KernelEnv>,
}

/// A value with members: a module by its full name, a class, or an object by the name of its class. Those of
/// `math`, `pyshader` and `pyshader.stdlib` are built in and not looked up.
#[derive(Clone)]
pub struct EnvModule {
    pub name: Name,
    pub kind: Holder,
    pub members: Rc<dyn KernelEnv>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holder {
    Module,
    Class,
    Object,
}

impl EnvModule {
    /// A description for messages.
    pub(crate) fn describe(&self) -> Found {
        let name = self.name.clone();
        match self.kind {
            Holder::Module => Found::Module(name),
            Holder::Class => Found::Class(name),
            // The attributes of members of an `enum`.
            Holder::Object if self.members.get("_value_").is_some() => Found::EnumMember(name),
            Holder::Object => Found::Object(name),
        }
    }
}

impl From<TypeExpr> for EnvValue {
    fn from(named: TypeExpr) -> EnvValue {
        match named {
            TypeExpr::Value(ty) => EnvValue::Type(ty),
            declared => EnvValue::Declared(declared),
        }
    }
}

impl EnvValue {
    /// The member with a name: a member of a module, a constant of a struct's class.
    pub fn member(&self, name: &str) -> Option<EnvValue> {
        match self {
            EnvValue::Module(module) | EnvValue::Named(module, _) => module.members.get(name),
            EnvValue::Type(Type::Struct(of)) => of.constant(name),
            _ => None,
        }
    }

    /// Whether it, or a part of it, is known only when the script runs.
    pub fn has_unknown(&self) -> bool {
        match self {
            EnvValue::Unknown => true,
            EnvValue::Tuple(items) | EnvValue::Named(_, items) | EnvValue::List(items) => {
                items.iter().any(EnvValue::has_unknown)
            }
            _ => false,
        }
    }

    /// The value, or its description where it has more than [`MAX_PARTS`]: values may share parts, so that few of them
    /// make many.
    pub fn of_bounded_size(self) -> EnvValue {
        match self.count_down(&mut { MAX_PARTS }) {
            Some(()) => self,
            None => EnvValue::too_large(),
        }
    }

    /// The value in place of a collection that is too large for kernels.
    pub fn too_large() -> EnvValue {
        EnvValue::Other { type_name: format!("collection of more than {MAX_PARTS} values") }
    }

    /// Subtracts the parts from the budget; `None` if it is exceeded.
    fn count_down(&self, n_left: &mut usize) -> Option<()> {
        *n_left = n_left.checked_sub(1)?;
        match self {
            EnvValue::Tuple(items) | EnvValue::Named(_, items) | EnvValue::List(items) => {
                items.iter().try_for_each(|item| item.count_down(n_left))
            }
            _ => Some(()),
        }
    }

    /// A description for messages: `an int`, `a module`.
    pub fn describe(&self) -> String {
        match self {
            EnvValue::Int(_) => "an int".to_owned(),
            EnvValue::Float(_) => "a float".to_owned(),
            EnvValue::Bool(_) => "a bool".to_owned(),
            EnvValue::Range(_) => "a `range`".to_owned(),
            EnvValue::Constant(constant) => one(constant.scalar()),
            EnvValue::Type(ty) => format!("the type `{ty}`"),
            EnvValue::Declared(_) => "the type of a parameter".to_owned(),
            EnvValue::Function(function) => format!("the function `{}`", function.def.name.name),
            EnvValue::Builtin(name) => format!("the function `{name}`"),
            EnvValue::Str(_) => "a `str`".to_owned(),
            EnvValue::Tuple(items) => format!("a tuple of {}", items.len()),
            EnvValue::Named(module, _) => module.describe().to_string(),
            EnvValue::List(_) => "a `list`".to_owned(),
            EnvValue::Numbers(ty, _) => one(ty),
            EnvValue::Module(module) => module.describe().to_string(),
            EnvValue::Unknown => "a value that is known only when the script runs".to_owned(),
            EnvValue::Other { type_name } => one(type_name),
        }
    }
}

impl fmt::Debug for EnvValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe())
    }
}

/// An environment that is a plain map: for tools and tests, and for hosts with few names.
#[derive(Clone, Debug, Default)]
pub struct MapEnv(pub BTreeMap<Name, EnvValue>);

impl MapEnv {
    pub fn new() -> MapEnv {
        MapEnv::default()
    }

    pub fn insert(&mut self, name: &str, value: EnvValue) {
        self.0.insert(name.into(), value);
    }
}

impl KernelEnv for MapEnv {
    fn get(&self, name: &str) -> Option<EnvValue> {
        self.0.get(name).cloned()
    }

    fn names(&self) -> Vec<Name> {
        self.0.keys().cloned().collect()
    }

    fn identity(&self) -> usize {
        std::ptr::from_ref(&self.0) as usize
    }
}
