//! The module `sys`: the arguments, the standard streams, and properties of the machine.

use std::path::PathBuf;

use super::struct_seq::StructSeq;
use crate::errors;
use crate::input::read_line;
use crate::text::int::{LEAST_STR_DIGITS, MAX_STR_DIGITS, max_str_digits, set_max_str_digits};
use crate::value::{
    Args, Dict, ExceptionKind, Module, Native, NativeDef, NativeModule, NativeType, Raise, Result, Value,
};
use crate::vm::{Vm, write_error};

pub static MODULE: NativeModule = NativeModule {
    functions: FUNCTIONS,
    init: Some(init),
    ..NativeModule::new("sys").doc("The program: its arguments, its streams, its modules and its end.")
};

static FUNCTIONS: &[NativeDef] = &[
    NativeDef::function("exit", exit),
    NativeDef::function("getrecursionlimit", |vm, _| Ok(Value::from(vm.limits.recursion))),
    NativeDef::function("setrecursionlimit", setrecursionlimit),
    NativeDef::function("get_int_max_str_digits", |_, _| Ok(Value::from(max_str_digits()))),
    NativeDef::function("set_int_max_str_digits", set_int_max_str_digits),
    NativeDef::function("getdefaultencoding", |_, _| Ok(Value::str("utf-8"))),
    NativeDef::function("getfilesystemencoding", |_, _| Ok(Value::str("utf-8"))),
    NativeDef::function("intern", intern),
    NativeDef::function("exc_info", exc_info),
    NativeDef::function("exception", exception),
];

/// The language version of scripts, for `sys.version_info`.
const VERSION: [i64; 3] = [3, 12, 0];

static VERSION_INFO: NativeType = NativeType::new("version_info", "sys");
static FLOAT_INFO: NativeType = NativeType::new("float_info", "sys");
static INT_INFO: NativeType = NativeType::new("int_info", "sys");
static FLAGS: NativeType = NativeType::new("flags", "sys");

fn init(vm: &mut Vm, module: &Module) -> Result<()> {
    let [major, minor, micro] = VERSION;
    module.set("argv", vm.args.clone());
    let path: Vec<String> = vm.module_path.iter().map(|folder| folder.display().to_string()).collect();
    module.set("path", path);
    module.set("maxsize", i64::MAX);
    module.set("maxunicode", 0x10_ffff);
    module.set("byteorder", if cfg!(target_endian = "little") { "little" } else { "big" });
    module.set("platform", platform());
    module
        .set("executable", std::env::current_exe().map_or(String::new(), |path| path.display().to_string()));
    module.set("version", format!("{major}.{minor}.{micro} (kps {})", env!("CARGO_PKG_VERSION")));
    module.set("version_info", version_info());
    module.set("hexversion", major << 24 | minor << 16 | micro << 8 | 0xf0);
    module.set("float_info", float_info());
    module.set("int_info", int_info());
    module.set("flags", StructSeq::value(&FLAGS, &["debug", "optimize"], vec![Value::Int(0), Value::Int(0)]));
    module.set("stdout", Value::native(Stream::Out));
    module.set("__stdout__", Value::native(Stream::Out));
    module.set("stderr", Value::native(Stream::Err));
    module.set("__stderr__", Value::native(Stream::Err));
    module.set("stdin", Value::native(Stream::In));
    module.set("__stdin__", Value::native(Stream::In));
    let modules = Dict::new();
    for (name, module) in &vm.modules {
        modules.insert_text(name.as_str(), Value::Module(module.clone()));
    }
    module.set("modules", Value::Dict(modules.into()));
    Ok(())
}

fn platform() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    }
}

fn version_info() -> Value {
    let mut items: Vec<Value> = VERSION.map(Value::Int).into();
    items.extend([Value::str("final"), Value::Int(0)]);
    StructSeq::value(&VERSION_INFO, &["major", "minor", "micro", "releaselevel", "serial"], items)
}

fn float_info() -> Value {
    let names = &[
        "max",
        "max_exp",
        "max_10_exp",
        "min",
        "min_exp",
        "min_10_exp",
        "dig",
        "mant_dig",
        "epsilon",
        "radix",
        "rounds",
    ];
    let items = vec![
        Value::Float(f64::MAX),
        Value::from(f64::MAX_EXP),
        Value::from(f64::MAX_10_EXP),
        Value::Float(f64::MIN_POSITIVE),
        Value::from(f64::MIN_EXP),
        Value::from(f64::MIN_10_EXP),
        Value::from(f64::DIGITS),
        Value::from(f64::MANTISSA_DIGITS),
        Value::Float(f64::EPSILON),
        Value::from(f64::RADIX),
        Value::Int(1),
    ];
    StructSeq::value(&FLOAT_INFO, names, items)
}

fn int_info() -> Value {
    let names = &["bits_per_digit", "sizeof_digit", "default_max_str_digits", "str_digits_check_threshold"];
    let limit = Value::from(MAX_STR_DIGITS);
    StructSeq::value(&INT_INFO, names, vec![Value::Int(64), Value::Int(8), limit, Value::Int(640)])
}

/// The folders in which imports look for modules: `sys.path` if a script has used it.
pub fn search_path(vm: &Vm) -> Vec<PathBuf> {
    let changed = vm.modules.get("sys").and_then(|sys| sys.get("path"));
    match changed {
        Some(Value::List(folders)) => {
            // A folder whose name is not Unicode has a lossy name.
            let named = |text: &str| {
                let given = vm.module_path.iter().find(|folder| folder.display().to_string() == text);
                given.map_or_else(|| PathBuf::from(text), Clone::clone)
            };
            folders.borrow().iter().filter_map(|folder| folder.as_str().map(named)).collect()
        }
        _ => vm.module_path.clone(),
    }
}

/// `sys.exit(code=None)`, and the builtins `exit` and `quit`: a text is printed to standard error and means
/// code 1.
pub fn exit(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("exit");
    let code = parser.optional_positional();
    parser.finish()?;
    if let Some(message @ (Value::Str(_) | Value::Float(_) | Value::List(_))) = code {
        let message = vm.str(message)?;
        vm.flush()?;
        // If standard error is closed, the message is lost.
        let _ = vm.error_output.write(&format!("{message}\n"));
    }
    Err(Raise::with_args(ExceptionKind::SystemExit, code.into_iter().cloned().collect()))
}

fn setrecursionlimit(vm: &mut Vm, args: &Args) -> Result {
    let [limit] = args.exactly("setrecursionlimit")?;
    let Some(limit) = usize::try_from(vm.index(limit)?).ok().filter(|&limit| limit > 0) else {
        return Err(errors::value_error("recursion limit must be greater or equal than 1"));
    };
    vm.limits.recursion = limit;
    Ok(Value::None)
}

fn set_int_max_str_digits(vm: &mut Vm, args: &Args) -> Result {
    let mut parser = args.parser("set_int_max_str_digits");
    let most = vm.index(parser.required("maxdigits")?)?;
    parser.finish()?;
    match usize::try_from(most) {
        Ok(most) if most == 0 || most >= LEAST_STR_DIGITS => set_max_str_digits(most),
        _ => {
            return Err(errors::value_error(format!(
                "maxdigits must be 0 or larger than {LEAST_STR_DIGITS}"
            )));
        }
    }
    Ok(Value::None)
}

fn intern(_: &mut Vm, args: &Args) -> Result {
    let [text] = args.exactly("intern")?;
    match text {
        Value::Str(_) => Ok(text.clone()),
        other => {
            let given = other.type_name();
            Err(errors::type_error(format!("intern() argument must be str, not {given}")))
        }
    }
}

fn exception(vm: &mut Vm, args: &Args) -> Result {
    args.exactly::<0>("exception")?;
    Ok(vm.handled_exception().map_or(Value::None, Value::Instance))
}

/// `(type, value, None)`: tracebacks are not objects.
fn exc_info(vm: &mut Vm, args: &Args) -> Result {
    let exception = exception(vm, args)?;
    let class = if exception.is_none() { Value::None } else { Value::Class(vm.class_of(&exception)) };
    Ok(Value::tuple([class, exception, Value::None]))
}

static STREAM: NativeType = NativeType { methods: STREAM_METHODS, ..NativeType::new("TextIOWrapper", "_io") };

static STREAM_METHODS: &[NativeDef] = &[
    NativeDef::method("write", write),
    NativeDef::method("writelines", writelines),
    NativeDef::method("flush", flush),
    NativeDef::method("read", read),
    NativeDef::method("readline", readline),
    NativeDef::method("readlines", readlines),
    NativeDef::method("isatty", isatty),
    NativeDef::method("fileno", |_, args| Ok(Value::Int(*stream(args)? as i64))),
    NativeDef::method("readable", |_, args| Ok(Value::Bool(matches!(stream(args)?, Stream::In)))),
    NativeDef::method("writable", |_, args| Ok(Value::Bool(!matches!(stream(args)?, Stream::In)))),
    NativeDef::method("__iter__", |_, args| args.receiver().cloned()),
    NativeDef::method("__next__", next),
    NativeDef::getter("name", |_, args| Ok(Value::str(stream(args)?.name()))),
    NativeDef::getter("encoding", |_, _| Ok(Value::str("utf-8"))),
    NativeDef::getter("closed", |_, _| Ok(Value::Bool(false))),
];

/// The object that a script assigned to `sys.stdout`, if any.
pub fn replaced_output(vm: &Vm) -> Option<Value> {
    let output = vm.modules.get("sys")?.get("stdout")?;
    let is_own = matches!(output.downcast::<Stream>(), Some(Stream::Out));
    (!is_own).then_some(output)
}

/// A standard stream; the numbers are those of the system.
#[derive(Clone, Copy)]
enum Stream {
    In = 0,
    Out = 1,
    Err = 2,
}

impl Stream {
    fn name(self) -> &'static str {
        match self {
            Stream::In => "<stdin>",
            Stream::Out => "<stdout>",
            Stream::Err => "<stderr>",
        }
    }
}

impl Native for Stream {
    fn native_type(&self) -> &'static NativeType {
        &STREAM
    }

    fn iter(&self, this: &Value, _: &mut Vm) -> Result<Option<Value>> {
        Ok(Some(this.clone()))
    }

    fn repr(&self, _: &Value, _: &mut Vm) -> Result<String> {
        let mode = if matches!(self, Stream::In) { 'r' } else { 'w' };
        Ok(format!("<_io.TextIOWrapper name='{}' mode='{mode}' encoding='utf-8'>", self.name()))
    }
}

fn stream<'a>(args: &Args<'a>) -> Result<&'a Stream> {
    args.this::<Stream>()
}

fn unsupported(message: &str) -> Raise {
    Raise::new(ExceptionKind::OSError, message)
}

fn put(vm: &mut Vm, stream: Stream, text: &str) -> Result<()> {
    match stream {
        Stream::In => Err(unsupported("not writable")),
        Stream::Out => vm.print(text),
        Stream::Err => {
            // Earlier output comes first.
            vm.flush()?;
            vm.error_output.write(text).map_err(write_error)
        }
    }
}

fn text_arg(value: &Value) -> Result<&str> {
    value
        .as_str()
        .ok_or_else(|| errors::type_error(format!("write() argument must be str, not {}", value.type_name())))
}

fn write(vm: &mut Vm, args: &Args) -> Result {
    let [text] = args.rest().exactly("write")?;
    let text = text_arg(text)?;
    put(vm, *stream(args)?, text)?;
    Ok(Value::from(crate::text::pad::n_chars(text)))
}

fn writelines(vm: &mut Vm, args: &Args) -> Result {
    let [lines] = args.rest().exactly("writelines")?;
    for line in vm.collect(lines)? {
        put(vm, *stream(args)?, text_arg(&line)?)?;
    }
    Ok(Value::None)
}

fn flush(vm: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("flush")?;
    vm.flush()?;
    Ok(Value::None)
}

/// A line of standard input; `None` at its end.
fn line(vm: &mut Vm, args: &Args) -> Result<Option<String>> {
    if !matches!(stream(args)?, Stream::In) {
        return Err(unsupported("not readable"));
    }
    read_line(vm)
}

fn readline(vm: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("readline")?;
    Ok(Value::str(line(vm, args)?.unwrap_or_default()))
}

fn read(vm: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("read")?;
    let mut text = String::new();
    while let Some(line) = line(vm, args)? {
        text.push_str(&line);
    }
    Ok(Value::str(text))
}

fn readlines(vm: &mut Vm, args: &Args) -> Result {
    args.rest().exactly::<0>("readlines")?;
    let mut lines = Vec::new();
    while let Some(line) = line(vm, args)? {
        lines.push(Value::str(line));
    }
    Ok(Value::list(lines))
}

fn next(vm: &mut Vm, args: &Args) -> Result {
    line(vm, args)?.map(Value::str).ok_or_else(|| errors::stop_iteration(Value::None))
}

fn isatty(vm: &mut Vm, args: &Args) -> Result {
    use std::io::IsTerminal;
    Ok(Value::Bool(match stream(args)? {
        Stream::In => vm.input.is_terminal(),
        Stream::Out => std::io::stdout().is_terminal(),
        Stream::Err => vm.error_output.is_terminal(),
    }))
}
