//! Classes: the built-in ones, those of modules, and those of scripts.
//!
//! All types have the same representation, so `type(x)`, `isinstance` and attribute lookup treat them alike.
//! Inheritance is single: a class's MRO is its chain of bases.

use std::cell::{Ref, RefCell};
use std::rc::{Rc, Weak};

use super::{
    Attrs, Doc, ExceptionKind, Function, Name, NativeDef, NativeFn, NativeFunction, NativeType, Shape, Value,
    teardown,
};
use crate::vm::LoadedCode;

/// The types that are part of the language itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum BuiltinType {
    Object,
    Type,
    NoneType,
    NotImplementedType,
    EllipsisType,
    Bool,
    Int,
    Float,
    Str,
    Bytes,
    List,
    Tuple,
    Dict,
    Set,
    FrozenSet,
    Range,
    Slice,
    Function,
    NativeFunction,
    Method,
    Property,
    StaticMethod,
    ClassMethod,
    Super,
    Module,
    Iterator,
    Generator,
    Cell,
}

impl BuiltinType {
    pub const COUNT: usize = BuiltinType::Cell as usize + 1;

    /// As `type(x).__name__` shows it.
    pub fn name(self) -> &'static str {
        match self {
            BuiltinType::Object => "object",
            BuiltinType::Type => "type",
            BuiltinType::NoneType => "NoneType",
            BuiltinType::NotImplementedType => "NotImplementedType",
            BuiltinType::EllipsisType => "ellipsis",
            BuiltinType::Bool => "bool",
            BuiltinType::Int => "int",
            BuiltinType::Float => "float",
            BuiltinType::Str => "str",
            BuiltinType::Bytes => "bytes",
            BuiltinType::List => "list",
            BuiltinType::Tuple => "tuple",
            BuiltinType::Dict => "dict",
            BuiltinType::Set => "set",
            BuiltinType::FrozenSet => "frozenset",
            BuiltinType::Range => "range",
            BuiltinType::Slice => "slice",
            BuiltinType::Function => "function",
            BuiltinType::NativeFunction => "builtin_function_or_method",
            BuiltinType::Method => "method",
            BuiltinType::Property => "property",
            BuiltinType::StaticMethod => "staticmethod",
            BuiltinType::ClassMethod => "classmethod",
            BuiltinType::Super => "super",
            BuiltinType::Module => "module",
            BuiltinType::Iterator => "iterator",
            BuiltinType::Generator => "generator",
            BuiltinType::Cell => "cell",
        }
    }

    pub fn base(self) -> Option<BuiltinType> {
        match self {
            BuiltinType::Object => None,
            BuiltinType::Bool => Some(BuiltinType::Int),
            _ => Some(BuiltinType::Object),
        }
    }

    /// Whether a script may derive a class from it.
    pub fn is_base(self) -> bool {
        matches!(
            self,
            BuiltinType::Object
                | BuiltinType::Int
                | BuiltinType::Float
                | BuiltinType::Str
                | BuiltinType::Bytes
                | BuiltinType::List
                | BuiltinType::Tuple
                | BuiltinType::Dict
                | BuiltinType::Set
                | BuiltinType::FrozenSet
                | BuiltinType::Property
                | BuiltinType::StaticMethod
                | BuiltinType::ClassMethod
        )
    }
}

/// The layout of a class's instances; a class has that of its base.
#[derive(Clone, Copy)]
pub enum Layout {
    /// Nothing but attributes.
    Plain,
    /// A value of a built-in type; instances of derived classes hold one as their payload.
    Builtin(BuiltinType),
    Exception(ExceptionKind),
    /// Host objects; scripts cannot derive from them.
    Native(&'static NativeType),
}

pub struct Class {
    pub name: Name,
    /// The module that it belongs to, `builtins` for the language's own.
    pub module: Name,
    pub base: Option<Rc<Class>>,
    pub layout: Layout,
    /// Creates a value of a built-in or native class from the arguments of a call.
    pub new: Option<NativeFn>,
    /// The initial shape of instances; it identifies the class in inline caches.
    pub shape: Rc<Shape>,
    /// The code of the class body.
    pub body: Option<Rc<LoadedCode>>,
    /// The documentation of a built-in or native class.
    pub doc: Option<Doc>,
    /// A class that scripts wrote may be changed by scripts.
    pub is_script: bool,
    /// The only attributes that instances may have, if `__slots__` of the class and of its bases excludes
    /// `__dict__`.
    pub slots: Option<Box<[Name]>>,
    /// `__name__`, if a script has changed it.
    renamed: RefCell<Option<Name>>,
    /// Dotted, with the enclosing scopes: `outer.<locals>.Inner`.
    qualname: RefCell<Name>,
    attrs: RefCell<Attrs>,
    /// The classes that scripts derived from it, in the order of creation.
    subclasses: RefCell<Vec<Weak<Class>>>,
    /// `__init__`, as found when the classes were in the state of the number.
    init: RefCell<Option<(u32, Option<Rc<Function>>)>>,
}

impl Class {
    /// A class without attributes.
    pub fn new(name: impl Into<Name>, base: Option<Rc<Class>>, layout: Layout) -> Class {
        let name = name.into();
        Class {
            qualname: RefCell::new(name.clone()),
            renamed: RefCell::default(),
            name,
            module: Name::from("builtins"),
            base,
            layout,
            new: None,
            shape: Shape::empty(),
            body: None,
            doc: None,
            is_script: false,
            slots: None,
            attrs: RefCell::default(),
            subclasses: RefCell::default(),
            init: RefCell::default(),
        }
    }

    /// `__qualname__`.
    pub fn qualname(&self) -> Name {
        self.qualname.borrow().clone()
    }

    /// `__name__`.
    pub fn shown_name(&self) -> Name {
        self.renamed.borrow().as_ref().unwrap_or(&self.name).clone()
    }

    /// `__module__`.
    pub fn shown_module(&self) -> Name {
        match self.attrs.borrow().get_text("__module__") {
            Some(Value::Str(text)) => Name(text.clone()),
            _ => self.module.clone(),
        }
    }

    /// Sets `__name__` or `__qualname__`.
    pub fn rename(&self, attr: &str, name: Name) {
        match attr {
            "__name__" => *self.renamed.borrow_mut() = Some(name),
            _ => *self.qualname.borrow_mut() = name,
        }
    }

    /// Adds native functions, as methods or otherwise according to their kind.
    pub fn add_natives(&self, natives: &'static [NativeDef]) {
        let mut attrs = self.attrs.borrow_mut();
        for native in natives {
            let function = NativeFunction::of_class(native, self.name.clone());
            attrs.insert(Name::from(native.name), Value::NativeFunction(Rc::new(function)));
        }
    }

    /// The attribute as this class or the nearest of its bases defines it, unbound.
    pub fn lookup(&self, name: &Name) -> Option<Value> {
        let mut class = self;
        loop {
            if let Some(value) = class.attrs.borrow().get(name) {
                return Some(value.clone());
            }
            class = class.base.as_ref()?;
        }
    }

    pub fn lookup_text(&self, name: &str) -> Option<Value> {
        let mut class = self;
        loop {
            if let Some(value) = class.attrs.borrow().get_text(name) {
                return Some(value.clone());
            }
            class = class.base.as_ref()?;
        }
    }

    /// As [`Class::lookup_text`], but only for attributes that scripts defined.
    pub fn lookup_script(&self, name: &str) -> Option<Value> {
        let mut class = self;
        while class.is_script {
            if let Some(value) = class.attrs.borrow().get_text(name) {
                return Some(value.clone());
            }
            class = class.base.as_ref()?;
        }
        None
    }

    /// The `__init__` of a script, if creating an instance only requires calling it.
    pub(crate) fn plain_init(&self, epoch: u32) -> Option<Rc<Function>> {
        if let Some((known, init)) = &*self.init.borrow()
            && *known == epoch
        {
            return init.clone();
        }
        let init = match (self.lookup_script("__new__"), self.lookup_script("__init__")) {
            (None, Some(Value::Function(init))) => Some(init),
            _ => None,
        };
        *self.init.borrow_mut() = Some((epoch, init.clone()));
        init
    }

    /// Sets an attribute while the class is being created. Later, `Vm::set_class_attr` does, which
    /// invalidates the inline caches.
    pub fn insert(&self, name: Name, value: Value) -> Option<Value> {
        self.attrs.borrow_mut().insert(name, value)
    }

    pub fn remove(&self, name: &Name) -> Option<Value> {
        self.attrs.borrow_mut().remove(name)
    }

    /// Drops the cache of [`Class::plain_init`], which is a strong reference.
    pub(crate) fn forget_init(&self) {
        self.init.take();
    }

    /// Removes all attributes, when a host ends.
    pub(crate) fn take_attrs(&self) -> Attrs {
        self.attrs.take()
    }

    /// The attributes that the class itself defines.
    pub fn own_attrs(&self) -> Ref<'_, Attrs> {
        self.attrs.borrow()
    }

    pub fn is_subclass_of(&self, other: &Class) -> bool {
        let mut class = self;
        loop {
            if std::ptr::eq(class, other) {
                return true;
            }
            let Some(base) = &class.base else { return false };
            class = base;
        }
    }

    /// The classes that derive from it directly and are still there.
    pub fn subclasses(&self) -> Vec<Rc<Class>> {
        self.subclasses.borrow().iter().filter_map(Weak::upgrade).collect()
    }

    pub(crate) fn add_subclass(&self, class: &Rc<Class>) {
        let mut known = self.subclasses.borrow_mut();
        // Dead entries are removed before the list grows.
        if known.len() == known.capacity() {
            known.retain(|class| class.strong_count() > 0);
        }
        known.push(Rc::downgrade(class));
    }

    /// The class and its bases, nearest first: `__mro__`.
    pub fn line(self: &Rc<Class>) -> impl Iterator<Item = Rc<Class>> {
        std::iter::successors(Some(self.clone()), |class| class.base.clone())
    }

    pub fn is_exception(&self) -> bool {
        matches!(self.layout, Layout::Exception(_))
    }
}

impl Drop for Class {
    fn drop(&mut self) {
        self.init.get_mut().take();
        teardown((std::mem::take(self.attrs.get_mut()), self.base.take()));
    }
}
