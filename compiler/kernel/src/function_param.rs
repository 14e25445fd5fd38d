//! A function that a launch passes to a kernel.
//!
//! A kernel is compiled for the function, as it is for the type of an array: the function is inlined, and what it
//! captures is constant. So a [`FunctionParam`] is compared by the function's definition and by the values of its
//! captures. Two lambdas made by one line are equal while they capture equal values.

use std::hash::{Hash, Hasher};

use crate::builtins::{self, Builtin};
use crate::env::EnvValue;
use crate::signature::Capture;
use crate::template::KernelTemplate;

#[derive(Clone, Debug)]
pub struct FunctionParam {
    /// A function, a built-in one or a type. `None` in a key.
    function: Option<EnvValue>,
    /// The function, followed by the captures of the functions that it may call.
    captures: Vec<Capture>,
}

impl FunctionParam {
    /// `None` if kernels cannot call the value.
    pub fn new(template: &KernelTemplate, function: EnvValue) -> Option<FunctionParam> {
        let is_callable = match &function {
            EnvValue::Function(_) | EnvValue::Type(_) => true,
            EnvValue::Builtin(name) => {
                matches!(builtins::member(name), Some(Builtin::Function(_) | Builtin::Type(_)))
            }
            _ => false,
        };
        is_callable.then(|| {
            let captures = template.captures_of(function.clone());
            FunctionParam { function: Some(function), captures }
        })
    }

    pub(crate) fn function(&self) -> Option<&EnvValue> {
        self.function.as_ref()
    }

    /// What the function is compared by, without the function, which may own tensors.
    pub fn to_key(&self) -> FunctionParam {
        FunctionParam { function: None, captures: self.captures.clone() }
    }
}

impl PartialEq for FunctionParam {
    fn eq(&self, other: &FunctionParam) -> bool {
        self.captures == other.captures
    }
}

impl Eq for FunctionParam {}

impl Hash for FunctionParam {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.captures.hash(state);
    }
}
