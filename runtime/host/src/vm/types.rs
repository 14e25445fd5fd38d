//! The class of every value. Built-in classes are created at their first use.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::Vm;
use crate::builtins;
use crate::value::{BuiltinType, Class, ExceptionKind, Layout, Name, NativeType, Value};

#[derive(Default)]
pub(crate) struct Types {
    builtin: [OnceCell<Rc<Class>>; BuiltinType::COUNT],
    exceptions: RefCell<FxHashMap<ExceptionKind, Rc<Class>>>,
    /// By the address of the static that describes the type.
    natives: RefCell<FxHashMap<usize, Rc<Class>>>,
}

impl Vm {
    /// `type(value)`.
    pub fn class_of(&self, value: &Value) -> Rc<Class> {
        match value {
            Value::Instance(instance) => instance.class().clone(),
            Value::Native(object) => match object.object().builtin_type() {
                Some(ty) => self.builtin_class(ty),
                None => self.native_class(object.native_type()),
            },
            other => self.builtin_class(other.builtin_type()),
        }
    }

    /// The class of a built-in type.
    pub fn builtin_class(&self, ty: BuiltinType) -> Rc<Class> {
        let class = self.types.builtin[ty as usize].get_or_init(|| {
            let base = ty.base().map(|base| self.builtin_class(base));
            let layout = match ty {
                BuiltinType::Object => Layout::Plain,
                ty => Layout::Builtin(ty),
            };
            let mut class = Class::new(ty.name(), base, layout);
            class.new = builtins::constructor(ty);
            class.doc = builtins::doc(ty);
            if ty == BuiltinType::Object {
                class.slots = Some(Box::default());
            }
            class.add_natives(builtins::methods(ty));
            Rc::new(class)
        });
        class.clone()
    }

    /// The class of a built-in exception.
    pub fn exception_class(&self, kind: ExceptionKind) -> Rc<Class> {
        if let Some(class) = self.types.exceptions.borrow().get(&kind) {
            return class.clone();
        }
        let base = match kind.base() {
            Some(base) => self.exception_class(base),
            None => self.builtin_class(BuiltinType::Object),
        };
        let mut class = Class::new(kind.name(), Some(base), Layout::Exception(kind));
        class.doc = kind.doc();
        class.add_natives(builtins::exception_methods(kind));
        let class = Rc::new(class);
        self.types.exceptions.borrow_mut().insert(kind, class.clone());
        class
    }

    /// The class of a type of host objects.
    pub fn native_class(&self, ty: &'static NativeType) -> Rc<Class> {
        let key = std::ptr::from_ref(ty) as usize;
        if let Some(class) = self.types.natives.borrow().get(&key) {
            return class.clone();
        }
        let base = match ty.base {
            Some(base) => self.native_class(base),
            None => self.builtin_class(BuiltinType::Object),
        };
        let mut class = Class::new(ty.name, Some(base), Layout::Native(ty));
        class.module = Name::from(ty.module);
        class.new = ty.new;
        class.doc = ty.doc;
        class.add_natives(ty.methods);
        let class = Rc::new(class);
        self.types.natives.borrow_mut().insert(key, class.clone());
        class
    }

    /// `isinstance(value, class)` for one class.
    pub fn is_instance(&self, value: &Value, class: &Class) -> bool {
        let own = self.class_of(value);
        own.is_subclass_of(class) || builtins::core::passes_for(&own, class)
    }
}
