//! The environment of a kernel: the names of its module and of the functions around it.

use std::rc::{Rc, Weak};
use std::sync::Arc;

use kps_kernel::{
    ArrayParam, Constant, EnvModule, EnvValue, HelperFunction, Holder, KernelEnv, MAX_PARTS, MAX_TABLE,
    MapEnv, Type, TypeExpr,
};
use kps_syntax::Source;
use kps_syntax::ast::Name as SourceName;

use super::library_struct::LibraryStruct;
use super::structs;
use super::types::KernelType;
use crate::modules::numpy::{self, NdArray};
use crate::value::{Class, Descriptor, Function, Instance, Module, Value};
use crate::vm::{Interrupter, Vm};

/// The names that one function of a script sees.
pub struct FunctionEnv(pub Rc<Function>);

impl KernelEnv for FunctionEnv {
    fn get(&self, name: &str) -> Option<EnvValue> {
        let value = self.0.captured(name).or_else(|| self.0.globals().get(name));
        match value {
            Some(value) => Some(env_value(&value)),
            None => self.is_class_around(name).then_some(EnvValue::Unknown),
        }
    }

    fn names(&self) -> Vec<SourceName> {
        let captured = self.0.code.code.free.iter().cloned();
        let globals = self.0.globals().to_pairs().into_iter().map(|(name, _)| Arc::from(&*name));
        captured.chain(globals).collect()
    }

    fn identity(&self) -> usize {
        Rc::as_ptr(&self.0) as usize
    }

    fn default_of(&self, param: &str) -> Option<EnvValue> {
        let params = &self.0.def()?.params;
        let value = match params.keyword_only.iter().position(|known| &*known.name.name == param) {
            Some(at) => self.0.keyword_defaults.borrow().get(at)?.clone(),
            None => {
                let positional = || params.positional_only.iter().chain(&params.regular);
                let from_end = positional().rev().position(|known| &*known.name.name == param)?;
                let defaults = self.0.defaults.borrow();
                defaults.get(defaults.len().checked_sub(from_end + 1)?)?.clone()
            }
        };
        (!value.is_unset()).then(|| env_value(&value))
    }

    fn library(&self) -> Option<SourceName> {
        library_of(self.0.source())
    }
}

/// The names that a function sees, for a compilation that ends when the script is interrupted.
pub struct Interruptible<'a> {
    pub env: &'a FunctionEnv,
    pub interrupter: Interrupter,
}

impl KernelEnv for Interruptible<'_> {
    fn get(&self, name: &str) -> Option<EnvValue> {
        self.env.get(name)
    }

    fn names(&self) -> Vec<SourceName> {
        self.env.names()
    }

    fn identity(&self) -> usize {
        self.env.identity()
    }

    fn default_of(&self, param: &str) -> Option<EnvValue> {
        self.env.default_of(param)
    }

    fn is_cancelled(&self) -> bool {
        self.interrupter.is_set()
    }

    fn library(&self) -> Option<SourceName> {
        self.env.library()
    }
}

impl FunctionEnv {
    /// For a compilation that the machine runs.
    pub fn interruptible(&self, vm: &Vm) -> Interruptible<'_> {
        Interruptible { env: self, interrupter: vm.interrupter() }
    }

    /// Whether a name is that of a class whose body contains the function: it has no value until the body
    /// ends.
    fn is_class_around(&self, name: &str) -> bool {
        let mut around = self.0.code.code.qualname.rsplit('.').skip(1);
        around.by_ref().take_while(|part| *part != "<locals>").any(|class| class == name)
    }
}

/// The names of a module, for kernels.
pub fn module_env(module: &Rc<Module>) -> Rc<dyn KernelEnv> {
    Rc::new(ModuleEnv(Rc::clone(module)))
}

/// The names of a module that a script imported.
struct ModuleEnv(Rc<Module>);

impl KernelEnv for ModuleEnv {
    fn get(&self, name: &str) -> Option<EnvValue> {
        self.0.get(name).map(|value| env_value(&value))
    }

    fn names(&self) -> Vec<SourceName> {
        self.0.namespace.to_pairs().into_iter().map(|(name, _)| Arc::from(&*name)).collect()
    }

    fn identity(&self) -> usize {
        Rc::as_ptr(&self.0) as usize
    }
}

/// The attributes of a class.
struct ClassEnv(Rc<Class>);

impl KernelEnv for ClassEnv {
    fn get(&self, name: &str) -> Option<EnvValue> {
        Some(match self.0.lookup_text(name)? {
            Value::Descriptor(descriptor) => match &*descriptor {
                Descriptor::StaticMethod(function) => env_value(function),
                Descriptor::ClassMethod(_) => EnvValue::Other { type_name: "classmethod".to_owned() },
                Descriptor::Property { .. } => EnvValue::Other { type_name: "property".to_owned() },
            },
            value => env_value(&value),
        })
    }

    fn names(&self) -> Vec<SourceName> {
        let attrs = self.0.own_attrs();
        attrs.iter().map(|(name, _)| Arc::from(&**name)).filter(|name| !is_special(name)).collect()
    }

    fn identity(&self) -> usize {
        Rc::as_ptr(&self.0) as usize
    }
}

/// The attributes of a struct's class. The class owns the type that owns this.
pub struct StructEnv(pub Weak<Class>);

impl KernelEnv for StructEnv {
    fn get(&self, name: &str) -> Option<EnvValue> {
        let class = self.0.upgrade()?;
        match name {
            structs::TYPE_NOW => structs::type_now(&class).map(EnvValue::Type),
            name => ClassEnv(class).get(name).filter(|_| !is_special(name)),
        }
    }

    fn names(&self) -> Vec<SourceName> {
        self.0.upgrade().map_or(Vec::new(), |class| ClassEnv(class).names())
    }

    fn identity(&self) -> usize {
        self.0.as_ptr() as usize
    }
}

/// The attributes of an object, followed by its class's.
struct ObjectEnv(Rc<Instance>);

impl KernelEnv for ObjectEnv {
    fn get(&self, name: &str) -> Option<EnvValue> {
        if let Some(value) = self.0.get_text(name) {
            return Some(env_value(&value));
        }
        Some(match ClassEnv(self.0.class().clone()).get(name)? {
            EnvValue::Function(_) => EnvValue::Other { type_name: "method".to_owned() },
            value => value,
        })
    }

    fn names(&self) -> Vec<SourceName> {
        let own = self.0.fields.borrow().to_pairs().into_iter().map(|(name, _)| Arc::from(&*name));
        own.chain(ClassEnv(self.0.class().clone()).names()).collect()
    }

    fn identity(&self) -> usize {
        Rc::as_ptr(&self.0) as usize
    }
}

/// The library module with this text.
pub fn library_of(source: &Source) -> Option<SourceName> {
    let module = source.name().strip_prefix('<')?.strip_suffix('>')?;
    kps_stdlib::source(module).map(|_| module.into())
}

/// An instance of a class derived from `tuple`: with names if the class names its items.
fn named(instance: &Instance, items: Rc<[EnvValue]>) -> EnvValue {
    let names = match instance.class().lookup_text("_fields") {
        Some(Value::Tuple(names)) if names.len() == items.len() => names,
        _ => return EnvValue::Tuple(items),
    };
    let mut members = MapEnv::new();
    for (name, item) in names.iter().zip(items.iter()) {
        members.insert(name.as_str().unwrap_or_default(), item.clone());
    }
    let name = Arc::from(&*instance.class().name);
    EnvValue::Named(EnvModule { name, kind: Holder::Object, members: Rc::new(members) }, items)
}

/// An object that is not a struct, or whose values do not fit its struct type.
fn object(instance: &Rc<Instance>) -> EnvValue {
    EnvValue::Module(EnvModule {
        name: Arc::from(&*instance.class().name),
        kind: Holder::Object,
        members: Rc::new(ObjectEnv(instance.clone())),
    })
}

/// A struct with the members that it has now.
fn struct_value(value: &Value) -> Option<EnvValue> {
    let ty = structs::type_of_value(value)?;
    let numbers = structs::numbers_in(&ty, value)?;
    (numbers.len() <= MAX_TABLE).then(|| EnvValue::Numbers(structs::now(&ty), numbers.into()))
}

fn is_special(name: &str) -> bool {
    name.starts_with("__") && name.ends_with("__")
}

fn too_deep() -> EnvValue {
    EnvValue::Other { type_name: format!("collection more than {MAX_DEPTH} deep within others") }
}

/// A description of a list that is not a table.
fn list_name(items: &[Value]) -> &'static str {
    match items {
        [] => "empty list",
        [Value::Int(_), ..] if items.iter().all(|item| matches!(item, Value::Int(_))) => "list of ints",
        _ => "list",
    }
}

/// An array as a vector or a matrix if it is small enough, and as a table of rows otherwise.
fn array(array: &NdArray) -> Option<EnvValue> {
    if !(1..=MAX_TABLE).contains(&array.size()) {
        return None;
    }
    let (dtype, bytes) = (array.dtype(), array.to_contiguous_bytes().ok()?);
    let numbers: Vec<Constant> =
        bytes.chunks_exact(dtype.size()).map(|row| structs::constant(dtype, row)).collect();
    Some(match *array.shape() {
        [n @ 2..=4] => EnvValue::Numbers(Type::Vector(n as u8, dtype), numbers.into()),
        [rows @ 2..=4, columns @ 2..=4] if dtype.is_float() => {
            let ty = Type::Matrix { columns: columns as u8, rows: rows as u8, scalar: dtype };
            EnvValue::Numbers(ty, numbers.into())
        }
        ref shape => rows(shape, &mut numbers.into_iter()),
    })
}

fn rows(shape: &[usize], numbers: &mut dyn Iterator<Item = Constant>) -> EnvValue {
    match shape {
        [] => EnvValue::Constant(numbers.next().expect("an array has as many numbers as its shape says")),
        [n, inner @ ..] => EnvValue::List((0..*n).map(|_| rows(inner, numbers)).collect()),
    }
}

/// A type's declaration, with current values.
fn declared(of: &TypeExpr) -> TypeExpr {
    match of {
        TypeExpr::Value(ty) => TypeExpr::Value(structs::now(ty)),
        TypeExpr::Buffer(array) => {
            TypeExpr::Buffer(ArrayParam { element: structs::now(&array.element), ..array.clone() })
        }
        TypeExpr::Const(scalar) => TypeExpr::Const(*scalar),
    }
}

/// A function of the script that a kernel can call; `None` for any other value.
pub fn helper(value: &Value) -> Option<HelperFunction> {
    let Value::Function(function) = value else { return None };
    Some(HelperFunction {
        def: function.def()?.clone(),
        source: function.source().clone(),
        env: Rc::new(FunctionEnv(function.clone())),
    })
}

/// A value of the script as far as a kernel can use it.
pub fn env_value(value: &Value) -> EnvValue {
    Reader::default().value(value)
}

/// The maximum nesting of collections.
const MAX_DEPTH: usize = 64;

/// Reads one value with its nested values.
#[derive(Default)]
struct Reader {
    depth: usize,
    n_values: usize,
}

impl Reader {
    fn value(&mut self, value: &Value) -> EnvValue {
        self.n_values += 1;
        if self.n_values > MAX_PARTS {
            return EnvValue::too_large();
        }
        match value {
            // For example, a member of an `IntEnum`.
            Value::Instance(instance)
                if matches!(
                    instance.payload_value(),
                    Some(Value::Int(_) | Value::Float(_) | Value::Str(_))
                ) =>
            {
                plain_value(value.base_value())
            }
            Value::Instance(instance) if matches!(instance.payload_value(), Some(Value::Tuple(_))) => {
                match self.value(value.base_value()) {
                    EnvValue::Tuple(items) => named(instance, items),
                    other => other,
                }
            }
            Value::Tuple(items) => self.items(items).map_or_else(too_deep, EnvValue::Tuple),
            Value::List(list) if (1..=MAX_TABLE).contains(&list.borrow().len()) => {
                self.items(&list.borrow()).map_or_else(too_deep, EnvValue::List)
            }
            value => plain_value(value),
        }
    }

    /// `None` if collections are nested too deeply, as are those that contain themselves.
    fn items(&mut self, items: &[Value]) -> Option<Rc<[EnvValue]>> {
        if self.depth == MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let read = items.iter().map(|item| self.value(item)).collect();
        self.depth -= 1;
        Some(read)
    }
}
/// One that is no collection with values in it.
fn plain_value(value: &Value) -> EnvValue {
    let other = || EnvValue::Other { type_name: value.type_name().into_owned() };
    match value {
        Value::Int(int) => EnvValue::Int((*int).into()),
        Value::BigInt(big) => i128::try_from(&**big).map_or_else(|_| other(), EnvValue::Int),
        Value::Float(float) => EnvValue::Float(*float),
        Value::Bool(truth) => EnvValue::Bool(*truth),
        Value::Range(range) => EnvValue::Range([range.start, range.stop, range.step].map(i128::from)),
        Value::Function(_) => helper(value).map_or_else(other, EnvValue::Function),
        Value::NativeFunction(function) if function.class.is_none() => {
            EnvValue::Builtin(Arc::from(&*function.name))
        }
        Value::Module(module) => EnvValue::Module(EnvModule {
            name: Arc::from(&*module.name),
            kind: Holder::Module,
            members: Rc::new(ModuleEnv(module.clone())),
        }),
        Value::Class(class) => match structs::type_now(class).or_else(|| Type::by_name(&class.name)) {
            Some(ty) => EnvValue::Type(ty),
            None if class.is_script => EnvValue::Module(EnvModule {
                name: Arc::from(&*class.name),
                kind: Holder::Class,
                members: Rc::new(ClassEnv(class.clone())),
            }),
            None => EnvValue::Builtin(Arc::from(&*class.name)),
        },
        Value::Instance(instance) if instance.class().is_script => {
            struct_value(value).unwrap_or_else(|| object(instance))
        }
        Value::Str(text) => EnvValue::Str(Arc::from(text.as_str())),
        // Those that are read item by item are no plain ones.
        Value::List(list) => EnvValue::Other { type_name: list_name(&list.borrow()).to_owned() },
        Value::Native(_) if value.downcast::<NdArray>().is_some() => {
            // The data of a tensor changes, so it is no constant.
            let constant = value.downcast::<NdArray>().filter(|array| !array.is_in_form_of_list());
            constant.and_then(array).unwrap_or_else(other)
        }
        Value::Native(_) if value.downcast::<numpy::Scalar>().is_some() => {
            let scalar = value.downcast::<numpy::Scalar>().expect("asked above");
            EnvValue::Constant(structs::constant(scalar.dtype, &scalar.row()))
        }
        Value::Native(_) if value.downcast::<LibraryStruct>().is_some() => {
            EnvValue::Type(value.downcast::<LibraryStruct>().expect("asked above").ty().clone())
        }
        Value::Native(_) => match value.downcast::<KernelType>().map(|ty| (ty.declares(), ty.name())) {
            Some((Some(ty), _)) => declared(ty).into(),
            Some((None, Some(name))) => EnvValue::Builtin(Arc::from(name)),
            _ => other(),
        },
        _ => other(),
    }
}
