//! `function.__code__`: the parameters, names and place of a function's code.

use std::rc::Rc;

use crate::value::{Args, Native, NativeDef, NativeType, Result, Value};
use crate::vm::{LoadedCode, Vm};
use kps_bytecode::{CodeKind, Params};

static TYPE: NativeType = NativeType { methods: METHODS, ..NativeType::new("code", "builtins") };

static METHODS: &[NativeDef] = &[
    NativeDef::getter("co_name", |_, args| Ok(Value::str(&*this(args)?.code.name))),
    NativeDef::getter("co_qualname", |_, args| Ok(Value::str(&*this(args)?.code.qualname))),
    NativeDef::getter("co_filename", |_, args| Ok(Value::str(this(args)?.source().name()))),
    NativeDef::getter("co_firstlineno", |_, args| Ok(Value::Int(first_line(this(args)?)))),
    NativeDef::getter("co_argcount", |_, args| count(args, |params| params.n_positional)),
    NativeDef::getter("co_posonlyargcount", |_, args| count(args, |params| params.n_positional_only)),
    NativeDef::getter("co_kwonlyargcount", |_, args| count(args, |params| params.n_keyword_only)),
    NativeDef::getter("co_nlocals", |_, args| Ok(Value::from(locals(this(args)?).len()))),
    NativeDef::getter("co_varnames", |_, args| Ok(Value::tuple(locals(this(args)?)))),
    NativeDef::getter("co_freevars", |_, args| Ok(Value::tuple(texts(&this(args)?.code.free)))),
    NativeDef::getter("co_flags", |_, args| Ok(Value::Int(flags(this(args)?)))),
];

struct CodeObject(Rc<LoadedCode>);

/// The code of a function as an object.
pub fn code_object(code: &Rc<LoadedCode>) -> Value {
    Value::native(CodeObject(code.clone()))
}

impl Native for CodeObject {
    fn native_type(&self) -> &'static NativeType {
        &TYPE
    }

    fn repr(&self, this: &Value, _: &mut Vm) -> Result<String> {
        let (name, file, line) = (&self.0.code.name, self.0.source().name(), first_line(&self.0));
        let address = this.address().unwrap_or(0);
        Ok(format!("<code object {name} at {address:#x}, file \"{file}\", line {line}>"))
    }

    fn same_key(&self, other: &Value) -> bool {
        other.downcast::<CodeObject>().is_some_and(|other| Rc::ptr_eq(&self.0, &other.0))
    }
}

fn this<'a>(args: &Args<'a>) -> Result<&'a Rc<LoadedCode>> {
    Ok(&args.this::<CodeObject>()?.0)
}

fn texts(names: &[impl AsRef<str>]) -> Vec<Value> {
    names.iter().map(|name| Value::str(name.as_ref())).collect()
}

/// The names of parameters and other locals.
fn locals(code: &LoadedCode) -> Vec<Value> {
    let named: Vec<&str> =
        code.code.locals.iter().map(|name| &**name).filter(|name| !name.starts_with('.')).collect();
    texts(&named)
}

fn count(args: &Args, of: fn(&Params) -> u16) -> Result {
    Ok(Value::Int(of(&this(args)?.code.params).into()))
}

/// The line of the first decorator or the `def`.
fn first_line(code: &LoadedCode) -> i64 {
    let start = match &code.code.def {
        Some(def) => def.span.start,
        None => code.code.spans.first().map_or(0, |span| span.start),
    };
    code.source().line_column(start).0 as i64
}

/// CPython's bits for `*args`, `**keywords`, a function within another one and a generator.
fn flags(code: &LoadedCode) -> i64 {
    let params = &code.code.params;
    let is_nested = code.code.qualname.contains("<locals>");
    let bits = [
        (0x3, true),
        (0x4, params.has_var_positional),
        (0x8, params.has_var_keyword),
        (0x10, is_nested),
        (0x20, code.code.kind == CodeKind::Generator),
    ];
    bits.iter().filter(|(_, is_set)| *is_set).map(|(bit, _)| bit).sum()
}
