//! The functions that generated kernels may call: those of the chapters in `stdlib/src/kernels`.

use std::ops::Deref;
use std::rc::{Rc, Weak};

use kps_kernel::{EnvValue, HelperFunction, KernelEnv, MapEnv};
use kps_syntax::ast::{Name, StmtKind};
use kps_syntax::{Source, parse};

/// Chapters whose functions generated kernels call.
const CHAPTERS: [&str; 3] = ["kp.kernels.elementwise", "kp.kernels.complex", "kp.kernels.reduce"];

/// The names of the chapters.
pub(crate) struct Library(Rc<Names>);

struct Names(MapEnv);

impl Deref for Library {
    type Target = dyn KernelEnv;

    fn deref(&self) -> &(dyn KernelEnv + 'static) {
        &*self.0
    }
}

impl KernelEnv for Names {
    fn get(&self, name: &str) -> Option<EnvValue> {
        self.0.get(name)
    }

    fn names(&self) -> Vec<Name> {
        self.0.names()
    }

    fn identity(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }
}

/// The same names for the functions themselves, which their environment owns.
struct Around(Weak<Names>);

impl KernelEnv for Around {
    fn get(&self, name: &str) -> Option<EnvValue> {
        self.0.upgrade()?.get(name)
    }

    fn names(&self) -> Vec<Name> {
        self.0.upgrade().map_or(Vec::new(), |names| names.names())
    }

    fn identity(&self) -> usize {
        self.0.as_ptr() as usize
    }
}

impl Default for Library {
    fn default() -> Library {
        Library(Rc::new_cyclic(|names: &Weak<Names>| {
            let mut env = MapEnv::new();
            for chapter in CHAPTERS {
                let text = kps_stdlib::source(chapter).expect("the chapter is in the standard library");
                let source = Source::new(format!("<{chapter}>"), text);
                let (module, mistakes) = parse(&source);
                debug_assert!(mistakes.is_empty(), "{chapter} has mistakes");
                for statement in &module.body {
                    if let StmtKind::Function(def) = &statement.kind
                        && def.decorators.is_empty()
                    {
                        let (def, source) = (def.clone(), source.clone());
                        let function = HelperFunction { def, source, env: Rc::new(Around(names.clone())) };
                        env.insert(&function.def.name.name.clone(), EnvValue::Function(function));
                    }
                }
            }
            Names(env)
        }))
    }
}
