//! The module `logging`: loggers in a tree, handlers, formats, as far as scripts use them.
//!
//! Nothing is set up by importing: a record that nobody handles is told on standard error from WARNING
//! on, as in Python. `import kp` gives the logger `kp` a handler of its own for as long as nobody sets
//! up another, at WARNING; root logging is left alone.

mod handler;
mod objects;
mod registry;

use std::rc::Rc;

use kps_compute::Log;

use self::handler::Handler;
use self::registry::{NOTSET, Registry, WARNING};
use crate::value::{Args, Module, NativeDef, NativeModule, Result, Value};
use crate::vm::Vm;

pub static MODULE: NativeModule = NativeModule {
    functions: &[
        NativeDef::function("getLogger", objects::get_logger),
        NativeDef::function("basicConfig", objects::basic_config),
        NativeDef::function("getLevelName", get_level_name),
        NativeDef::function("disable", disable),
        NativeDef::function("debug", |vm, args| objects::root_log(vm, args, registry::DEBUG)),
        NativeDef::function("info", |vm, args| objects::root_log(vm, args, registry::INFO)),
        NativeDef::function("warning", |vm, args| objects::root_log(vm, args, WARNING)),
        NativeDef::function("warn", |vm, args| objects::root_log(vm, args, WARNING)),
        NativeDef::function("error", |vm, args| objects::root_log(vm, args, registry::ERROR)),
        NativeDef::function("exception", |vm, args| objects::root_log(vm, args, registry::ERROR)),
        NativeDef::function("critical", |vm, args| objects::root_log(vm, args, registry::CRITICAL)),
        NativeDef::function("fatal", |vm, args| objects::root_log(vm, args, registry::CRITICAL)),
        NativeDef::function("log", objects::root_log_at),
    ],
    types: &[
        &objects::LOGGER,
        &objects::STREAM_HANDLER,
        &objects::FILE_HANDLER,
        &objects::NULL_HANDLER,
        &objects::FORMATTER,
    ],
    init: Some(init),
    ..NativeModule::new("logging")
};

fn init(_: &mut Vm, module: &Module) -> Result<()> {
    for (name, level) in registry::LEVELS {
        module.set(name, level);
    }
    module.set("WARN", WARNING);
    module.set("FATAL", registry::CRITICAL);
    module.set("BASIC_FORMAT", handler::BASIC_FORMAT);
    Ok(())
}

fn get_level_name(vm: &mut Vm, args: &Args) -> Result {
    let [level] = args.exactly("getLevelName")?;
    let level = objects::level(vm, level)?;
    Ok(registry::level_name(level).into())
}

fn disable(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("disable");
    let level =
        parser.optional("level")?.map_or(Ok(registry::CRITICAL), |level| objects::level(vm, level))?;
    parser.finish()?;
    vm.state::<Registry>().disabled.set(level);
    Ok(Value::None)
}

/// The logger that the module `kp` writes to.
const KP: &str = "kp";

/// Gives the logger `kp` its handler and its level, unless the script did so before.
pub fn prepare_kp(vm: &mut Vm) {
    let logger = vm.state::<Registry>().logger(KP);
    if logger.level.get() == NOTSET {
        logger.level.set(WARNING);
    }
    logger.fallback.borrow_mut().get_or_insert_with(|| Rc::new(Handler::basic()));
}

pub fn set_kp_level(vm: &mut Vm, level: i64) {
    vm.state::<Registry>().logger(KP).level.set(level);
}

/// Where the compute library's events go: the logger `kp`.
pub fn kp_log(vm: &mut Vm) -> Log {
    prepare_kp(vm);
    let registry = vm.state::<Registry>();
    Log::to(move |level, message| registry.tell(KP, super::kp::level(level), message))
}

/// A warning on the logger `kp`.
pub fn warn_kp(vm: &mut Vm, message: &str) -> Result<()> {
    prepare_kp(vm);
    vm.state::<Registry>().tell(KP, WARNING, message);
    flush_kp(vm)
}

/// Writes what waits in the handlers of `kp` for the machine.
pub fn flush_kp(vm: &mut Vm) -> Result<()> {
    let registry = vm.state::<Registry>();
    let logger = registry.logger(KP);
    registry.handlers(&logger).iter().try_for_each(|handler| handler.flush(vm))
}
