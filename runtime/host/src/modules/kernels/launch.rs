//! Calls a kernel: from arguments to a signature, a compiled form and a submission.

use std::rc::Rc;
use std::time::{Duration, Instant};

use kps_array::target;
use kps_compute::observe::RowKind;
use kps_compute::{Extent, Number, PreparedLaunch, Report, Running, Storage, Tensor};
use kps_device::{DeviceInfo, ImageInfo, Instrument, Origin, SamplerBinding};
use kps_kernel::{
    Binding, BindingPlace, BoundaryTest, Dispatches, Form, IndexRange, Ints, KernelModule, LaunchAssumptions,
    LaunchSize, Memory, ParamType, Signature, Target, Width,
};
use kps_syntax::Diagnostic;

use super::arguments::{self, Argument, array_shape, numbers_per_element};
use super::domain::{self, Domain};
use super::env::library_of;
use super::object::Kernel;
use super::push::{self, Spot};
use super::repeat::{Candidate, Places};
use super::{device, errors};
use crate::checking::Checking;
use crate::modules::kp;
use crate::value::{Args, Name, Result, Value};
use crate::vm::Vm;

/// A launch is timed so often at most, and until its runs took this long.
const MAX_RUNS: usize = 9;
const ENOUGH: Duration = Duration::from_millis(50);

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
    let _span = vm.tracer.as_ref().map(|tracer| tracer.span(format!("launch {}", kernel.template.name())));
    match kp::stream_option(args) {
        Some(stream) => {
            let (values, names) = args.without("stream");
            launch_on(vm, kernel, &Args::new(&values, &names), extent, kp::stream_of(&stream))
        }
        None => launch_on(vm, kernel, args, extent, None),
    }
}

/// Starts one launch on a stream, by default that of the `with` block.
fn launch_on(
    vm: &mut Vm,
    kernel: &Kernel,
    args: &Args,
    extent: &Extent,
    stream: Option<&kp::ScriptStream>,
) -> Result<()> {
    let _entered = stream.map(|stream| stream.enter(vm));
    if stream.is_none() && kernel.repeats.launch(vm, kernel, args, extent)? {
        return Ok(());
    }
    let prepared = prepare(vm, kernel, args, extent)?;
    stream.map_or(Ok(()), |stream| stream.check_manager(&prepared.manager))?;
    // Kernels of the library are checked only if the script asks for it: few invocations of theirs may do much work.
    let is_of_library = library_of(&kernel.template.source).is_some();
    let n_invocations = (!is_of_library).then(|| prepared.counts.n_invocations());
    let instrument = prepared.manager.instrument(n_invocations);
    let target = device::target(&prepared.manager, instrument);
    warn_of_idle_axes(vm, kernel, &prepared, extent);
    let candidate = Candidate::of(vm, kernel, args, extent, &prepared.manager);
    let started = start(vm, kernel, &prepared, &target, instrument, candidate);
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
    copy_tensors(&mut prepared.arguments, |_| true)?;
    let target = Target { trace: Some(at), ..device::target(&prepared.manager, Instrument::None) };
    let recorder = vm.recorder.clone();
    let mut run = || start(vm, kernel, &prepared, &target, Instrument::None, None);
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

/// The time of a launch on the device: the median of some runs over copies of the tensors that the kernel writes.
pub fn timed(vm: &mut Vm, kernel: &Kernel, args: &Args, extent: &Extent) -> Result<Duration> {
    let mut prepared = prepare(vm, kernel, args, extent)?;
    let target = device::target(&prepared.manager, Instrument::None);
    let module = compiled(vm, kernel, &prepared, &target)?;
    copy_tensors(&mut prepared.arguments, |at| module.bindings.iter().any(|binding| may_write(binding, at)))?;
    let manager = prepared.manager.clone();
    // What earlier launches printed comes first, and what these print is dropped.
    kp::deliver(vm, &manager, kp::Ran::Started)?;
    let mut run = || start(vm, kernel, &prepared, &target, Instrument::None, None);
    // The first run uploads what the others find on the device.
    run()?;
    let mut times = Vec::new();
    while times.len() < MAX_RUNS && times.iter().sum::<Duration>() < ENOUGH {
        manager.sync(None).map_err(kp::compute)?;
        let profile = manager.profile().map_err(kp::compute)?;
        profile.start().map_err(kp::compute)?;
        let began = Instant::now();
        run()?;
        manager.sync(None).map_err(kp::compute)?;
        let elapsed = began.elapsed();
        profile.stop();
        let rows = profile.rows();
        let kernels = rows.iter().filter(|row| row.kind == RowKind::Kernel);
        // Some queues take no timestamps.
        times.push(kernels.map(|row| row.total).sum::<Option<Duration>>().unwrap_or(elapsed));
    }
    manager.take_report();
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

/// Whether a binding is that of a parameter, by its place, and the kernel may write it.
fn may_write(binding: &Binding, param_idx: usize) -> bool {
    let is_read_only = matches!(binding.place, BindingPlace::Buffer { writes: false, .. });
    binding.param_idx == param_idx && !is_read_only
}

/// Replaces the tensors of some parameters by copies; those over the same memory have it in common again.
fn copy_tensors(arguments: &mut [Argument], is_copied: impl Fn(usize) -> bool) -> Result<()> {
    let mut copies: Vec<(Rc<Storage>, Rc<Storage>)> = Vec::new();
    for (at, argument) in arguments.iter().enumerate() {
        let Some(tensor) = argument.tensor().filter(|_| is_copied(at)) else { continue };
        if !copies.iter().any(|(original, _)| Rc::ptr_eq(original, tensor.storage())) {
            let copy = tensor.storage().copy().map_err(kp::compute)?;
            copies.push((tensor.storage().clone(), copy));
        }
    }
    for argument in arguments {
        let (Argument::Tensor(tensor) | Argument::Uniform(tensor)) = argument else { continue };
        if let Some((_, copy)) = copies.iter().find(|(original, _)| Rc::ptr_eq(original, tensor.storage())) {
            *tensor = tensor.over_other(copy.clone());
        }
    }
    Ok(())
}

fn prepare(vm: &mut Vm, kernel: &Kernel, args: &Args, extent: &Extent) -> Result<Prepared> {
    errors::check_launchable(&kernel.template)?;
    let mut values = arguments::in_order(kernel, args)?;
    for value in &mut values {
        *value = kp::resolved(vm, value)?;
    }
    let template = kernel.template_now()?;
    let mut types = Vec::with_capacity(values.len());
    let mut arguments = Vec::with_capacity(values.len());
    for (param, value) in template.params.iter().zip(&values) {
        let (ty, argument) = arguments::argument(vm, kernel, param, value)?;
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
            target::reach(array, tensor, manager.info());
        }
    }
    target::spare_bindings(types.iter_mut(), manager.info());
    let local_size = kernel.template.local_size(rank);
    let counts = Counts::of(&extent, local_size);
    let signature = Signature::new(&kernel.template, &kernel.env, types).with_rank(rank).with_assumptions(
        LaunchAssumptions {
            dispatches: counts.dispatches(manager.info().limits.max_groups),
            boundary_test: counts.boundary_test(local_size),
            ids: counts.ids(),
            memory: memory_of(&tensors),
            ints: ints_of(arguments.iter().flat_map(Argument::numbers)),
            // Both forms are compiled where it matters: see `device::compile_for_launch`.
            index_range: IndexRange::Any,
        },
    );
    Ok(Prepared { arguments, extent, domain, counts, manager, signature })
}

/// The compiled form for a launch.
fn compiled(vm: &Vm, kernel: &Kernel, prepared: &Prepared, target: &Target) -> Result<Rc<KernelModule>> {
    let Prepared { arguments, counts, signature, .. } = prepared;
    let local_size = kernel.template.local_size(signature.rank).map(u64::from);
    let invocations = std::array::from_fn(|axis| counts.groups[axis].saturating_mul(local_size[axis]));
    let tensor = |at: usize| arguments[at].tensor();
    let launch_size = |of: LaunchSize| device::launch_size(of, signature, invocations, tensor);
    device::compile_for_launch(vm, kernel, signature, target, &launch_size)
}

/// `instrument` is the instrumentation that `target` was created for.
fn start(
    vm: &mut Vm,
    kernel: &Kernel,
    prepared: &Prepared,
    target: &Target,
    instrument: Instrument,
    candidate: Option<Candidate>,
) -> Result<()> {
    let Prepared { arguments, extent, domain, manager, signature, .. } = prepared;
    let module = compiled(vm, kernel, prepared, target)?;
    if let Some(domain) = domain {
        check_whole_groups(kernel, &module, domain, (&signature.params, arguments))?;
    }
    check_shared(&module, manager.info())?;
    let subgroup_size = kernel.template.options.subgroup_size;
    let running = Running { instrument, subgroup_size, origin: Origin::Compiler };
    let loaded = manager.loaded(&module, running)?;
    let (slots, launch) = submit(vm, kernel, manager, (&module, &loaded), arguments, extent)?;
    if let (Some(candidate), Some(slots)) = (candidate, slots) {
        let reports = instrument != Instrument::None || loaded.writes_records();
        candidate.note(kernel, manager, launch, domain.as_ref(), slots, reports);
    }
    Ok(())
}

/// The tensor arguments that determine which manager runs the kernel.
fn tensors_of(arguments: &[Argument]) -> Vec<Tensor> {
    arguments.iter().filter_map(Argument::tensor).cloned().collect()
}

/// Whether one tensor was given for two arrays.
pub fn memory_of(tensors: &[Tensor]) -> Memory {
    let is_shared = |(at, tensor): (usize, &Tensor)| {
        tensors[..at].iter().any(|earlier| Rc::ptr_eq(earlier.storage(), tensor.storage()))
    };
    if tensors.iter().enumerate().any(is_shared) { Memory::Shared } else { Memory::Apart }
}

/// How large the whole numbers among the scalars are.
pub fn ints_of<'n>(numbers: impl Iterator<Item = &'n Number>) -> Ints {
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
    fn dispatches(&self, limits: [u32; 3]) -> Dispatches {
        let fits = self.groups.iter().zip(limits).all(|(n, limit)| *n <= u64::from(limit));
        if fits { Dispatches::One } else { Dispatches::Several }
    }

    fn boundary_test(&self, local_size: [u32; 3]) -> BoundaryTest {
        let mut axes = self.invocations.iter().zip(local_size);
        let is_whole = axes.all(|(n, local)| n.is_multiple_of(u64::from(local)));
        if is_whole { BoundaryTest::Unneeded } else { BoundaryTest::Needed }
    }

    fn n_invocations(&self) -> u64 {
        self.invocations.iter().fold(1, |product, n| product.saturating_mul(*n))
    }

    fn ids(&self) -> Width {
        Width::of(self.invocations.into_iter().max().unwrap_or(0))
    }
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

/// Starts the launch. Returns it prepared, with the places of its arguments if each is a tensor, a number or part
/// of the signature.
fn submit(
    vm: &mut Vm,
    kernel: &Kernel,
    manager: &kp::ScriptedManager,
    (module, loaded): (&KernelModule, &Rc<kps_compute::Kernel>),
    arguments: &[Argument],
    extent: &Extent,
) -> Result<(Option<Places>, PreparedLaunch)> {
    let mut bound: Vec<(u32, usize)> = Vec::new();
    let mut numbers_at: Vec<(Spot, usize)> = Vec::new();
    let mut samplers = Vec::new();
    for binding in &module.bindings {
        let at = binding.param_idx;
        match (&binding.place, &arguments[at]) {
            (
                BindingPlace::Buffer { binding, .. } | BindingPlace::Texture { binding, .. },
                Argument::Tensor(_) | Argument::Uniform(_),
            ) => bound.push((*binding, at)),
            (BindingPlace::Sampler { set, binding }, Argument::Sampler(sampler)) => {
                samplers.push(SamplerBinding { set: *set, binding: *binding, sampler: *sampler });
            }
            (place, Argument::Numbers(_)) => {
                let (spot, _) = push::spot(place).expect("the signature was made of these arguments");
                numbers_at.push((spot, at));
            }
            _ => unreachable!("the signature was made of these arguments"),
        }
    }
    numbers_at.sort_by_key(|(spot, _)| *spot);
    let numbers: Vec<usize> = numbers_at.into_iter().map(|(_, at)| at).collect();
    let push = push::of_numbers(numbers.iter().flat_map(|at| arguments[*at].numbers()).copied().collect());
    let mut slots = by_slot(&bound, samplers.iter().map(|sampler| sampler.binding).max());
    // The last arrays are bound nowhere if the kernel never touches them.
    slots.truncate(loaded.n_tensors());
    let tensors: Vec<Tensor> = slots.iter().filter_map(|at| arguments[*at].tensor().cloned()).collect();
    let started = manager.prepare_launch(loaded, &tensors, extent, &samplers).and_then(|launch| {
        manager.note_launch(vm, kernel.template.name(), manager.start_launch(&launch, &tensors, &push)?)?;
        Ok(launch)
    });
    let launch = started.map_err(|error| errors::launch(&kernel.template, error))?;
    Ok((Places::of(arguments, &slots, &numbers), launch))
}

/// The arguments by slot, up to the last one and the last sampler. An empty slot is filled with any tensor, which
/// is unused.
fn by_slot(bound: &[(u32, usize)], last_sampler: Option<u32>) -> Vec<usize> {
    let Some(last) = bound.iter().map(|(slot, _)| *slot).max() else { return Vec::new() };
    let last = last_sampler.map_or(last, |sampler| last.max(sampler));
    let argument = |slot| bound.iter().find(|(known, _)| *known == slot).unwrap_or(&bound[0]).1;
    (0..=last).map(argument).collect()
}
