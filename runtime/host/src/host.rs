//! The embedding API: a host owns a machine and runs programs in it.

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use kps_compute::Tracer;
use kps_device::profile::Recorder;
use kps_device::{OpenOptions, Opened, Selector};
use kps_syntax::{Diagnostic, Diagnostics, Source};

use crate::checking::{Checking, Findings};
use crate::convert::{FromValue, HostFunction, IntoArgs};
use crate::errors;
use crate::input::{Input, read_line};
use crate::inspect;
use crate::memory;
use crate::modules;
use crate::output::{ErrorOutput, Output, Unwritten};
use crate::profile::Profile;
use crate::value::{Module, NativeFunction, Result as ScriptResult, Value};
use crate::vm::{Compiled, DeviceOpener, Interrupter, Limits, Vm, compile_running, syntax_error, with_stack};
use crate::warnings::Warnings;

/// A compiled script. Cheap to clone; it may go to another thread, and run in many hosts.
#[derive(Clone, Debug)]
pub struct Program(pub(crate) kps_bytecode::Program);

impl Program {
    /// Parses and compiles a text; messages show `name`. All mistakes are returned.
    pub fn parse(name: impl Into<String>, text: impl Into<String>) -> Result<Program, Diagnostics> {
        Program::compile(&Source::new(name, text))
    }

    /// The same of a source.
    pub fn compile(source: &Source) -> Result<Program, Diagnostics> {
        with_stack(|| {
            let (module, found) = kps_syntax::parse(source);
            let compiled = if found.has_errors() { Err(found) } else { kps_bytecode::compile(&module) };
            compiled.or_else(|found| with_mistakes_of_kernels(source, found)).map(Program)
        })
    }

    pub fn source(&self) -> &Source {
        &self.0.source
    }
}

/// A script that does not compile never defines its kernels, so the mistakes of kernels are added here.
fn with_mistakes_of_kernels(source: &Source, found: Diagnostics) -> Compiled {
    match inspect::check(source).errors() {
        all if all.is_empty() => Err(found),
        all => Err(all),
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The script ran to its end.
    Finished,
    /// It requested to exit with this code.
    Exit(i32),
}

/// Sets up a [`Host`].
pub struct HostBuilder {
    device: String,
    limits: Limits,
    output: Option<Output>,
    error_output: ErrorOutput,
    input: Input,
    folder: Option<PathBuf>,
    args: Vec<String>,
    module_path: Vec<PathBuf>,
    spirv_folder: Option<PathBuf>,
    checking: Checking,
    findings: Findings,
    warnings: Warnings,
    recorder: Option<Recorder>,
    tracer: Option<Tracer>,
    opener: Option<DeviceOpener>,
    debug_info: bool,
}

impl HostBuilder {
    /// The device for kernels, as `--device` takes it: `vulkan`, `vulkan:1`, `cpu`, a part of a name. Empty
    /// is the best one.
    pub fn device(mut self, selector: impl Into<String>) -> HostBuilder {
        self.device = selector.into();
        self
    }

    /// Opens the devices of managers by another function than [`kps_device::select::open`]: one that wraps a
    /// device, or that hands out one that is open already.
    pub fn device_opener(
        mut self,
        open: impl Fn(&Selector, &OpenOptions) -> kps_device::Result<Opened> + 'static,
    ) -> HostBuilder {
        self.opener = Some(Rc::new(open));
        self
    }

    /// Where `print` writes; by default the standard output.
    pub fn output(mut self, sink: impl Write + 'static) -> HostBuilder {
        self.output = Some(Output::new(sink));
        self
    }

    /// Where `sys.stderr`, log records and the message of `sys.exit` go; by default the standard error of the
    /// process.
    pub fn error_output(mut self, sink: impl Write + 'static) -> HostBuilder {
        self.error_output = ErrorOutput::new(sink);
        self
    }

    /// Where `input()` and `sys.stdin` read; by default the standard input of the process. `std::io::empty()`
    /// is an empty input.
    pub fn input(mut self, reader: impl BufRead + 'static) -> HostBuilder {
        self.input = Input::new(reader);
        self
    }

    /// The folder for relative paths of scripts; by default the working folder of the process. `os.chdir`
    /// affects only this host.
    pub fn working_folder(mut self, folder: impl AsRef<Path>) -> HostBuilder {
        self.folder = Some(folder.as_ref().to_owned());
        self
    }

    /// `sys.argv`: the script's name and its arguments.
    pub fn args(mut self, args: impl IntoIterator<Item = String>) -> HostBuilder {
        self.args = args.into_iter().collect();
        self
    }

    /// Adds a folder in which imports look for modules. Folders are searched in the order of these calls.
    pub fn module_path(mut self, folder: impl AsRef<Path>) -> HostBuilder {
        self.module_path.push(folder.as_ref().to_owned());
        self
    }

    /// A folder for the SPIR-V of every compiled kernel, as `NAME-HASH.spv`. It is created if it does not
    /// exist.
    pub fn spirv_folder(mut self, folder: impl AsRef<Path>) -> HostBuilder {
        self.spirv_folder = Some(folder.as_ref().to_owned());
        self
    }

    /// Which launches are checked. They run on the built-in device. Another requested device is an error,
    /// unless only small launches are to be checked.
    pub fn checked(mut self, checking: Checking) -> HostBuilder {
        self.checking = checking;
        self
    }

    /// Called for each mistake that a checked launch makes, when the launch has ended.
    pub fn on_finding(mut self, callback: impl FnMut(&Diagnostic) + 'static) -> HostBuilder {
        self.findings.set_sink(Box::new(callback));
        self
    }

    /// Called for each lint warning about a kernel, when it is defined or compiled. By default warnings are
    /// dropped.
    pub fn on_warning(mut self, callback: impl FnMut(&Diagnostic) + 'static) -> HostBuilder {
        self.warnings.set_sink(Box::new(callback));
        self
    }

    /// Counts what kernels cost, line by line, on the built-in device: see [`Host::profile`].
    pub fn profiled(mut self) -> HostBuilder {
        self.recorder = Some(Recorder::default());
        self
    }

    /// Records host calls, submissions, and the commands on each queue: see [`Host::trace`].
    pub fn traced(mut self) -> HostBuilder {
        self.tracer = Some(Tracer::default());
        self
    }

    /// Adds debug information to kernels on devices that accept it: the source's text, types, functions and
    /// variables.
    pub fn debug_info(mut self) -> HostBuilder {
        self.debug_info = true;
        self
    }

    /// The most nested calls of script functions; 1000 unless this is called.
    pub fn recursion_limit(mut self, n_calls: usize) -> HostBuilder {
        self.limits.recursion = n_calls;
        self
    }

    /// Loops and calls that all scripts of the host together may spend. As with a time limit, no `except`
    /// catches the TimeoutError that ends them.
    pub fn fuel(mut self, n_steps: u64) -> HostBuilder {
        self.limits.fuel = Some(n_steps);
        self
    }

    /// Time limit of each run or call. A TimeoutError is raised at the current line, which no `except`
    /// catches. `finally` and `with` may then take a second.
    pub fn time_limit(mut self, time: Duration) -> HostBuilder {
        self.limits.time = Some(time);
        self
    }

    /// The number of bytes that the values of the host's scripts may use. A script that requests more gets a
    /// MemoryError. One that catches it and then exceeds the slack (an eighth of the limit, and 16 MiB) is
    /// ended by an error that no `except` catches. The default limit is nine tenths of the memory that is
    /// available when the host first uses much.
    ///
    /// The program's allocator counts allocations: see [`Heap`](crate::Heap).
    /// Code of kernels, devices other than the built-in one, and other threads are not counted.
    /// the built-in one and other threads take is not counted.
    ///
    /// # Panics
    ///
    /// [`HostBuilder::build`] panics if the program has another allocator.
    pub fn memory_limit(mut self, n_bytes: usize) -> HostBuilder {
        self.limits.memory = Some(n_bytes);
        self
    }

    pub fn build(self) -> Host {
        assert!(
            self.limits.memory.is_none() || memory::is_counted(),
            "a memory limit needs `kps::Heap` as the program's allocator: #[global_allocator]"
        );
        let mut vm = Vm::new(self.limits, self.output.unwrap_or_else(Output::stdout));
        vm.device = self.device;
        vm.error_output = self.error_output;
        vm.input = self.input;
        vm.folder = self.folder;
        vm.args = self.args;
        vm.module_path = self.module_path;
        vm.spirv_folder = self.spirv_folder;
        vm.checking.set(self.checking);
        vm.findings = self.findings;
        vm.warnings = self.warnings;
        vm.recorder = self.recorder;
        vm.tracer = self.tracer;
        vm.opener = self.opener;
        vm.debug_info = self.debug_info;
        let main = vm.new_main();
        Host { vm, main }
    }
}

/// A machine with one main module. Not `Send`: scripts share their objects freely within it.
pub struct Host {
    vm: Vm,
    main: Rc<Module>,
}

impl Host {
    pub fn builder() -> HostBuilder {
        HostBuilder {
            device: String::new(),
            limits: Limits::default(),
            output: None,
            error_output: ErrorOutput::default(),
            input: Input::default(),
            folder: None,
            args: Vec::new(),
            module_path: Vec::new(),
            spirv_folder: None,
            checking: Checking::Never,
            findings: Findings::default(),
            warnings: Warnings::default(),
            recorder: None,
            tracer: None,
            opener: None,
            debug_info: false,
        }
    }

    /// Runs a program in the main module, which keeps its names afterwards.
    pub fn run(&mut self, program: &Program) -> Result<Outcome, Diagnostics> {
        self.run_main(program.source().name(), || Ok(program.0.clone()))
    }

    /// Parses, compiles and runs a text as the main module. The time limit and interrupts apply to all of it,
    /// while [`Program::compile`] has no limit.
    pub fn run_source(&mut self, source: &Source) -> Result<Outcome, Diagnostics> {
        self.run_main(source.name(), || {
            let compiled = compile_running(source, kps_bytecode::compile)?;
            compiled.or_else(|found| with_mistakes_of_kernels(source, found)).map_err(syntax_error)
        })
    }

    fn run_main(
        &mut self,
        name: &str,
        program: impl FnOnce() -> ScriptResult<kps_bytecode::Program>,
    ) -> Result<Outcome, Diagnostics> {
        let main = self.main.clone();
        // Text that is in no file has a name in angle brackets.
        if !name.starts_with('<')
            && let Ok(file) = std::path::absolute(name)
        {
            main.set("__file__", Value::str(file.display().to_string()));
        }
        let result = self.enter(|vm| {
            let program = program()?;
            let value = vm.run_program(&program, main.name.clone(), &main.namespace)?;
            // Kernels may still run, and fail.
            modules::kp::finish(vm).map(|()| value)
        });
        match result {
            Ok(_) => Ok(Outcome::Finished),
            Err(raise) => {
                let exception = self.vm.exception_object(raise);
                if let Some(code) = self.vm.exit_code(&exception) {
                    return Ok(Outcome::Exit(code));
                }
                Err(self.vm.unhandled(crate::value::Raise::object(exception)))
            }
        }
    }

    /// Calls a function of the main module: `host.call("step", (3, 0.5))`.
    pub fn call<T: FromValue>(&mut self, name: &str, args: impl IntoArgs) -> Result<T, Diagnostics> {
        let main = self.main.clone();
        let args = args.into_args();
        let result = self.enter(|vm| {
            let callee = main.get(name).ok_or_else(|| errors::name_not_defined(name, None))?;
            let value = vm.call(&callee, &args)?;
            memory::uncounted(|| T::from_value(vm, &value))
        });
        result.map_err(|raise| self.vm.unhandled(raise))
    }

    /// The value of a name of the main module.
    pub fn get<T: FromValue>(&mut self, name: &str) -> Result<T, Diagnostics> {
        let main = self.main.clone();
        let result = self.enter(|vm| {
            let value = main.get(name).ok_or_else(|| errors::name_not_defined(name, None))?;
            memory::uncounted(|| T::from_value(vm, &value))
        });
        result.map_err(|raise| self.vm.unhandled(raise))
    }

    /// Gives a name of the main module a value.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.main.set(name, value);
    }

    /// Makes a Rust function callable from scripts: `host.register("area", |w: f64, h: f64| w * h)`.
    pub fn register<Params, F>(&mut self, name: &str, function: F)
    where
        F: HostFunction<Params>,
    {
        let shown = name.to_owned();
        let native = NativeFunction::closure(name, move |vm, args| {
            if args.has_keywords() {
                return Err(errors::no_keywords(&shown));
            }
            if args.positional().len() != F::ARITY {
                return Err(errors::wrong_count(&shown, F::ARITY, args.positional().len()));
            }
            function.invoke(vm, args.positional())
        });
        self.main.set(name, Value::NativeFunction(Rc::new(native)));
    }

    /// The next line that `input()` would read, with its end; `None` at the end of the input.
    pub fn read_line(&mut self) -> Result<Option<String>, Diagnostics> {
        // Waiting for an entry has no time limit.
        let running = self.vm.start_running();
        let line = with_stack(|| read_line(&mut self.vm));
        drop(running);
        line.map_err(|raise| self.vm.unhandled(raise))
    }

    /// What checked launches found so far.
    pub fn findings(&self) -> &Findings {
        &self.vm.findings
    }

    /// What kernels cost so far; `None` without [`HostBuilder::profiled`].
    pub fn profile(&self) -> Option<Profile> {
        let recorder = self.vm.recorder.as_ref()?;
        Some(Profile::new(recorder.kernels(), |line| self.vm.source_line(line)))
    }

    /// The trace so far as JSON for `chrome://tracing` and Perfetto; `None` without [`HostBuilder::traced`].
    /// Waits for submitted work.
    pub fn trace(&self) -> Option<String> {
        self.vm.tracer.as_ref().map(Tracer::json)
    }

    /// Finishes after the last program: closes suspended generators, which run their `finally` and `with`.
    /// Dropping a host does this too, and ignores errors.
    pub fn end(&mut self) -> Result<(), Diagnostics> {
        let ended = self.enter(Vm::end_generators);
        ended.map_err(|raise| self.vm.unhandled(raise))
    }

    /// A handle that stops the running script, from another thread.
    pub fn interrupter(&self) -> Interrupter {
        self.vm.interrupter()
    }

    /// What `print` has buffered, for another thread that ends the process.
    pub fn unwritten(&self) -> Unwritten {
        self.vm.output.unwritten()
    }

    /// Writes out what `print` has buffered.
    pub fn flush(&mut self) -> std::io::Result<()> {
        self.vm.output.flush()
    }

    /// The machine itself, for what this API does not offer.
    pub fn vm(&mut self) -> &mut Vm {
        &mut self.vm
    }

    pub(crate) fn main(&self) -> &Rc<Module> {
        &self.main
    }

    /// The entry point of all runs: starts the clock, and flushes the output.
    pub(crate) fn enter<T>(&mut self, act: impl FnOnce(&mut Vm) -> ScriptResult<T>) -> ScriptResult<T> {
        let running = self.vm.start_running();
        let clock = self.vm.start_clock();
        let ended = with_stack(|| act(&mut self.vm));
        let result = match ended {
            // The reader of the output may be what the run waited for.
            Err(raise) if raise.is_interrupt() => {
                let _ = self.vm.output.flush_ready();
                Err(raise)
            }
            ended => match self.vm.flush() {
                Err(raise) if raise.is_interrupt() => ended.and(Err(raise)),
                // A broken pipe was raised in the script where it printed; no caller remains here to handle
                // it.
                _ => ended,
            },
        };
        drop(clock);
        // The caller may do anything next.
        self.vm.start_collected();
        // The run may have ended in one long call without a poll after it, or may have dropped a generator.
        let result = result.and_then(|value| self.vm.pause().map(|()| value));
        drop(running);
        result
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.end();
    }
}
