//! Runs generated kernels on one device: the text of a kernel and its arguments go in, a submission comes out.
//!
//! A kernel is known by its text. The scalars of an expression are parameters, and its shapes are parameters or
//! the domain, so expressions that differ in numbers and sizes alone share a text and its compiled form.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use kps_compute::tensor::Builder;
use kps_compute::{Extent, Kernel, Manager, Number, PreparedLaunch, Push, Running, Tensor};
use kps_device::{Instrument, Origin};
use kps_kernel::{
    BindingPlace, BoundaryTest, Dispatches, Ints, KernelModule, KernelOptions, KernelTemplate,
    LaunchAssumptions, Memory, ParamType, Signature, Target, Width,
};
use kps_syntax::ast::StmtKind;
use kps_syntax::{Location, Source, parse};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::element::ElementType;
use crate::errors::{ArrayError, Result};
use crate::library::Library;
use crate::target;

/// A device as expressions use it, with the kernels that were made for it.
pub struct Engine {
    manager: Rc<Manager>,
    target: Target,
    library: Library,
    kernels: RefCell<FxHashMap<Rc<str>, Rc<Generated>>>,
    /// Whether operations run when they are written, not when somebody needs their result.
    is_eager: Rc<Cell<bool>>,
    /// The place of the program that makes arrays now.
    origin: RefCell<Option<Location>>,
}

/// A generated kernel with its compiled forms.
struct Generated {
    template: KernelTemplate,
    forms: RefCell<FxHashMap<Form, Rc<Compiled>>>,
}

/// What distinguishes the compiled forms of one text.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Form {
    params: Vec<ParamType>,
    assumptions: LaunchAssumptions,
}

struct Compiled {
    kernel: Rc<Kernel>,
    /// The places of the tensors among the arguments, by binding.
    tensors: Vec<usize>,
    /// The places of the scalars among the arguments, in the order of their blocks.
    numbers: Vec<usize>,
    /// The last launch, for others with the same sizes.
    prepared: RefCell<Option<(Sizes, PreparedLaunch)>>,
}

/// What a prepared launch depends on.
#[derive(PartialEq, Eq)]
struct Sizes {
    tensors: SmallVec<[usize; 8]>,
    extent: [u64; 3],
}

/// An argument of a generated kernel.
#[derive(Clone, Debug)]
pub enum Argument {
    /// One axis; the kernel works out the places of elements itself.
    Tensor(Tensor),
    Number(Number),
}

/// A kernel with the arguments of one launch.
pub struct Written {
    pub text: String,
    /// `None` for the device's usual size of workgroups.
    pub local_size: Option<[u32; 3]>,
    pub arguments: Vec<Argument>,
    pub size: Size,
}

impl Written {
    /// The kernel as a script has it.
    pub fn source(&self) -> String {
        let decorator = match self.local_size {
            Some([x, ..]) => format!("@kernel(local_size=({x},))"),
            None => "@kernel".to_owned(),
        };
        format!("{decorator}\n{}", self.text)
    }
}

/// How many invocations a launch has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// One for each element.
    Invocations(u64),
    /// Workgroups along x, y and z.
    Groups([u32; 3]),
}

/// Texts of which the compiled forms are kept.
const MAX_KERNELS: usize = 1024;

impl Engine {
    /// `is_eager` turns lazy computation off, for all engines that share it.
    pub fn new(manager: Rc<Manager>, is_eager: Rc<Cell<bool>>) -> Engine {
        let target = target::target_of(manager.info());
        let (library, kernels) = (Library::default(), RefCell::default());
        Engine { manager, target, library, kernels, is_eager, origin: RefCell::default() }
    }

    pub fn manager(&self) -> &Rc<Manager> {
        &self.manager
    }

    /// Whether the device shares the host's cores and memory: few large workgroups suit it.
    pub fn is_cpu(&self) -> bool {
        self.manager.info().capabilities.prefers_tested_indices
    }

    pub fn is_eager(&self) -> bool {
        self.is_eager.get()
    }

    /// The arrays that are made from now on come from this place of the program, which errors name.
    pub fn set_origin(&self, origin: Option<Location>) {
        *self.origin.borrow_mut() = origin;
    }

    pub(crate) fn origin(&self) -> Option<Location> {
        self.origin.borrow().clone()
    }

    /// New memory for elements, all of which a kernel writes.
    pub fn allocate(&self, ty: ElementType, size: usize) -> Result<Tensor> {
        let tensor = Builder::new(ty.part(), &[ty.n_parts() * size]).overwritten()?;
        Ok(self.manager.adopt(tensor)?)
    }

    /// Starts a generated kernel.
    pub fn launch(&self, written: &Written) -> Result<()> {
        let Written { text, local_size, arguments, size } = written;
        let size = *size;
        let generated = self.generated(text, *local_size)?;
        let compiled = self.compiled(text, &generated, arguments, size)?;
        let tensors: SmallVec<[Tensor; 8]> =
            compiled.tensors.iter().map(|at| tensor(&arguments[*at])).collect();
        let numbers: Vec<Number> = compiled.numbers.iter().map(|at| number(&arguments[*at])).collect();
        let push = if numbers.is_empty() { Push::Default } else { Push::Numbers(numbers) };
        let extent = match size {
            Size::Invocations(n) => [n, 0, 0],
            Size::Groups(groups) => groups.map(u64::from),
        };
        let sizes = Sizes { tensors: tensors.iter().map(Tensor::size).collect(), extent };
        let mut prepared = compiled.prepared.borrow_mut();
        if prepared.as_ref().is_none_or(|(known, _)| *known != sizes) {
            let extent = match size {
                Size::Invocations(n) => Extent::Domain(vec![n as usize]),
                Size::Groups(groups) => Extent::Groups(groups),
            };
            let launch = self.manager.prepare_launch(&compiled.kernel, &tensors, &extent, &[])?;
            *prepared = Some((sizes, launch));
        }
        let (_, launch) = prepared.as_ref().expect("it was just prepared");
        self.manager.start_launch(launch, &tensors, &push)?;
        Ok(())
    }

    fn generated(&self, text: &str, local_size: Option<[u32; 3]>) -> Result<Rc<Generated>> {
        if let Some(known) = self.kernels.borrow().get(text) {
            return Ok(known.clone());
        }
        let source = Source::new("<expression>", text);
        let (module, mistakes) = parse(&source);
        let defect = |mistakes| ArrayError::Kernel { text: text.to_owned(), mistakes };
        let def = module.body.iter().find_map(|statement| match &statement.kind {
            StmtKind::Function(def) => Some(def),
            _ => None,
        });
        let Some(def) = def.filter(|_| mistakes.is_empty()) else { return Err(defect(mistakes)) };
        let options = KernelOptions { local_size, ..KernelOptions::kernel() };
        let template = kps_kernel::check(def, &source, &*self.library, options).map_err(defect)?;
        let generated = Rc::new(Generated { template, forms: RefCell::default() });
        let mut kernels = self.kernels.borrow_mut();
        if kernels.len() >= MAX_KERNELS {
            kernels.clear();
        }
        kernels.insert(text.into(), generated.clone());
        Ok(generated)
    }

    /// The compiled form for these arguments.
    fn compiled(
        &self,
        text: &str,
        generated: &Generated,
        arguments: &[Argument],
        size: Size,
    ) -> Result<Rc<Compiled>> {
        let template = &generated.template;
        let form = self.form(template, arguments, size);
        if let Some(known) = generated.forms.borrow().get(&form) {
            return Ok(known.clone());
        }
        let signature = Signature::new(template, &*self.library, form.params.clone())
            .with_rank(1)
            .with_assumptions(form.assumptions);
        let module = kps_kernel::specialize(template, &*self.library, &signature, &self.target)
            .map_err(|mistakes| ArrayError::Kernel { text: text.to_owned(), mistakes })?;
        let running = Running { instrument: Instrument::None, subgroup_size: None, origin: Origin::Compiler };
        let kernel = self.manager.kernel_run_so(&module.words, &[], running)?;
        let compiled = Rc::new(Compiled::new(&module, kernel));
        generated.forms.borrow_mut().insert(form, compiled.clone());
        Ok(compiled)
    }

    fn form(&self, template: &KernelTemplate, arguments: &[Argument], size: Size) -> Form {
        let info = self.manager.info();
        let mut params: Vec<ParamType> = template
            .params
            .iter()
            .map(|param| param.kind.declared().expect("generated kernels declare their parameters"))
            .collect();
        for (param, argument) in params.iter_mut().zip(arguments) {
            if let (ParamType::Array(array), Argument::Tensor(tensor)) = (param, argument) {
                target::reach(array, tensor, info);
            }
        }
        target::spare_bindings(params.iter_mut(), info);
        let local = u64::from(template.local_size(1)[0]);
        let (invocations, groups) = match size {
            Size::Invocations(n) => (n, [n.div_ceil(local), 1, 1]),
            Size::Groups(groups) => (u64::from(groups[0]) * local, groups.map(u64::from)),
        };
        let fits = groups.iter().zip(info.limits.max_groups).all(|(n, limit)| *n <= u64::from(limit));
        let storages = arguments.iter().filter_map(|argument| match argument {
            Argument::Tensor(tensor) => Some(Rc::as_ptr(tensor.storage())),
            Argument::Number(_) => None,
        });
        let storages: SmallVec<[_; 8]> = storages.collect();
        let is_shared = (1..storages.len()).any(|at| storages[..at].contains(&storages[at]));
        let ints = arguments.iter().filter_map(|argument| match argument {
            Argument::Number(Number::Int(int)) => Some(*int),
            _ => None,
        });
        let assumptions = LaunchAssumptions {
            dispatches: if fits { Dispatches::One } else { Dispatches::Several },
            boundary_test: match size {
                Size::Invocations(n) if !n.is_multiple_of(local) => BoundaryTest::Needed,
                _ => BoundaryTest::Unneeded,
            },
            ids: Width::of(invocations),
            memory: if is_shared { Memory::Shared } else { Memory::Apart },
            ints: Ints::of(ints),
            ..LaunchAssumptions::default()
        };
        Form { params, assumptions }
    }
}

impl Compiled {
    fn new(module: &KernelModule, kernel: Rc<Kernel>) -> Compiled {
        let mut tensors: Vec<(u32, usize)> = Vec::new();
        // ORDER: the push constants come before the uniform buffer.
        let mut numbers: Vec<((u8, u32), usize)> = Vec::new();
        for binding in &module.bindings {
            match binding.place {
                BindingPlace::Buffer { binding: slot, .. } => tensors.push((slot, binding.param_idx)),
                BindingPlace::PushConstant { offset, .. } => numbers.push(((0, offset), binding.param_idx)),
                BindingPlace::Uniform { offset, .. } => numbers.push(((1, offset), binding.param_idx)),
                _ => {}
            }
        }
        tensors.sort_unstable();
        numbers.sort_unstable();
        // The last arrays are bound nowhere if the kernel never touches them.
        tensors.truncate(kernel.n_tensors());
        Compiled {
            kernel,
            tensors: tensors.into_iter().map(|(_, at)| at).collect(),
            numbers: numbers.into_iter().map(|(_, at)| at).collect(),
            prepared: RefCell::default(),
        }
    }
}

fn tensor(argument: &Argument) -> Tensor {
    match argument {
        Argument::Tensor(tensor) => tensor.clone(),
        Argument::Number(_) => unreachable!("the parameter is an array"),
    }
}

fn number(argument: &Argument) -> Number {
    match argument {
        Argument::Number(number) => *number,
        Argument::Tensor(_) => unreachable!("the parameter is a number"),
    }
}
