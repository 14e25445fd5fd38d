//! The virtual machine: one stack of registers, frames that script calls push without recursion in Rust, and
//! the API for native code.
//!
//! `run.rs` is the loop, `short/` and `step/` execute its instructions.
//! `call.rs` binds arguments. `unwind.rs` finds handlers and reports unhandled exceptions. `code.rs` ties
//! compiled code to this machine. `types.rs` has the classes. `import.rs` finds modules. `abandoned.rs`
//! closes dropped generators. `collected.rs` starts the work of devices. The semantics of the operators are in `ops/`.
//!
//! Rust recursion happens only where native code calls back (`sorted(key=..)`, `__repr__`). Every such path
//! calls [`Vm::check_stack`], so that it ends in a RecursionError and not in a crash.

mod abandoned;
mod call;
mod class;
mod code;
mod collected;
mod cycles;
mod frame;
mod generator;
pub(crate) mod import;
mod inspect;
mod interrupt;
mod register;
mod run;
mod short;
pub mod sources;
mod step;
mod types;
mod unwind;

use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use indexmap::IndexMap;
use rustc_hash::FxHashMap;

pub(crate) use abandoned::Abandoned;
pub use code::LoadedCode;
use frame::{Frame, Stack};
pub(crate) use import::{Compiled, compile_running, syntax_error};
pub(crate) use interrupt::Running;
pub use interrupt::{Interrupter, Limits, STRETCH, checkpoint, collect_all, repeat_all, repeat_text};

use crate::blocking;
use crate::checking::{Checking, Findings};
use crate::errors;
use crate::input::Input;
use crate::memory::Meter;
use crate::output::{ErrorOutput, Output};
use crate::value::{ExceptionKind, Function, Module, Name, Namespace, Raise, Result, Value};
use crate::warnings::Warnings;

/// The native stack that the machine may use, counted from its entry.
const NATIVE_STACK: usize = 1 << 20;

/// The part of a thread's stack that is left for functions that call no script: they still run where a call
/// is refused.
const RED_ZONE: usize = 512 << 10;

/// Runs code that needs a machine's share of the stack, on another stack if the thread has less left.
pub(crate) fn with_stack<T>(act: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(NATIVE_STACK + RED_ZONE, NATIVE_STACK + 2 * RED_ZONE, act)
}

/// Back jumps and calls between two looks at the clock and the interrupt flag.
const POLL_INTERVAL: u32 = 1024;

/// One machine: its modules, its stack, and its surroundings.
pub struct Vm {
    stack: Stack,
    frames: Vec<Frame>,
    types: types::Types,
    /// Names that code and native modules use, shared.
    names: RefCell<FxHashMap<Box<str>, Name>>,
    /// Modules by their dotted names: `sys.modules`.
    pub modules: IndexMap<String, Rc<Module>>,
    /// The output of `print`.
    pub output: Output,
    /// The output of `sys.stderr`.
    pub(crate) error_output: ErrorOutput,
    /// The input of `input()`.
    pub(crate) input: Input,
    /// The base of relative paths; `None` is the working folder of the process, which no script changes.
    pub(crate) folder: Option<PathBuf>,
    /// The script's arguments: `sys.argv`, its own name first.
    pub args: Vec<String>,
    /// The folders of modules written as scripts, in search order.
    pub module_path: Vec<PathBuf>,
    /// The device that the embedder selected; empty for the default.
    pub device: String,
    /// Opens devices in place of [`kps_device::select::open`].
    pub opener: Option<DeviceOpener>,
    /// The folder for the SPIR-V of compiled kernels, if any.
    pub spirv_folder: Option<PathBuf>,
    /// Which launches are checked, shared with the managers without their own setting; and the findings.
    pub(crate) checking: Rc<Cell<Checking>>,
    pub(crate) findings: Findings,
    pub(crate) warnings: Warnings,
    /// The recorder of kernel costs, if they are counted.
    pub recorder: Option<kps_device::profile::Recorder>,
    /// The trace of host calls and devices, if there is one.
    pub tracer: Option<kps_compute::Tracer>,
    /// Whether kernels have debug information.
    pub debug_info: bool,
    pub(crate) limits: Limits,
    interrupter: Interrupter,
    meter: Rc<Meter>,
    abandoned: Rc<Abandoned>,
    pub(crate) remembered: cycles::Remembered,
    /// Counts down to the next look at the clock and the flag.
    until_poll: u32,
    /// Where that countdown began.
    poll_interval: u32,
    /// Starts the work that devices have collected, while there may be some.
    collected: Option<collected::StartCollected>,
    /// Incremented whenever a class changes in a way that invalidates inline caches.
    pub(crate) class_epoch: u32,
    /// Containers whose repr is in progress.
    pub(crate) repr_active: Vec<usize>,
    /// Address on the native stack below which native recursion is refused.
    stack_limit: usize,
    sources: RefCell<sources::Sources>,
    /// The state of modules per machine, by its type.
    state: FxHashMap<TypeId, Rc<dyn Any>>,
}

/// A function that opens the device of a manager.
pub type DeviceOpener =
    Rc<dyn Fn(&kps_device::Selector, &kps_device::OpenOptions) -> kps_device::Result<kps_device::Opened>>;

impl Vm {
    pub(crate) fn new(limits: Limits, output: Output) -> Vm {
        let interrupter = Interrupter::default();
        Vm {
            stack: Stack::new(),
            frames: Vec::new(),
            types: types::Types::default(),
            names: RefCell::default(),
            modules: IndexMap::new(),
            meter: Meter::new(limits.memory),
            output,
            error_output: ErrorOutput::default(),
            input: Input::default(),
            folder: None,
            args: Vec::new(),
            module_path: Vec::new(),
            device: String::new(),
            spirv_folder: None,
            checking: Rc::default(),
            findings: Findings::default(),
            warnings: Warnings::default(),
            opener: None,
            recorder: None,
            tracer: None,
            debug_info: false,
            limits,
            abandoned: Rc::new(Abandoned::new(interrupter.clone())),
            interrupter,
            remembered: cycles::Remembered::default(),
            until_poll: POLL_INTERVAL,
            poll_interval: POLL_INTERVAL,
            collected: None,
            class_epoch: 0,
            repr_active: Vec::new(),
            stack_limit: 0,
            sources: RefCell::default(),
            state: FxHashMap::default(),
        }
    }

    /// The name with this text: the shared one if code mentions it.
    pub fn name(&self, text: &str) -> Name {
        match self.names.borrow().get(text) {
            Some(name) => name.clone(),
            None => Name::from(text),
        }
    }

    /// The shared name with this text. Shared names are never freed: only code creates them, not data.
    pub(crate) fn shared_name(&self, text: &str) -> Name {
        if let Some(name) = self.names.borrow().get(text) {
            return name.clone();
        }
        let name = Name::from(text);
        self.names.borrow_mut().insert(text.into(), name.clone());
        name
    }

    /// A module's state for this machine, created by `Default` at its first use. It is dropped with the
    /// machine, before its modules.
    pub fn state<T: Default + 'static>(&mut self) -> Rc<T> {
        let entry = self.state.entry(TypeId::of::<T>()).or_insert_with(|| Rc::<T>::default());
        entry.clone().downcast::<T>().expect("the state was filed under its own type")
    }

    /// A handle that stops running code from another thread.
    pub fn interrupter(&self) -> Interrupter {
        self.interrupter.clone()
    }

    /// Lets this thread's run count as this machine's, until the result is dropped.
    pub(crate) fn start_running(&self) -> Running {
        Running::start(&self.interrupter, &self.meter)
    }

    /// The module that programs run in, as `__main__`.
    pub(crate) fn new_main(&mut self) -> Rc<Module> {
        let main = Rc::new(Module::new(self.name("__main__")));
        main.set("__name__", main.name.clone());
        self.modules.insert("__main__".to_owned(), main.clone());
        main
    }

    /// Runs a program's own code in a namespace; the value is that of an entry's last expression.
    pub(crate) fn run_program(
        &mut self,
        program: &kps_bytecode::Program,
        module: Name,
        namespace: &Rc<Namespace>,
    ) -> Result {
        let code = self.load(program, module, namespace);
        let function = Function::plain(code);
        self.call(&Value::Function(Rc::new(function)), &[])
    }

    /// Writes to the output of `print`.
    pub fn print(&mut self, text: &str) -> Result<()> {
        /// Bytes of a long text that are written between two looks at the interrupter.
        const PIECE: usize = 1 << 16;
        let mut rest = text;
        while rest.len() > PIECE {
            let (piece, behind) = rest.split_at(rest.floor_char_boundary(PIECE));
            self.put(piece)?;
            checkpoint()?;
            rest = behind;
        }
        self.put(rest)
    }

    fn put(&mut self, text: &str) -> Result<()> {
        match self.output.put(text).map_err(write_error)? {
            true => self.flush(),
            false => Ok(()),
        }
    }

    /// Writes the buffered output of `print`. An interrupt ends the wait for its reader, and the rest
    /// remains.
    pub fn flush(&mut self) -> Result<()> {
        loop {
            if let Some(descriptor) = self.output.awaited() {
                blocking::wait(descriptor, libc::POLLOUT)?;
            }
            if !self.output.flush_some().map_err(write_error)? {
                return Ok(());
            }
        }
    }

    /// Refuses deeper calls after native recursion has used its share of the stack.
    #[inline]
    pub fn check_stack(&self) -> Result<()> {
        let marker = 0u8;
        let here = &raw const marker as usize;
        if here < self.stack_limit {
            return Err(errors::recursion_error());
        }
        Ok(())
    }

    /// Records how far the native stack may grow down, at an entry from outside: the machine's share, or the
    /// thread's stack.
    #[inline]
    pub(crate) fn mark_stack(&mut self) {
        if self.frames.is_empty() {
            let marker = 0u8;
            let here = &raw const marker as usize;
            // A direct caller of a machine may have little stack left, and half of that is better than none.
            let left = stacker::remaining_stack().unwrap_or(NATIVE_STACK + RED_ZONE);
            let share = left.saturating_sub(RED_ZONE).max(left / 2).min(NATIVE_STACK);
            self.stack_limit = here.saturating_sub(share);
        }
    }

    /// The path of a script's text: relative ones start at the host's working folder.
    pub(crate) fn path_of(&self, path: impl AsRef<Path>) -> PathBuf {
        match &self.folder {
            Some(folder) => folder.join(path),
            None => path.as_ref().to_owned(),
        }
    }
}

pub(crate) fn write_error(error: std::io::Error) -> Raise {
    let kind = match error.kind() {
        std::io::ErrorKind::BrokenPipe => ExceptionKind::BrokenPipeError,
        _ => ExceptionKind::OSError,
    };
    Raise::new(kind, error.to_string())
}

impl Drop for Vm {
    fn drop(&mut self) {
        self.abandoned.end();
        let mut roots = self.remembered.take();
        for module in self.modules.values() {
            module.namespace.each_value(&mut |value| roots.push(value.clone()));
        }
        self.state.clear();
        for module in self.modules.values() {
            module.namespace.clear();
        }
        cycles::end(roots);
    }
}
