//! Detects cheaply that the names which a kernel captures have not changed since an earlier launch.
//!
//! Resolving every captured name takes longer than a small launch. A [`Snapshot`] has the variables behind the
//! names instead, each with its value. It exists only if no captured object can change in place: lists, arrays
//! and instances of classes have none.

use std::rc::{Rc, Weak};

use kps_kernel::{KernelTemplate, Type, TypeExpr};

use super::library_struct::LibraryStruct;
use super::types::KernelType;
use crate::modules::numpy;
use crate::value::{Cell, Function, Namespace, Value};

/// The captured variables of a kernel and of the functions that it calls, with their values.
pub struct Snapshot(Vec<(Variable, Known)>);

enum Variable {
    /// A slot of a module's namespace, which the name keeps for good.
    Global(Rc<Namespace>, usize),
    /// A variable of an enclosing function.
    Captured(Rc<Cell>),
}

enum Known {
    Value(Value),
    /// The snapshot does not keep functions alive, because they may own tensors.
    Function(Weak<Function>),
}

impl Snapshot {
    /// `None` if a capture may change although no variable is assigned.
    pub fn of(template: &KernelTemplate, kernel: &Rc<Function>) -> Option<Snapshot> {
        let mut snapshot = Snapshot(Vec::new());
        let mut functions = vec![kernel.clone()];
        let mut next = 0;
        while let Some(function) = functions.get(next).cloned() {
            for (path, _) in template.free_paths(function.def()?).iter() {
                if let Some(called) = snapshot.add_path(&function, path)?
                    && !functions.iter().any(|known| Rc::ptr_eq(known, &called))
                {
                    // Its default values and its cells can change, too.
                    let has_defaults = called.def()?.params.iter().any(|param| param.default.is_some());
                    if has_defaults || !called.closure.is_empty() {
                        return None;
                    }
                    functions.push(called);
                }
            }
            next += 1;
        }
        Some(snapshot)
    }

    /// Whether every variable still has its value.
    pub fn holds(&self) -> bool {
        self.0.iter().all(|(variable, known)| variable.look(|now| known.is(now)))
    }

    /// Adds the variables behind a dotted name. Returns the function that it names, if it does.
    fn add_path(&mut self, function: &Function, path: &str) -> Option<Option<Rc<Function>>> {
        let (name, mut rest) = path.split_once('.').unwrap_or((path, ""));
        let cell = function.code.code.free.iter().position(|free| **free == *name);
        let captured = cell.map(|at| Variable::Captured(function.closure[at].clone()));
        let mut value = captured.map_or(Some(Value::Unset), |variable| self.add(variable))?;
        if value.is_unset() {
            value = self.add(Variable::global(function.globals(), name))?;
        }
        while let Value::Module(module) = &value
            && !rest.is_empty()
        {
            let (name, further) = rest.split_once('.').unwrap_or((rest, ""));
            rest = further;
            value = self.add(Variable::global(&module.namespace, name))?;
        }
        Some(match value {
            Value::Function(called) => Some(called),
            _ => None,
        })
    }

    /// Adds a variable. Returns its value; `None` if that may change in place.
    fn add(&mut self, variable: Variable) -> Option<Value> {
        let value = variable.look(Value::clone);
        let known = match &value {
            Value::Function(function) => Known::Function(Rc::downgrade(function)),
            value => is_fixed(value).then(|| Known::Value(value.clone()))?,
        };
        self.0.push((variable, known));
        Some(value)
    }
}

impl Variable {
    fn global(namespace: &Rc<Namespace>, name: &str) -> Variable {
        Variable::Global(namespace.clone(), namespace.slot(&name.into()))
    }

    fn look<T>(&self, look: impl FnOnce(&Value) -> T) -> T {
        match self {
            Variable::Global(namespace, slot) => namespace.look(*slot, look),
            Variable::Captured(cell) => cell.look(look),
        }
    }
}

impl Known {
    fn is(&self, now: &Value) -> bool {
        match (self, now) {
            (Known::Value(known), now) => known.is(now),
            (Known::Function(known), Value::Function(now)) => Rc::as_ptr(now) == known.as_ptr(),
            (Known::Function(_), _) => false,
        }
    }
}

/// Whether the value means the same to a kernel for as long as it lives. The members of a module are variables
/// of their own.
fn is_fixed(value: &Value) -> bool {
    match value {
        Value::Unset | Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) => true,
        Value::Str(_) | Value::BigInt(_) | Value::Range(_) => true,
        Value::NativeFunction(_) | Value::Module(_) => true,
        Value::Class(class) => !class.is_script,
        Value::Tuple(items) => items.iter().all(is_fixed_number),
        Value::Native(_) => match value.downcast::<KernelType>() {
            Some(ty) => ty.declares().is_none_or(is_without_methods),
            None => {
                value.downcast::<numpy::Scalar>().is_some() || value.downcast::<LibraryStruct>().is_some()
            }
        },
        _ => false,
    }
}

fn is_fixed_number(item: &Value) -> bool {
    matches!(item, Value::Bool(_) | Value::Int(_) | Value::Float(_))
}

/// Scripts may replace the methods of a struct's class.
fn is_without_methods(declared: &TypeExpr) -> bool {
    let ty = match declared {
        TypeExpr::Value(ty) => ty,
        TypeExpr::Buffer(array) => &array.element,
        TypeExpr::Const(_) => return true,
    };
    matches!(ty, Type::Scalar(_) | Type::Vector(..) | Type::Matrix { .. })
}
