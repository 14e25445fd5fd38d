//! What a kernel sees of the script: the names of its module and of the functions around it.

use std::rc::Rc;
use std::sync::Arc;

use kps_kernel::{EnvModule, EnvValue, HelperFunction, KernelEnv, Type};
use kps_syntax::ast::Name as SourceName;

use super::structs;
use super::types::KernelType;
use crate::value::{Function, Module, Value};

/// The names that one function of a script sees.
pub struct FunctionEnv(pub Rc<Function>);

impl KernelEnv for FunctionEnv {
    fn get(&self, name: &str) -> Option<EnvValue> {
        let value = self.0.captured(name).or_else(|| self.0.globals().get(name))?;
        Some(env_value(&value))
    }

    fn names(&self) -> Vec<SourceName> {
        let captured = self.0.code.code.free.iter().cloned();
        let globals = self.0.globals().to_pairs().into_iter().map(|(name, _)| Arc::from(&*name));
        captured.chain(globals).collect()
    }

    fn identity(&self) -> usize {
        Rc::as_ptr(&self.0) as usize
    }

    fn default_of(&self, param: &str) -> Option<EnvValue> {
        let params = &self.0.def()?.params;
        let value = match params.keyword_only.iter().position(|known| &*known.name.name == param) {
            Some(at) => self.0.keyword_defaults.get(at)?,
            None => {
                let positional = || params.positional_only.iter().chain(&params.regular);
                let from_end = positional().rev().position(|known| &*known.name.name == param)?;
                let at = self.0.defaults.len().checked_sub(from_end + 1)?;
                &self.0.defaults[at]
            }
        };
        (!value.is_unset()).then(|| env_value(value))
    }
}

/// The names of a module that a script imported.
struct ModuleEnv(Rc<Module>);

impl KernelEnv for ModuleEnv {
    fn get(&self, name: &str) -> Option<EnvValue> {
        self.0.get(name).map(|value| env_value(&value))
    }

    fn names(&self) -> Vec<SourceName> {
        self.0.namespace.to_pairs().into_iter().map(|(name, _)| Arc::from(&*name)).collect()
    }

    fn identity(&self) -> usize {
        Rc::as_ptr(&self.0) as usize
    }
}

/// A value of the script as far as a kernel can use it.
pub fn env_value(value: &Value) -> EnvValue {
    let other = || EnvValue::Other { type_name: value.type_name().into_owned() };
    match value {
        Value::Int(int) => EnvValue::Int((*int).into()),
        Value::BigInt(big) => i128::try_from(&**big).map_or_else(|_| other(), EnvValue::Int),
        Value::Float(float) => EnvValue::Float(*float),
        Value::Bool(truth) => EnvValue::Bool(*truth),
        Value::Function(function) => match function.def() {
            Some(def) => EnvValue::Function(HelperFunction {
                def: def.clone(),
                source: function.source().clone(),
                env: Rc::new(FunctionEnv(function.clone())),
            }),
            None => other(),
        },
        Value::NativeFunction(function) if function.class.is_none() => {
            EnvValue::Builtin(Arc::from(&*function.name))
        }
        Value::Module(module) => EnvValue::Module(EnvModule {
            name: Arc::from(&*module.name),
            members: Rc::new(ModuleEnv(module.clone())),
        }),
        Value::Class(class) => match structs::type_of_class(class).or_else(|| Type::by_name(&class.name)) {
            Some(ty) => EnvValue::Type(ty),
            None => EnvValue::Builtin(Arc::from(&*class.name)),
        },
        Value::Native(_) => match value.downcast::<KernelType>().map(|ty| (ty.ty(), ty.name())) {
            Some((Some(ty), _)) => EnvValue::Type(ty.clone()),
            Some((None, Some(name))) => EnvValue::Builtin(Arc::from(name)),
            _ => other(),
        },
        _ => other(),
    }
}
