//! Algorithms: a kernel with its tensors and the parameters of its launch.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use kps_device::{Instrument, Interface, Origin, Sampler, SamplerBinding};

use crate::constants::{Push, SpecValues};
use crate::context::{Context, Dependent};
use crate::error::{ComputeError, Result};
use crate::grid::{Extent, Grid};
use crate::kernel::{Kernel, Running};
use crate::log::Level;
use crate::number::Number;
use crate::tensor::Tensor;

/// A kernel bound to tensors, checked against its module's interface. Clones share the algorithm.
#[derive(Clone)]
pub struct Algorithm {
    inner: Rc<Inner>,
}

struct Inner {
    kernel: Rc<Kernel>,
    tensors: RefCell<Rc<[Tensor]>>,
    samplers: Vec<SamplerBinding>,
    extent: Extent,
    spec_constants: SpecValues,
    push: Push,
    running: Running,
    destroyed: Cell<bool>,
}

/// One dispatch, resolved except for its buffers.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    pub groups: [u32; 3],
    pub push_constants: Vec<u8>,
    /// Those of the algorithm, and a buffer for the values that did not fit the push constants.
    pub tensors: Vec<Tensor>,
}

impl Algorithm {
    /// The tensors in the order of the kernel's bindings.
    pub fn tensors(&self) -> Rc<[Tensor]> {
        self.inner.tensors.borrow().clone()
    }

    /// Binds other tensors, without compiling anything. A sequence binds them when it records the dispatch
    /// again: [`crate::Sequence::rerecord`].
    pub fn rebind(&self, tensors: &[Tensor]) -> Result<()> {
        let inner = &*self.inner;
        self.check_alive("bind tensors to")?;
        inner.kernel.check_tensors(tensors)?;
        inner.kernel.check_fields(tensors)?;
        let grid = inner.kernel.grid(&inner.extent, tensors)?;
        if inner.push != Push::Default {
            inner.launch(&inner.push, grid, tensors)?;
        }
        inner.tensors.replace(tensors.into());
        Ok(())
    }

    /// Values of the specialisation constants, as given.
    pub fn spec_constants(&self) -> &[Number] {
        self.inner.spec_constants.numbers()
    }

    pub(crate) fn samplers(&self) -> &[SamplerBinding] {
        &self.inner.samplers
    }

    pub fn interface(&self) -> &Interface {
        self.inner.kernel.interface()
    }

    pub fn kernel(&self) -> &Rc<Kernel> {
        &self.inner.kernel
    }

    /// False after it, or its manager, was destroyed.
    pub fn is_init(&self) -> bool {
        !self.inner.destroyed.get()
    }

    /// Makes any further use an error. Recorded and running dispatches are not affected.
    pub fn destroy(&self) {
        self.inner.destroyed.set(true);
    }

    /// The same algorithm with another module, which is compiled for the device.
    pub fn with_words(&self, words: &[u32]) -> Result<Algorithm> {
        let inner = &*self.inner;
        let builder = Builder {
            context: inner.kernel.context().clone(),
            tensors: self.tensors().to_vec(),
            samplers: inner.samplers.clone(),
            words,
            extent: inner.extent.clone(),
            spec_constants: inner.spec_constants.clone(),
            push: inner.push.clone(),
            running: inner.running,
        };
        builder.build()
    }

    /// Resolves the launch of a dispatch; defaults are the algorithm's own.
    pub(crate) fn launch(&self, extent: &Extent, push: &Push) -> Result<Launch> {
        let inner = &*self.inner;
        self.check_alive("dispatch")?;
        let extent = if *extent == Extent::Default { &inner.extent } else { extent };
        let push = if *push == Push::Default { &inner.push } else { push };
        self.follow_resizes()?;
        let tensors = self.tensors();
        let grid = inner.kernel.grid(extent, &tensors)?;
        inner.launch(push, grid, &tensors)
    }

    /// Binds the present memory of tensors that were resized.
    fn follow_resizes(&self) -> Result<()> {
        let bound = self.tensors();
        if bound.iter().all(|tensor| tensor.storage().successor().is_none()) {
            return Ok(());
        }
        let present: Vec<Tensor> = bound.iter().map(Tensor::present).collect();
        self.rebind(&present)
    }

    fn check_alive(&self, operation: &'static str) -> Result<()> {
        match self.is_init() {
            true => Ok(()),
            false => Err(ComputeError::Destroyed { what: "the algorithm".to_owned(), operation }),
        }
    }
}

impl Inner {
    fn launch(&self, push: &Push, grid: Grid, tensors: &[Tensor]) -> Result<Launch> {
        let push_constants = self.kernel.push_block(push, tensors, grid.whole())?;
        let tensors = self.kernel.bound(push, tensors)?;
        Ok(Launch { groups: grid.groups, push_constants, tensors })
    }
}

impl Dependent for Inner {
    fn end_with(&self, _context: &Context) {
        self.destroyed.set(true);
    }
}

impl std::fmt::Debug for Algorithm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Algorithm").field("tensors", &self.tensors()).finish_non_exhaustive()
    }
}

/// Builds an algorithm.
pub struct Builder<'a> {
    context: Rc<Context>,
    tensors: Vec<Tensor>,
    samplers: Vec<SamplerBinding>,
    words: &'a [u32],
    extent: Extent,
    spec_constants: SpecValues,
    push: Push,
    running: Running,
}

impl<'a> Builder<'a> {
    pub(crate) fn new(context: &Rc<Context>, tensors: &[Tensor], words: &'a [u32]) -> Builder<'a> {
        let (context, tensors) = (context.clone(), tensors.to_vec());
        Builder {
            context,
            tensors,
            samplers: Vec::new(),
            words,
            extent: Extent::Default,
            spec_constants: SpecValues::default(),
            push: Push::Default,
            running: Running::default(),
        }
    }

    /// Default workgroups or domain of a dispatch.
    pub fn extent(self, extent: impl Into<Extent>) -> Builder<'a> {
        Builder { extent: extent.into(), ..self }
    }

    /// The sampler at a binding; the default samples the nearest texel.
    pub fn sampler(mut self, binding: u32, sampler: Sampler) -> Builder<'a> {
        self.samplers.push(SamplerBinding { set: 0, binding, sampler });
        self
    }

    /// Values of the specialisation constants: a list, as for [`SpecValues::list`].
    pub fn spec_constants<T: Into<Number>>(self, numbers: impl IntoIterator<Item = T>) -> Builder<'a> {
        self.spec_values(SpecValues::list(numbers.into_iter().map(Into::into)))
    }

    /// The same, as a list or by id.
    pub fn spec_values(self, spec_constants: SpecValues) -> Builder<'a> {
        Builder { spec_constants, ..self }
    }

    /// Default push constants of a dispatch.
    pub fn push(self, push: impl Into<Push>) -> Builder<'a> {
        Builder { push: push.into(), ..self }
    }

    /// How it is instrumented: [`crate::Manager::findings`].
    pub fn instrument(mut self, instrument: Instrument) -> Builder<'a> {
        self.running.instrument = instrument;
        self
    }

    /// Invocations of a subgroup, from the sizes that the device supports; `None` is the device's default.
    pub fn subgroup_size(mut self, size: Option<u32>) -> Builder<'a> {
        self.running.subgroup_size = size;
        self
    }

    /// The origin of the module; external by default.
    pub fn origin(mut self, origin: Origin) -> Builder<'a> {
        self.running.origin = origin;
        self
    }

    /// Compiles the kernel for the device, and checks tensors and constants against its module.
    pub fn build(self) -> Result<Algorithm> {
        let kernel = Rc::new(Kernel::load(&self.context, self.words, &self.spec_constants, self.running)?);
        let samplers = kernel.samplers(&self.samplers);
        kernel.check_tensors(&self.tensors)?;
        kernel.check_fields(&self.tensors)?;
        let grid = kernel.grid(&self.extent, &self.tensors)?;
        let context = self.context.clone();
        context.log.event(Level::Debug, || format!("made an algorithm of {}", kernel.title()));
        let destroyed = Cell::new(false);
        let Builder { tensors, extent, spec_constants, push, running, .. } = self;
        let bound = RefCell::new(tensors.as_slice().into());
        let inner =
            Inner { kernel, tensors: bound, samplers, extent, spec_constants, push, running, destroyed };
        if inner.push != Push::Default {
            inner.launch(&inner.push, grid, &tensors)?;
        }
        let inner = Rc::new(inner);
        let weak: Weak<Inner> = Rc::downgrade(&inner);
        context.register(weak);
        Ok(Algorithm { inner })
    }
}
