//! Attributes: where they are found, how methods are bound, who may set them.

use std::rc::Rc;

use kps_syntax::suggest;

use crate::errors;
use crate::modules::kernels::structs;
use crate::value::{
    Args, Attrs, BoundMethod, Class, Descriptor, Dict, ExceptionKind, Instance, Name, NativeKind, Result,
    Value,
};
use crate::vm::Vm;

impl Vm {
    /// `value.name`.
    pub fn get_attr(&mut self, value: &Value, name: &str) -> Result {
        self.get_attr_named(value, &self.name(name))
    }

    /// As [`Vm::get_attr`]; `None` where there is no such attribute.
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
            Value::Module(module) => match &**name {
                "__name__" => Some(module.name.value()),
                "__file__" if module.file.is_some() => {
                    module.file.as_ref().map(|file| Value::str(file.display().to_string()))
                }
                "__dict__" => Some(Dict::of_names(module.namespace.to_pairs())),
                name => module.namespace.get(name),
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
            Value::Function(function) => {
                let own = function.attrs.borrow().get(name).cloned();
                match own {
                    Some(own) => Some(own),
                    None => self.get_typed_attr(value, name)?,
                }
            }
            _ => self.get_typed_attr(value, name)?,
        };
        found.ok_or_else(|| self.missing_attr(value, name))
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
        Ok((&**name == "__class__").then_some(Value::Class(class)))
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
            // The code of a property may find that there is no such attribute.
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
        let attr = class.lookup(name);
        if let Some(attr) = &attr
            && is_data_descriptor(attr)
        {
            return self.bind(attr, value, class).map(Some);
        }
        let own = instance.fields.borrow().get(name).cloned();
        if let Some(own) = own {
            return Ok(Some(own));
        }
        if let Some(attr) = attr {
            return self.bind(&attr, value, class).map(Some);
        }
        Ok(match &**name {
            "__class__" => Some(Value::Class(class.clone())),
            "__dict__" => Some(Dict::of_names(instance.fields.borrow().to_pairs())),
            _ => None,
        })
    }

    fn get_class_attr(&mut self, value: &Value, class: &Rc<Class>, name: &Name) -> Result<Option<Value>> {
        // These belong to the class itself, whatever its instances call so.
        let own = match &**name {
            "__name__" => Some(class.name.value()),
            "__qualname__" => Some(class.qualname.value()),
            "__class__" => Some(Value::Class(self.class_of(value))),
            "__base__" => Some(class.base.clone().map_or(Value::None, Value::Class)),
            "__bases__" => {
                Some(Value::tuple(class.base.clone().map(Value::Class).into_iter().collect::<Vec<_>>()))
            }
            "__mro__" => Some(Value::tuple(class.line().map(Value::Class).collect::<Vec<_>>())),
            "__dict__" => {
                let attrs = class.own_attrs();
                Some(Dict::of_names(
                    attrs.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
                ))
            }
            _ => None,
        };
        if own.is_some() {
            return Ok(own);
        }
        if let Some(attr) = class.lookup(name) {
            return Ok(Some(match &attr {
                Value::Descriptor(descriptor) => match &**descriptor {
                    Descriptor::StaticMethod(function) => function.clone(),
                    Descriptor::ClassMethod(function) => bound(function, value),
                    Descriptor::Property { .. } => attr,
                },
                Value::NativeFunction(function) if function.kind == NativeKind::Class => bound(&attr, value),
                _ => attr,
            }));
        }
        Ok(match &**name {
            "__module__" => Some(class.module.value()),
            "__doc__" => Some(Value::None),
            _ => None,
        })
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
                Descriptor::ClassMethod(function) => bound(function, &Value::Class(class.clone())),
            },
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
            _ => self.bind(attr, receiver, class),
        }
    }

    /// The method to call and its receiver, without making a bound method where that can be saved.
    pub(crate) fn get_method(&mut self, value: &Value, name: &Name) -> Result<(Value, Value)> {
        let class = match value {
            Value::Instance(instance) => {
                if instance.fields.borrow().slot(name).is_some()
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
                self.class_says(value, "__class_setattr__", &[name.value()])?;
                self.set_class_attr(class, name, new);
                Ok(())
            }
            Value::Class(class) => Err(errors::type_error(format!(
                "cannot set '{name}' attribute of immutable type '{}'",
                class.name
            ))),
            Value::Module(module) => {
                module.namespace.set(name, new);
                Ok(())
            }
            Value::Function(function) => {
                match (&**name, &new) {
                    ("__name__", Value::Str(text)) => *function.name.borrow_mut() = Name(text.clone()),
                    _ => drop(function.attrs.borrow_mut().insert(name.clone(), new)),
                }
                Ok(())
            }
            Value::Native(object) => {
                if object.object().set_attr(value, self, name, &new)? {
                    return Ok(());
                }
                let class = self.class_of(value);
                if class.lookup(name).is_some() {
                    return Err(read_only(value, name));
                }
                Err(self.missing_attr(value, name))
            }
            _ => {
                let class = self.class_of(value);
                if class.lookup(name).is_some() {
                    return Err(read_only(value, name));
                }
                Err(self.missing_attr(value, name))
            }
        }
    }

    /// Sets an attribute in the way of `object.__setattr__`: a property's setter, else the instance.
    pub(crate) fn set_instance_attr(
        &mut self,
        value: &Value,
        instance: &Rc<Instance>,
        name: &Name,
        new: Value,
    ) -> Result<()> {
        match instance.class().lookup(name) {
            Some(Value::Descriptor(descriptor)) => {
                if let Descriptor::Property { set, .. } = &*descriptor {
                    if set.is_none() {
                        return Err(errors::attribute_error(format!(
                            "property '{name}' of '{}' object has no setter",
                            value.type_name()
                        )));
                    }
                    self.call(set, &[value.clone(), new])?;
                    return Ok(());
                }
            }
            Some(Value::NativeFunction(function)) if function.kind == NativeKind::Getter => {
                return Err(read_only(value, name));
            }
            _ => {}
        }
        let previous = instance.fields.borrow_mut().set(name, new);
        drop(previous);
        Ok(())
    }

    /// Changes a class and tells the inline caches.
    pub fn set_class_attr(&mut self, class: &Class, name: &Name, new: Value) {
        let is_plain = |value: &Value| {
            !matches!(value, Value::Function(_) | Value::NativeFunction(_) | Value::Descriptor(_))
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
                if let Some(Value::Descriptor(descriptor)) = instance.class().lookup(&name)
                    && let Descriptor::Property { delete, .. } = &*descriptor
                {
                    if delete.is_none() {
                        return Err(errors::attribute_error(format!(
                            "property '{name}' of '{}' object has no deleter",
                            value.type_name()
                        )));
                    }
                    self.call(delete, std::slice::from_ref(value))?;
                    return Ok(());
                }
                instance.fields.borrow_mut().remove(&name)
            }
            Value::Class(class) if class.is_script => {
                self.class_says(value, "__class_delattr__", &[name.value()])?;
                self.class_epoch += 1;
                class.remove(&name)
            }
            Value::Module(module) => module.namespace.remove(&name).then_some(Value::None),
            Value::Function(function) => function.attrs.borrow_mut().remove(&name),
            _ => None,
        };
        match removed {
            Some(_) => Ok(()),
            None => Err(self.missing_attr(value, &name)),
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
            Value::Function(function) => add(&function.attrs.borrow()),
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
        if !is_method(function) {
            let class = self.class_of(receiver);
            let callee = self.bind(function, receiver, &class)?;
            return self.call(&callee, args);
        }
        let mut values = Vec::with_capacity(args.len() + 1);
        values.push(receiver.clone());
        values.extend_from_slice(args);
        self.call_with(function, &Args::new(&values, &[]))
    }
}

fn bound(function: &Value, receiver: &Value) -> Value {
    Value::Method(Rc::new(BoundMethod { function: function.clone(), receiver: receiver.clone() }))
}

/// Whether calling the attribute on an instance means calling it with the instance put first.
pub(crate) fn is_method(attr: &Value) -> bool {
    match attr {
        Value::Function(_) => true,
        Value::NativeFunction(function) => function.kind == NativeKind::Method,
        _ => false,
    }
}

/// Class attributes that go before the attributes of the instance.
pub(crate) fn is_data_descriptor(attr: &Value) -> bool {
    match attr {
        Value::Descriptor(descriptor) => matches!(**descriptor, Descriptor::Property { .. }),
        Value::NativeFunction(function) => function.kind == NativeKind::Getter,
        _ => false,
    }
}

fn read_only(value: &Value, name: &str) -> crate::value::Raise {
    errors::attribute_error(format!("'{}' object attribute '{name}' is read-only", value.type_name()))
}
