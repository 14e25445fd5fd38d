//! The environment of a function.

use std::rc::Rc;

use crate::env::KernelEnv;

/// The environment of a function.
#[derive(Clone)]
pub(crate) enum EnvRef<'a> {
    Kernel(&'a dyn KernelEnv),
    Helper(Rc<dyn KernelEnv>),
}

impl EnvRef<'_> {
    pub fn get(&self) -> &dyn KernelEnv {
        match self {
            EnvRef::Kernel(env) => *env,
            EnvRef::Helper(env) => &**env,
        }
    }
}
