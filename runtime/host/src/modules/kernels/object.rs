//! Kernels as objects of scripts: decorated functions that run on a device.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use kps_compute::Extent;
use kps_kernel::{
    Captures, Form, KernelModule, KernelOptions, KernelTemplate, ParamKind, Signature, Target, Type,
};

use super::env::FunctionEnv;
use super::explain::explain;
use super::recent::Recent;
use super::repeat::Repeats;
use super::snapshot::Snapshot;
use super::trace::trace;
use super::{dump, errors, launch, structs, timed};
use crate::foreign;
use crate::modules::kp;
use crate::value::{Args, Function, Native, NativeDef, NativeType, Result, Value};
use crate::vm::Vm;

pub static KERNEL: NativeType = NativeType {
    methods: &[
        NativeDef::method("to_spirv", to_spirv)
            .doc("()", "Returns the SPIR-V for the declared types as bytes, for any device."),
        NativeDef::method("to_bytecode", to_bytecode)
            .doc("()", "Returns the instructions of `to_spirv`, each a tuple of its name and its operands."),
        NativeDef::getter("input", wrapped).doc("", "The function that was decorated."),
        NativeDef::getter("description", description)
            .doc("", "What PyShader calls the kernel: `shader from NAME`."),
        NativeDef::method("launch", launch_groups).doc(
            "(*args, groups=None, stream=None)",
            "Runs the number of workgroups that `groups` counts along x, y and z.",
        ),
        NativeDef::method("trace", trace_call).doc(
            "(*args, at, groups=None)",
            "Runs the kernel on copies of its arguments, and returns the steps of the invocation \
                 `at`.",
        ),
        NativeDef::method("explain", explain_call).doc(
            "(*args, line=None, groups=None)",
            "Explains what the kernel, or a line of it, means for these arguments; nothing runs.",
        ),
        NativeDef::method("_time", |vm, args| timed::time(vm, args.this()?, &args.rest(), Extent::Default)),
        NativeDef::getter("_text", text),
        NativeDef::getter("name", name).doc("", "The name of the function."),
        NativeDef::getter("__name__", name),
        NativeDef::getter("__doc__", doc),
        NativeDef::getter("__wrapped__", wrapped),
    ],
    ..NativeType::new("Kernel", "pyshader").doc(
        "",
        "A function that runs on a device: `k(x)` runs one invocation an element, `k[n](x)` runs n of them.",
    )
};

/// A kernel with the forms of it that were compiled last.
pub struct Kernel {
    /// As it was defined.
    pub template: Rc<KernelTemplate>,
    pub env: FunctionEnv,
    /// With the methods that the structs of its parameters had at the last use.
    latest: RefCell<Rc<KernelTemplate>>,
    compiled: RefCell<Recent<(Signature, Target), Rc<KernelModule>>>,
    /// The captures at the last launch, if a snapshot can tell whether they changed.
    captured: RefCell<Option<(Snapshot, Rc<Captures>)>>,
    pub repeats: Repeats,
}

/// Compiled forms cached of one kernel: one that captures a changing number is compiled for each of its
/// values.
const MAX_FORMS: usize = 64;

impl Kernel {
    /// Checks a function of the script as a kernel.
    pub fn define(vm: &Vm, decorator: &str, value: &Value, options: KernelOptions) -> Result {
        let Value::Function(function) = value else { return Err(errors::not_a_function(decorator, value)) };
        let Some(def) = function.def().filter(|_| !function.is_lambda()) else {
            return Err(errors::not_a_function(decorator, value));
        };
        let env = FunctionEnv(function.clone());
        let template = kps_kernel::check(def, function.source(), &env.interruptible(vm), options);
        let template = template.map_err(errors::compile)?;
        vm.warnings.report(&template.warnings);
        let template = Rc::new(template);
        let latest = RefCell::new(template.clone());
        let compiled = RefCell::new(Recent::with_capacity(MAX_FORMS));
        let (captured, repeats) = (RefCell::default(), Repeats::default());
        Ok(Value::native(Kernel { template, env, latest, compiled, captured, repeats }))
    }

    /// The captured names with their values now.
    pub fn captures_now(&self) -> Rc<Captures> {
        if let Some((snapshot, captures)) = &*self.captured.borrow()
            && snapshot.holds()
        {
            return captures.clone();
        }
        let captures = Rc::new(self.template.captures_now(&self.env));
        let snapshot = Snapshot::of(&self.template, self.function());
        let outdated = self.captured.replace(snapshot.map(|snapshot| (snapshot, captures.clone())));
        drop(outdated);
        captures
    }

    /// The template for the structs that parameters are declared as, with the methods that their classes have now.
    pub fn template_now(&self) -> Result<Rc<KernelTemplate>> {
        let latest = self.latest.borrow().clone();
        if latest.params.iter().all(|param| kind_now(&param.kind).is_none()) {
            return Ok(latest);
        }
        let KernelTemplate { def, source, options, .. } = &*self.template;
        let mut template = kps_kernel::check(def, source, &self.env, *options).map_err(errors::compile)?;
        // A name in a declaration may have another value by now; the class that it named is the same.
        for (param, declared) in template.params.iter_mut().zip(&self.template.params) {
            param.kind = kind_now(&declared.kind).unwrap_or_else(|| declared.kind.clone());
        }
        let template = Rc::new(template);
        *self.latest.borrow_mut() = template.clone();
        Ok(template)
    }

    /// The default value of a parameter, by its place: evaluated when the kernel was defined.
    pub fn default_of(&self, place: usize) -> Option<Value> {
        // PyShader's parameters are declared by their defaults.
        if self.template.options.form == Form::Python2Shader {
            return None;
        }
        let function = self.function();
        let params = &self.template.def.params;
        let n_positional = params.positional_only.len() + params.regular.len();
        match place.checked_sub(n_positional) {
            None => {
                let defaults = function.defaults.borrow();
                let first = n_positional - defaults.len();
                defaults.get(place.checked_sub(first)?).cloned()
            }
            Some(at) => {
                function.keyword_defaults.borrow().get(at).filter(|default| !default.is_unset()).cloned()
            }
        }
    }

    fn function(&self) -> &Rc<Function> {
        &self.env.0
    }

    /// The compiled form for the types that the parameters declare.
    fn compile_portable(&self, vm: &Vm) -> Result<Rc<KernelModule>> {
        self.compile(vm, &self.declared()?, &Target::portable())
    }

    /// The declared types of the parameters, for any launch.
    pub fn declared(&self) -> Result<Signature> {
        let template = self.template_now()?;
        let declared = Signature::completed(&template, &self.env, |_| None);
        declared.map_err(|param| errors::undeclared(&self.template, param))
    }

    /// In PyShader's terms.
    fn description(&self) -> String {
        format!("shader from {}", self.template.name())
    }

    /// The compiled form for a signature; compiled when it is new.
    pub fn compile(&self, vm: &Vm, signature: &Signature, target: &Target) -> Result<Rc<KernelModule>> {
        let key = (signature.to_key(), *target);
        if let Some(module) = self.compiled.borrow_mut().get(&key) {
            return Ok(module);
        }
        let template = self.template_now()?;
        let began = Instant::now();
        let module = kps_kernel::specialize(&template, &self.env.interruptible(vm), signature, target);
        let module = Rc::new(module.map_err(errors::compile)?);
        let milliseconds = began.elapsed().as_secs_f64() * 1e3;
        log::info!("compiled kernel `{}` to SPIR-V in {milliseconds:.2} ms", template.name());
        vm.warnings.report(&module.warnings);
        if let Some(folder) = &vm.spirv_folder {
            dump::module(folder, self.template.name(), &module)?;
        }
        self.compiled.borrow_mut().insert(key, module.clone());
        Ok(module)
    }
}

/// A parameter's declaration with the current methods of struct classes; `None` if it is up to date.
fn kind_now(kind: &ParamKind) -> Option<ParamKind> {
    let mut now = kind.clone();
    let ty: &mut Type = match &mut now {
        ParamKind::Array(array) => &mut array.element,
        ParamKind::Scalar(ty) | ParamKind::Uniform { ty, .. } | ParamKind::Cell { ty, .. } => ty,
        ParamKind::Buffer { element, .. } => element,
        _ => return None,
    };
    *ty = structs::newer(ty)?;
    Some(now)
}

impl Native for Kernel {
    fn native_type(&self) -> &'static NativeType {
        &KERNEL
    }

    fn is_callable(&self) -> bool {
        true
    }

    fn call(&self, _: &Value, vm: &mut Vm, args: &Args) -> Result<Option<Value>> {
        launch::launch(vm, self, args, &Extent::Default)?;
        Ok(Some(Value::None))
    }

    /// Only the attributes of the type exist.
    fn get_attr(&self, this: &Value, _: &mut Vm, name: &str) -> Result<Option<Value>> {
        errors::no_such_attribute(this, &self.template, name).map_or(Ok(None), Err)
    }

    /// `kernel[n]` and `kernel[h, w]`: the kernel with its domain.
    fn get_item(&self, this: &Value, vm: &mut Vm, index: &Value) -> Result<Option<Value>> {
        let domain = domain_of(vm, self, index)?;
        Ok(Some(Value::native(WithDomain { kernel: this.clone(), domain })))
    }

    fn repr(&self, _: &Value, _: &mut Vm) -> Result<String> {
        if self.template.options.form == Form::Python2Shader {
            return Ok(format!("<ShaderModule {} at {:p}>", self.description(), self));
        }
        Ok(format!("<kernel {}>", self.template.name()))
    }
}

/// One to three counts of invocations.
fn domain_of(vm: &mut Vm, kernel: &Kernel, index: &Value) -> Result<Vec<usize>> {
    let axes = match index {
        Value::Tuple(axes) => axes.to_vec(),
        one => vec![one.clone()],
    };
    if axes.is_empty() || axes.len() > 3 {
        return Err(errors::bad_domain(&kernel.template));
    }
    let mut domain = Vec::with_capacity(axes.len());
    for axis in &axes {
        match kp::count(vm, axis)?.and_then(|n| usize::try_from(n).ok()) {
            Some(n) => domain.push(n),
            None => return Err(errors::bad_count(&kernel.template, &vm.repr(axis)?)),
        }
    }
    Ok(domain)
}

/// The SPIR-V of the types that the parameters declare.
fn to_spirv(vm: &mut Vm, args: &Args) -> Result {
    let this: &Kernel = args.this()?;
    args.exactly::<1>("to_spirv")?;
    Ok(Value::bytes(this.compile_portable(vm)?.bytes()))
}

/// The instructions of `to_spirv`, each a tuple: its name, then its operands as assembly has them.
fn to_bytecode(vm: &mut Vm, args: &Args) -> Result {
    let this: &Kernel = args.this()?;
    args.exactly::<1>("to_bytecode")?;
    let text = foreign::disassemble(&this.compile_portable(vm)?.words).map_err(errors::compile)?;
    let instruction = |line: &str| {
        let (result, rest) = match line.split_once(" = ") {
            Some((result, rest)) => (Some(result), rest),
            None => (None, line),
        };
        let mut words = rest.split_whitespace();
        let name = words.next().map(str::to_owned);
        let operands = result.map(str::to_owned).into_iter().chain(words.map(str::to_owned));
        Value::tuple(name.into_iter().chain(operands).map(Value::str).collect::<Vec<_>>())
    };
    let lines = text.lines().filter(|line| !line.starts_with(';') && !line.trim().is_empty());
    Ok(Value::list(lines.map(instruction).collect()))
}

fn description(_: &mut Vm, args: &Args) -> Result {
    Ok(Value::str(args.this::<Kernel>()?.description()))
}

/// `kernel.launch(.., groups=(x, y, z))`: workgroups, as Vulkan counts them.
fn launch_groups(vm: &mut Vm, args: &Args) -> Result {
    let this: &Kernel = args.this()?;
    let (extent, values, names) = launch::extent_of(vm, &args.rest(), Extent::Default)?;
    launch::launch(vm, this, &Args::new(&values, &names), &extent)?;
    Ok(Value::None)
}

fn name(_: &mut Vm, args: &Args) -> Result {
    Ok((&**args.this::<Kernel>()?.template.name()).into())
}

/// The text of the function.
fn text(_: &mut Vm, args: &Args) -> Result {
    let this: &Kernel = args.this()?;
    Ok(this.template.source.slice(this.template.def.span).into())
}

fn doc(vm: &mut Vm, args: &Args) -> Result {
    let function = Value::Function(args.this::<Kernel>()?.function().clone());
    Ok(vm.find_attr(&function, "__doc__")?.unwrap_or_default())
}

fn wrapped(_: &mut Vm, args: &Args) -> Result {
    Ok(Value::Function(args.this::<Kernel>()?.function().clone()))
}

/// `kernel.trace(.., at=(x, y, z))`.
fn trace_call(vm: &mut Vm, args: &Args) -> Result {
    trace(vm, args.this()?, &args.rest(), Extent::Default)
}

fn explain_call(vm: &mut Vm, args: &Args) -> Result {
    explain(vm, args.this()?, &args.rest(), Extent::Default)
}

static WITH_DOMAIN: NativeType = NativeType {
    methods: &[
        NativeDef::method("_time", |vm, args| {
            let this: &WithDomain = args.this()?;
            timed::time(vm, this.kernel(), &args.rest(), Extent::Domain(this.domain.clone()))
        }),
        NativeDef::method("trace", trace_with_domain).doc(
            "(*args, at)",
            "Runs the kernel on copies of its arguments, and returns the steps of the invocation \
                 `at`.",
        ),
        NativeDef::method("explain", explain_with_domain).doc(
            "(*args, line=None)",
            "Explains what the kernel, or a line of it, means for these arguments; nothing runs.",
        ),
    ],
    ..NativeType::new("KernelWithDomain", "pyshader")
        .doc("", "A kernel with the number of its invocations along each axis.")
};

/// `kernel[n].explain(..)`.
fn explain_with_domain(vm: &mut Vm, args: &Args) -> Result {
    let this: &WithDomain = args.this()?;
    explain(vm, this.kernel(), &args.rest(), Extent::Domain(this.domain.clone()))
}

/// `kernel[n].trace(.., at=(x, y, z))`.
fn trace_with_domain(vm: &mut Vm, args: &Args) -> Result {
    let this: &WithDomain = args.this()?;
    trace(vm, this.kernel(), &args.rest(), Extent::Domain(this.domain.clone()))
}

/// The value of `kernel[n]`.
struct WithDomain {
    kernel: Value,
    domain: Vec<usize>,
}

impl WithDomain {
    fn kernel(&self) -> &Kernel {
        self.kernel.downcast().expect("made from a kernel")
    }
}

impl Native for WithDomain {
    fn native_type(&self) -> &'static NativeType {
        &WITH_DOMAIN
    }

    fn is_callable(&self) -> bool {
        true
    }

    fn call(&self, _: &Value, vm: &mut Vm, args: &Args) -> Result<Option<Value>> {
        launch::launch(vm, self.kernel(), args, &Extent::Domain(self.domain.clone()))?;
        Ok(Some(Value::None))
    }

    /// Only the attributes of the type exist; a launch by workgroups has no domain.
    fn get_attr(&self, this: &Value, _: &mut Vm, name: &str) -> Result<Option<Value>> {
        match name {
            "launch" => Err(errors::launch_with_domain(this, &self.kernel().template, &self.domain)),
            _ => Ok(None),
        }
    }

    /// A kernel has one domain: `kernel[3][4]` is a mistake.
    fn get_item(&self, _: &Value, vm: &mut Vm, index: &Value) -> Result<Option<Value>> {
        let further = domain_of(vm, self.kernel(), index)?;
        let both = [&self.domain[..], &further].concat();
        Err(errors::domain_twice(&self.kernel().template, &self.domain, &both))
    }

    fn repr(&self, _: &Value, _: &mut Vm) -> Result<String> {
        Ok(format!("<kernel {}>", errors::with_domain(&self.kernel().template, &self.domain)))
    }
}
