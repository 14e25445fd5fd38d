//! Making classes and instances.

use std::cell::OnceCell;
use std::rc::Rc;

use kps_bytecode::CodeKind;

use super::Vm;
use crate::errors;
use crate::value::{
    Args, BuiltinType, Cell, Class, Dict, ExceptionData, Function, Instance, Layout, Name, Payload, Result,
    Set, Value,
};

impl Vm {
    /// Runs a class body and makes the class.
    pub(super) fn make_class(&mut self, name: &Name, body: &Rc<Function>, bases: &[Value]) -> Result {
        debug_assert!(body.code.code.kind == CodeKind::ClassBody);
        let base = self.base_of(name, bases)?;
        let Value::Dict(members) = self.call(&Value::Function(body.clone()), &[])? else {
            unreachable!("a class body returns its names")
        };
        let mut class = Class::new(name.clone(), Some(base.clone()), base.layout);
        class.is_script = true;
        class.qualname = self.name(&body.code.code.qualname);
        class.module = body.code.program.module.clone();
        class.new = base.new;
        class.body = Some(body.code.clone());
        let class = Rc::new(class);
        let mut class_cell = None;
        for (key, value) in members.to_pairs() {
            let Value::Str(key) = key else { continue };
            match (key.as_str(), &value) {
                ("__class__", Value::Cell(cell)) => class_cell = Some(cell.clone()),
                _ => drop(class.insert(Name(key), value)),
            }
        }
        if class.own_attrs().get_text("__eq__").is_some() && class.own_attrs().get_text("__hash__").is_none()
        {
            class.insert(self.name("__hash__"), Value::None);
        }
        if let Some(doc) = &body.code.code.doc {
            class.insert(self.name("__doc__"), Value::str(&**doc));
        }
        if let Some(cell) = class_cell {
            drop(cell.put(Value::Class(class.clone())));
        }
        self.tell_members(&class)?;
        self.tell_base(&class, &base)?;
        Ok(Value::Class(class))
    }

    fn base_of(&mut self, name: &Name, bases: &[Value]) -> Result<Rc<Class>> {
        match bases {
            [] => Ok(self.builtin_class(BuiltinType::Object)),
            [Value::Class(base)] => {
                let may_derive = match base.layout {
                    Layout::Plain | Layout::Exception(_) => true,
                    Layout::Builtin(ty) => ty.is_base(),
                    Layout::Native(_) => false,
                };
                if may_derive {
                    return Ok(base.clone());
                }
                Err(errors::type_error(format!("type '{}' is not an acceptable base type", base.name)))
            }
            [other] => Err(errors::type_error(format!(
                "the base of a class must be a class, not '{}'",
                other.type_name()
            ))),
            _ => Err(errors::type_error(format!("class '{name}' has more than one base"))
                .help("derive from one class, and hold objects of the others as attributes")),
        }
    }

    /// `__set_name__` of the members that have it.
    fn tell_members(&mut self, class: &Rc<Class>) -> Result<()> {
        let members: Vec<(Name, Value)> =
            class.own_attrs().iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        for (name, member) in members {
            if let Some(function) = self.script_method(&member, "__set_name__") {
                self.call_method_value(&function, &member, &[Value::Class(class.clone()), name.value()])?;
            }
        }
        Ok(())
    }

    /// `__init_subclass__` of the base.
    fn tell_base(&mut self, class: &Rc<Class>, base: &Rc<Class>) -> Result<()> {
        let Some(function) = base.lookup_script("__init_subclass__") else { return Ok(()) };
        let function = match function {
            Value::Descriptor(descriptor) => match &*descriptor {
                crate::value::Descriptor::ClassMethod(function) => function.clone(),
                _ => return Ok(()),
            },
            function => function,
        };
        self.call(&function, &[Value::Class(class.clone())])?;
        Ok(())
    }

    /// Calls a class.
    pub(crate) fn instantiate(&mut self, class: &Rc<Class>, args: &Args) -> Result {
        if !class.is_script && !class.is_exception() {
            let Some(new) = class.new else {
                return self.instantiate_plain(class, args);
            };
            self.poll()?;
            return new(self, args);
        }
        if let Some(new) = class.lookup_script("__new__") {
            return self.instantiate_by_new(class, &new, args);
        }
        let instance = self.blank_instance(class, args)?;
        self.initialize(class, &instance, args)?;
        Ok(instance)
    }

    fn instantiate_plain(&mut self, class: &Rc<Class>, args: &Args) -> Result {
        let is_object = matches!(class.layout, Layout::Plain);
        if !is_object {
            return Err(errors::type_error(format!("cannot create '{}' instances", class.name)));
        }
        if !args.values().is_empty() {
            return Err(errors::type_error(format!("{}() takes no arguments", class.name)));
        }
        self.blank_instance(class, args)
    }

    fn instantiate_by_new(&mut self, class: &Rc<Class>, new: &Value, args: &Args) -> Result {
        let new = match new {
            Value::Descriptor(descriptor) => match &**descriptor {
                crate::value::Descriptor::StaticMethod(function) => function.clone(),
                _ => new.clone(),
            },
            _ => new.clone(),
        };
        let mut values = vec![Value::Class(class.clone())];
        values.extend_from_slice(args.values());
        let instance = self.call_with(&new, &Args::new(&values, args.names()))?;
        if self.is_instance(&instance, class) {
            self.initialize(class, &instance, args)?;
        }
        Ok(instance)
    }

    /// Calls the `__init__` that a script wrote, or checks that no argument is left over.
    fn initialize(&mut self, class: &Rc<Class>, instance: &Value, args: &Args) -> Result<()> {
        if let Some(init) = class.lookup_script("__init__") {
            let mut values = vec![instance.clone()];
            values.extend_from_slice(args.values());
            let result = self.call_with(&init, &Args::new(&values, args.names()))?;
            return check_init(&result);
        }
        let takes_none = matches!(class.layout, Layout::Plain) && class.lookup_script("__new__").is_none();
        if takes_none && !args.values().is_empty() {
            return Err(errors::type_error(format!("{}() takes no arguments", class.name)));
        }
        Ok(())
    }

    /// An instance before `__init__`.
    pub(crate) fn blank_instance(&mut self, class: &Rc<Class>, args: &Args) -> Result {
        let payload = match class.layout {
            Layout::Plain => Payload::None,
            Layout::Exception(_) => {
                let data = ExceptionData::default();
                *data.args.borrow_mut() = args.positional().to_vec();
                Payload::Exception(Box::new(data))
            }
            Layout::Builtin(ty) => Payload::Value(OnceCell::from(self.payload_of(class, ty, args)?)),
            Layout::Native(_) => {
                return Err(errors::type_error(format!("cannot create '{}' instances", class.name)));
            }
        };
        Ok(Value::Instance(Rc::new(Instance::new(class.clone(), payload))))
    }

    /// The value that an instance of a class derived from a built-in type holds. Mutable ones with an
    /// `__init__` of their own start empty: their `super().__init__(..)` fills them.
    fn payload_of(&mut self, class: &Rc<Class>, ty: BuiltinType, args: &Args) -> Result {
        let has_init = class.lookup_script("__init__").is_some();
        match ty {
            BuiltinType::List if has_init => Ok(Value::list(Vec::new())),
            BuiltinType::Dict if has_init => Ok(Value::Dict(Rc::new(Dict::new()))),
            BuiltinType::Set if has_init => Ok(Value::Set(Rc::new(Set::new()))),
            _ => {
                let new = class
                    .new
                    .ok_or_else(|| errors::type_error(format!("cannot create '{}' instances", class.name)))?;
                new(self, args)
            }
        }
    }

    /// A cell for a captured variable.
    pub(super) fn new_cell(value: Value) -> Value {
        Value::Cell(Rc::new(Cell::new(value)))
    }
}

/// What `__init__` returned must be None.
pub(super) fn check_init(result: &Value) -> Result<()> {
    if result.is_none() {
        return Ok(());
    }
    Err(errors::type_error(format!("__init__() should return None, not '{}'", result.type_name())))
}
