//! Attribute lookup, binding of methods, and assignment.

use std::rc::Rc;

use kps_syntax::suggest;

use crate::builtins::{class_dict, namespace_dict};
use crate::errors;
use crate::modules::kernels::structs;
use crate::value::{
    Args, Attrs, BoundMethod, BuiltinType, Class, Descriptor, Dict, ExceptionKind, Instance, Layout, Module,
    Name, NativeKind, Result, Value,
};
use crate::vm::Vm;

impl Vm {
    /// `value.name`.
    pub fn get_attr(&mut self, value: &Value, name: &str) -> Result {
        self.get_attr_named(value, &self.name(name))
    }

    /// As [`Vm::get_attr`]; `None` if there is no such attribute.
    pub fn find_attr(&mut self, value: &Value, name: &str) -> Result<Option<Value>> {
        match self.get_attr(value, name) {
            Ok(found) => Ok(Some(found)),
            Err(raise) if raise.is(ExceptionKind::AttributeError) => Ok(None),
            Err(raise) => Err(raise),
        }
    }

    pub(crate) fn get_attr_named(&mut self, value: &Value, name: &Name) -> Result {
        let found = match value {
            Value::Instance(instance) => return self.get_instance_attr(value, instance, name),
            Value::Class(class) => self.get_class_attr(value, class, name)?,
            Value::Module(module) => match (&**name, module.namespace.get(name)) {
                ("__doc__", None) => Some(Value::None),
                ("__dict__", _) => Some(namespace_dict(&module.namespace)),
                (_, Some(value)) => Some(value),
                ("__name__", _) => Some(module.name.value()),
                ("__file__", _) if module.file.is_some() => {
                    module.file.as_ref().map(|file| Value::str(file.display().to_string()))
                }
                (text, None) => match self.library_submodule(module, text)? {
                    Some(found) => Some(found),
                    None => self.module_getattr(module, name)?,
                },
            },
            Value::Super(object) => {
                let mut found = None;
                if let Some(base) = &object.class.base
                    && let Some(attr) = base.lookup(name)
                {
                    let class = match &object.receiver {
                        Value::Class(class) => class.clone(),
                        receiver => self.class_of(receiver),
                    };
                    found = Some(self.bind_from(&attr, &object.receiver, &class)?);
                }
                found
            }
            Value::Function(function) => match function.get_attr(name) {
                Some(own) => Some(own),
                None => self.get_typed_attr(value, name)?,
            },
            Value::Method(method) => match self.get_typed_attr(value, name)? {
                Some(own) => Some(own),
                None => self.find_attr(&method.function, name)?,
            },
            _ => self.get_typed_attr(value, name)?,
        };
        found.ok_or_else(|| self.missing_attr(value, name))
    }

    /// The result of a module's function `__getattr__` for a missing name.
    pub(crate) fn module_getattr(&mut self, module: &Module, name: &Name) -> Result<Option<Value>> {
        match module.namespace.get("__getattr__") {
            Some(function) => {
                self.check_stack()?;
                self.call(&function, &[name.value()]).map(Some)
            }
            None => Ok(None),
        }
    }

    /// Attributes of values whose attributes all come from their type, and hooks of host objects.
    fn get_typed_attr(&mut self, value: &Value, name: &Name) -> Result<Option<Value>> {
        let class = self.class_of(value);
        if let Some(attr) = class.lookup(name) {
            return self.bind(&attr, value, &class).map(Some);
        }
        if let Value::Native(object) = value
            && let Some(attr) = object.object().get_attr(value, self, name)?
        {
            return Ok(Some(attr));
        }
        Ok(match &**name {
            "__class__" => Some(Value::Class(class)),
            "__doc__" => Some(doc_value(&class)),
            _ => None,
        })
    }

    fn get_instance_attr(&mut self, value: &Value, instance: &Rc<Instance>, name: &Name) -> Result {
        let class = instance.class();
        let found = match class.lookup_script("__getattribute__") {
            Some(function) => self.call_method_value(&function, value, &[name.value()]).map(Some),
            None => self.get_own_attr(value, instance, name),
        };
        let missing = match found {
            Ok(Some(found)) => return Ok(found),
            Ok(None) => None,
            // The code of a property may raise AttributeError for a missing attribute.
            Err(raise) if raise.is(ExceptionKind::AttributeError) => Some(raise),
            Err(raise) => return Err(raise),
        };
        match class.lookup_script("__getattr__") {
            Some(function) => self.call_method_value(&function, value, &[name.value()]),
            None => Err(missing.unwrap_or_else(|| self.missing_attr(value, name))),
        }
    }

    /// `object.__getattribute__`: the usual places, no hooks.
    pub(crate) fn get_plain_attr(&mut self, value: &Value, name: &str) -> Result {
        let Value::Instance(instance) = value else { return self.get_attr(value, name) };
        let name = self.name(name);
        match self.get_own_attr(value, instance, &name)? {
            Some(found) => Ok(found),
            None => Err(self.missing_attr(value, &name)),
        }
    }

    fn get_own_attr(&mut self, value: &Value, instance: &Rc<Instance>, name: &Name) -> Result<Option<Value>> {
        let class = instance.class();
        let mut attr = class.lookup(name);
        // A class without a docstring does not inherit one.
        if &**name == "__doc__"
            && class.own_attrs().get(name).is_none()
            && class.lookup_script(name).is_some()
        {
            attr = Some(Value::None);
        }
        if let Some(attr) = &attr
            && is_data_descriptor(attr)
            && can_get(attr)
        {
            if let Value::Descriptor(of) = attr.base_value()
                && let Descriptor::Property { get: Value::None, .. } = &**of
                && self.script_method(attr, "__get__").is_none()
            {
                let message = format!("property '{name}' of '{}' object has no getter", class.name);
                return Err(errors::attribute_error(message));
            }
            return self.bind(attr, value, class).map(Some);
        }
        let own = instance.fields.borrow().get(name);
        if let Some(own) = own {
            return Ok(Some(own));
        }
        if let Some(attr) = attr {
            return self.bind(&attr, value, class).map(Some);
        }
        Ok(match &**name {
            "__class__" => Some(Value::Class(class.clone())),
            "__module__" => Some(class.module.value()),
            "__doc__" => Some(Value::None),
            "__dict__" if class.slots.is_none() => Some(Value::Dict(instance.fields.borrow_mut().to_dict())),
            _ => None,
        })
    }

    fn get_class_attr(&mut self, value: &Value, class: &Rc<Class>, name: &Name) -> Result<Option<Value>> {
        // These belong to the class itself, whatever its instances call so.
        let own = |text: &Name| class.own_attrs().get(name).cloned().unwrap_or_else(|| text.value());
        let own = match &**name {
            "__name__" => Some(class.shown_name().value()),
            "__qualname__" => Some(class.qualname().value()),
            "__module__" => Some(own(&class.module)),
            "__class__" => Some(Value::Class(self.class_of(value))),
            "__base__" => Some(class.base.clone().map_or(Value::None, Value::Class)),
            "__bases__" => {
                Some(Value::tuple(class.base.clone().map(Value::Class).into_iter().collect::<Vec<_>>()))
            }
            "__mro__" => Some(Value::tuple(class.line().map(Value::Class).collect::<Vec<_>>())),
            "__dict__" => Some(class_dict(class)),
            "__doc__" | "__annotations__" if class.is_script => {
                let own = class.own_attrs().get(name).cloned();
                match (own, &**name) {
                    (None, "__doc__") => Some(Value::None),
                    (None, _) => {
                        let empty = Value::Dict(Rc::new(Dict::new()));
                        class.insert(name.clone(), empty.clone());
                        Some(empty)
                    }
                    (Some(own), _) => Some(self.bind_to_class(&own, value, class)?),
                }
            }
            "__doc__" => Some(doc_value(class)),
            "__text_signature__" if !class.is_script => Some(signature_value(class)),
            _ => None,
        };
        if own.is_some() {
            return Ok(own);
        }
        if let Some(attr) = class.lookup(name) {
            return self.bind_to_class(&attr, value, class).map(Some);
        }
        // Attributes of classes as objects of `type`.
        if let Some(attr) = self.builtin_class(BuiltinType::Type).lookup(name)
            && is_method(&attr)
        {
            return Ok(Some(bound(&attr, value)));
        }
        Ok(None)
    }

    /// A class attribute as the class `value` itself sees it.
    fn bind_to_class(&mut self, attr: &Value, value: &Value, class: &Rc<Class>) -> Result {
        Ok(match attr {
            Value::Descriptor(descriptor) => match &**descriptor {
                Descriptor::StaticMethod(function) => function.clone(),
                Descriptor::ClassMethod(function) => self.bind_class_method(function, class)?,
                Descriptor::Property { .. } => attr.clone(),
            },
            Value::NativeFunction(function) if function.kind == NativeKind::Class => bound(attr, value),
            Value::Instance(_) => self.get_through(attr, &Value::None, class)?,
            _ => attr.clone(),
        })
    }

    /// The result of `classmethod(function)`: a function bound to the class, or the result of another
    /// object's `__get__`.
    fn bind_class_method(&mut self, function: &Value, class: &Rc<Class>) -> Result {
        match function {
            Value::Instance(_) if self.script_method(function, "__get__").is_some() => {
                self.get_through(function, &Value::Class(class.clone()), class)
            }
            _ => Ok(bound(function, &Value::Class(class.clone()))),
        }
    }

    /// Calls the `__get__` of an instance: that of its class, or that of its built-in base descriptor. Other
    /// objects are returned unchanged.
    fn get_through(&mut self, attr: &Value, receiver: &Value, class: &Rc<Class>) -> Result {
        if let Some(get) = self.script_method(attr, "__get__") {
            self.check_stack()?;
            return self.call_method_value(&get, attr, &[receiver.clone(), Value::Class(class.clone())]);
        }
        match (attr.base_value(), receiver) {
            (Value::Descriptor(of), Value::None) if of.is_property() => Ok(attr.clone()),
            (base @ Value::Descriptor(_), Value::None) => {
                self.bind_to_class(base, &Value::Class(class.clone()), class)
            }
            (base @ Value::Descriptor(_), _) => self.bind(base, receiver, class),
            _ => Ok(attr.clone()),
        }
    }

    /// A class attribute as an instance sees it.
    pub(crate) fn bind(&mut self, attr: &Value, receiver: &Value, class: &Rc<Class>) -> Result {
        Ok(match attr {
            Value::Function(_) => bound(attr, receiver),
            Value::NativeFunction(function) => match function.kind {
                NativeKind::Method => bound(attr, receiver),
                NativeKind::Getter => return self.call(attr, std::slice::from_ref(receiver)),
                NativeKind::Class => bound(attr, &Value::Class(class.clone())),
                NativeKind::Function | NativeKind::Static => attr.clone(),
            },
            Value::Descriptor(descriptor) => match &**descriptor {
                Descriptor::Property { get, .. } if get.is_none() => {
                    return Err(errors::attribute_error("property has no getter"));
                }
                Descriptor::Property { get, .. } => {
                    return self.call(get, std::slice::from_ref(receiver));
                }
                Descriptor::StaticMethod(function) => function.clone(),
                Descriptor::ClassMethod(function) => self.bind_class_method(function, class)?,
            },
            Value::Instance(_) => self.get_through(attr, receiver, class)?,
            other => other.clone(),
        })
    }

    /// As [`Vm::bind`], where the receiver may be the class itself (`super()` in a class method).
    fn bind_from(&mut self, attr: &Value, receiver: &Value, class: &Rc<Class>) -> Result {
        match (receiver, attr) {
            (Value::Class(_), Value::Function(_)) => Ok(attr.clone()),
            (Value::Class(_), Value::NativeFunction(function)) if function.kind == NativeKind::Method => {
                Ok(attr.clone())
            }
            (Value::Class(_), Value::Instance(_)) => self.get_through(attr, &Value::None, class),
            _ => self.bind(attr, receiver, class),
        }
    }

    /// The method to call and its receiver, without creating a bound method if possible.
    pub(crate) fn get_method(&mut self, value: &Value, name: &Name) -> Result<(Value, Value)> {
        let class = match value {
            Value::Instance(instance) => {
                if instance.fields.borrow().contains(name)
                    || instance.class().lookup_script("__getattribute__").is_some()
                {
                    return Ok((self.get_attr_named(value, name)?, Value::Unset));
                }
                instance.class().clone()
            }
            Value::Class(_) | Value::Module(_) | Value::Super(_) | Value::Function(_) => {
                return Ok((self.get_attr_named(value, name)?, Value::Unset));
            }
            _ => self.class_of(value),
        };
        match class.lookup(name) {
            Some(attr) if is_method(&attr) => Ok((attr, value.clone())),
            _ => Ok((self.get_attr_named(value, name)?, Value::Unset)),
        }
    }

    /// `value.name = new`.
    pub fn set_attr(&mut self, value: &Value, name: &str, new: Value) -> Result<()> {
        self.set_attr_named(value, &self.name(name), new)
    }

    pub(crate) fn set_attr_named(&mut self, value: &Value, name: &Name, new: Value) -> Result<()> {
        match value {
            Value::Instance(instance) => {
                let class = instance.class();
                if let Some(function) = class.lookup_script("__setattr__") {
                    self.call_method_value(&function, value, &[name.value(), new])?;
                    return Ok(());
                }
                structs::check_attribute(instance, name)?;
                self.set_instance_attr(value, instance, name, new)
            }
            Value::Class(class) if class.is_script => {
                match (&**name, &new) {
                    ("__class__" | "__bases__", _) => {
                        return Err(errors::fixed_class_attribute(&class.name, name));
                    }
                    ("__dict__" | "__mro__", _) => {
                        let message = format!("attribute '{name}' of 'type' objects is not writable");
                        return Err(errors::attribute_error(message));
                    }
                    ("__name__" | "__qualname__", Value::Str(text)) => {
                        class.rename(name, Name(text.clone()));
                        return Ok(());
                    }
                    ("__name__" | "__qualname__", other) => {
                        let (class, given) = (class.shown_name(), other.type_name());
                        let message = format!("can only assign string to {class}.{name}, not '{given}'");
                        return Err(errors::type_error(message));
                    }
                    _ => {}
                }
                self.class_says(value, "__class_setattr__", &[name.value()])?;
                self.set_class_attr(class, name, new);
                Ok(())
            }
            Value::Class(class) => Err(errors::type_error(format!(
                "cannot set '{name}' attribute of immutable type '{}'",
                class.name
            ))),
            Value::Module(module) => match &**name {
                "__dict__" => Err(errors::attribute_error("readonly attribute")),
                "__class__" => Err(errors::fixed_class()),
                _ => {
                    module.namespace.set(name, new);
                    Ok(())
                }
            },
            _ if &**name == "__class__" => Err(errors::fixed_class()),
            Value::Function(function) => function.set_attr(name, new),
            Value::Native(object) => {
                if object.object().set_attr(value, self, name, &new)? {
                    return Ok(());
                }
                self.set_typed_attr(value, name, new)
            }
            _ => self.set_typed_attr(value, name, new),
        }
    }

    /// Sets an attribute of a value whose attributes all come from its type.
    fn set_typed_attr(&mut self, value: &Value, name: &Name, new: Value) -> Result<()> {
        match self.class_of(value).lookup(name) {
            Some(attr) if is_data_descriptor(&attr) => self.set_through(&attr, value, name, new),
            Some(_) => Err(read_only(value, name)),
            None => Err(self.missing_attr(value, name)),
        }
    }

    /// Sets an attribute as `object.__setattr__` does: by a property's setter, else in the instance.
    pub(crate) fn set_instance_attr(
        &mut self,
        value: &Value,
        instance: &Rc<Instance>,
        name: &Name,
        new: Value,
    ) -> Result<()> {
        let class = instance.class();
        let attr = class.lookup(name);
        if let Some(attr) = attr.as_ref().filter(|attr| is_data_descriptor(attr)) {
            return self.set_through(attr, value, name, new);
        }
        match &**name {
            "__class__" => return self.set_class_of(instance, &new),
            "__dict__" => return self.set_dict_of(value, instance, new),
            _ => {}
        }
        if let Some(slots) = &class.slots
            && !slots.contains(name)
        {
            return Err(if attr.is_some() { read_only(value, name) } else { self.missing_attr(value, name) });
        }
        self.remembered.instance(instance, &new);
        let previous = instance.fields.borrow_mut().set(name, new);
        drop(previous);
        Ok(())
    }

    /// Assigns by a data descriptor.
    fn set_through(&mut self, attr: &Value, value: &Value, name: &Name, new: Value) -> Result<()> {
        if let Some(set) = self.script_method(attr, "__set__") {
            self.call_method_value(&set, attr, &[value.clone(), new])?;
            return Ok(());
        }
        match attr.base_value() {
            Value::NativeFunction(function) => {
                let set = function.set.ok_or_else(|| read_only(value, name))?;
                set(self, &Args::new(&[value.clone(), new], &[]))?;
            }
            Value::Descriptor(of) => {
                let Descriptor::Property { set, .. } = &**of else {
                    unreachable!("of the built-in descriptors, properties take assignments")
                };
                if set.is_none() {
                    let message =
                        format!("property '{name}' of '{}' object has no setter", value.type_name());
                    return Err(errors::attribute_error(message));
                }
                self.call(set, &[value.clone(), new])?;
            }
            _ => return Err(errors::attribute_error("__set__")),
        }
        Ok(())
    }

    /// `instance.__class__ = class`, for classes with the same instance layout.
    fn set_class_of(&mut self, instance: &Rc<Instance>, class: &Value) -> Result<()> {
        let Value::Class(class) = class else {
            let message = format!("__class__ must be set to a class, not '{}' object", class.type_name());
            return Err(errors::type_error(message));
        };
        let now = instance.class();
        if !class.is_script || !now.is_script {
            return Err(errors::fixed_class());
        }
        let is_same_layout = match (now.layout, class.layout) {
            (Layout::Plain, Layout::Plain) => true,
            // Objects of these types have their size from their value.
            (Layout::Builtin(BuiltinType::Int | BuiltinType::Bytes | BuiltinType::Tuple), _) => false,
            (Layout::Builtin(now), Layout::Builtin(new)) => now == new,
            (Layout::Exception(now), Layout::Exception(new)) => now == new,
            _ => false,
        };
        if !is_same_layout || now.slots != class.slots {
            let message =
                format!("__class__ assignment: '{}' object layout differs from '{}'", class.name, now.name);
            return Err(errors::type_error(message));
        }
        instance.set_class(class.clone());
        // A descriptor may be another kind of descriptor now.
        self.class_epoch += 1;
        Ok(())
    }

    /// `instance.__dict__ = dict`: the attributes are in that dict from now on.
    fn set_dict_of(&mut self, value: &Value, instance: &Rc<Instance>, dict: Value) -> Result<()> {
        if instance.class().slots.is_some() {
            return Err(self.missing_attr(value, &self.name("__dict__")));
        }
        let Value::Dict(dict) = dict.base_value().clone() else {
            let message = format!("__dict__ must be set to a dictionary, not a '{}'", dict.type_name());
            return Err(errors::type_error(message));
        };
        let previous = instance.fields.borrow_mut().replace_dict(dict);
        drop(previous);
        Ok(())
    }

    /// Changes a class and invalidates the inline caches.
    pub fn set_class_attr(&mut self, class: &Class, name: &Name, new: Value) {
        let is_plain = |value: &Value| match value {
            Value::Function(_) | Value::NativeFunction(_) | Value::Descriptor(_) => false,
            other => !is_data_descriptor(other),
        };
        let new_is_plain = is_plain(&new);
        let previous = class.insert(name.clone(), new);
        // Caches hold methods and slots, never plain class attributes: replacing one changes no lookup.
        if !(new_is_plain && previous.as_ref().is_some_and(is_plain)) {
            self.class_epoch += 1;
        }
    }

    /// `del value.name`.
    pub fn delete_attr(&mut self, value: &Value, name: &str) -> Result<()> {
        let name = self.name(name);
        let removed = match value {
            Value::Instance(instance) => {
                if let Some(function) = self.script_method(value, "__delattr__") {
                    self.call_method_value(&function, value, &[name.value()])?;
                    return Ok(());
                }
                return self.delete_instance_attr(value, instance, &name);
            }
            Value::Class(class) if class.is_script => {
                self.class_says(value, "__class_delattr__", &[name.value()])?;
                self.class_epoch += 1;
                class.remove(&name)
            }
            Value::Module(module) => module.namespace.remove(&name).then_some(Value::None),
            Value::Function(function) => function.remove_attr(&name)?,
            _ => None,
        };
        match removed {
            Some(_) => Ok(()),
            None => Err(self.missing_attr(value, &name)),
        }
    }

    /// Deletes an attribute as `object.__delattr__` does: by a descriptor, else from the instance.
    pub(crate) fn delete_instance_attr(
        &mut self,
        value: &Value,
        instance: &Rc<Instance>,
        name: &Name,
    ) -> Result<()> {
        if let Some(attr) = instance.class().lookup(name)
            && is_data_descriptor(&attr)
        {
            return self.delete_through(&attr, value, name);
        }
        match &**name {
            "__class__" => return Err(errors::type_error("can't delete __class__ attribute")),
            "__dict__" if instance.class().slots.is_none() => {
                drop(instance.fields.borrow_mut().replace_dict(Rc::default()));
                return Ok(());
            }
            _ => {}
        }
        let removed = instance.fields.borrow_mut().remove(name);
        match removed {
            Some(_) => Ok(()),
            None => Err(self.missing_attr(value, name)),
        }
    }

    /// Deletes by a data descriptor.
    fn delete_through(&mut self, attr: &Value, value: &Value, name: &Name) -> Result<()> {
        if let Some(delete) = self.script_method(attr, "__delete__") {
            self.call_method_value(&delete, attr, std::slice::from_ref(value))?;
            return Ok(());
        }
        match attr.base_value() {
            Value::NativeFunction(_) => Err(read_only(value, name)),
            Value::Descriptor(of) => {
                let Descriptor::Property { delete, .. } = &**of else {
                    unreachable!("of the built-in descriptors, properties take assignments")
                };
                if delete.is_none() {
                    let message =
                        format!("property '{name}' of '{}' object has no deleter", value.type_name());
                    return Err(errors::attribute_error(message));
                }
                self.call(delete, std::slice::from_ref(value))?;
                Ok(())
            }
            _ => Err(errors::attribute_error("__delete__")),
        }
    }

    fn missing_attr(&mut self, value: &Value, name: &Name) -> crate::value::Raise {
        let known = self.attr_names(value);
        let suggestion = suggest::nearest(name, known.iter().map(|known| &**known)).map(str::to_owned);
        errors::no_attribute(value, name, suggestion)
    }

    /// The names of the attributes of a value, for `dir` and for suggestions.
    pub fn attr_names(&self, value: &Value) -> Vec<Name> {
        let mut names: Vec<Name> = Vec::new();
        let mut add = |attrs: &Attrs| names.extend(attrs.iter().map(|(name, _)| name.clone()));
        let class = match value {
            Value::Class(class) => class.clone(),
            other => self.class_of(other),
        };
        for class in class.line() {
            add(&class.own_attrs());
        }
        match value {
            Value::Instance(instance) => {
                names.extend(instance.fields.borrow().to_pairs().into_iter().map(|(name, _)| name));
            }
            Value::Module(module) => {
                names = module.namespace.to_pairs().into_iter().map(|(name, _)| name).collect();
            }
            Value::Function(function) => {
                names.extend(function.named_attrs().into_iter().map(|(name, _)| name));
            }
            _ => {}
        }
        names.sort_by(|left, right| left.as_bytes().cmp(right.as_bytes()));
        names.dedup();
        names
    }

    /// Calls a method of any value by its name.
    pub fn call_method(&mut self, value: &Value, name: &str, args: &[Value]) -> Result {
        let name = self.name(name);
        let (function, receiver) = self.get_method(value, &name)?;
        if receiver.is_unset() {
            return self.call(&function, args);
        }
        self.call_method_value(&function, &receiver, args)
    }

    /// Calls an unbound method that was looked up in the receiver's class.
    pub(crate) fn call_method_value(&mut self, function: &Value, receiver: &Value, args: &[Value]) -> Result {
        self.call_bound(function, receiver, &Args::new(args, &[]))
    }

    /// As [`Vm::call_method_value`], with keywords.
    pub(crate) fn call_bound(&mut self, function: &Value, receiver: &Value, args: &Args) -> Result {
        if !is_method(function) {
            let class = self.class_of(receiver);
            let callee = self.bind(function, receiver, &class)?;
            return self.call_with(&callee, args);
        }
        let mut values = Vec::with_capacity(args.values().len() + 1);
        values.push(receiver.clone());
        values.extend_from_slice(args.values());
        self.call_with(function, &Args::new(&values, args.names()))
    }
}

/// `__doc__` of a class that no script wrote.
fn doc_value(class: &Class) -> Value {
    class.doc.map_or(Value::None, |doc| doc.sentence.into())
}

/// `__text_signature__` of a class that no script wrote: the parameters of its constructor.
fn signature_value(class: &Class) -> Value {
    let signature = class.doc.map(|doc| doc.signature).filter(|signature| !signature.is_empty());
    signature.map_or(Value::None, Value::from)
}

fn bound(function: &Value, receiver: &Value) -> Value {
    Value::Method(Rc::new(BoundMethod { function: function.clone(), receiver: receiver.clone() }))
}

/// Whether a call of the attribute on an instance passes the instance first.
pub(crate) fn is_method(attr: &Value) -> bool {
    match attr {
        Value::Function(_) => true,
        Value::NativeFunction(function) => function.kind == NativeKind::Method,
        _ => false,
    }
}

/// Class attributes that take precedence over the attributes of the instance.
pub(crate) fn is_data_descriptor(attr: &Value) -> bool {
    match attr {
        Value::Descriptor(descriptor) => descriptor.is_property(),
        Value::NativeFunction(function) => function.kind == NativeKind::Getter,
        Value::Instance(instance) => {
            let class = instance.class();
            matches!(class.layout, Layout::Builtin(BuiltinType::Property))
                || class.lookup_script("__set__").is_some()
                || class.lookup_script("__delete__").is_some()
        }
        _ => false,
    }
}

/// Whether it is a descriptor for reading: a script's descriptor may only define assignment.
fn can_get(attr: &Value) -> bool {
    match attr {
        Value::Instance(instance) => {
            let class = instance.class();
            matches!(class.layout, Layout::Builtin(BuiltinType::Property))
                || class.lookup_script("__get__").is_some()
        }
        _ => true,
    }
}

fn read_only(value: &Value, name: &str) -> crate::value::Raise {
    errors::attribute_error(format!("'{}' object attribute '{name}' is read-only", value.type_name()))
}
