//! Launches that are prepared once, and started any number of times.
//!
//! The checks and the grid of a launch depend on its kernel and on the types and shapes of its tensors. They do
//! not depend on which tensors these are, nor on the values of scalars.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use kps_device::{Command, Commands, SamplerBinding, Ticket};
use smallvec::SmallVec;

use crate::constants::Push;
use crate::context::Context;
use crate::error::{ComputeError, Result};
use crate::grid::{Extent, Part};
use crate::kernel::{Bytes, Kernel};
use crate::records::Ring;
use crate::storage::Contents;
use crate::tensor::Tensor;
use crate::views;

/// A launch without its tensors and its scalars. It does not keep its kernel, whose manager it would keep, too.
pub struct PreparedLaunch {
    kernel: Weak<Kernel>,
    samplers: Vec<SamplerBinding>,
    /// One for each dispatch.
    parts: Vec<PreparedPart>,
    /// The commands of the last start. The next one changes them, because new ones take longer.
    commands: RefCell<Option<Commands>>,
    /// Reused by each start.
    predecessors: Cell<Vec<Ticket>>,
}

struct PreparedPart {
    groups: [u32; 3],
    /// The push constants, with the values that the runtime fills.
    block: Vec<u8>,
}

impl PreparedLaunch {
    /// Checks tensors like those of the launches. Missing samplers sample the nearest texel.
    pub(crate) fn new(
        kernel: &Rc<Kernel>,
        tensors: &[Tensor],
        extent: &Extent,
        samplers: &[SamplerBinding],
    ) -> Result<PreparedLaunch> {
        kernel.check_tensors(tensors)?;
        let grid = kernel.grid(extent, tensors)?;
        let named = kernel.named(tensors);
        let part =
            |part: Part| Ok(PreparedPart { groups: part.groups, block: kernel.push.blank(&named, part)? });
        let parts = kernel.parts(grid)?.into_iter().map(part).collect::<Result<_>>()?;
        Ok(PreparedLaunch {
            kernel: Rc::downgrade(kernel),
            samplers: kernel.samplers(samplers),
            parts,
            commands: RefCell::default(),
            predecessors: Cell::default(),
        })
    }

    /// False after its kernel was dropped.
    pub fn is_init(&self) -> bool {
        self.kernel.strong_count() > 0
    }

    /// Starts a launch over tensors with the types and shapes of those that it was prepared for.
    pub(crate) fn start(&self, context: &Rc<Context>, tensors: &[Tensor], push: &Push) -> Result<Ticket> {
        const OPERATION: &str = "launch a kernel on";
        let kernel = self.kernel.upgrade();
        let kernel = &*kernel
            .ok_or_else(|| ComputeError::Destroyed { what: "the kernel".to_owned(), operation: "launch" })?;
        if !Rc::ptr_eq(kernel.context(), context) {
            return Err(ComputeError::OtherManager { what: "the kernel".to_owned() });
        }
        let device = context.device(OPERATION)?;
        tensors.iter().try_for_each(|tensor| tensor.storage().check_alive("bind"))?;
        if let Some(staged) = views::staged(kernel, device.info(), tensors)? {
            views::start_copies(context, staged.before)?;
            let ticket = self.start(context, &staged.tensors, push)?;
            views::start_copies(context, staged.after)?;
            return Ok(ticket);
        }
        let (push, bound) = kernel.split_push(push, tensors)?;
        for (tensor, _) in kernel.accesses(&bound).filter(|(_, access)| access.writes()) {
            tensor.storage().compute_pending()?;
        }
        let mut bytes: SmallVec<[Bytes; 8]> = SmallVec::new();
        for tensor in bound.iter() {
            let buffer = tensor.storage().prepare(context, Contents::Current, OPERATION)?;
            bytes.push(Bytes::of(tensor, buffer));
        }
        let ring = kernel.own_ring()?;
        let commands = self.commands(kernel, &push, &bytes, ring.as_deref())?;
        let mut after = self.predecessors.take();
        after.clear();
        for (tensor, access) in kernel.accesses(&bound) {
            tensor.storage().predecessors(access, &mut after);
        }
        let submitted = context.submit(&*device, None, &commands, &mut after);
        self.predecessors.set(after);
        self.commands.replace(Some(commands));
        let ticket = submitted?;
        context.started(ticket, kernel.title());
        for (tensor, access) in kernel.accesses(&bound) {
            tensor.storage().submitted(ticket, access);
        }
        // The findings and prints of a launch are those of its call.
        if ring.is_some() || kernel.is_instrumented() {
            context.wait(ticket, None)?;
        }
        if let Some(ring) = ring {
            context.add_report(ring.take(kernel.sites())?);
        }
        Ok(ticket)
    }
}

impl PreparedLaunch {
    /// The commands of a launch over these bytes: those of the last one, changed, if nobody refers to them.
    fn commands(
        &self,
        kernel: &Kernel,
        push: &Push,
        bytes: &[Bytes],
        ring: Option<&Ring>,
    ) -> Result<Commands> {
        if let Some(mut commands) = self.commands.take()
            && let Some(list) = commands.get_mut()
        {
            for (command, part) in list.iter_mut().zip(&self.parts) {
                let Command::Dispatch(dispatch) = command else { continue };
                dispatch.push_constants.copy_from_slice(&part.block);
                kernel.push.fill(push, &mut dispatch.push_constants)?;
                kernel.bind(dispatch, ring, bytes.len(), |at| bytes[at]);
            }
            return Ok(commands);
        }
        let dispatch = |part: &PreparedPart| {
            let mut block = part.block.clone();
            kernel.push.fill(push, &mut block)?;
            let samplers = self.samplers.clone();
            let (n, bytes_of) = (bytes.len(), |at: usize| bytes[at]);
            Ok(Command::Dispatch(kernel.dispatch(part.groups, block, samplers, ring, n, bytes_of)))
        };
        Ok(Commands::once(self.parts.iter().map(dispatch).collect::<Result<_>>()?))
    }
}

impl Kernel {
    /// The values of the push constants, and the bindings of a launch: its tensors, and the values that did not
    /// fit the push constants.
    fn split_push<'a>(
        &self,
        push: &'a Push,
        tensors: &'a [Tensor],
    ) -> Result<(Cow<'a, Push>, Cow<'a, [Tensor]>)> {
        let Some((push, rest)) = self.split(push)? else {
            return Ok((Cow::Borrowed(push), Cow::Borrowed(tensors)));
        };
        let mut bound = tensors.to_vec();
        bound.push(self.spilled(&rest, tensors)?);
        Ok((Cow::Owned(push), Cow::Owned(bound)))
    }
}
