//! A loaded kernel, and the checks of tensors and launches against its interface.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use kps_device::interface::{
    Block, BufferBinding, BufferKind, ImageBinding, ImageKind, MemberType, PRINT, SPILL_SET,
};
use kps_device::{
    Access, Addressed, Binding, BufferId, Dispatch, Instrument, Interface, Origin, PipelineId,
    PipelineOptions, Sampler, SamplerBinding,
};
use kps_scalar::Scalar;

use crate::DType;
use crate::constants::{self, Named, Push, PushLayout, SpecValues};
use crate::context::Context;
use crate::error::{ComputeError, Result};
use crate::fields;
use crate::grid::Part;
use crate::printf;
use crate::records::{self, Ring, Site};
use crate::tensor::Tensor;
use crate::words;

/// How a module runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Running {
    /// Its instrumentation: [`crate::Manager::findings`].
    pub instrument: Instrument,
    /// Invocations of a subgroup; `None` is the device's default.
    pub subgroup_size: Option<u32>,
    /// The origin of the module.
    pub origin: Origin,
}

impl Default for Running {
    fn default() -> Running {
        Running { instrument: Instrument::None, subgroup_size: None, origin: Origin::External }
    }
}

/// A binding with its name.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct BindingName {
    set: u32,
    binding: u32,
    name: String,
}

/// The bytes of a buffer that are a tensor's.
#[derive(Clone, Copy)]
pub(crate) struct Bytes {
    pub buffer: BufferId,
    pub offset: u64,
    pub size: u64,
}

impl Bytes {
    pub fn of(tensor: &Tensor, buffer: BufferId) -> Bytes {
        let offset = tensor.byte_range().start as u64;
        Bytes { buffer, offset, size: tensor.n_bytes() as u64 }
    }
}

/// How a kernel reaches the memory of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BoundAs {
    Storage,
    Uniform,
    Image,
    Address,
}

/// A module that is loaded on a device, without tensors.
pub struct Kernel {
    pub(crate) context: Rc<Context>,
    title: Rc<str>,
    pipeline: PipelineId,
    pub(crate) interface: Arc<Interface>,
    pub(crate) push: PushLayout,
    /// The layout of the uniform buffer for values that did not fit the push constants.
    uniforms: Option<PushLayout>,
    /// Every binding, ordered by set and binding.
    places: Vec<BindingName>,
    sites: Vec<Site>,
    is_instrumented: bool,
    /// The buffer for records of its launches, created on first use.
    ring: RefCell<Option<Rc<Ring>>>,
}

impl Kernel {
    pub(crate) fn load(
        context: &Rc<Context>,
        words: &[u32],
        spec_constants: &SpecValues,
        running: Running,
    ) -> Result<Kernel> {
        words::check(words)?;
        let words = &*printf::record_prints(words);
        let device = context.device("load a kernel on")?;
        let Running { instrument, subgroup_size, origin } = running;
        let mut options = PipelineOptions { instrument, subgroup_size, origin, ..PipelineOptions::default() };
        if !spec_constants.is_empty() {
            let interface = Interface::reflect(words, &options)?;
            options.spec_constants = constants::specialize(&interface, spec_constants)?;
        }
        let pipeline = device.load(words, &options)?;
        let interface = device.interface(pipeline)?;
        let (push, sites) = (PushLayout::of(&interface), records::sites(&interface));
        let spilled = interface.buffers.iter().find(|buffer| buffer.is_spill());
        let uniforms = spilled.map(|buffer| PushLayout::of_block(&buffer.layout));
        let places = binding_names(&interface);
        let title = match &interface.name {
            Some(name) => format!("kernel `{name}`"),
            None => "a kernel".to_owned(),
        };
        Ok(Kernel {
            context: context.clone(),
            title: title.into(),
            pipeline,
            interface,
            push,
            uniforms,
            places,
            sites,
            is_instrumented: instrument != Instrument::None,
            ring: RefCell::default(),
        })
    }

    /// For messages.
    pub(crate) fn title(&self) -> &Rc<str> {
        &self.title
    }

    /// The module's interface.
    pub fn interface(&self) -> &Interface {
        &self.interface
    }

    pub(crate) fn context(&self) -> &Rc<Context> {
        &self.context
    }

    /// Number of tensors of a launch: up to the last one that the module uses.
    pub fn n_tensors(&self) -> usize {
        self.places.last().map_or(0, |last| last.binding as usize + 1)
    }

    /// Checks that the tensors fit the kernel's parameters.
    pub fn check_tensors(&self, tensors: &[Tensor]) -> Result<()> {
        if let Some(BindingName { set, name, .. }) = self.places.iter().find(|place| place.set != 0) {
            return Err(ComputeError::DescriptorSet { parameter: name.clone(), set: *set });
        }
        // Trailing parameters may be unused, and their tensors may be missing.
        let needed = self.n_tensors();
        let declared = needed.max(self.interface.n_declared as usize);
        if !(needed..=declared).contains(&tensors.len()) {
            return Err(ComputeError::TensorCount { parameters: self.parameters(), given: tensors.len() });
        }
        for buffer in self.buffers().filter(|buffer| !buffer.is_spill()) {
            let tensor = &tensors[buffer.binding as usize];
            tensor.storage().check_alive("bind")?;
            let name = || parameter_name(buffer.binding, &buffer.name);
            check_parameter(&buffer.layout, name, tensor)?;
        }
        for array in &self.interface.addresses {
            let tensor = &tensors[array.slot as usize];
            tensor.storage().check_alive("hand out the address of")?;
            check_parameter(&array.layout, || array.name.clone(), tensor)?;
        }
        for image in &self.interface.images {
            let tensor = &tensors[image.binding as usize];
            tensor.storage().check_alive("bind")?;
            check_image(image, tensor)?;
        }
        Ok(())
    }

    /// Checks that the tensors have every number that the module reads. [`Kernel::check_tensors`] leaves this
    /// to launches that know the source's types.
    pub fn check_fields(&self, tensors: &[Tensor]) -> Result<()> {
        for buffer in self.buffers().filter(|buffer| !buffer.is_spill()) {
            let name = || parameter_name(buffer.binding, &buffer.name);
            fields::check(&buffer.layout, name, &tensors[buffer.binding as usize])?;
        }
        for array in &self.interface.addresses {
            fields::check(&array.layout, || array.name.clone(), &tensors[array.slot as usize])?;
        }
        Ok(())
    }

    /// A name for each tensor of a launch.
    fn parameters(&self) -> Vec<String> {
        let name = |at: usize| {
            let used = self.places.iter().find(|place| place.binding as usize == at);
            used.map_or_else(|| format!("unused binding {at}"), |place| place.name.clone())
        };
        // A module may use large binding numbers, so the list in a message is limited.
        match self.n_tensors() {
            n @ 0..=32 => (0..n).map(name).collect(),
            _ => self.places.iter().map(|place| place.name.clone()).collect(),
        }
    }

    /// The bindings that are tensors.
    fn buffers(&self) -> impl Iterator<Item = &BufferBinding> {
        tensor_buffers(&self.interface)
    }

    /// Whether its launches leave findings.
    pub(crate) fn is_instrumented(&self) -> bool {
        self.is_instrumented
    }

    /// The places of the module that write records.
    pub(crate) fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// Whether it prints or asserts.
    pub fn writes_records(&self) -> bool {
        !self.sites.is_empty()
    }

    /// A buffer for the records of one dispatch; `None` if the kernel has none.
    pub(crate) fn new_ring(&self) -> Result<Option<Ring>> {
        if self.sites.is_empty() { Ok(None) } else { Ring::new(&self.context).map(Some) }
    }

    /// The record buffer of the kernel's own launches, reset.
    pub(crate) fn own_ring(&self) -> Result<Option<Rc<Ring>>> {
        let mut own = self.ring.borrow_mut();
        if own.is_none() {
            *own = self.new_ring()?.map(Rc::new);
        }
        own.iter().try_for_each(|ring| ring.reset())?;
        Ok(own.clone())
    }

    /// A sampler for each of the kernel's samplers: a given one, or else the default.
    pub(crate) fn samplers(&self, given: &[SamplerBinding]) -> Vec<SamplerBinding> {
        let with_sampler = |image: &&ImageBinding| image.kind == ImageKind::WithSampler;
        let images = self.interface.images.iter().filter(with_sampler).map(|one| (one.set, one.binding));
        let wanted = self.interface.samplers.iter().map(|one| (one.set, one.binding)).chain(images);
        let sampler = |(set, binding)| {
            let known = given.iter().find(|one| (one.set, one.binding) == (set, binding));
            let sampler = known.map_or(Sampler::default(), |known| known.sampler);
            SamplerBinding { set, binding, sampler }
        };
        wanted.map(sampler).collect()
    }

    /// The push-constant block of a launch.
    pub(crate) fn push_block(&self, push: &Push, tensors: &[Tensor], part: Part) -> Result<Vec<u8>> {
        let named = self.named(tensors);
        match self.split(push)? {
            None => self.push.pack(push, &named, part),
            Some((push, _)) => self.push.pack(&push, &named, part),
        }
    }

    /// The values of the push constants and of the uniform buffer; `None` if all are push constants.
    pub(crate) fn split(&self, push: &Push) -> Result<Option<(Push, Push)>> {
        self.uniforms.as_ref().map(|uniforms| self.push.split(uniforms, push)).transpose()
    }

    /// The uniform buffer with the values that did not fit the push constants.
    pub(crate) fn spilled(&self, rest: &Push, tensors: &[Tensor]) -> Result<Tensor> {
        let uniforms = self.uniforms.as_ref().expect("the caller split the values");
        let bytes = uniforms.pack(rest, &self.named(tensors), Part::default())?;
        Tensor::from_bytes(DType::U8, &[bytes.len()], bytes)
    }

    /// The tensors with their names in the kernel.
    pub(crate) fn named(&self, tensors: &[Tensor]) -> Vec<Named> {
        let named = |slot: u32, name: &Option<String>, layout: &Block| {
            let (name, tensor) = (name.clone()?, tensors.get(slot as usize)?.clone());
            Some(Named { name, tensor, element_size: ElementShape::of(layout).stride })
        };
        let given = self.buffers().filter(|buffer| !buffer.is_spill());
        let bound = given.filter_map(|one| named(one.binding, &one.name, &one.layout));
        let addresses = self.interface.addresses.iter();
        let addressed = addresses.filter_map(|one| named(one.slot, &Some(one.name.clone()), &one.layout));
        bound.chain(addressed).collect()
    }

    /// The bindings of a launch: the given tensors, and the values that did not fit the push constants.
    pub(crate) fn bound(&self, push: &Push, tensors: &[Tensor]) -> Result<Vec<Tensor>> {
        let mut bound = tensors.to_vec();
        if let Some((_, rest)) = self.split(push)? {
            bound.push(self.spilled(&rest, tensors)?);
        }
        Ok(bound)
    }

    /// The index in [`Kernel::bound`] of the tensor at a binding.
    fn place_of(&self, set: u32, binding: u32, n_bound: usize) -> usize {
        if set == SPILL_SET && self.uniforms.is_some() { n_bound - 1 } else { binding as usize }
    }

    /// The tensors that the kernel accesses, with their accesses.
    pub(crate) fn accesses<'a>(
        &'a self,
        tensors: &'a [Tensor],
    ) -> impl Iterator<Item = (&'a Tensor, Access)> {
        self.uses(tensors.len()).map(|(at, access, _)| (&tensors[at], access))
    }

    /// The indices in [`Kernel::bound`] of the tensors that the kernel accesses.
    pub(crate) fn uses(&self, n_bound: usize) -> impl Iterator<Item = (usize, Access, BoundAs)> {
        let bound_as = |one: &BufferBinding| match one.kind {
            BufferKind::Uniform => BoundAs::Uniform,
            BufferKind::Storage => BoundAs::Storage,
        };
        let buffers = self.buffers().map(move |one| (one.set, one.binding, one.access, bound_as(one)));
        let images =
            self.interface.images.iter().map(|one| (one.set, one.binding, one.access, BoundAs::Image));
        let addresses =
            self.interface.addresses.iter().map(|one| (0, one.slot, one.access, BoundAs::Address));
        let place = move |set, binding| self.place_of(set, binding, n_bound);
        let used = buffers.chain(images).chain(addresses);
        used.map(move |(set, binding, access, bound)| (place(set, binding), access, bound))
    }

    /// A dispatch over `n_bound` tensors; `bytes_of` gives the bytes of those that the kernel accesses.
    pub(crate) fn dispatch(
        &self,
        groups: [u32; 3],
        push_constants: Vec<u8>,
        samplers: Vec<SamplerBinding>,
        ring: Option<&Ring>,
        n_bound: usize,
        bytes_of: impl Fn(usize) -> Bytes,
    ) -> Dispatch {
        let (bindings, addressed) = (Vec::new(), Vec::new());
        let mut dispatch =
            Dispatch { pipeline: self.pipeline, bindings, samplers, push_constants, addressed, groups };
        self.bind(&mut dispatch, ring, n_bound, bytes_of);
        dispatch
    }

    /// Has a dispatch of this kernel use these tensors.
    pub(crate) fn bind(
        &self,
        dispatch: &mut Dispatch,
        ring: Option<&Ring>,
        n_bound: usize,
        bytes_of: impl Fn(usize) -> Bytes,
    ) {
        let buffers = self.buffers().map(|one| (one.set, one.binding, one.access, bytes_bound(one)));
        let images = self.interface.images.iter().map(|one| (one.set, one.binding, one.access, u64::MAX));
        let binding = |(set, binding, access, at_most): (u32, u32, Access, u64)| {
            let Bytes { buffer, offset, size } = bytes_of(self.place_of(set, binding, n_bound));
            Binding { set, binding, buffer, offset, size: size.min(at_most), access }
        };
        let ring = ring.and_then(|ring| ring.binding(&self.interface));
        dispatch.bindings.clear();
        dispatch.bindings.extend(buffers.chain(images).map(binding).chain(ring));
        let addressed = self.interface.addresses.iter().map(|array| {
            let Bytes { buffer, offset, size } = bytes_of(array.slot as usize);
            Addressed { at: array.offset, buffer, offset, size, access: array.access }
        });
        dispatch.addressed.clear();
        dispatch.addressed.extend(addressed);
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        // A destroyed manager has no pipelines.
        if let Ok(device) = self.context.device("unload a kernel from") {
            device.unload(self.pipeline);
        }
    }
}

/// The bindings of a module that are tensors.
fn tensor_buffers(interface: &Interface) -> impl Iterator<Item = &BufferBinding> {
    interface.buffers.iter().filter(|buffer| buffer.name.as_deref() != Some(PRINT))
}

fn binding_names(interface: &Interface) -> Vec<BindingName> {
    let place = |set, binding, name: &Option<String>| {
        let name = parameter_name(binding, name);
        BindingName { set, binding, name }
    };
    let buffers = tensor_buffers(interface).filter(|buffer| !buffer.is_spill());
    let buffers = buffers.map(|one| place(one.set, one.binding, &one.name));
    let images = interface.images.iter().map(|one| place(one.set, one.binding, &one.name));
    let samplers = interface.samplers.iter().map(|one| place(one.set, one.binding, &one.name));
    let addresses = interface.addresses.iter().map(|one| place(0, one.slot, &Some(one.name.clone())));
    let mut places: Vec<_> = buffers.chain(images).chain(samplers).chain(addresses).collect();
    places.sort();
    places
}

/// The bytes of a bound tensor that the kernel sees. A uniform is one value, however long the tensor.
fn bytes_bound(buffer: &BufferBinding) -> u64 {
    match buffer.kind {
        BufferKind::Uniform => buffer.layout.size.into(),
        BufferKind::Storage => u64::MAX,
    }
}

/// The name in the source; `binding 2` if the module has no names.
fn parameter_name(binding: u32, name: &Option<String>) -> String {
    name.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| format!("binding {binding}"))
}

/// Checks that the tensor is the kind of image that the kernel binds.
fn check_image(wanted: &ImageBinding, tensor: &Tensor) -> Result<()> {
    let fits = tensor.as_image().is_some_and(|image| {
        let texels_fit = match wanted.format {
            Some(format) => format == image.format,
            None => wanted.scalar == image.format.channel.seen(),
        };
        texels_fit && wanted.dimension == image.dimension
    });
    if fits {
        return Ok(());
    }
    let dimension = wanted.dimension.name();
    let needed = match wanted.format {
        Some(format) => format!("a {dimension} image of {} texels", format.name()),
        None => format!("a {dimension} image that is read as {}", wanted.scalar.name()),
    };
    let parameter = parameter_name(wanted.binding, &wanted.name);
    let lacks_format = tensor.as_image().is_some_and(|image| image.dimension == wanted.dimension);
    let format = wanted.format.filter(|_| lacks_format).map(|format| format.name());
    Err(ComputeError::ParameterImage { parameter, needed, tensor: tensor.label().to_owned(), format })
}

fn check_parameter(layout: &Block, parameter: impl Fn() -> String, tensor: &Tensor) -> Result<()> {
    let shape = ElementShape::of(layout);
    let label = || tensor.label().to_owned();
    if tensor.as_image().is_some() {
        return Err(ComputeError::ParameterBuffer { parameter: parameter(), image: label() });
    }
    if tensor.is_record() && shape.record != tensor.element_size() {
        let (element_size, given) = (shape.record, tensor.element_size());
        return Err(ComputeError::ParameterRecord {
            parameter: parameter(),
            tensor: label(),
            element_size,
            given,
        });
    }
    if let Some(scalar) = shape.scalar
        && !tensor.is_record()
        && !holds(tensor.dtype(), scalar)
    {
        let (expected, given) = (scalar, tensor.dtype());
        return Err(ComputeError::ParameterDType {
            parameter: parameter(),
            tensor: label(),
            expected,
            given,
        });
    }
    let given = tensor.n_bytes();
    if given < shape.at_least {
        let needed = shape.at_least;
        return Err(ComputeError::ParameterSize { parameter: parameter(), tensor: label(), needed, given });
    }
    if !(given - shape.array_start).is_multiple_of(shape.stride) {
        let element_size = shape.stride;
        return Err(ComputeError::ParameterDivides {
            parameter: parameter(),
            tensor: label(),
            element_size,
            given,
        });
    }
    Ok(())
}

/// The required element layout of a buffer.
struct ElementShape {
    /// Its only scalar type; `None` if it has several.
    scalar: Option<Scalar>,
    at_least: usize,
    array_start: usize,
    /// Stride of the run-time array; 1 without one.
    stride: usize,
    /// Element size of a tensor of records.
    record: usize,
}

impl ElementShape {
    fn of(layout: &Block) -> ElementShape {
        let scalar = common_scalar(&mut layout.members.iter().map(|member| &member.ty));
        match layout.members.last() {
            Some(member) if let MemberType::Array { len: None, stride, .. } = &member.ty => {
                let start = member.offset as usize;
                ElementShape {
                    scalar,
                    at_least: start,
                    array_start: start,
                    stride: (*stride).max(1) as usize,
                    record: (*stride).max(1) as usize,
                }
            }
            _ => {
                let size = layout.size as usize;
                ElementShape { scalar, at_least: size, array_start: 0, stride: 1, record: size }
            }
        }
    }
}

fn common_scalar(types: &mut dyn Iterator<Item = &MemberType>) -> Option<Scalar> {
    let mut common = None;
    for ty in types {
        let scalar = match ty {
            MemberType::Scalar(scalar) => *scalar,
            MemberType::Vector { scalar, .. } | MemberType::Matrix { scalar, .. } => *scalar,
            MemberType::Array { element, .. } => common_scalar(&mut std::iter::once(&**element))?,
            MemberType::Struct(block) => common_scalar(&mut block.members.iter().map(|member| &member.ty))?,
        };
        if *common.get_or_insert(scalar) != scalar {
            return None;
        }
    }
    common
}

/// Whether a buffer of these scalars can be read from elements of this type.
pub(crate) fn holds(dtype: DType, scalar: Scalar) -> bool {
    match scalar {
        // Buffers have no booleans, and not every device has narrow floats, so their bits are passed as
        // integers.
        Scalar::U8 => matches!(dtype, DType::U8 | DType::Bool),
        Scalar::U16 => matches!(dtype, DType::U16 | DType::F16 | DType::Bf16),
        _ => dtype == scalar,
    }
}
