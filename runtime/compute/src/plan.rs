//! The execution plan of a sequence: the uploads, the commands, and the downloads.
//!
//! A tensor has one value. So an upload in the middle of a list can move to its start, because nothing before
//! it changes newer host bytes, and a download can move to its end. Every list is therefore one submission,
//! and its commands are reused while its buffers stay the same.

use std::cell::OnceCell;
use std::rc::Rc;

use kps_device::{Access, BufferId, Command, Commands, Ticket};
use rustc_hash::FxHashMap;

use crate::context::Context;
use crate::error::Result;
use crate::kernel::Bytes;
use crate::op::{CopyStep, Step};
use crate::records::Ring;
use crate::storage::{Contents, MemoryType, Storage};
use crate::tensor::Tensor;

pub(crate) struct Plan {
    uses: Vec<Use>,
    by_storage: FxHashMap<*const Storage, usize>,
    downloads: Vec<Rc<Storage>>,
    /// One for each step whose kernel prints.
    rings: Vec<(usize, Ring)>,
    built: Option<Commands>,
    title: OnceCell<Rc<str>>,
}

/// How a list uses one storage.
struct Use {
    storage: Rc<Storage>,
    /// The required contents at the start.
    contents: Contents,
    /// `None` if it is only uploaded.
    access: Option<Access>,
    /// The verb of the first step that uses it, for errors.
    operation: &'static str,
    /// The buffer in the commands, from the last preparation.
    buffer: Option<BufferId>,
}

/// Whether there are timestamps between the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timestamps {
    Off,
    On,
}

impl Plan {
    pub fn of(steps: &[Step]) -> Plan {
        let mut plan = Plan {
            uses: Vec::new(),
            by_storage: FxHashMap::default(),
            downloads: Vec::new(),
            rings: Vec::new(),
            built: None,
            title: OnceCell::new(),
        };
        for step in steps {
            plan.note(step);
        }
        plan
    }

    fn note(&mut self, step: &Step) {
        match step {
            Step::Upload(tensors) => {
                for tensor in tensors {
                    self.note_use(tensor, None, Contents::Current, "upload");
                }
            }
            Step::Download(tensors) => self.note_downloads(tensors),
            Step::Copy(CopyStep { from, to, size, .. }) | Step::Stage(CopyStep { from, to, size, .. }) => {
                let contents =
                    if *size == to.storage().len() { Contents::Overwritten } else { Contents::Current };
                self.note_use(from, Some(Access::Read), Contents::Current, "copy");
                self.note_use(to, Some(Access::Write), contents, "copy to");
            }
            Step::Dispatch { algorithm, launch } => {
                for (tensor, access) in algorithm.kernel().accesses(&launch.tensors) {
                    self.note_use(tensor, Some(access), Contents::Current, "dispatch a kernel on");
                }
            }
            Step::Nothing => {}
        }
    }

    fn note_downloads(&mut self, tensors: &[Tensor]) {
        for storage in tensors.iter().map(Tensor::storage) {
            if !self.downloads.iter().any(|noted| Rc::ptr_eq(noted, storage)) {
                self.downloads.push(storage.clone());
            }
        }
    }

    fn note_use(
        &mut self,
        tensor: &Tensor,
        access: Option<Access>,
        contents: Contents,
        operation: &'static str,
    ) {
        let storage = tensor.storage();
        let new = self.uses.len();
        let idx = *self.by_storage.entry(Rc::as_ptr(storage)).or_insert(new);
        if idx == new {
            self.uses.push(Use { storage: storage.clone(), contents, access, operation, buffer: None });
        } else {
            let known = &mut self.uses[idx];
            known.access = join(known.access, access);
        }
    }

    /// Uploads newer host bytes, and returns the commands.
    pub fn prepare(
        &mut self,
        context: &Rc<Context>,
        steps: &[Step],
        timestamps: Timestamps,
    ) -> Result<Commands> {
        let written = self.uses.iter().filter(|used| used.access.is_some_and(Access::writes));
        written.into_iter().try_for_each(|used| used.storage.compute_pending())?;
        for used in &mut self.uses {
            let buffer = Some(used.storage.prepare(context, used.contents, used.operation)?);
            if used.buffer != buffer {
                used.buffer = buffer;
                self.built = None;
            }
        }
        self.rings.iter().try_for_each(|(_, ring)| ring.reset())?;
        if let Some(commands) = &self.built {
            return Ok(commands.clone());
        }
        self.make_rings(steps)?;
        let commands = Commands::new(self.build(steps, timestamps));
        self.built = Some(commands.clone());
        Ok(commands)
    }

    fn make_rings(&mut self, steps: &[Step]) -> Result<()> {
        self.rings.clear();
        for (at, step) in steps.iter().enumerate() {
            if let Step::Dispatch { algorithm, .. } = step
                && let Some(ring) = algorithm.kernel().new_ring()?
            {
                self.rings.push((at, ring));
            }
        }
        Ok(())
    }

    /// For messages.
    pub fn title(&self, steps: &[Step]) -> &Rc<str> {
        let kernel = |step: &Step| match step {
            Step::Dispatch { algorithm, .. } => Some(algorithm.kernel().title().clone()),
            _ => None,
        };
        self.title.get_or_init(|| match steps.iter().find_map(kernel) {
            Some(kernel) => format!("a sequence with {kernel}").into(),
            None => "a sequence".into(),
        })
    }

    /// Whether the list may write records.
    pub fn has_records(&self) -> bool {
        !self.rings.is_empty()
    }

    /// Collects the records of its kernels, dispatch after dispatch.
    pub fn report(&self, context: &Context, steps: &[Step]) -> Result<()> {
        for (at, ring) in &self.rings {
            if let Step::Dispatch { algorithm, .. } = &steps[*at] {
                context.add_report(ring.take(algorithm.kernel().sites())?);
            }
        }
        Ok(())
    }

    fn build(&self, steps: &[Step], timestamps: Timestamps) -> Vec<Command> {
        let mut commands = Vec::new();
        let mark = |commands: &mut Vec<Command>| {
            if timestamps == Timestamps::On {
                commands.push(Command::Timestamp);
            }
        };
        mark(&mut commands);
        for (at, step) in steps.iter().enumerate() {
            match step {
                Step::Copy(copy) => commands.push(self.copy(copy)),
                // It belongs to a dispatch, so no timestamp follows it.
                Step::Stage(copy) => {
                    commands.push(self.copy(copy));
                    continue;
                }
                Step::Dispatch { algorithm, launch } => {
                    let tensors = &launch.tensors;
                    let bytes_of = |idx: usize| Bytes::of(&tensors[idx], self.buffer(&tensors[idx]));
                    let (push, samplers) = (launch.push_constants.clone(), algorithm.samplers().to_vec());
                    let ring = self.rings.iter().find(|(step, _)| *step == at).map(|(_, ring)| ring);
                    let (kernel, n) = (algorithm.kernel(), tensors.len());
                    let dispatch = kernel.dispatch(launch.groups, push, samplers, ring, n, bytes_of);
                    commands.push(Command::Dispatch(dispatch));
                }
                Step::Upload(_) | Step::Download(_) | Step::Nothing => {}
            }
            mark(&mut commands);
        }
        commands
    }

    fn copy(&self, copy: &CopyStep) -> Command {
        Command::Copy {
            from: self.buffer(&copy.from),
            from_offset: copy.from_offset as u64,
            to: self.buffer(&copy.to),
            to_offset: copy.to_offset as u64,
            size: copy.size as u64,
        }
    }

    fn buffer(&self, tensor: &Tensor) -> BufferId {
        let idx = self.by_storage[&Rc::as_ptr(tensor.storage())];
        self.uses[idx].buffer.expect("`prepare` gave every storage its buffer")
    }

    /// The unfinished submissions that this one must follow.
    pub fn predecessors(&self) -> Vec<Ticket> {
        let mut after = Vec::new();
        for used in &self.uses {
            if let Some(access) = used.access {
                used.storage.predecessors(access, &mut after);
            }
        }
        after
    }

    pub fn submitted(&self, ticket: Ticket) {
        for used in &self.uses {
            if let Some(access) = used.access {
                used.storage.submitted(ticket, access);
            }
        }
    }

    /// Waits for the uploads that no command of the list follows.
    pub fn await_uploads(&self) -> Result<()> {
        let mut only_uploaded = self.uses.iter().filter(|used| used.access.is_none());
        only_uploaded.try_for_each(|used| used.storage.await_upload())
    }

    /// Downloads the requested bytes that the host lacks.
    pub fn download(&self) -> Result<()> {
        let readable = |storage: &&Rc<Storage>| storage.memory() != MemoryType::Storage;
        self.downloads.iter().filter(readable).try_for_each(|storage| storage.fetch("download"))
    }
}

fn join(one: Option<Access>, other: Option<Access>) -> Option<Access> {
    match (one, other) {
        (Some(one), Some(other)) if one != other => Some(Access::ReadWrite),
        (Some(access), _) | (None, Some(access)) => Some(access),
        (None, None) => None,
    }
}
