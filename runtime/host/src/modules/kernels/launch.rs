//! Calls a kernel: from arguments to a signature, a compiled form and a submission.

use std::rc::Rc;
use std::time::Duration;

use kps_compute::number::Unfit;
use kps_compute::{ComputeError, DType, Extent, MemoryType, Number, Report, Running, Storage, Tensor};
use kps_device::{DeviceInfo, ImageInfo, Instrument, Origin, Sampler, SamplerBinding};
use kps_kernel::{
    ArrayParam, BindingPlace, Constant, Cover, Edge, Form, Ints, KernelModule, KernelTemplate, Memory, Param,
    ParamKind, ParamType, Quantity, Scalar, Signature, Target, TextureType, Type, Width,
};
use kps_syntax::Diagnostic;
use num_traits::ToPrimitive;

use super::domain::{self, Domain};
use super::errors::Wanted;
use super::object::Kernel;
use super::push::{self, Spot};
use super::{device, errors, structs};
use crate::checking::Checking;
use crate::modules::numpy::NdArray;
use crate::modules::{kp, numpy};
use crate::value::{Args, Name, Raise, Result, Value};
use crate::vm::Vm;

/// The argument of one parameter.
enum Argument {
    Tensor(Tensor),
    /// The buffer of a uniform or of one struct, which does not determine the domain.
    Uniform(Tensor),
    Numbers(Vec<Number>),
    Sampler(Sampler),
    /// Nothing at run time: an input of the device, or part of the signature.
    None,
}

/// A launch, but for the compiled form of its kernel.
struct Prepared {
    arguments: Vec<Argument>,
    extent: Extent,
    /// The domain, unless the extent counts workgroups.
    domain: Option<Domain>,
    counts: Counts,
    manager: Rc<kp::ScriptedManager>,
    signature: Signature,
}

/// The extent with `groups=`, and the arguments without it.
pub fn extent_of(vm: &mut Vm, args: &Args, extent: Extent) -> Result<(Extent, Vec<Value>, Vec<Name>)> {
    let extent = match args.keyword("groups") {
        Some(groups) => match kp::group_counts(vm, "groups", groups)?.as_slice() {
            [] => return Err(kp::too_many_axes_of_groups("groups", 0)),
            // A launch of no invocations; a recorded dispatch reads it as "the default".
            counts if counts.contains(&0) => Extent::Domain(vec![0]),
            counts => Extent::Groups(std::array::from_fn(|axis| counts.get(axis).copied().unwrap_or(1))),
        },
        None => extent,
    };
    let (values, names) = args.without("groups");
    Ok((extent, values, names))
}

/// Starts one launch. Reading its outputs waits for it.
pub fn launch(vm: &mut Vm, kernel: &Kernel, args: &Args, extent: &Extent) -> Result<()> {
    let prepared = prepare(vm, kernel, args, extent)?;
    let instrument = prepared.manager.instrument(Some(prepared.counts.n_invocations()));
    let target = device::target(&prepared.manager, instrument);
    warn_of_idle_axes(vm, kernel, &prepared, extent);
    let started = start(vm, kernel, &prepared, &target, instrument);
    // Findings and output from before the failure come first.
    let delivered = kp::deliver(vm, &prepared.manager, kp::Ran::Kernel(prepared.domain.as_ref()));
    started.and(delivered)
}

/// Warns about a domain that looks like blocks and threads, if launches are checked.
fn warn_of_idle_axes(vm: &mut Vm, kernel: &Kernel, prepared: &Prepared, given: &Extent) {
    let Extent::Domain(domain) = given else { return };
    if vm.checking.get() == Checking::Never || domain.len() < 2 {
        return;
    }
    let Some((_, elements)) = first_shape(kernel, &prepared.signature.params, &prepared.arguments) else {
        return;
    };
    let Some(warning) = domain::idle_axes(&kernel.template, domain, &elements) else { return };
    let trace = vm.trace();
    if let Some(call) = trace.last().map(|frame| frame.location.clone()) {
        let warning = Diagnostic { trace, ..warning.label(call.clone(), "") };
        // Earlier output comes first.
        let _ = vm.flush();
        vm.findings.warn(&call, &warning);
    }
}

/// Runs one launch over copies of its arguments; returns the steps of the invocation `at`.
pub fn traced(vm: &mut Vm, kernel: &Kernel, args: &Args, extent: &Extent, at: [u32; 3]) -> Result<Report> {
    let mut prepared = prepare(vm, kernel, args, extent)?;
    let domain = prepared.counts.invocations;
    if at.iter().zip(domain).any(|(at, n)| u64::from(*at) >= n) {
        return Err(errors::trace_outside(&kernel.template, at, domain));
    }
    copy_tensors(&mut prepared.arguments)?;
    let target = Target { trace: Some(at), ..device::target(&prepared.manager, Instrument::None) };
    let recorder = vm.recorder.clone();
    let mut run = || start(vm, kernel, &prepared, &target, Instrument::None);
    match recorder {
        Some(recorder) => recorder.aside(run)?,
        None => run()?,
    };
    Ok(prepared.manager.take_report())
}

/// The signature that a launch with these arguments would compile.
pub fn signature(vm: &mut Vm, kernel: &Kernel, args: &Args, extent: &Extent) -> Result<Signature> {
    Ok(prepare(vm, kernel, args, extent)?.signature)
}

/// Replaces tensors by copies; those over the same memory have it in common again.
fn copy_tensors(arguments: &mut [Argument]) -> Result<()> {
    let mut copies: Vec<(Rc<Storage>, Rc<Storage>)> = Vec::new();
    for argument in arguments {
        let (Argument::Tensor(tensor) | Argument::Uniform(tensor)) = argument else { continue };
        let known = copies.iter().find(|(original, _)| Rc::ptr_eq(original, tensor.storage()));
        let copy = match known {
            Some((_, copy)) => copy.clone(),
            None => {
                let copy = tensor.storage().copy().map_err(kp::compute)?;
                copies.push((tensor.storage().clone(), copy.clone()));
                copy
            }
        };
        *tensor = tensor.over_other(copy);
    }
    Ok(())
}

fn prepare(vm: &mut Vm, kernel: &Kernel, args: &Args, extent: &Extent) -> Result<Prepared> {
    errors::check_launchable(&kernel.template)?;
    let values = in_order(kernel, args)?;
    let template = kernel.template_now()?;
    let mut types = Vec::with_capacity(values.len());
    let mut arguments = Vec::with_capacity(values.len());
    for (param, value) in template.params.iter().zip(&values) {
        let (ty, argument) = argument(vm, kernel, param, value)?;
        types.push(ty);
        arguments.push(argument);
    }
    let (extent, of) = with_default_extent(kernel, &types, &arguments, extent)?;
    let domain = match &extent {
        Extent::Domain(shape) => Some(Domain { shape: shape.clone(), of }),
        _ => None,
    };
    let rank = if let Extent::Domain(domain) = &extent { domain.len().clamp(1, 3) as u8 } else { 1 };
    let tensors = tensors_of(&arguments);
    let manager = kp::manager_for(vm, &tensors)?;
    for (ty, argument) in types.iter_mut().zip(&arguments) {
        if let (ParamType::Array(array), Argument::Tensor(tensor)) = (ty, argument) {
            device::reach(array, tensor, manager.info());
        }
    }
    let local_size = kernel.template.local_size(rank);
    let counts = Counts::of(&extent, local_size);
    let signature = Signature::new(&kernel.template, &kernel.env, types)
        .with_rank(rank)
        .with_cover(counts.cover(manager.info().limits.max_groups))
        .with_edge(counts.edge(local_size))
        .with_ids(counts.ids())
        .with_memory(memory_of(&tensors))
        .with_ints(ints_of(&arguments));
    Ok(Prepared { arguments, extent, domain, counts, manager, signature })
}

/// `instrument` is the instrumentation that `target` was created for.
fn start(
    vm: &mut Vm,
    kernel: &Kernel,
    prepared: &Prepared,
    target: &Target,
    instrument: Instrument,
) -> Result<()> {
    let Prepared { arguments, extent, domain, counts, manager, signature } = prepared;
    let local_size = kernel.template.local_size(signature.rank).map(u64::from);
    let invocations = std::array::from_fn(|axis| counts.groups[axis].saturating_mul(local_size[axis]));
    let tensor = |at: usize| match &arguments[at] {
        Argument::Tensor(tensor) | Argument::Uniform(tensor) => Some(tensor),
        _ => None,
    };
    let quantity = |of: Quantity| device::quantity(of, signature, invocations, tensor);
    let module = device::compile_for_rows(vm, kernel, signature, target, &quantity)?;
    if let Some(domain) = domain {
        check_whole_groups(kernel, &module, domain, (&signature.params, arguments))?;
    }
    check_shared(&module, manager.info())?;
    let subgroup_size = kernel.template.options.subgroup_size;
    let running = Running { instrument, subgroup_size, origin: Origin::Compiler };
    let loaded = manager.loaded(&module, running)?;
    submit(kernel, manager, (&module, &loaded), arguments, extent)
}

/// The tensor arguments that determine which manager runs the kernel.
fn tensors_of(arguments: &[Argument]) -> Vec<Tensor> {
    let tensors = arguments.iter().filter_map(|argument| match argument {
        Argument::Tensor(tensor) | Argument::Uniform(tensor) => Some(tensor.clone()),
        _ => None,
    });
    tensors.collect()
}

/// Whether one tensor was given for two arrays.
pub fn memory_of(tensors: &[Tensor]) -> Memory {
    let is_shared = |(at, tensor): (usize, &Tensor)| {
        tensors[..at].iter().any(|earlier| Rc::ptr_eq(earlier.storage(), tensor.storage()))
    };
    if tensors.iter().enumerate().any(is_shared) { Memory::Shared } else { Memory::Apart }
}

/// How large the whole numbers among the scalars are.
fn ints_of(arguments: &[Argument]) -> Ints {
    let numbers = arguments.iter().flat_map(|argument| match argument {
        Argument::Numbers(numbers) => &numbers[..],
        _ => &[],
    });
    Ints::of(numbers.filter_map(|number| match number {
        Number::Int(int) => Some(*int),
        Number::Bool(_) | Number::Float(_) => None,
    }))
}

/// Workgroups and invocations along x, y and z.
struct Counts {
    groups: [u64; 3],
    invocations: [u64; 3],
}

impl Counts {
    fn of(extent: &Extent, local_size: [u32; 3]) -> Counts {
        let local = local_size.map(u64::from);
        match extent {
            Extent::Domain(shape) => {
                let along = |axis: usize| shape.iter().rev().nth(axis).map_or(1, |n| *n as u64);
                let invocations = std::array::from_fn(along);
                let groups = std::array::from_fn(|axis| invocations[axis].div_ceil(local[axis].max(1)));
                Counts { groups, invocations }
            }
            Extent::Groups(groups) => {
                let groups = groups.map(u64::from);
                Counts { groups, invocations: std::array::from_fn(|axis| groups[axis] * local[axis]) }
            }
            Extent::Default => Counts { groups: [1; 3], invocations: local },
        }
    }

    /// Whether a device with these limits accepts them in one dispatch.
    fn cover(&self, limits: [u32; 3]) -> Cover {
        let fits = self.groups.iter().zip(limits).all(|(n, limit)| *n <= u64::from(limit));
        if fits { Cover::Whole } else { Cover::Parts }
    }

    fn edge(&self, local_size: [u32; 3]) -> Edge {
        let mut axes = self.invocations.iter().zip(local_size);
        let is_whole = axes.all(|(n, local)| n.is_multiple_of(u64::from(local)));
        if is_whole { Edge::Whole } else { Edge::Partial }
    }

    fn n_invocations(&self) -> u64 {
        self.invocations.iter().fold(1, |product, n| product.saturating_mul(*n))
    }

    fn ids(&self) -> Width {
        Width::of(self.invocations.into_iter().max().unwrap_or(0))
    }
}

/// The arguments in the order of the parameters; `Unset` for those that the device provides.
fn in_order(kernel: &Kernel, args: &Args) -> Result<Vec<Value>> {
    let template = &kernel.template;
    let is_input = |param: &Param| matches!(param.kind, ParamKind::Input { .. });
    let places: Vec<usize> =
        (0..template.params.len()).filter(|at| !is_input(&template.params[*at])).collect();
    let given = args.positional();
    let miscounted = || {
        let needed = places.iter().filter(|place| kernel.default_of(**place).is_none()).count();
        errors::argument_count(template, needed, given)
    };
    if given.len() > places.len() {
        return Err(miscounted());
    }
    // They are the last ones.
    let n_by_place = places.len() - template.def.params.keyword_only.len().min(places.len());
    if let Some(place) = places.get(n_by_place).filter(|_| given.len() > n_by_place) {
        return Err(errors::keyword_only(template, &template.params[*place].name.name));
    }
    let mut values = vec![Value::Unset; template.params.len()];
    for (place, value) in places.iter().zip(given) {
        values[*place] = value.clone();
    }
    for (name, value) in args.keywords() {
        let name = &**name;
        let place = places.iter().find(|place| &*template.params[**place].name.name == name);
        match place {
            Some(place) if values[*place].is_unset() => values[*place] = value.clone(),
            Some(_) => return Err(errors::argument_twice(template, name)),
            None => return Err(errors::unknown_argument(template, name)),
        }
    }
    for place in &places {
        if values[*place].is_unset()
            && let Some(default) = kernel.default_of(*place)
        {
            values[*place] = default;
        }
    }
    match places.iter().find(|place| values[**place].is_unset()) {
        None => Ok(values),
        Some(_) if !args.has_keywords() => Err(miscounted()),
        Some(place) => Err(errors::missing_argument(template, &template.params[*place].name.name)),
    }
}

fn argument(vm: &mut Vm, kernel: &Kernel, param: &Param, value: &Value) -> Result<(ParamType, Argument)> {
    let name = &*param.name.name;
    let wrong = |vm: &Vm, wanted: Wanted| wrong(vm, kernel, name, wanted, value);
    Ok(match &param.kind {
        ParamKind::Input { .. } | ParamKind::Port(_) => (ParamType::Input, Argument::None),
        ParamKind::Texture { ty, .. } => {
            let image = kp::tensor_of(value).filter(|tensor| tensor.as_image().is_some());
            let image =
                image.ok_or_else(|| errors::argument_for_image(&kernel.template, name, *ty, value))?;
            (ParamType::Texture(*ty), Argument::Tensor(image))
        }
        ParamKind::Sampler { .. } => {
            let sampler = kp::sampler_of(value).ok_or_else(|| wrong(vm, Wanted::Sampler))?;
            (ParamType::Sampler, Argument::Sampler(sampler))
        }
        ParamKind::Array(array) => {
            let tensor = kp::tensor_of(value).ok_or_else(|| wrong(vm, Wanted::Tensor))?;
            if let Some(image) = tensor.as_image() {
                return Err(errors::image_for_array(name, &tensor, texture_type(image)));
            }
            check_record(kernel, name, &array.element, value)?;
            check_dtype(kernel, name, &array.element, &tensor)?;
            let tensor = seen_as(kernel, name, array, tensor)?;
            (ParamType::Array(array.clone()), Argument::Tensor(tensor))
        }
        ParamKind::Uniform { ty, .. } => {
            let tensor = match kp::tensor_of(value) {
                Some(tensor) => tensor,
                None => {
                    let bytes = structs::pack(vm, ty, value, name)?;
                    let (n, memory) = (bytes.len(), MemoryType::Device);
                    Tensor::records(&ty.to_string(), n, structs::fields(ty), &[1], memory, bytes)
                        .map_err(kp::compute)?
                }
            };
            (ParamType::Array(ArrayParam::flat(ty.clone())), Argument::Uniform(tensor))
        }
        ParamKind::Buffer { element, .. } | ParamKind::Cell { ty: element, .. } => {
            let tensor = kp::tensor_of(value).ok_or_else(|| wrong(vm, Wanted::Tensor))?;
            check_record(kernel, name, element, value)?;
            // PyShader's structs accept any bytes.
            if element.number().is_some() {
                check_dtype(kernel, name, element, &tensor)?;
            }
            let of = match &param.kind {
                ParamKind::Cell { .. } => Argument::Uniform(tensor),
                _ => Argument::Tensor(tensor),
            };
            (ParamType::Array(ArrayParam::flat(element.clone())), of)
        }
        ParamKind::Scalar(ty) => {
            let numbers = components(vm, ty, value, name)?
                .ok_or_else(|| errors::argument_numbers(&kernel.template, name, ty, value))?;
            let numbers = match ty.scalar().filter(|_| !ty.is_aggregate()) {
                Some(scalar) => narrowed(&kernel.template, name, scalar, numbers)?,
                None => numbers,
            };
            (ParamType::Scalar(ty.clone()), Argument::Numbers(numbers))
        }
        ParamKind::Const(scalar) => {
            let number = kp::number(value)?.ok_or_else(|| wrong(vm, Wanted::Number((*scalar).into())))?;
            let constant = constant(*scalar, number);
            let constant =
                constant.map_err(|unfit| unfit_number(&kernel.template, name, number, *scalar, unfit))?;
            (ParamType::Const(constant), Argument::None)
        }
        ParamKind::Untyped => return by_value(vm, kernel, name, value),
    })
}

fn wrong(vm: &Vm, kernel: &Kernel, name: &str, wanted: Wanted, value: &Value) -> Raise {
    errors::argument_kind(&kernel.template, name, &wanted, value, name_of(vm, value).as_deref())
}

/// The name of a value in the script that launches the kernel.
fn name_of(vm: &Vm, value: &Value) -> Option<Name> {
    let locals = vm.caller_locals().unwrap_or_default();
    let globals = vm.caller_globals().map(|globals| globals.to_pairs()).unwrap_or_default();
    let mut names = locals.into_iter().chain(globals);
    names.find(|(name, known)| known.is(value) && !name.starts_with('_')).map(|(name, _)| name)
}

/// A parameter whose type only the argument determines.
fn by_value(vm: &mut Vm, kernel: &Kernel, name: &str, value: &Value) -> Result<(ParamType, Argument)> {
    if let Some(tensor) = kp::tensor_of(value) {
        return Ok((tensor_type(&tensor, kp::element_of(value)), Argument::Tensor(tensor)));
    }
    if let Some(sampler) = kp::sampler_of(value) {
        return Ok((ParamType::Sampler, Argument::Sampler(sampler)));
    }
    if let Some(ty) = structs::type_of_value(value) {
        let numbers = components(vm, &ty, value, name)?.unwrap_or_default();
        return Ok((ParamType::Scalar(structs::now(&ty)), Argument::Numbers(numbers)));
    }
    let number = kp::number(value)?.ok_or_else(|| wrong(vm, kernel, name, Wanted::Anything, value))?;
    let ty = match value.downcast::<numpy::Scalar>() {
        Some(scalar) => Type::Scalar(scalar.dtype),
        None => host_type(number),
    };
    Ok((ParamType::Scalar(ty), Argument::Numbers(vec![number])))
}

/// The annotation for a tensor, whose elements may be structs or vectors, or for an image.
pub fn tensor_type(tensor: &Tensor, of: Option<Type>) -> ParamType {
    match tensor.as_image() {
        Some(image) => ParamType::Texture(texture_type(image)),
        None => {
            let is_of_vectors = of.as_ref().is_some_and(Type::is_vector);
            let element = of.unwrap_or_else(|| Type::Scalar(tensor.dtype()));
            let rank = rank_of(tensor);
            ParamType::Array(ArrayParam::new(element, if is_of_vectors { (rank - 1).max(1) } else { rank }))
        }
    }
}

/// The annotation for the image.
fn texture_type(image: &ImageInfo) -> TextureType {
    let text = format!("{} {}", image.dimension.name(), image.format.name());
    TextureType::parse(&text).expect("images have the dimensions and formats that textures name")
}

/// A module does not distinguish a bool from a u8, nor a bf16 from a u16; the declared type does. Structs and
/// lists accept the bytes of a tensor if all their numbers have its type.
fn check_dtype(kernel: &Kernel, name: &str, element: &Type, tensor: &Tensor) -> Result<()> {
    if tensor.is_record() {
        return Ok(());
    }
    let mut scalars = element.numbers().into_iter().map(|(_, scalar)| scalar);
    let Some(expected) = scalars.find(|scalar| *scalar != tensor.dtype()) else { return Ok(()) };
    if element.number().is_none() && tensor.dtype() == DType::U8 {
        return Ok(());
    }
    if let Type::Struct(_) = element {
        return Err(errors::numbers_for_records(&kernel.template, name, element, tensor.dtype()));
    }
    let (parameter, label) = (name.to_owned(), tensor.label().to_owned());
    let mismatch = ComputeError::ParameterDType { parameter, tensor: label, expected, given: tensor.dtype() };
    Err(errors::launch(&kernel.template, mismatch))
}

/// The tensor with the dimensions that the parameter declares: one is any shape, flattened. Numbers that form
/// one element of the array are not an axis of it: they are the last axes of the tensor, or part of its last
/// one.
fn seen_as(kernel: &Kernel, name: &str, array: &ArrayParam, tensor: Tensor) -> Result<Tensor> {
    let rank = rank_of(&tensor);
    if array.rank == 1 && rank > 1 {
        return tensor.reshape(&[tensor.size()]).map_err(kp::compute);
    }
    if array.rank == rank {
        tensor.check_last_axis(name, array.element.packed_size() as usize).map_err(kp::compute)?;
        return Ok(tensor);
    }
    if usize::from(array.rank) + inner_axes(&array.element, &tensor) == usize::from(rank) {
        return Ok(tensor);
    }
    Err(errors::argument_rank(&kernel.template, name, array, tensor.shape()))
}

/// Elements of the tensor in one element of the array.
fn numbers_per_element(element: &Type, tensor: &Tensor) -> usize {
    tensor.numbers_in(element.packed_size() as usize)
}

/// How many of a tensor's last axes are within one element of the array: those of the element, such as a
/// matrix's rows and columns, or one for all its numbers.
fn inner_axes(element: &Type, tensor: &Tensor) -> usize {
    let (own, shape) = (own_axes(element), tensor.shape());
    if shape.len() > own.len() && shape.ends_with(&own) {
        return own.len();
    }
    let per_element = numbers_per_element(element, tensor);
    match shape {
        [_, .., inner] if per_element > 1 && *inner == per_element => 1,
        _ => 0,
    }
}

/// The axes of one such value in NumPy: `(2, 3)` for `Array(2, vec3)`.
fn own_axes(ty: &Type) -> Vec<usize> {
    match ty {
        Type::Vector(n, _) => vec![usize::from(*n)],
        Type::Matrix { columns, rows, .. } => vec![usize::from(*rows), usize::from(*columns)],
        Type::Array(array) => [array.len as usize].into_iter().chain(own_axes(&array.element)).collect(),
        _ => Vec::new(),
    }
}

/// The axes of an array parameter.
pub fn array_shape(array: &ArrayParam, tensor: &Tensor) -> Vec<usize> {
    match tensor.shape() {
        [] => vec![1],
        shape if shape.len() > usize::from(array.rank) => shape[..usize::from(array.rank)].to_vec(),
        [first @ .., last] => {
            let per_element = numbers_per_element(&array.element, tensor);
            first.iter().copied().chain([(last / per_element).max(1)]).collect()
        }
    }
}

/// One number is an array of one.
fn rank_of(tensor: &Tensor) -> u8 {
    u8::try_from(tensor.shape().len()).unwrap_or(u8::MAX).max(1)
}

/// The kernel type of a host number that has no type.
fn host_type(number: Number) -> Type {
    match number {
        Number::Bool(_) => Type::BOOL,
        Number::Int(_) => Type::I32,
        Number::Float(_) => Type::F32,
    }
}

/// The numbers of a value; `None` for another kind of value.
fn components(vm: &mut Vm, ty: &Type, value: &Value, name: &str) -> Result<Option<Vec<Number>>> {
    if !matches!(ty, Type::Scalar(_) | Type::Vector(..)) {
        let bytes = structs::pack(vm, ty, value, name)?;
        return Ok(Some(structs::numbers(ty, &bytes)));
    }
    let n = usize::from(ty.n_components());
    if let (Value::BigInt(big), Some(scalar)) = (value.base_value(), ty.scalar())
        && i128::try_from(&**big).is_err()
    {
        return match big.to_f64().filter(|_| scalar.is_float()) {
            Some(float) if float.is_finite() => Ok(Some(vec![Number::Float(float)])),
            _ => Err(errors::argument_too_large(name, ty, big.bits())),
        };
    }
    if n <= 1 {
        return Ok(kp::number(value)?.map(|number| vec![number]));
    }
    let is_row = value.downcast::<NdArray>().is_some_and(|array| array.shape().len() == 1);
    if !is_row && !matches!(value, Value::Tuple(_) | Value::List(_)) {
        return Ok(None);
    }
    let items = vm.collect(value)?;
    let numbers: Result<Option<Vec<Number>>> = items.iter().map(kp::number).collect();
    Ok(numbers?.filter(|numbers| numbers.len() == n))
}

/// The numbers as a narrow type holds them, which the push constants do not show: its numbers travel
/// in 32 bits. The wider types are checked with the push constants.
pub fn narrowed(
    template: &KernelTemplate,
    name: &str,
    scalar: Scalar,
    numbers: Vec<Number>,
) -> Result<Vec<Number>> {
    if scalar.bits() >= 32 {
        return Ok(numbers);
    }
    let narrow = |number: Number| {
        let mut element = [0; 8];
        match number.exact(scalar, &mut element) {
            Ok(()) => Ok(Number::load(scalar, &element)),
            Err(unfit) => Err(unfit_number(template, name, number, scalar, unfit)),
        }
    };
    numbers.into_iter().map(narrow).collect()
}

/// The value of a `const` parameter.
fn constant(scalar: Scalar, number: Number) -> std::result::Result<Constant, Unfit> {
    let mut element = [0; 8];
    number.exact(scalar, &mut element)?;
    Ok(structs::constant(scalar, &element))
}

fn unfit_number(template: &KernelTemplate, name: &str, value: Number, scalar: Scalar, unfit: Unfit) -> Raise {
    let member = name.to_owned();
    errors::launch(template, ComputeError::PushUnfit { member, value, dtype: scalar, unfit })
}

/// The extent if the call gives none: one invocation for each element of the first array. Also returns the
/// name of that array.
fn with_default_extent(
    kernel: &Kernel,
    types: &[ParamType],
    arguments: &[Argument],
    extent: &Extent,
) -> Result<(Extent, Option<String>)> {
    if *extent != Extent::Default {
        return Ok((extent.clone(), None));
    }
    let (at, shape) =
        first_shape(kernel, types, arguments).ok_or_else(|| errors::no_tensor(&kernel.template))?;
    Ok((Extent::Domain(shape), Some(kernel.template.params[at].name.name.to_string())))
}

/// The place of the first array or image among the parameters, and its shape.
fn first_shape(kernel: &Kernel, types: &[ParamType], arguments: &[Argument]) -> Option<(usize, Vec<usize>)> {
    let shape = |(ty, argument): (&ParamType, &Argument)| match (ty, argument) {
        (ParamType::Array(array), Argument::Tensor(tensor)) => Some(match kernel.template.options.form {
            // It has no axes there.
            Form::Python2Shader => vec![(tensor.size() / numbers_per_element(&array.element, tensor)).max(1)],
            Form::Kernel => array_shape(array, tensor),
        }),
        (ParamType::Texture(_), Argument::Tensor(tensor)) => tensor.as_image().map(texel_shape),
        _ => None,
    };
    types.iter().zip(arguments).map(shape).enumerate().find_map(|(at, shape)| Some((at, shape?)))
}

/// Texels along each axis, the last one along x.
fn texel_shape(image: &ImageInfo) -> Vec<usize> {
    image.size[..image.dimension.n_axes()].iter().rev().map(|&side| side as usize).collect()
}

/// If invocations wait for their workgroup, every workgroup must be whole.
fn check_whole_groups(
    kernel: &Kernel,
    module: &KernelModule,
    domain: &Domain,
    (types, arguments): (&[ParamType], &[Argument]),
) -> Result<()> {
    let local_size = module.local_size.map(|n| n as usize);
    let is_whole = (0..3).all(|axis| domain.along(axis).is_multiple_of(local_size[axis]));
    if !module.whole_groups || is_whole {
        return Ok(());
    }
    let written = module.bindings.iter().filter_map(|binding| {
        let at = binding.param_idx;
        match (&binding.place, &types[at], &arguments[at]) {
            (
                BindingPlace::Buffer { writes: true, .. },
                ParamType::Array(array),
                Argument::Tensor(tensor),
            ) => Some((&*binding.name, array_shape(array, tensor))),
            _ => None,
        }
    });
    let written: Vec<(&str, Vec<usize>)> = written.collect();
    // If there are several, only the script knows the right one.
    let written = written.first().filter(|_| written.len() == 1);
    let written = written.map(|(name, shape)| (*name, &shape[..]));
    Err(errors::partial_group(&kernel.template, domain, written, local_size))
}

fn check_shared(module: &KernelModule, info: &DeviceInfo) -> Result<()> {
    let n_bytes: u64 = module.shared.iter().map(|(_, n_bytes)| n_bytes).sum();
    match n_bytes <= info.limits.max_shared.into() {
        true => Ok(()),
        false => Err(errors::too_much_shared(&module.shared, n_bytes, info)),
    }
}

/// Elements that are structs must have the kernel's struct type.
fn check_record(kernel: &Kernel, name: &str, element: &Type, value: &Value) -> Result<()> {
    match kp::record_of(value) {
        Some(of) if !structs::same_layout(element, &Type::Struct(of.clone())) => {
            Err(errors::record_type(&kernel.template, name, element, &of))
        }
        _ => Ok(()),
    }
}

fn submit(
    kernel: &Kernel,
    manager: &kp::ScriptedManager,
    (module, loaded): (&KernelModule, &kps_compute::Kernel),
    arguments: &[Argument],
    extent: &Extent,
) -> Result<()> {
    let mut bound: Vec<(u32, Tensor)> = Vec::new();
    let mut numbers_at: Vec<(Spot, &[Number])> = Vec::new();
    let mut samplers = Vec::new();
    for binding in &module.bindings {
        match (&binding.place, &arguments[binding.param_idx]) {
            (
                BindingPlace::Buffer { binding, .. } | BindingPlace::Texture { binding, .. },
                Argument::Tensor(tensor) | Argument::Uniform(tensor),
            ) => bound.push((*binding, tensor.clone())),
            (BindingPlace::Sampler { set, binding }, Argument::Sampler(sampler)) => {
                samplers.push(SamplerBinding { set: *set, binding: *binding, sampler: *sampler });
            }
            (place, Argument::Numbers(numbers)) => {
                let (spot, _) = push::spot(place).expect("the signature was made of these arguments");
                numbers_at.push((spot, numbers));
            }
            _ => unreachable!("the signature was made of these arguments"),
        }
    }
    let push = push::in_blocks(numbers_at);
    let mut tensors = by_slot(&bound, samplers.iter().map(|sampler| sampler.binding).max());
    // The last arrays are bound nowhere if the kernel never touches them.
    tensors.truncate(loaded.n_tensors());
    let ticket = manager.launch(loaded, &tensors, extent, &push, &samplers);
    // Errors of a launch that has already ended are reported here, not at a later wait.
    let launched = ticket.and_then(|ticket| manager.wait(ticket, Some(Duration::ZERO)));
    launched.map(drop).map_err(|error| errors::launch(&kernel.template, error))
}

/// The tensors by slot, up to the last one and the last sampler. An empty slot is filled with any tensor,
/// which is unused.
fn by_slot(bound: &[(u32, Tensor)], last_sampler: Option<u32>) -> Vec<Tensor> {
    let Some(last) = bound.iter().map(|(slot, _)| *slot).max() else { return Vec::new() };
    let last = last_sampler.map_or(last, |sampler| last.max(sampler));
    let tensor = |slot| bound.iter().find(|(known, _)| *known == slot).unwrap_or(&bound[0]).1.clone();
    (0..=last).map(tensor).collect()
}
