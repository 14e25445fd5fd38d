//! Repeats a launch: one whose arguments have the types and shapes of an earlier one's.
//!
//! Such a launch has the earlier one's signature, compiled form, grid and slots. Only its tensors and scalars are
//! new. A kernel keeps its last few launches for this. A launch that is not among them goes the long way in
//! `launch`.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use kps_compute::{DType, Extent, Number, PreparedLaunch, Tensor};
use kps_kernel::{Captures, Form, FunctionParam, Ints, KernelTemplate, Memory, Param, ParamKind, Type};
use smallvec::SmallVec;

use super::arguments::{Argument, function, number_type};
use super::domain::Domain;
use super::errors;
use super::launch::{ints_of, memory_of};
use super::object::Kernel;
use super::push;
use crate::checking::Checking;
use crate::modules::kp::{self, ScriptedManager};
use crate::value::{Args, Result, Value};
use crate::vm::Vm;

/// Launches in turn over a few sets of tensors are repeated, too.
const MAX_REPEATS: usize = 4;

/// The last launches of a kernel, the latest one first.
#[derive(Default)]
pub struct Repeats(RefCell<Vec<Rc<Repeat>>>);

/// A launch, but for its tensors and scalars.
pub struct Repeat {
    like: Like,
    launch: PreparedLaunch,
    manager: Weak<ScriptedManager>,
    domain: Option<Domain>,
    places: Places,
    /// Whether it may print, fail or make mistakes.
    reports: bool,
}

/// The arguments of a call by the order of the kernel.
pub struct Places {
    /// For each slot of the kernel, the index among the tensors of the call.
    slots: Vec<usize>,
    /// For each number of the kernel's blocks, the index among the numbers of the call.
    numbers: Vec<usize>,
}

impl Places {
    /// `slots` and `numbers` are indices of arguments. `None` if a slot has a tensor that the call does not give, or
    /// an argument is several numbers.
    pub fn of(arguments: &[Argument], slots: &[usize], numbers: &[usize]) -> Option<Places> {
        let is_tensor = |argument: &Argument| matches!(argument, Argument::Tensor(_));
        let is_number = |argument: &Argument| argument.numbers().len() == 1;
        let among = |kind: &dyn Fn(&Argument) -> bool, at: &usize| {
            kind(&arguments[*at]).then(|| arguments[..*at].iter().filter(|argument| kind(argument)).count())
        };
        Some(Places {
            slots: slots.iter().map(|at| among(&is_tensor, at)).collect::<Option<_>>()?,
            numbers: numbers.iter().map(|at| among(&is_number, at)).collect::<Option<_>>()?,
        })
    }
}

/// What two launches must have in common.
struct Like {
    arguments: Vec<LikeArgument>,
    /// As the call gives it.
    extent: Extent,
    memory: Memory,
    ints: Ints,
    captures: Rc<Captures>,
    checking: Checking,
}

enum LikeArgument {
    Tensor {
        dtype: DType,
        shape: Box<[usize]>,
    },
    /// Of a declared parameter, whose type does not depend on the value.
    Number,
    /// Of a parameter without a type.
    NumberOf(Type),
    Const(Number),
    Function(FunctionParam),
}

/// The arguments of a call.
#[derive(Default)]
struct Given {
    tensors: SmallVec<[Tensor; 4]>,
    numbers: SmallVec<[Number; 4]>,
}

impl Repeats {
    /// Starts a launch like one of the last ones. False if there is none.
    pub fn launch(&self, vm: &mut Vm, kernel: &Kernel, args: &Args, extent: &Extent) -> Result<bool> {
        let mut given = Given::default();
        let Some(repeat) = self.find(kernel, args, extent, &mut given) else { return Ok(false) };
        let manager = repeat.manager.upgrade().expect("`find` upgraded it");
        let Places { slots, numbers } = &repeat.places;
        let tensors: SmallVec<[Tensor; 4]> = slots.iter().map(|at| given.tensors[*at].clone()).collect();
        let push = push::of_numbers(numbers.iter().map(|at| given.numbers[*at]).collect());
        let ticket = manager.start_launch(&repeat.launch, &tensors, &push);
        let started = ticket.and_then(|ticket| manager.note_launch(vm, kernel.template.name(), ticket));
        let started = started.map_err(|error| errors::launch(&kernel.template, error));
        if repeat.reports {
            let delivered = kp::deliver(vm, &manager, kp::Ran::Kernel(repeat.domain.as_ref()));
            return started.and(delivered).map(|()| true);
        }
        started.map(|()| true)
    }

    /// The last launch like this one. The arguments are put into `given`.
    fn find(&self, kernel: &Kernel, args: &Args, extent: &Extent, given: &mut Given) -> Option<Rc<Repeat>> {
        let repeats = self.0.borrow();
        if repeats.is_empty() || args.has_keywords() {
            return None;
        }
        let captures = kernel.captures_now();
        let fits = |repeat: &&Rc<Repeat>| {
            repeat.fits(&kernel.template, args.positional(), extent, &captures, given).is_some()
        };
        repeats.iter().find(fits).cloned()
    }

    fn note(&self, repeat: Repeat) {
        let mut repeats = self.0.borrow_mut();
        repeats.truncate(MAX_REPEATS - 1);
        repeats.insert(0, Rc::new(repeat));
    }
}

impl Repeat {
    /// Whether the launch is like this one; `given` gets its arguments.
    fn fits(
        &self,
        template: &KernelTemplate,
        values: &[Value],
        extent: &Extent,
        captures: &Rc<Captures>,
        given: &mut Given,
    ) -> Option<()> {
        let Like { arguments, extent: known, .. } = &self.like;
        if arguments.len() != values.len() || known != extent {
            return None;
        }
        given.tensors.clear();
        given.numbers.clear();
        for (like, value) in arguments.iter().zip(values) {
            match like {
                LikeArgument::Tensor { dtype, shape } => {
                    let tensor = plain_tensor(value)?;
                    if tensor.dtype() != *dtype || tensor.shape() != &**shape {
                        return None;
                    }
                    given.tensors.push(tensor);
                }
                LikeArgument::Number => given.numbers.push(kp::number(value).ok()??),
                LikeArgument::NumberOf(ty) => {
                    let number = kp::number(value).ok()??;
                    if number_type(value, number) != *ty {
                        return None;
                    }
                    given.numbers.push(number);
                }
                LikeArgument::Const(known) => {
                    let number = kp::number(value).ok()??;
                    if number != *known {
                        return None;
                    }
                }
                LikeArgument::Function(known) => {
                    if function(template, value)? != *known {
                        return None;
                    }
                }
            }
        }
        let manager = self.manager.upgrade().filter(|manager| manager.is_init())?;
        let same = self.launch.is_init()
            && manager.owns(given.tensors.first()?)
            && self.like.checking == manager.checking()
            && memory_of(&given.tensors) == self.like.memory
            && ints_of(given.numbers.iter()) == self.like.ints
            && (Rc::ptr_eq(captures, &self.like.captures) || *captures == self.like.captures);
        same.then_some(())
    }
}

/// Decides whether a launch may be repeated, before it starts.
pub struct Candidate(Like);

impl Candidate {
    /// `None` for a launch that must go the long way each time: with structs or images, with arguments by name or by
    /// default, or with a warning that belongs to the line of the call.
    pub fn of(
        vm: &Vm,
        kernel: &Kernel,
        args: &Args,
        extent: &Extent,
        manager: &ScriptedManager,
    ) -> Option<Candidate> {
        let template = &kernel.template;
        let params: Vec<&Param> =
            template.params.iter().filter(|param| !matches!(param.kind, ParamKind::Input { .. })).collect();
        let values = args.positional();
        let may_warn =
            matches!(extent, Extent::Domain(axes) if axes.len() > 1) && vm.checking.get() != Checking::Never;
        if args.has_keywords()
            || params.len() != values.len()
            || template.options.form != Form::Kernel
            || may_warn
        {
            return None;
        }
        let arguments: Vec<LikeArgument> = params
            .iter()
            .zip(values)
            .map(|(param, value)| like(template, param, value))
            .collect::<Option<_>>()?;
        let tensors: Vec<Tensor> = values.iter().filter_map(plain_tensor).collect();
        let numbers =
            params.iter().zip(values).filter(|(param, _)| !matches!(param.kind, ParamKind::Const(_)));
        let numbers: Vec<Number> = numbers.filter_map(|(_, value)| kp::number(value).ok()?).collect();
        Some(Candidate(Like {
            arguments,
            extent: extent.clone(),
            memory: memory_of(&tensors),
            ints: ints_of(numbers.iter()),
            captures: kernel.captures_now(),
            checking: manager.checking(),
        }))
    }

    /// Remembers the launch.
    pub fn note(
        self,
        kernel: &Kernel,
        manager: &Rc<ScriptedManager>,
        launch: PreparedLaunch,
        domain: Option<&Domain>,
        places: Places,
        reports: bool,
    ) {
        let (manager, domain) = (Rc::downgrade(manager), domain.cloned());
        kernel.repeats.note(Repeat { like: self.0, launch, manager, domain, places, reports });
    }
}

fn like(template: &KernelTemplate, param: &Param, value: &Value) -> Option<LikeArgument> {
    let is_plain = |ty: &Type| matches!(ty, Type::Scalar(_) | Type::Vector(..) | Type::Matrix { .. });
    Some(match &param.kind {
        ParamKind::Array(array) if is_plain(&array.element) => like_tensor(value)?,
        ParamKind::Scalar(Type::Scalar(scalar)) if scalar.bits() >= 32 => {
            kp::number(value).ok()??;
            LikeArgument::Number
        }
        ParamKind::Const(_) => LikeArgument::Const(kp::number(value).ok()??),
        ParamKind::Untyped => match (kp::number(value).ok()?, function(template, value)) {
            (Some(number), _) => LikeArgument::NumberOf(number_type(value, number)),
            (None, Some(function)) => LikeArgument::Function(function.to_key()),
            (None, None) => like_tensor(value)?,
        },
        _ => return None,
    })
}

fn like_tensor(value: &Value) -> Option<LikeArgument> {
    let tensor = plain_tensor(value)?;
    Some(LikeArgument::Tensor { dtype: tensor.dtype(), shape: tensor.shape().into() })
}

/// A tensor of numbers that is no image.
fn plain_tensor(value: &Value) -> Option<Tensor> {
    let tensor = kp::tensor_of(value).ok()??;
    (tensor.as_image().is_none() && !tensor.is_record() && kp::element_of(value).is_none()).then_some(tensor)
}
