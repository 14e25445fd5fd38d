//! Loggers, handlers and formatters as scripts hold them.

use std::cell::RefCell;
use std::fs::OpenOptions;
use std::rc::Rc;

use super::handler::{BASIC_FORMAT, Handler, Record, SharedHandler, Target};
use super::registry::{CRITICAL, DEBUG, ERROR, INFO, LEVELS, Logger, NOTSET, Registry, WARNING};
use crate::errors::{type_error, value_error};
use crate::value::{Args, BinaryOp, ExceptionKind, Native, NativeDef, NativeType, Raise, Result, Value};
use crate::vm::Vm;

pub static LOGGER: NativeType = NativeType {
    methods: &[
        NativeDef::method("setLevel", set_level),
        NativeDef::method("getEffectiveLevel", get_effective_level),
        NativeDef::method("isEnabledFor", is_enabled_for),
        NativeDef::method("addHandler", add_handler),
        NativeDef::method("removeHandler", remove_handler),
        NativeDef::method("hasHandlers", has_handlers),
        NativeDef::method("getChild", get_child),
        NativeDef::method("debug", |vm, args| log(vm, args, DEBUG)),
        NativeDef::method("info", |vm, args| log(vm, args, INFO)),
        NativeDef::method("warning", |vm, args| log(vm, args, WARNING)),
        NativeDef::method("warn", |vm, args| log(vm, args, WARNING)),
        NativeDef::method("error", |vm, args| log(vm, args, ERROR)),
        NativeDef::method("exception", |vm, args| log(vm, args, ERROR)),
        NativeDef::method("critical", |vm, args| log(vm, args, CRITICAL)),
        NativeDef::method("fatal", |vm, args| log(vm, args, CRITICAL)),
        NativeDef::method("log", log_at),
        NativeDef::getter("name", |_, args| Ok(args.this::<ScriptLogger>()?.0.name.as_str().into())),
        NativeDef::getter("level", |_, args| Ok(args.this::<ScriptLogger>()?.0.level.get().into())),
        NativeDef::getter("propagate", |_, args| Ok(args.this::<ScriptLogger>()?.0.propagate.get().into())),
        NativeDef::getter("handlers", handlers),
        NativeDef::getter("parent", parent),
    ],
    ..NativeType::new("Logger", "logging")
};

pub static STREAM_HANDLER: NativeType = NativeType {
    new: Some(new_stream_handler),
    methods: HANDLER_METHODS,
    ..NativeType::new("StreamHandler", "logging")
};

pub static FILE_HANDLER: NativeType = NativeType {
    new: Some(new_file_handler),
    methods: HANDLER_METHODS,
    ..NativeType::new("FileHandler", "logging")
};

pub static NULL_HANDLER: NativeType = NativeType {
    new: Some(new_null_handler),
    methods: HANDLER_METHODS,
    ..NativeType::new("NullHandler", "logging")
};

const HANDLER_METHODS: &[NativeDef] = &[
    NativeDef::method("setLevel", set_handler_level),
    NativeDef::method("setFormatter", set_formatter),
    NativeDef::method("flush", flush_handler),
    NativeDef::method("close", flush_handler),
    NativeDef::getter("level", |_, args| Ok(args.this::<ScriptHandler>()?.handler.level.get().into())),
];

pub static FORMATTER: NativeType =
    NativeType { new: Some(new_formatter), ..NativeType::new("Formatter", "logging") };

struct ScriptLogger(Rc<Logger>);

struct ScriptHandler {
    ty: &'static NativeType,
    handler: SharedHandler,
}

struct ScriptFormatter {
    format: String,
}

impl Native for ScriptLogger {
    fn native_type(&self) -> &'static NativeType {
        &LOGGER
    }

    fn set_attr(&self, _: &Value, vm: &mut Vm, name: &str, value: &Value) -> Result<bool> {
        match name {
            "propagate" => self.0.propagate.set(vm.truth(value)?),
            "level" => self.0.level.set(level(vm, value)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// One logger, however many objects stand for it.
    fn compare(
        &self,
        _: &Value,
        _: &mut Vm,
        op: crate::value::CompareOp,
        other: &Value,
    ) -> Result<Option<Value>> {
        use crate::value::CompareOp;
        let same = other.downcast::<ScriptLogger>().is_some_and(|other| Rc::ptr_eq(&self.0, &other.0));
        Ok(match op {
            CompareOp::Eq => Some(same.into()),
            CompareOp::NotEq => Some((!same).into()),
            _ => None,
        })
    }

    fn hash(&self, _: &Value, _: &mut Vm) -> Result<Option<i64>> {
        Ok(Some(Rc::as_ptr(&self.0) as i64 >> 4))
    }

    fn repr(&self, _: &Value, vm: &mut Vm) -> Result<String> {
        let level = vm.state::<Registry>().effective_level(&self.0);
        Ok(format!("<Logger {} ({})>", self.0.name, super::registry::level_name(level)))
    }
}

impl Native for ScriptHandler {
    fn native_type(&self) -> &'static NativeType {
        self.ty
    }
}

impl Native for ScriptFormatter {
    fn native_type(&self) -> &'static NativeType {
        &FORMATTER
    }
}

/// A level by its number or its name.
pub fn level(vm: &mut Vm, given: &Value) -> Result<i64> {
    if let Some(name) = given.as_str() {
        let known =
            LEVELS.iter().chain(&[("WARN", WARNING), ("FATAL", CRITICAL)]).find(|(known, _)| *known == name);
        let unknown = || {
            value_error(format!("Unknown level: '{name}'"))
                .help("one of DEBUG, INFO, WARNING, ERROR, CRITICAL")
        };
        return known.map(|(_, level)| *level).ok_or_else(unknown);
    }
    match vm.try_index(given)? {
        Some(level) => Ok(level),
        None => Err(type_error(format!("a level is an int or a name, not {}", given.type_name()))),
    }
}

pub fn get_logger(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("getLogger");
    let name = parser.optional("name")?.filter(|name| !name.is_none());
    parser.finish()?;
    let name = match name {
        None => "",
        Some(name) => name.as_str().ok_or_else(|| type_error("A logger name must be a string"))?,
    };
    Ok(Value::native(ScriptLogger(vm.state::<Registry>().logger(name))))
}

/// `basicConfig(**options)`: sets the root logger up, unless it has been.
pub fn basic_config(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("basicConfig");
    let format = parser.keyword_only("format");
    let to_level = parser.keyword_only("level");
    let filename = parser.keyword_only("filename");
    let filemode = parser.keyword_only("filemode");
    let stream = parser.keyword_only("stream");
    let handlers = parser.keyword_only("handlers");
    let force = parser.keyword_only("force");
    parser.keyword_only("datefmt");
    parser.finish()?;
    let root = vm.state::<Registry>().root.clone();
    if force.map_or(Ok(false), |force| vm.truth(force))? {
        root.handlers.borrow_mut().clear();
    }
    if !root.handlers.borrow().is_empty() {
        return Ok(Value::None);
    }
    let made = match (handlers, filename, stream) {
        (Some(handlers), ..) => {
            let items = vm.collect(handlers)?;
            items.iter().map(handler_of).collect::<Result<Vec<_>>>()?
        }
        (None, Some(path), _) => vec![Rc::new(Handler::new(file_target(vm, path, filemode)?))],
        (None, None, Some(stream)) if !stream.is_none() => {
            vec![Rc::new(Handler::new(Target::Object(stream.clone())))]
        }
        _ => vec![Rc::new(Handler::new(Target::Stderr))],
    };
    let format = match format.filter(|format| !format.is_none()) {
        Some(format) => vm.str(format)?,
        None => BASIC_FORMAT.to_owned(),
    };
    for handler in made {
        *handler.format.borrow_mut() = format.clone();
        root.handlers.borrow_mut().push(handler);
    }
    if let Some(given) = to_level.filter(|given| !given.is_none()) {
        root.level.set(level(vm, given)?);
    }
    Ok(Value::None)
}

/// A function of the module: the root logger's, which is set up if nobody did.
pub fn root_log(vm: &mut Vm, args: &Args, level: i64) -> Result {
    let root = ensure_root(vm);
    log_message(vm, &root, level, args.positional())
}

pub fn root_log_at(vm: &mut Vm, args: &Args) -> Result {
    let root = ensure_root(vm);
    let [given, message @ ..] = args.positional() else { return Err(type_error("log() needs a level")) };
    let level = level(vm, given)?;
    log_message(vm, &root, level, message)
}

fn ensure_root(vm: &mut Vm) -> Rc<Logger> {
    let root = vm.state::<Registry>().root.clone();
    if root.handlers.borrow().is_empty() {
        root.handlers.borrow_mut().push(Rc::new(Handler::basic()));
    }
    root
}

fn log(vm: &mut Vm, args: &Args, level: i64) -> Result {
    let logger = args.this::<ScriptLogger>()?.0.clone();
    log_message(vm, &logger, level, args.rest().positional())
}

fn log_at(vm: &mut Vm, args: &Args) -> Result {
    let logger = args.this::<ScriptLogger>()?.0.clone();
    let [given, message @ ..] = args.rest().positional() else {
        return Err(type_error("log() needs a level"));
    };
    let level = level(vm, given)?;
    log_message(vm, &logger, level, message)
}

/// The message with its arguments put in, given to the handlers if it matters enough.
fn log_message(vm: &mut Vm, logger: &Rc<Logger>, level: i64, message: &[Value]) -> Result {
    let [text, values @ ..] = message else { return Err(type_error("a log call needs a message")) };
    let registry = vm.state::<Registry>();
    if !registry.is_enabled(logger, level) {
        return Ok(Value::None);
    }
    let mut message = vm.str(text)?;
    if !values.is_empty() {
        // One mapping is what `%(key)s` looks into; everything else goes in order.
        let operand = match values {
            [one @ Value::Dict(_)] => one.clone(),
            several => Value::tuple(several.to_vec()),
        };
        let formatted = vm.binary(BinaryOp::Mod, &Value::str(message), &operand)?;
        message = vm.str(&formatted)?;
    }
    let record = Record { logger: logger.name.clone(), level, message };
    for handler in registry.handlers(logger) {
        handler.take(&record);
        handler.flush(vm)?;
    }
    Ok(Value::None)
}

fn set_level(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptLogger = args.this()?;
    let mut parser = args.method_parser("setLevel");
    let given = parser.required("level")?;
    parser.finish()?;
    this.0.level.set(level(vm, given)?);
    Ok(Value::None)
}

fn get_effective_level(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptLogger = args.this()?;
    Ok(vm.state::<Registry>().effective_level(&this.0).into())
}

fn is_enabled_for(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptLogger = args.this()?;
    let [_, given] = args.exactly("isEnabledFor")?;
    let level = level(vm, given)?;
    Ok(vm.state::<Registry>().is_enabled(&this.0, level).into())
}

fn handler_of(value: &Value) -> Result<SharedHandler> {
    let handler = value.downcast::<ScriptHandler>().map(|handler| handler.handler.clone());
    handler.ok_or_else(|| {
        type_error(format!("expected a handler, got {}", value.type_name()))
            .help("such as logging.StreamHandler() or logging.FileHandler(path)")
    })
}

fn add_handler(_: &mut Vm, args: &Args) -> Result {
    let this: &ScriptLogger = args.this()?;
    let [_, handler] = args.exactly("addHandler")?;
    let handler = handler_of(handler)?;
    let mut handlers = this.0.handlers.borrow_mut();
    if !handlers.iter().any(|known| Rc::ptr_eq(known, &handler)) {
        handlers.push(handler);
    }
    Ok(Value::None)
}

fn remove_handler(_: &mut Vm, args: &Args) -> Result {
    let this: &ScriptLogger = args.this()?;
    let [_, handler] = args.exactly("removeHandler")?;
    let handler = handler_of(handler)?;
    this.0.handlers.borrow_mut().retain(|known| !Rc::ptr_eq(known, &handler));
    Ok(Value::None)
}

fn has_handlers(_: &mut Vm, args: &Args) -> Result {
    Ok((!args.this::<ScriptLogger>()?.0.handlers.borrow().is_empty()).into())
}

fn get_child(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptLogger = args.this()?;
    let [_, suffix] = args.exactly("getChild")?;
    let suffix = vm.str(suffix)?;
    let registry = vm.state::<Registry>();
    let is_root = Rc::ptr_eq(&this.0, &registry.root);
    let name = if is_root { suffix } else { format!("{}.{suffix}", this.0.name) };
    Ok(Value::native(ScriptLogger(registry.logger(&name))))
}

fn handlers(_: &mut Vm, args: &Args) -> Result {
    let handlers = args.this::<ScriptLogger>()?.0.handlers.borrow().clone();
    let objects =
        handlers.into_iter().map(|handler| Value::native(ScriptHandler { ty: &STREAM_HANDLER, handler }));
    Ok(Value::list(objects.collect()))
}

fn parent(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptLogger = args.this()?;
    let parent = vm.state::<Registry>().parent(&this.0);
    Ok(parent.map_or(Value::None, |parent| Value::native(ScriptLogger(parent))))
}

fn new_stream_handler(_: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("StreamHandler");
    let stream = parser.optional("stream")?.filter(|stream| !stream.is_none());
    parser.finish()?;
    let target = stream.map_or(Target::Stderr, |stream| Target::Object(stream.clone()));
    Ok(script_handler(&STREAM_HANDLER, target))
}

fn new_file_handler(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("FileHandler");
    let path = parser.required("filename")?;
    let mode = parser.optional("mode")?;
    parser.finish()?;
    Ok(script_handler(&FILE_HANDLER, file_target(vm, path, mode)?))
}

fn new_null_handler(_: &mut Vm, args: &Args) -> Result {
    args.exactly::<0>("NullHandler")?;
    Ok(script_handler(&NULL_HANDLER, Target::Nowhere))
}

fn script_handler(ty: &'static NativeType, target: Target) -> Value {
    Value::native(ScriptHandler { ty, handler: Rc::new(Handler::new(target)) })
}

fn file_target(vm: &mut Vm, path: &Value, mode: Option<&Value>) -> Result<Target> {
    let path = vm.str(path)?;
    let truncate = mode.and_then(Value::as_str) == Some("w");
    let opened = OpenOptions::new().create(true).write(true).truncate(truncate).append(!truncate).open(&path);
    let file = opened
        .map_err(|error| Raise::new(ExceptionKind::OSError, format!("cannot write to {path:?}: {error}")))?;
    Ok(Target::File(RefCell::new(file)))
}

fn set_handler_level(vm: &mut Vm, args: &Args) -> Result {
    let this: &ScriptHandler = args.this()?;
    let [_, given] = args.exactly("setLevel")?;
    this.handler.level.set(level(vm, given)?.max(NOTSET));
    Ok(Value::None)
}

fn set_formatter(_: &mut Vm, args: &Args) -> Result {
    let this: &ScriptHandler = args.this()?;
    let [_, formatter] = args.exactly("setFormatter")?;
    let Some(formatter) = formatter.downcast::<ScriptFormatter>() else {
        return Err(type_error(format!("expected a logging.Formatter, got {}", formatter.type_name())));
    };
    *this.handler.format.borrow_mut() = formatter.format.clone();
    Ok(Value::None)
}

fn flush_handler(vm: &mut Vm, args: &Args) -> Result {
    args.this::<ScriptHandler>()?.handler.flush(vm)?;
    Ok(Value::None)
}

/// `Formatter(fmt="%(message)s")`
fn new_formatter(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("Formatter");
    let format = parser.optional("fmt")?.filter(|format| !format.is_none());
    parser.optional("datefmt")?;
    parser.finish()?;
    let format = match format {
        Some(format) => vm.str(format)?,
        None => "%(message)s".to_owned(),
    };
    Ok(Value::native(ScriptFormatter { format }))
}
