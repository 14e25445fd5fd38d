//! Compiled code, tied to one machine: constants as values, global names as slots, inline caches.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use kps_bytecode::{Code, CodeKind, Constant, Program};
use kps_syntax::{Source, Span};
use rustc_hash::FxHashSet;

use super::{Abandoned, Vm};
use crate::builtins::complex::Complex;
use crate::value::{Name, Namespace, Shape, Value};

/// The code of one function in this machine.
pub struct LoadedCode {
    pub code: Arc<Code>,
    pub(crate) program: Rc<LoadedProgram>,
    pub(crate) constants: Box<[Value]>,
    /// For each constant that is a tuple of strings, the names: keywords of a call.
    pub(crate) keyword_names: Box<[Box<[Name]>]>,
    pub(crate) sites: Box<[Site]>,
    /// Names of the parameters, in the order of their registers.
    pub(crate) param_names: Box<[Name]>,
    children: Box<[OnceCell<Rc<LoadedCode>>]>,
    /// The number of arguments with which a call needs no binding; none for generators and for functions with
    /// other than positional parameters.
    pub(crate) exact_arity: Option<u16>,
    /// A copy of the code's field, for fast calls.
    pub(crate) n_registers: u32,
}

pub(crate) struct LoadedProgram {
    pub program: Program,
    pub namespace: Rc<Namespace>,
    pub globals: Box<[Global]>,
    /// `__name__` of the module that the code belongs to.
    pub module: Name,
    /// The queue of dropped generators.
    pub abandoned: Rc<Abandoned>,
}

/// A global name of a program.
pub(crate) struct Global {
    pub name: Name,
    /// Its slot in the namespace.
    pub slot: usize,
    /// The builtin of that name, once it was needed.
    pub builtin: OnceCell<Value>,
}

/// An attribute site: the name and its inline cache.
pub(crate) struct Site {
    pub name: Name,
    pub key: Cell<CacheKey>,
    /// Which slot of the instance holds the attribute, when `method` is unset.
    pub slot: Cell<usize>,
    pub method: RefCell<Value>,
    /// The shape that storing a new attribute leads to.
    pub next: RefCell<Option<Rc<Shape>>>,
}

/// The shape of the object and the state of the classes for which a cache holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct CacheKey {
    pub shape: u64,
    pub epoch: u32,
}

/// Matches nothing: no shape has this id. (0 would match every shape that belongs to one instance.)
impl Default for CacheKey {
    fn default() -> CacheKey {
        CacheKey { shape: u64::MAX, epoch: 0 }
    }
}

impl LoadedCode {
    pub fn source(&self) -> &Source {
        &self.program.program.source
    }

    pub fn globals(&self) -> &Rc<Namespace> {
        &self.program.namespace
    }

    #[inline(always)]
    pub(super) fn constant(&self, at: usize) -> &Value {
        // SAFETY: the compiler only emits constants that exist.
        unsafe { self.constants.get_unchecked(at) }
    }

    #[inline(always)]
    pub(super) fn global(&self, at: usize) -> &Global {
        // SAFETY: the compiler only emits globals that exist.
        unsafe { self.program.globals.get_unchecked(at) }
    }

    #[inline(always)]
    pub(super) fn site(&self, at: u16) -> &Site {
        // SAFETY: the compiler only emits sites that exist.
        unsafe { self.sites.get_unchecked(at as usize) }
    }

    /// The place of the instruction before `pc`: the one that is running when the frame's `pc` is this.
    pub(crate) fn span_before(&self, pc: usize) -> Span {
        self.code.spans.get(pc.saturating_sub(1)).copied().unwrap_or_default()
    }

    /// Whether something is to be done before the frame ends that waits before `pc`, in `finally` or its like.
    pub(crate) fn cleans_up_before(&self, pc: u32) -> bool {
        self.code.handlers.iter().any(|range| range.start < pc && pc <= range.end)
    }

    /// Empties the inline caches of a function and of those within it; a cache that is empty is filled again when it is
    /// next used. `seen` are those that are done.
    pub(crate) fn forget_caches(&self, seen: &mut FxHashSet<*const LoadedCode>) {
        if !seen.insert(self) {
            return;
        }
        for site in &self.sites {
            site.key.set(CacheKey::default());
            site.method.take();
        }
        for child in self.children.iter().filter_map(OnceCell::get) {
            child.forget_caches(seen);
        }
    }

    pub(crate) fn child(self: &Rc<LoadedCode>, vm: &Vm, at: usize) -> Rc<LoadedCode> {
        self.children[at].get_or_init(|| vm.load_code(&self.code.children[at], &self.program)).clone()
    }
}

impl Vm {
    /// Ties a program to a namespace of this machine.
    pub(crate) fn load(&self, program: &Program, module: Name, namespace: &Rc<Namespace>) -> Rc<LoadedCode> {
        self.sources.borrow_mut().add_program(&program.source);
        let globals = program.globals.iter().map(|text| {
            let name = self.shared_name(text);
            Global { slot: namespace.slot(&name), name, builtin: OnceCell::new() }
        });
        let loaded = Rc::new(LoadedProgram {
            globals: globals.collect(),
            program: program.clone(),
            namespace: namespace.clone(),
            module,
            abandoned: self.abandoned.clone(),
        });
        self.load_code(&program.main, &loaded)
    }

    fn load_code(&self, code: &Arc<Code>, program: &Rc<LoadedProgram>) -> Rc<LoadedCode> {
        let constants: Box<[Value]> = code.constants.iter().map(|constant| self.constant(constant)).collect();
        let keyword_names = constants.iter().map(|constant| match constant {
            Value::Tuple(items) => items.iter().map_while(as_name).collect(),
            _ => Box::default(),
        });
        let sites = code.sites.iter().map(|name| Site {
            name: self.shared_name(name),
            key: Cell::default(),
            slot: Cell::new(0),
            method: RefCell::new(Value::Unset),
            next: RefCell::new(None),
        });
        Rc::new(LoadedCode {
            keyword_names: keyword_names.collect(),
            constants,
            sites: sites.collect(),
            param_names: code.locals[..code.params.n_registers()]
                .iter()
                .map(|name| self.shared_name(name))
                .collect(),
            children: code.children.iter().map(|_| OnceCell::new()).collect(),
            exact_arity: exact_arity(code),
            n_registers: code.n_registers,
            code: code.clone(),
            program: program.clone(),
        })
    }

    fn constant(&self, constant: &Constant) -> Value {
        match constant {
            Constant::None => Value::None,
            Constant::Ellipsis => Value::Ellipsis,
            Constant::Bool(truth) => Value::Bool(*truth),
            Constant::Int(int) => Value::Int(*int),
            Constant::BigInt(big) => Value::big(big.clone()),
            Constant::Float(float) => Value::Float(*float),
            Constant::Imaginary(im) => Complex { re: 0.0, im: *im }.value(),
            // Short ones are probably names, which compare fastest when shared.
            Constant::Str(text) if text.len() <= 20 => self.shared_name(text).value(),
            Constant::Str(text) => Value::str(&**text),
            Constant::Bytes(bytes) => Value::bytes(bytes.to_vec()),
            Constant::Tuple(items) => {
                Value::tuple(items.iter().map(|item| self.constant(item)).collect::<Vec<_>>())
            }
        }
    }
}

fn exact_arity(code: &Code) -> Option<u16> {
    let is_exact = code.params.is_simple() && code.kind != CodeKind::Generator;
    is_exact.then_some(code.params.n_positional)
}

fn as_name(value: &Value) -> Option<Name> {
    match value {
        Value::Str(text) => Some(Name(text.clone())),
        _ => None,
    }
}
