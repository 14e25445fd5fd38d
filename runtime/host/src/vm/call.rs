//! Calls of any value from Rust, and the binding of arguments to the parameters of a script function.

use std::rc::Rc;

use kps_bytecode::CodeKind;

use super::Vm;
use super::frame::{Frame, FrameKind};
use crate::errors;
use crate::value::{
    Args, Dict, Function, Generator, GeneratorState, Name, NativeCode, NativeFunction, Raise, Result, Value,
};

impl Vm {
    /// Calls a value with positional arguments.
    pub fn call(&mut self, callee: &Value, args: &[Value]) -> Result {
        self.call_with(callee, &Args::new(args, &[]))
    }

    /// Calls a value with positional and keyword arguments.
    pub fn call_with(&mut self, callee: &Value, args: &Args) -> Result {
        match callee {
            Value::Function(function) => self.call_function(function, args),
            Value::NativeFunction(function) => self.call_native(function, args),
            Value::Method(method) => {
                let mut values = Vec::with_capacity(args.values().len() + 1);
                values.push(method.receiver.clone());
                values.extend_from_slice(args.values());
                self.check_stack()?;
                self.call_with(&method.function, &Args::new(&values, args.names()))
            }
            Value::Class(class) => self.instantiate(class, args),
            Value::Native(object) => {
                self.check_stack()?;
                let result = object.object().call(callee, self, args)?;
                result.ok_or_else(|| errors::not_callable(callee))
            }
            Value::Instance(_) => {
                if let base @ Value::Descriptor(_) = callee.base_value()
                    && self.script_method(callee, "__call__").is_none()
                {
                    return self.call_with(base, args);
                }
                let function = self.call_method_of(callee)?;
                self.call_bound(&function, callee, args)
            }
            Value::Descriptor(descriptor) => match &**descriptor {
                crate::value::Descriptor::StaticMethod(function) => self.call_with(function, args),
                _ => Err(errors::not_callable(callee)),
            },
            _ => Err(errors::not_callable(callee)),
        }
    }

    /// The `__call__` of an instance. An instance may be another one's `__call__`, and so on without end.
    fn call_method_of(&mut self, callee: &Value) -> Result {
        self.check_stack()?;
        let mut function = self.script_method(callee, "__call__");
        for _ in 0..self.limits.recursion {
            let Some(found) = function else { return Err(errors::not_callable(callee)) };
            if !matches!(found, Value::Instance(_)) || self.script_method(&found, "__get__").is_some() {
                return Ok(found);
            }
            let Some(next) = self.script_method(&found, "__call__") else {
                return Err(errors::not_callable(&found));
            };
            if !matches!(next, Value::Instance(_)) {
                return Ok(found);
            }
            function = Some(next);
        }
        Err(errors::recursion_error())
    }

    #[inline]
    pub(crate) fn call_native(&mut self, function: &NativeFunction, args: &Args) -> Result {
        self.check_stack()?;
        self.poll()?;
        match &function.code {
            NativeCode::Plain(code) => code(self, args),
            NativeCode::Closure(code) => code(self, args),
        }
    }

    /// Whether a call of the value can work.
    pub fn is_callable(&self, value: &Value) -> bool {
        match value {
            Value::Native(object) => object.object().is_callable(),
            Value::Instance(_) => self.script_method(value, "__call__").is_some(),
            other => other.is_callable_kind(),
        }
    }

    /// The first register that nothing uses.
    pub(super) fn top(&self) -> usize {
        self.frames.last().map_or(0, Frame::top)
    }

    fn call_function(&mut self, function: &Rc<Function>, args: &Args) -> Result {
        self.mark_stack();
        self.check_stack()?;
        let base = self.top();
        let n_args = args.values().len();
        if !self.stack.has(base + n_args + 1) {
            return Err(errors::recursion_error());
        }
        for (at, value) in args.values().iter().enumerate() {
            self.stack.put(base + at, value.clone());
        }
        let floor = self.frames.len();
        match self.enter(function.clone(), base, n_args, args.names(), FrameKind::Entry)? {
            Entered::Frame => self.run(floor),
            Entered::Generator(generator) => Ok(generator),
        }
    }

    /// Whether a frame of this many registers fits above the register of the function.
    #[inline(always)]
    pub(super) fn can_push(&self, callee: *const Value, n_registers: u32) -> bool {
        self.frames.len() < self.limits.recursion && self.stack.has_room(callee, 2 + n_registers as usize)
    }

    /// Pushes a frame for a function whose arguments are in the registers from `base` on, the last ones named
    /// by `names`. On an error the arguments are dropped.
    pub(super) fn enter(
        &mut self,
        function: Rc<Function>,
        base: usize,
        n_args: usize,
        names: &[Name],
        kind: FrameKind,
    ) -> Result<Entered> {
        let code = &function.code.code;
        if !self.stack.has(base + n_args.max(code.n_registers as usize) + 1)
            || self.frames.len() >= self.limits.recursion
        {
            self.stack.clear(base, base + n_args);
            return Err(errors::recursion_error());
        }
        let params = code.params;
        let is_exact = names.is_empty() && n_args == params.n_positional as usize && params.is_simple();
        if !is_exact && let Err(raise) = self.bind_arguments(&function, base, n_args, names) {
            self.stack.clear(base, base + n_args.max(params.n_registers()));
            return Err(raise);
        }
        if code.kind == CodeKind::Generator {
            return Ok(Entered::Generator(self.make_generator(function, base)));
        }
        self.frames.push(Frame::new(function, base, kind));
        Ok(Entered::Frame)
    }

    /// A generator that has not started, from the arguments bound at `base`.
    fn make_generator(&mut self, function: Rc<Function>, base: usize) -> Value {
        let n_args = function.code.code.params.n_registers();
        let registers = (base..base + n_args).map(|at| self.stack.take(at)).collect();
        let name = function.qualname();
        let code = function.code.clone();
        let state = GeneratorState::Suspended { function, registers, pc: 0, sent: 0 };
        let generator = Rc::new(Generator { name, state: state.into() });
        self.abandoned.remember(&generator, &code.code);
        Value::Generator(generator)
    }

    /// Reorders the arguments to the parameters and fills in defaults.
    fn bind_arguments(
        &mut self,
        function: &Function,
        base: usize,
        n_args: usize,
        names: &[Name],
    ) -> Result<()> {
        let params = function.code.code.params;
        let n_positional_args = n_args - names.len();
        let n_positional = params.n_positional as usize;
        let n_named = params.n_named();
        // Keyword and surplus arguments are moved out of the registers, which are parameters.
        let named: Vec<Value> =
            (base + n_positional_args..base + n_args).map(|at| self.stack.take(at)).collect();
        let surplus: Vec<Value> = (base + n_positional.min(n_positional_args)..base + n_positional_args)
            .map(|at| self.stack.take(at))
            .collect();
        let n_surplus = surplus.len();
        let mut extra = params.has_var_keyword.then(Dict::new);
        for (name, value) in names.iter().zip(named) {
            self.bind_keyword(function, base, name, value, extra.as_mut())?;
        }
        if n_surplus > 0 && !params.has_var_positional {
            return Err(self.too_many(function, n_positional_args, base));
        }
        self.fill_defaults(function, base)?;
        let mut at = base + n_named;
        if params.has_var_positional {
            self.stack.put(at, Value::tuple(surplus));
            at += 1;
        }
        if let Some(extra) = extra {
            self.stack.put(at, Value::Dict(Rc::new(extra)));
        }
        Ok(())
    }

    fn bind_keyword(
        &mut self,
        function: &Function,
        base: usize,
        name: &Name,
        value: Value,
        extra: Option<&mut Dict>,
    ) -> Result<()> {
        let params = function.code.code.params;
        let param_names = &function.code.param_names[..params.n_named()];
        let at = param_names.iter().position(|param| param == name);
        let is_positional_only = at.is_some_and(|at| at < params.n_positional_only as usize);
        match (at, extra) {
            (Some(at), _) if !is_positional_only => {
                // SAFETY: the parameter's register is part of the new frame.
                let is_taken = unsafe { !(*self.stack.register(base + at)).is_unset() };
                if is_taken {
                    let function = function_name(function);
                    return Err(errors::argument_twice(&function, name));
                }
                self.stack.put(base + at, value);
            }
            (_, Some(extra)) => extra.insert_text(name.value(), value),
            (Some(_), None) => {
                return Err(errors::type_error(format!(
                    "{}() got some positional-only arguments passed as keyword arguments: '{name}'",
                    function_name(function)
                )));
            }
            (None, None) => {
                let known = param_names.iter().skip(params.n_positional_only as usize);
                let suggestion = kps_syntax::suggest::nearest(name, known.map(|name| &**name));
                let raise = errors::unexpected_keyword(&function_name(function), name);
                return Err(match suggestion {
                    Some(suggestion) => raise.help(format!("did you mean `{suggestion}`?")),
                    None => raise,
                });
            }
        }
        Ok(())
    }

    fn fill_defaults(&mut self, function: &Function, base: usize) -> Result<()> {
        let params = function.code.code.params;
        let n_positional = params.n_positional as usize;
        let (defaults, keyword_defaults) = (function.defaults.borrow(), function.keyword_defaults.borrow());
        let first_default = n_positional - defaults.len();
        let mut missing = Vec::new();
        for at in 0..params.n_named() {
            // SAFETY: the parameter's register is part of the new frame.
            if unsafe { !(*self.stack.register(base + at)).is_unset() } {
                continue;
            }
            let default = if at >= n_positional {
                keyword_defaults.get(at - n_positional)
            } else {
                at.checked_sub(first_default).and_then(|at| defaults.get(at))
            };
            match default {
                Some(default) if !default.is_unset() => self.stack.put(base + at, default.clone()),
                _ => missing.push(at),
            }
        }
        match missing.first() {
            None => Ok(()),
            Some(&first) => {
                // Missing positional arguments are reported first, keyword-only ones if nothing else is
                // missing.
                let is_positional = first < n_positional;
                missing.retain(|&at| (at < n_positional) == is_positional);
                Err(missing_arguments(function, &missing, is_positional))
            }
        }
    }

    fn too_many(&self, function: &Function, given: usize, base: usize) -> Raise {
        let params = function.code.code.params;
        let most = params.n_positional as usize;
        let least = most - function.defaults.borrow().len();
        let takes = if least == most { most.to_string() } else { format!("from {least} to {most}") };
        let plural = if most == 1 && least == most { "" } else { "s" };
        let n_keyword_only = (most..params.n_named())
            // SAFETY: the parameters' registers are part of the new frame.
            .filter(|at| unsafe { !(*self.stack.register(base + at)).is_unset() })
            .count();
        let were = if given == 1 && n_keyword_only == 0 { "was" } else { "were" };
        let given = match n_keyword_only {
            0 => given.to_string(),
            n => {
                let plural = |n| if n == 1 { "" } else { "s" };
                format!(
                    "{given} positional argument{} (and {n} keyword-only argument{})",
                    plural(given),
                    plural(n)
                )
            }
        };
        errors::type_error(format!(
            "{}() takes {takes} positional argument{plural} but {given} {were} given",
            function_name(function)
        ))
    }
}

/// The result of entering a function.
pub(super) enum Entered {
    /// A frame that is to run.
    Frame,
    /// A generator function only creates its generator.
    Generator(Value),
}

fn function_name(function: &Function) -> String {
    function.qualname().to_string()
}

fn missing_arguments(function: &Function, missing: &[usize], is_positional: bool) -> Raise {
    let names: Vec<String> =
        missing.iter().map(|&at| format!("'{}'", function.code.param_names[at])).collect();
    let listed = match &names[..] {
        [only] => only.clone(),
        [first, second] => format!("{first} and {second}"),
        [most @ .., last] => format!("{}, and {last}", most.join(", ")),
        [] => String::new(),
    };
    let kind = if is_positional { "positional" } else { "keyword-only" };
    let plural = if names.len() == 1 { "" } else { "s" };
    let (name, n) = (function_name(function), names.len());
    errors::type_error(format!("{name}() missing {n} required {kind} argument{plural}: {listed}"))
}
