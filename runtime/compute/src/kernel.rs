//! A loaded kernel and what its module's interface asks of tensors and launches.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use kps_device::interface::{
    Block, BufferBinding, BufferKind, ImageBinding, ImageKind, MemberType, PRINT, SPILL_SET,
};
use kps_device::{
    Access, Addressed, Binding, Command, Commands, Dispatch, Instrument, Interface, Origin, PipelineId,
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

/// How a module is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Running {
    /// What is watched: [`crate::Manager::findings`].
    pub instrument: Instrument,
    /// Invocations of a subgroup; `None` leaves it to the device.
    pub subgroup_size: Option<u32>,
    /// Where its words come from.
    pub origin: Origin,
}

impl Default for Running {
    fn default() -> Running {
        Running { instrument: Instrument::None, subgroup_size: None, origin: Origin::External }
    }
}

/// A module that a device has taken, without the tensors it works on.
pub struct Kernel {
    pub(crate) context: Rc<Context>,
    title: Rc<str>,
    pipeline: PipelineId,
    pub(crate) interface: Arc<Interface>,
    pub(crate) push: PushLayout,
    /// What did not fit the push constants: a uniform buffer that each launch fills.
    uniforms: Option<PushLayout>,
    sites: Vec<Site>,
    /// Where its launches print to; made when first needed.
    ring: RefCell<Option<Rc<Ring>>>,
    /// The last launch as commands, for the next one that is the same.
    last_launch: RefCell<Option<Commands>>,
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
            sites,
            ring: RefCell::default(),
            last_launch: RefCell::default(),
        })
    }

    /// In messages.
    pub(crate) fn title(&self) -> &Rc<str> {
        &self.title
    }

    /// What the module binds.
    pub fn interface(&self) -> &Interface {
        &self.interface
    }

    pub(crate) fn context(&self) -> &Rc<Context> {
        &self.context
    }

    /// Tensors that a launch binds: up to the last one that the module uses.
    pub fn n_tensors(&self) -> usize {
        self.places().last().map_or(0, |(_, binding, _)| *binding as usize + 1)
    }

    /// Checks that these tensors are what the kernel's parameters ask for.
    pub fn check_tensors(&self, tensors: &[Tensor]) -> Result<()> {
        let places = self.places();
        if let Some((set, _, name)) = places.iter().find(|(set, ..)| *set != 0) {
            return Err(ComputeError::DescriptorSet { parameter: name.clone(), set: *set });
        }
        // Parameters at the end may be declared and not used: tensors for them may be there or not.
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

    /// Checks that every number that the module reads is one that the tensors have: what
    /// [`Kernel::check_tensors`] leaves to launches that know the types of the source.
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

    /// A name for each tensor that a launch binds.
    fn parameters(&self) -> Vec<String> {
        let places = self.places();
        let name = |at: usize| {
            let used = places.iter().find(|(_, binding, _)| *binding as usize == at);
            used.map_or_else(|| format!("unused binding {at}"), |(.., name)| name.clone())
        };
        // A module may number its bindings as it likes; nobody wants to read a thousand of them.
        match self.n_tensors() {
            n @ 0..=32 => (0..n).map(name).collect(),
            _ => places.iter().map(|(.., name)| name.clone()).collect(),
        }
    }

    /// The buffers that are tensors.
    fn buffers(&self) -> impl Iterator<Item = &BufferBinding> {
        self.interface.buffers.iter().filter(|buffer| buffer.name.as_deref() != Some(PRINT))
    }

    /// The places of the module that tell the host something.
    pub(crate) fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// A buffer for what one dispatch tells; `None` for a kernel that tells nothing.
    pub(crate) fn new_ring(&self) -> Result<Option<Ring>> {
        if self.sites.is_empty() { Ok(None) } else { Ring::new(&self.context).map(Some) }
    }

    /// The buffer of the kernel's own launches, emptied.
    pub(crate) fn own_ring(&self) -> Result<Option<Rc<Ring>>> {
        let mut own = self.ring.borrow_mut();
        if own.is_none() {
            *own = self.new_ring()?.map(Rc::new);
        }
        own.iter().try_for_each(|ring| ring.reset())?;
        Ok(own.clone())
    }

    /// Set, binding and name of everything that is bound, in order.
    fn places(&self) -> Vec<(u32, u32, String)> {
        let Interface { images, samplers, .. } = &*self.interface;
        let place = |set, binding, name: &Option<String>| (set, binding, parameter_name(binding, name));
        let buffers = self.buffers().filter(|buffer| !buffer.is_spill());
        let buffers = buffers.map(|one| place(one.set, one.binding, &one.name));
        let images = images.iter().map(|one| place(one.set, one.binding, &one.name));
        let samplers = samplers.iter().map(|one| place(one.set, one.binding, &one.name));
        let addresses = self.interface.addresses.iter().map(|one| (0, one.slot, one.name.clone()));
        let mut places: Vec<_> = buffers.chain(images).chain(samplers).chain(addresses).collect();
        places.sort();
        places
    }

    /// A sampler wherever the kernel wants one: of those given, else the plainest.
    fn samplers(&self, given: &[SamplerBinding]) -> Vec<SamplerBinding> {
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
        match &self.uniforms {
            None => self.push.pack(push, &named, part),
            Some(uniforms) => self.push.pack(&self.push.split(uniforms, push)?.0, &named, part),
        }
    }

    /// The tensors by what the kernel calls them.
    fn named(&self, tensors: &[Tensor]) -> Vec<Named> {
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

    /// What a launch binds: the tensors given, and the values that did not fit the push constants.
    pub(crate) fn bound(&self, push: &Push, tensors: &[Tensor]) -> Result<Vec<Tensor>> {
        let mut bound = tensors.to_vec();
        if let Some(uniforms) = &self.uniforms {
            let (_, rest) = self.push.split(uniforms, push)?;
            let spilled = uniforms.pack(&rest, &self.named(tensors), Part::default())?;
            bound.push(Tensor::from_bytes(DType::U8, &[spilled.len()], spilled)?);
        }
        Ok(bound)
    }

    /// Which of the tensors that [`Kernel::bound`] gave is bound there.
    fn place_of(&self, set: u32, binding: u32, n_bound: usize) -> usize {
        if set == SPILL_SET && self.uniforms.is_some() { n_bound - 1 } else { binding as usize }
    }

    /// The tensors that the kernel touches, with what it does to them.
    pub(crate) fn accesses<'a>(
        &'a self,
        tensors: &'a [Tensor],
    ) -> impl Iterator<Item = (&'a Tensor, Access)> {
        let buffers = self.buffers().map(|one| (one.set, one.binding, one.access));
        let images = self.interface.images.iter().map(|one| (one.set, one.binding, one.access));
        let addresses = self.interface.addresses.iter().map(|one| (0, one.slot, one.access));
        let place = |set, binding| self.place_of(set, binding, tensors.len());
        buffers
            .chain(images)
            .chain(addresses)
            .map(move |(set, binding, access)| (&tensors[place(set, binding)], access))
    }

    pub(crate) fn dispatch(
        &self,
        groups: [u32; 3],
        push_constants: Vec<u8>,
        samplers: &[SamplerBinding],
        n_bound: usize,
        ring: Option<&Ring>,
        mut buffer_of: impl FnMut(usize) -> (kps_device::BufferId, u64),
    ) -> Dispatch {
        let buffers = self.buffers().map(|one| (one.set, one.binding, one.access, bytes_bound(one)));
        let images = self.interface.images.iter().map(|one| (one.set, one.binding, one.access, u64::MAX));
        let binding = |(set, binding, access, at_most): (u32, u32, Access, u64)| {
            let (buffer, size) = buffer_of(self.place_of(set, binding, n_bound));
            Binding { set, binding, buffer, offset: 0, size: size.min(at_most), access }
        };
        let ring = ring.and_then(|ring| ring.binding(&self.interface));
        let bindings = buffers.chain(images).map(binding).chain(ring).collect();
        let addressed = self.interface.addresses.iter().map(|array| {
            let (buffer, size) = buffer_of(array.slot as usize);
            Addressed { at: array.offset, buffer, offset: 0, size, access: array.access }
        });
        let addressed = addressed.collect();
        let samplers = self.samplers(samplers);
        Dispatch { pipeline: self.pipeline, bindings, samplers, push_constants, addressed, groups }
    }

    /// The dispatches of a launch as a list of commands: the very list of the last launch where that was
    /// the same, so that the device need not translate it again.
    pub(crate) fn commands(&self, dispatches: Vec<Dispatch>) -> Commands {
        let commands: Vec<Command> = dispatches.into_iter().map(Command::Dispatch).collect();
        let mut last = self.last_launch.borrow_mut();
        if let Some(known) = &*last
            && **known == commands[..]
        {
            return known.clone();
        }
        let commands = Commands::new(commands);
        *last = Some(commands.clone());
        commands
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        // A manager that was destroyed has no pipelines any more.
        if let Ok(device) = self.context.device("unload a kernel from") {
            device.unload(self.pipeline);
        }
    }
}

/// Of a tensor that is bound, the bytes that the kernel sees: a uniform is one value, however long the tensor.
fn bytes_bound(buffer: &BufferBinding) -> u64 {
    match buffer.kind {
        BufferKind::Uniform => buffer.layout.size.into(),
        BufferKind::Storage => u64::MAX,
    }
}

/// As the source calls it; `binding 2` where the module has no names.
fn parameter_name(binding: u32, name: &Option<String>) -> String {
    name.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| format!("binding {binding}"))
}

/// Whether the tensor is the kind of image that the kernel binds.
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

/// What the bytes of one buffer have to look like.
struct ElementShape {
    /// The one scalar type in it; `None` where it has several.
    scalar: Option<Scalar>,
    at_least: usize,
    array_start: usize,
    /// Bytes of one element of the run-time array; 1 where there is none.
    stride: usize,
    /// Bytes of one element of a tensor that holds records.
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

/// Whether elements of this type are what a buffer of these scalars is read as.
pub(crate) fn holds(dtype: DType, scalar: Scalar) -> bool {
    match scalar {
        // Buffers hold no booleans and not every device narrow floats, so their bits go as integers.
        Scalar::U8 => matches!(dtype, DType::U8 | DType::Bool),
        Scalar::U16 => matches!(dtype, DType::U16 | DType::F16 | DType::Bf16),
        _ => dtype == scalar,
    }
}
