//! Lambdas, nested functions, and their captures.
//!
//! A nested function is compiled like any other, once for every signature. The captured variables are extra
//! arguments after its own. They are read where the function is called, as Python does, or where it is passed
//! as an argument. Nothing can change them in between.

mod inference;

use std::rc::Rc;
use std::sync::Arc;

use kps_syntax::ast::{FunctionDef, Name};
use kps_syntax::{Source, Span};

use crate::env::KernelEnv;
use crate::errors::Found;
use crate::infer::env_ref::EnvRef;
use crate::infer::expressions::operand::Operand;

/// A nested function.
pub(crate) struct Closure {
    pub def: Arc<FunctionDef>,
    source: Source,
    /// The environment of the enclosing function. `None` for that of the kernel.
    env: Option<Rc<dyn KernelEnv>>,
    /// The captured variables, each with a place where it is used.
    pub captured: Rc<[(Name, Span)]>,
    /// Their values. `None` inside the function that owns them, where they may still change.
    pub values: Option<Rc<[Operand]>>,
    /// The default of each parameter, in order. Computed where the function is defined.
    pub defaults: Rc<[Option<Operand>]>,
}

/// A function that is about to be called.
#[derive(Clone)]
pub(crate) struct Callee<'a> {
    pub def: Arc<FunctionDef>,
    pub source: Source,
    pub env: EnvRef<'a>,
    pub captured: Rc<[(Name, Span)]>,
    /// The values of the captures.
    pub values: Rc<[Operand]>,
    /// `None` for a function of the script, whose defaults are literals.
    pub defaults: Option<Rc<[Option<Operand>]>>,
}

impl Closure {
    /// The same function with the values of its captures.
    pub fn with_values(&self, values: Rc<[Operand]>, defaults: Rc<[Option<Operand>]>) -> Closure {
        self.with_parts(Some(values), defaults)
    }

    pub fn with_parts(&self, values: Option<Rc<[Operand]>>, defaults: Rc<[Option<Operand>]>) -> Closure {
        Closure {
            def: Arc::clone(&self.def),
            source: self.source.clone(),
            env: self.env.clone(),
            captured: Rc::clone(&self.captured),
            values,
            defaults,
        }
    }

    /// The identity of the environment of the enclosing function; 0 for that of the kernel.
    pub fn env_identity(&self) -> usize {
        self.env.as_ref().map_or(0, |env| env.identity())
    }

    /// Whether both are one function, but for the values of captures and defaults.
    pub fn is_same_function(&self, other: &Closure) -> bool {
        Arc::ptr_eq(&self.def, &other.def) && self.env_identity() == other.env_identity()
    }

    pub fn describe(&self) -> Found {
        let name = &self.def.name.name;
        // `lambda` is a keyword, so no function has that name.
        match &**name == "lambda" {
            true => Found::Lambda,
            false => Found::Function(name.clone()),
        }
    }
}
