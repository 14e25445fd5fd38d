//! Creates classes and instances.

use std::cell::OnceCell;
use std::rc::Rc;

use kps_bytecode::{CLASS_CELL, CodeKind};

use super::Vm;
use crate::builtins::exception;
use crate::builtins::generic_alias::{self, GenericAlias};
use crate::errors;
use crate::value::{
    Args, BuiltinType, Cell, Class, Descriptor, Dict, ExceptionData, ExceptionKind, Function, Instance,
    Layout, Name, Payload, Result, Set, Value,
};

/// The bases of a class.
struct Bases {
    base: Rc<Class>,
    /// As written, if a base has type arguments.
    written: Vec<Value>,
    /// Those with parts.
    aliases: Vec<Value>,
    /// `Generic[T, ..]` with its type variables.
    generic: Option<(Rc<Class>, Vec<Value>)>,
}

impl Vm {
    /// Runs a class body and creates the class.
    pub(super) fn make_class(
        &mut self,
        name: &Name,
        body: &Rc<Function>,
        bases: &[Value],
        keywords: Vec<(Name, Value)>,
    ) -> Result {
        debug_assert!(body.code.code.kind == CodeKind::ClassBody);
        let bases = self.bases_of(name, bases)?;
        let base = bases.base.clone();
        let Value::Dict(members) = self.call(&Value::Function(body.clone()), &[])? else {
            unreachable!("a class body returns its names")
        };
        let mut class = Class::new(name.clone(), Some(base.clone()), base.layout);
        class.rename("__qualname__", self.name(&body.code.code.qualname));
        class.module = body.code.program.module.clone();
        class.body = Some(body.code.clone());
        if let Some(doc) = &body.code.code.doc {
            members.insert_text(self.name("__doc__"), Value::str(&**doc));
        }
        self.complete_class(class, &bases, &members, keywords)
    }

    /// `type(name, bases, members)`.
    pub(crate) fn class_of_members(
        &mut self,
        name: &Name,
        bases: &[Value],
        members: &Rc<Dict>,
        keywords: Vec<(Name, Value)>,
    ) -> Result {
        let bases = self.bases_of(name, bases)?;
        let base = bases.base.clone();
        let mut class = Class::new(name.clone(), Some(base.clone()), base.layout);
        class.module = self
            .frames
            .last()
            .map_or(self.name("__main__"), |frame| frame.function.code.program.module.clone());
        self.complete_class(class, &bases, members, keywords)
    }

    fn complete_class(
        &mut self,
        mut class: Class,
        bases: &Bases,
        members: &Dict,
        keywords: Vec<(Name, Value)>,
    ) -> Result {
        let base = &bases.base;
        class.is_script = true;
        class.new = base.new;
        class.slots = self.slots_of(&class, base, members)?;
        let class = Rc::new(class);
        self.remembered.class(&class);
        base.add_subclass(&class);
        let mut class_cell = None;
        for (key, value) in members.named_pairs() {
            match (&*key, &value) {
                (CLASS_CELL, Value::Cell(cell)) => class_cell = Some(cell.clone()),
                ("__qualname__", Value::Str(text)) => class.rename("__qualname__", Name(text.clone())),
                ("__init_subclass__" | "__class_getitem__", Value::Function(_)) => {
                    let method = Descriptor::ClassMethod(value);
                    class.insert(key, Value::Descriptor(Rc::new(method)));
                }
                ("__new__", Value::Function(_)) => {
                    let method = Descriptor::StaticMethod(value);
                    class.insert(key, Value::Descriptor(Rc::new(method)));
                }
                _ => drop(class.insert(key, value)),
            }
        }
        if class.own_attrs().get_text("__eq__").is_some() && class.own_attrs().get_text("__hash__").is_none()
        {
            class.insert(self.name("__hash__"), Value::None);
        }
        self.set_parameters(&class, bases)?;
        if let Some(cell) = class_cell {
            drop(cell.put(Value::Class(class.clone())));
        }
        self.call_set_name(&class)?;
        self.call_init_subclass(&class, base, keywords)?;
        Ok(Value::Class(class))
    }

    /// The attributes that instances are restricted to by the `__slots__` of a class and of all its bases.
    fn slots_of(&mut self, class: &Class, base: &Rc<Class>, members: &Dict) -> Result<Option<Box<[Name]>>> {
        let Some(slots) = members.get_text("__slots__") else { return Ok(None) };
        let slots = match &slots {
            Value::Str(_) => vec![slots],
            slots => self.collect(slots)?,
        };
        let private = class.name.trim_start_matches('_').to_owned();
        let mut names = Vec::with_capacity(slots.len());
        for slot in slots {
            let Some(text) = slot.as_str() else {
                let message = format!("__slots__ items must be strings, not '{}'", slot.type_name());
                return Err(errors::type_error(message));
            };
            let is_private = text.starts_with("__") && !text.ends_with("__") && !private.is_empty();
            let name = if is_private { self.name(&format!("_{private}{text}")) } else { self.name(text) };
            if members.get_name(&name).is_some() {
                let message = format!("{} in __slots__ conflicts with class variable", self.repr(&slot)?);
                return Err(errors::value_error(message));
            }
            names.push(name);
        }
        let is_bare = !base.is_script && matches!(base.layout, Layout::Plain | Layout::Builtin(_));
        match &base.slots {
            Some(inherited) => names.extend(inherited.iter().cloned()),
            None if is_bare => {}
            None => return Ok(None),
        }
        let is_closed = names.iter().all(|name| &**name != "__dict__");
        Ok(is_closed.then(|| names.into()))
    }

    /// The base class. `class Row(list[int])` derives from list, and `Generic[T]` may be listed beside a
    /// base.
    fn bases_of(&mut self, name: &Name, written: &[Value]) -> Result<Bases> {
        let mut classes = Vec::with_capacity(written.len());
        let mut aliases = Vec::new();
        let mut generic = None;
        for base in written {
            let alias = base.downcast::<GenericAlias>();
            let class = match (base, alias) {
                (Value::Class(class), _) => class.clone(),
                (_, Some(alias)) => alias.origin.clone(),
                (other, None) => {
                    let message = format!("the base of a class must be a class, not '{}'", other.type_name());
                    return Err(errors::type_error(message));
                }
            };
            if let Some(alias) = alias {
                aliases.push(base.clone());
                if &*class.module == "typing" && &*class.name == "Generic" {
                    generic = Some((class.clone(), alias.args.clone()));
                    if written.len() > 1 {
                        continue;
                    }
                }
            }
            classes.push(class);
        }
        let base = match &classes[..] {
            [] => self.builtin_class(BuiltinType::Object),
            [base] => base.clone(),
            _ => {
                return Err(errors::type_error(format!("class '{name}' has more than one base"))
                    .help("derive from one class, and hold objects of the others as attributes"));
            }
        };
        let may_derive = match base.layout {
            Layout::Plain | Layout::Exception(_) => true,
            Layout::Builtin(ty) => ty.is_base(),
            Layout::Native(_) => false,
        };
        if !may_derive {
            return Err(errors::type_error(format!("type '{}' is not an acceptable base type", base.name)));
        }
        let written = if aliases.is_empty() { Vec::new() } else { written.to_vec() };
        Ok(Bases { base, written, aliases, generic })
    }

    /// `__orig_bases__`, and the type variables that an index of the class replaces.
    fn set_parameters(&mut self, class: &Rc<Class>, bases: &Bases) -> Result<()> {
        if !bases.written.is_empty() {
            class.insert(self.name("__orig_bases__"), Value::tuple(bases.written.clone()));
        }
        let name = self.name("__parameters__");
        let is_generic = bases.generic.is_some() || class.lookup(&name).is_some();
        if !is_generic || class.own_attrs().get(&name).is_some() {
            return Ok(());
        }
        let parameters = match &bases.generic {
            Some((generic, parameters)) => {
                let getter = self.name("__class_getitem__");
                if class.lookup(&getter).is_none()
                    && let Some(getter_of_generic) = generic.lookup(&getter)
                {
                    class.insert(getter, getter_of_generic);
                }
                parameters.clone()
            }
            None => generic_alias::parameters(self, &bases.aliases)?,
        };
        class.insert(name, Value::tuple(parameters));
        Ok(())
    }

    /// `__set_name__` of the members that have it.
    fn call_set_name(&mut self, class: &Rc<Class>) -> Result<()> {
        let members: Vec<(Name, Value)> =
            class.own_attrs().iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        for (name, member) in members {
            if let Some(function) = self.script_method(&member, "__set_name__") {
                let args = [Value::Class(class.clone()), name.value()];
                self.call_method_value(&function, &member, &args)?;
            }
        }
        Ok(())
    }

    /// `__init_subclass__` of the base, with the keywords of the class.
    fn call_init_subclass(
        &mut self,
        class: &Rc<Class>,
        base: &Rc<Class>,
        keywords: Vec<(Name, Value)>,
    ) -> Result<()> {
        let Some(function) = base.lookup_script("__init_subclass__") else {
            let takes_none = || errors::no_class_keywords(&class.qualname());
            return if keywords.is_empty() { Ok(()) } else { Err(takes_none()) };
        };
        let (names, values): (Vec<Name>, Vec<Value>) = keywords.into_iter().unzip();
        let function = match function {
            Value::Function(_) => Value::Descriptor(Rc::new(Descriptor::ClassMethod(function))),
            function => function,
        };
        let function = self.bind(&function, &Value::Class(class.clone()), class)?;
        self.call_with(&function, &Args::new(&values, &names))?;
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
                Descriptor::StaticMethod(function) => function.clone(),
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
            let result = self.call_bound(&init, instance, args)?;
            return check_init(&result);
        }
        if let Value::Instance(made) = instance
            && let Some(data) = made.exception()
        {
            return exception::take_keywords(class, data, args);
        }
        let takes_none = matches!(class.layout, Layout::Plain) && class.lookup_script("__new__").is_none();
        if takes_none && !args.values().is_empty() {
            return Err(errors::type_error(format!("{}() takes no arguments", class.name)));
        }
        Ok(())
    }

    /// An instance before `__init__`.
    pub(crate) fn blank_instance(&mut self, class: &Rc<Class>, args: &Args) -> Result {
        let payload =
            match class.layout {
                Layout::Plain => Payload::None,
                Layout::Exception(_) => return Ok(self.blank_exception(class, args)),
                // The script's `__init__` passes the functions on.
                Layout::Builtin(
                    BuiltinType::Property | BuiltinType::StaticMethod | BuiltinType::ClassMethod,
                ) if class.lookup_script("__init__").is_some() => Payload::Value(OnceCell::new()),
                Layout::Builtin(ty) => Payload::Value(OnceCell::from(self.payload_of(class, ty, args)?)),
                Layout::Native(_) => {
                    return Err(errors::type_error(format!("cannot create '{}' instances", class.name)));
                }
            };
        Ok(Value::Instance(Rc::new(Instance::new(class.clone(), payload))))
    }

    /// An exception before `__init__`. `OSError(2, ..)` is a FileNotFoundError.
    fn blank_exception(&mut self, class: &Rc<Class>, args: &Args) -> Value {
        let data = ExceptionData::default();
        *data.args.borrow_mut() = args.positional().to_vec();
        let mut class = class.clone();
        if class.exception_kind().is_of(ExceptionKind::OSError) && class.lookup_script("__init__").is_none() {
            data.take_file();
            if !class.is_script
                && class.exception_kind() == ExceptionKind::OSError
                && let Some(kind) = data.kind_of_system()
            {
                class = self.exception_class(kind);
            }
        }
        Value::Instance(Rc::new(Instance::new(class, Payload::Exception(Box::new(data)))))
    }

    /// The built-in value in an instance of a class derived from a built-in type. Mutable ones start empty if
    /// the class defines `__init__`: their `super().__init__(..)` fills them.
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

/// The result of `__init__` must be None.
pub(super) fn check_init(result: &Value) -> Result<()> {
    if result.is_none() {
        return Ok(());
    }
    Err(errors::type_error(format!("__init__() should return None, not '{}'", result.type_name())))
}
