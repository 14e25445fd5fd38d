//! Functions of scripts and of the host, bound methods, descriptors, and the arguments of native calls.
//!
//! A native function is a plain `fn(&mut Vm, &Args) -> Result`. Read its arguments with a [`Parser`], which
//! words the errors as CPython does:
//!
//! ```text
//! fn sorted(vm: &mut Vm, args: &Args) -> Result {
//!     let mut parser = args.parser("sorted");
//!     let items = parser.positional("iterable")?;
//!     let key = parser.keyword_only("key");           // Option<Value>
//!     parser.finish()?;
//!     ..
//! }
//! ```

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use kps_syntax::Source;
use kps_syntax::ast::FunctionDef;

use super::{Attrs, BuiltinType, Class, Dict, Name, Namespace, Native, Result, Value, teardown};
use crate::errors;
use crate::vm::{LoadedCode, Vm};

/// A function written in a script.
pub struct Function {
    pub code: Rc<LoadedCode>,
    pub name: RefCell<Name>,
    /// Of the last positional parameters, no more than there are.
    pub defaults: RefCell<Vec<Value>>,
    /// Of each keyword-only parameter; `Unset` without a default.
    pub keyword_defaults: RefCell<Vec<Value>>,
    pub closure: Box<[Rc<Cell>]>,
    pub annotations: RefCell<Annotations>,
    /// `__qualname__`, `__module__`, `__doc__` and `__type_params__`, if they were set.
    changed: RefCell<Attrs>,
    /// `__dict__`: attributes that scripts set on it.
    dict: RefCell<Option<Rc<Dict>>>,
}

/// `__annotations__` of a function.
#[derive(Clone, Default)]
pub enum Annotations {
    #[default]
    None,
    /// The source of the annotations: a function that returns their dict, or a tuple of names and texts.
    Waiting(Value),
    Known(Rc<Dict>),
}

impl Function {
    /// A function without defaults and captured cells: the code of a module.
    pub(crate) fn plain(code: Rc<LoadedCode>) -> Function {
        let name = RefCell::new(Name::from(&*code.code.name));
        Function {
            code,
            name,
            defaults: RefCell::default(),
            keyword_defaults: RefCell::default(),
            closure: Box::default(),
            annotations: RefCell::default(),
            changed: RefCell::default(),
            dict: RefCell::default(),
        }
    }

    /// The same code over the same captured variables, with defaults of its own.
    pub fn copied(&self) -> Function {
        Function {
            code: self.code.clone(),
            name: self.name.clone(),
            defaults: self.defaults.clone(),
            keyword_defaults: self.keyword_defaults.clone(),
            closure: self.closure.clone(),
            annotations: self.annotations.clone(),
            changed: self.changed.clone(),
            dict: RefCell::default(),
        }
    }

    /// Visits each value that the function holds, once for each reference.
    pub(crate) fn each_value(&self, visit: &mut dyn FnMut(&Value)) {
        self.defaults.borrow().iter().for_each(&mut *visit);
        self.keyword_defaults.borrow().iter().for_each(&mut *visit);
        self.closure.iter().for_each(|cell| visit(&Value::Cell(cell.clone())));
        match &*self.annotations.borrow() {
            Annotations::None => {}
            Annotations::Waiting(value) => visit(value),
            Annotations::Known(dict) => visit(&Value::Dict(dict.clone())),
        }
        self.changed.borrow().values().for_each(&mut *visit);
        self.dict.borrow().iter().for_each(|dict| visit(&Value::Dict(dict.clone())));
    }

    /// Removes the mutable parts of a function, when a host ends.
    pub(crate) fn take_contents(&self) -> impl Sized + use<> {
        let given = (self.defaults.take(), self.keyword_defaults.take(), self.annotations.take());
        (given, self.changed.take(), self.dict.take())
    }

    /// `__qualname__`.
    pub fn qualname(&self) -> Name {
        match self.changed.borrow().get_text("__qualname__") {
            Some(Value::Str(text)) => Name(text.clone()),
            _ => Name::from(&*self.code.code.qualname),
        }
    }

    /// An attribute that a script set.
    pub(crate) fn get_attr(&self, name: &Name) -> Option<Value> {
        if let "__qualname__" | "__module__" | "__doc__" | "__type_params__" = &**name {
            return self.changed.borrow().get(name).cloned();
        }
        self.dict.borrow().as_ref()?.get_name(name)
    }

    pub(crate) fn set_attr(&self, name: &Name, new: Value) -> Result<()> {
        match (&**name, new) {
            ("__name__", Value::Str(text)) => *self.name.borrow_mut() = Name(text),
            ("__qualname__", new @ Value::Str(_)) | ("__module__" | "__doc__" | "__type_params__", new) => {
                let previous = self.changed.borrow_mut().insert(name.clone(), new);
                drop(previous);
            }
            ("__name__" | "__qualname__", _) => {
                return Err(errors::type_error(format!("{name} must be set to a string object")));
            }
            ("__defaults__", new) => self.set_defaults(&new)?,
            ("__kwdefaults__", new) => self.set_keyword_defaults(&new)?,
            ("__annotations__", Value::Dict(dict)) => {
                drop(self.annotations.replace(Annotations::Known(dict)));
            }
            ("__annotations__", Value::None) => drop(self.annotations.take()),
            ("__annotations__", _) => {
                return Err(errors::type_error("__annotations__ must be set to a dict object"));
            }
            ("__dict__", Value::Dict(dict)) => drop(self.dict.replace(Some(dict))),
            ("__dict__", other) => {
                let message = format!("__dict__ must be set to a dictionary, not a '{}'", other.type_name());
                return Err(errors::type_error(message));
            }
            ("__code__", _) => {
                return Err(errors::type_error("the code of a function cannot be replaced"));
            }
            ("__globals__" | "__closure__" | "__builtins__", _) => {
                return Err(errors::attribute_error("readonly attribute"));
            }
            (_, new) => drop(self.to_dict().set_name(name, new)),
        }
        Ok(())
    }

    pub(crate) fn remove_attr(&self, name: &Name) -> Result<Option<Value>> {
        match &**name {
            "__name__" | "__qualname__" | "__dict__" => {
                Err(errors::type_error(format!("cannot delete {name} of a function")))
            }
            "__doc__" | "__module__" => Ok(self.changed.borrow_mut().insert(name.clone(), Value::None)),
            "__defaults__" => Ok(Some(Value::tuple(self.defaults.take()))),
            "__kwdefaults__" => Ok(Some(Value::tuple(self.keyword_defaults.take()))),
            "__annotations__" => {
                drop(self.annotations.take());
                Ok(Some(Value::None))
            }
            _ => Ok(self.dict.borrow().as_ref().and_then(|dict| dict.remove_name(name))),
        }
    }

    /// `__dict__`.
    pub(crate) fn to_dict(&self) -> Rc<Dict> {
        self.dict.borrow_mut().get_or_insert_default().clone()
    }

    /// The attributes that scripts set.
    pub(crate) fn named_attrs(&self) -> Vec<(Name, Value)> {
        self.dict.borrow().as_ref().map_or(Vec::new(), |dict| dict.named_pairs())
    }

    fn set_defaults(&self, new: &Value) -> Result<()> {
        let new = match new {
            Value::None => Vec::new(),
            Value::Tuple(values) => {
                let n_surplus = values.len().saturating_sub(self.code.code.params.n_positional as usize);
                values[n_surplus..].to_vec()
            }
            _ => return Err(errors::type_error("__defaults__ must be set to a tuple object")),
        };
        drop(self.defaults.replace(new));
        Ok(())
    }

    fn set_keyword_defaults(&self, new: &Value) -> Result<()> {
        let new = match new {
            Value::None => Vec::new(),
            Value::Dict(dict) => {
                let names = self.keyword_only_names().iter();
                names.map(|name| dict.get_name(name).unwrap_or_default()).collect()
            }
            _ => return Err(errors::type_error("__kwdefaults__ must be set to a dict object")),
        };
        drop(self.keyword_defaults.replace(new));
        Ok(())
    }

    pub(crate) fn keyword_only_names(&self) -> &[Name] {
        let params = self.code.code.params;
        &self.code.param_names[params.n_positional as usize..params.n_named()]
    }

    pub fn is_lambda(&self) -> bool {
        &*self.code.code.name == "<lambda>"
    }

    /// The function's tree, a lambda as one that returns; `None` for generator expressions.
    pub fn def(&self) -> Option<&Arc<FunctionDef>> {
        self.code.code.def.as_ref()
    }

    pub fn source(&self) -> &Source {
        self.code.source()
    }

    /// The global names that it sees.
    pub fn globals(&self) -> &Rc<Namespace> {
        self.code.globals()
    }

    /// The value of a captured name of an enclosing function.
    pub fn captured(&self, name: &str) -> Option<Value> {
        let at = self.code.code.free.iter().position(|free| &**free == name)?;
        let value = self.closure[at].get();
        (!value.is_unset()).then_some(value)
    }
}

impl Drop for Function {
    fn drop(&mut self) {
        let defaults = (self.defaults.take(), self.keyword_defaults.take());
        let closure = std::mem::take(&mut self.closure);
        let attrs = (self.changed.take(), self.dict.take(), self.annotations.take());
        let has_attrs = !attrs.0.is_empty() || attrs.1.is_some() || !matches!(attrs.2, Annotations::None);
        if !defaults.0.is_empty() || !defaults.1.is_empty() || !closure.is_empty() || has_attrs {
            teardown((defaults, closure, attrs));
        }
    }
}

/// A local variable that inner functions share.
pub struct Cell(RefCell<Value>);

impl Cell {
    pub fn new(value: Value) -> Cell {
        Cell(RefCell::new(value))
    }

    /// The value, `Unset` if there is none.
    pub fn get(&self) -> Value {
        self.0.borrow().clone()
    }

    /// Calls `look` with the value.
    #[inline]
    pub fn look<T>(&self, look: impl FnOnce(&Value) -> T) -> T {
        look(&self.0.borrow())
    }

    /// Stores a value and returns the previous one.
    pub fn put(&self, value: Value) -> Value {
        self.0.replace(value)
    }
}

impl Drop for Cell {
    fn drop(&mut self) {
        let value = std::mem::take(self.0.get_mut());
        if value.is_object() {
            teardown(value);
        }
    }
}

pub type NativeFn = fn(&mut Vm, &Args) -> Result;

/// A native function as tables list it.
#[derive(Clone, Copy)]
pub struct NativeDef {
    pub name: &'static str,
    pub func: NativeFn,
    pub kind: NativeKind,
    /// Assigns to a getter: called with the object and the new value. Without it the attribute is read-only.
    pub set: Option<NativeFn>,
    pub doc: Option<Doc>,
}

/// The documentation of a native function, type or module, as `help` prints it.
#[derive(Clone, Copy)]
pub struct Doc {
    /// The parameters in brackets, with their defaults; empty for an attribute or a module.
    pub signature: &'static str,
    /// A sentence, which starts with a verb in the third person or with a noun.
    pub sentence: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NativeKind {
    Function,
    /// Called with its object as the first argument.
    Method,
    /// A computed attribute: called with only the object.
    Getter,
    Static,
    /// Called with the class as the first argument.
    Class,
}

/// Two tables as one.
pub const fn joined<const N: usize>(first: &[NativeDef], second: &[NativeDef]) -> [NativeDef; N] {
    let mut all = [first[0]; N];
    let mut at = 0;
    while at < N {
        all[at] = if at < first.len() { first[at] } else { second[at - first.len()] };
        at += 1;
    }
    all
}

impl NativeDef {
    const fn new(name: &'static str, func: NativeFn, kind: NativeKind) -> NativeDef {
        NativeDef { name, func, kind, set: None, doc: None }
    }

    /// Documents the function: its parameters as `(tensors, timeout=None)`, and a sentence. A getter has no
    /// parameters.
    pub const fn doc(self, signature: &'static str, sentence: &'static str) -> NativeDef {
        NativeDef { doc: Some(Doc { signature, sentence }), ..self }
    }

    pub const fn function(name: &'static str, func: NativeFn) -> NativeDef {
        NativeDef::new(name, func, NativeKind::Function)
    }

    pub const fn method(name: &'static str, func: NativeFn) -> NativeDef {
        NativeDef::new(name, func, NativeKind::Method)
    }

    pub const fn getter(name: &'static str, func: NativeFn) -> NativeDef {
        NativeDef::new(name, func, NativeKind::Getter)
    }

    /// An attribute that scripts may assign to.
    pub const fn member(name: &'static str, get: NativeFn, set: NativeFn) -> NativeDef {
        NativeDef { set: Some(set), ..NativeDef::getter(name, get) }
    }

    pub const fn static_method(name: &'static str, func: NativeFn) -> NativeDef {
        NativeDef::new(name, func, NativeKind::Static)
    }

    pub const fn class_method(name: &'static str, func: NativeFn) -> NativeDef {
        NativeDef::new(name, func, NativeKind::Class)
    }
}

/// A Rust closure that scripts call.
pub type NativeClosure = Box<dyn Fn(&mut Vm, &Args) -> Result>;

pub enum NativeCode {
    Plain(NativeFn),
    Closure(NativeClosure),
}

/// A native function as a value.
pub struct NativeFunction {
    pub name: Name,
    pub code: NativeCode,
    pub kind: NativeKind,
    /// Assigns to a getter.
    pub set: Option<NativeFn>,
    /// The class that it is a method of.
    pub class: Option<Name>,
    pub doc: Option<Doc>,
}

impl NativeFunction {
    pub fn of_module(def: &NativeDef) -> NativeFunction {
        NativeFunction {
            name: Name::from(def.name),
            code: NativeCode::Plain(def.func),
            kind: def.kind,
            set: def.set,
            class: None,
            doc: def.doc,
        }
    }

    pub fn of_class(def: &NativeDef, class: Name) -> NativeFunction {
        NativeFunction { class: Some(class), ..NativeFunction::of_module(def) }
    }

    /// A Rust closure as a function that scripts call.
    pub fn closure(name: &str, code: impl Fn(&mut Vm, &Args) -> Result + 'static) -> NativeFunction {
        NativeFunction {
            name: Name::from(name),
            code: NativeCode::Closure(Box::new(code)),
            kind: NativeKind::Function,
            set: None,
            class: None,
            doc: None,
        }
    }
}

/// A function with the receiver that it is called on.
pub struct BoundMethod {
    pub function: Value,
    pub receiver: Value,
}

impl Drop for BoundMethod {
    fn drop(&mut self) {
        teardown((std::mem::take(&mut self.function), std::mem::take(&mut self.receiver)));
    }
}

/// How a class attribute behaves when it is read from an instance.
pub enum Descriptor {
    /// `property(get, set, delete, doc)`; None for absent functions.
    Property {
        get: Value,
        set: Value,
        delete: Value,
        /// Unset if it is that of the getter.
        doc: RefCell<Value>,
    },
    StaticMethod(Value),
    ClassMethod(Value),
}

impl Descriptor {
    /// Visits each value in it.
    pub(crate) fn each_value(&self, visit: &mut dyn FnMut(&Value)) {
        match self {
            Descriptor::Property { get, set, delete, doc } => {
                [get, set, delete].into_iter().for_each(&mut *visit);
                visit(&doc.borrow());
            }
            Descriptor::StaticMethod(function) | Descriptor::ClassMethod(function) => visit(function),
        }
    }

    /// Whether it also handles assignments to the attribute.
    pub fn is_property(&self) -> bool {
        matches!(self, Descriptor::Property { .. })
    }

    pub fn builtin_type(&self) -> BuiltinType {
        match self {
            Descriptor::Property { .. } => BuiltinType::Property,
            Descriptor::StaticMethod(_) => BuiltinType::StaticMethod,
            Descriptor::ClassMethod(_) => BuiltinType::ClassMethod,
        }
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        match self {
            Descriptor::Property { get, set, delete, doc } => {
                teardown([get, set, delete, doc.get_mut()].map(std::mem::take));
            }
            Descriptor::StaticMethod(function) | Descriptor::ClassMethod(function) => {
                teardown(std::mem::take(function));
            }
        }
    }
}

/// `super()`: looks attributes up after `class` in the MRO of the receiver.
pub struct Super {
    pub class: Rc<Class>,
    /// An instance, or a class inside a class method.
    pub receiver: Value,
}

/// The arguments of a native call: values, the last ones named by `names`.
#[derive(Clone, Copy)]
pub struct Args<'a> {
    values: &'a [Value],
    names: &'a [Name],
}

impl<'a> Args<'a> {
    /// `names` belong to the last of the values.
    pub fn new(values: &'a [Value], names: &'a [Name]) -> Args<'a> {
        debug_assert!(names.len() <= values.len());
        Args { values, names }
    }

    pub fn positional(&self) -> &'a [Value] {
        &self.values[..self.values.len() - self.names.len()]
    }

    pub fn keywords(&self) -> impl Iterator<Item = (&'a Name, &'a Value)> {
        self.names.iter().zip(&self.values[self.values.len() - self.names.len()..])
    }

    pub fn keyword(&self, name: &str) -> Option<&'a Value> {
        self.keywords().find(|(given, _)| &***given == name).map(|(_, value)| value)
    }

    pub fn has_keywords(&self) -> bool {
        !self.names.is_empty()
    }

    /// All values, positional first.
    pub fn values(&self) -> &'a [Value] {
        self.values
    }

    pub fn names(&self) -> &'a [Name] {
        self.names
    }

    /// The values and names of all arguments but the one with this name.
    pub fn without(&self, unwanted: &str) -> (Vec<Value>, Vec<Name>) {
        let kept = || self.keywords().filter(|(name, _)| &***name != unwanted);
        let values = self.positional().iter().chain(kept().map(|(_, value)| value));
        (values.cloned().collect(), kept().map(|(name, _)| name.clone()).collect())
    }

    pub fn rest(&self) -> Args<'a> {
        Args { values: self.values.get(1..).unwrap_or(&[]), names: self.names }
    }

    /// The object that a method was called on.
    pub fn receiver(&self) -> Result<&'a Value> {
        let first = self.positional().first().ok_or_else(errors::method_needs_object)?;
        Ok(first.base_value())
    }

    /// The host object that a method was called on.
    pub fn this<T: Native>(&self) -> Result<&'a T> {
        let receiver = self.receiver()?;
        receiver.downcast::<T>().ok_or_else(|| errors::wrong_receiver(receiver))
    }

    /// Exactly `N` positional arguments and no keywords, in one step.
    pub fn exactly<const N: usize>(&self, function: &str) -> Result<&'a [Value; N]> {
        if self.has_keywords() {
            return Err(errors::no_keywords(function));
        }
        self.values.try_into().map_err(|_| errors::wrong_count(function, N, self.values.len()))
    }

    /// Parses the arguments one by one.
    pub fn parser(self, function: &'a str) -> Parser<'a> {
        Parser { args: self, function, at: 0, used: 0, named: 0 }
    }

    /// As [`Args::parser`], for a method: the object comes first and is not counted.
    pub fn method_parser(self, function: &'a str) -> Parser<'a> {
        self.rest().parser(function)
    }
}

/// Reads arguments in the order of the parameters; [`Parser::finish`] refuses the remaining ones.
pub struct Parser<'a> {
    args: Args<'a>,
    function: &'a str,
    /// The next positional argument.
    at: usize,
    /// Bits of the used keyword arguments.
    used: u64,
    named: usize,
}

impl<'a> Parser<'a> {
    /// A required parameter, by position or by name.
    pub fn required(&mut self, name: &str) -> Result<&'a Value> {
        let at = self.at + 1;
        match self.optional(name)? {
            Some(value) => Ok(value),
            None => Err(errors::missing_argument(self.function, name, at)),
        }
    }

    /// A required parameter that cannot be named.
    pub fn positional(&mut self, name: &str) -> Result<&'a Value> {
        let (function, at) = (self.function, self.at + 1);
        self.optional_positional().ok_or_else(|| errors::missing_argument(function, name, at))
    }

    /// An optional parameter, by position or by name.
    pub fn optional(&mut self, name: &str) -> Result<Option<&'a Value>> {
        let by_name = self.keyword_only(name);
        match self.optional_positional() {
            Some(_) if by_name.is_some() => Err(errors::argument_twice(self.function, name)),
            Some(value) => Ok(Some(value)),
            None => Ok(by_name),
        }
    }

    /// An optional parameter that cannot be named.
    pub fn optional_positional(&mut self) -> Option<&'a Value> {
        self.named += 1;
        let value = self.args.positional().get(self.at)?;
        self.at += 1;
        Some(value)
    }

    /// An optional parameter that must be named.
    pub fn keyword_only(&mut self, name: &str) -> Option<&'a Value> {
        let at = self.args.names.iter().position(|given| &**given == name)?;
        self.used |= 1 << at.min(63);
        Some(&self.args.values[self.args.values.len() - self.args.names.len() + at])
    }

    /// All positional arguments that are left: `*args`.
    pub fn rest(&mut self) -> &'a [Value] {
        let rest = &self.args.positional()[self.at..];
        self.at += rest.len();
        rest
    }

    /// Nothing may be left over.
    pub fn finish(self) -> Result<()> {
        let n_given = self.args.positional().len();
        if self.at < n_given {
            return Err(errors::too_many_arguments(self.function, self.named, n_given));
        }
        match self.left_over() {
            Some(name) => Err(errors::unexpected_keyword(self.function, name)),
            None => Ok(()),
        }
    }

    /// The first unused keyword.
    pub fn left_over(&self) -> Option<&'a str> {
        let is_left = |at: usize| self.used >> at.min(63) & 1 == 0;
        self.args.names.iter().enumerate().find(|(at, _)| is_left(*at)).map(|(_, name)| &**name)
    }
}
