//! A list of commands with a timestamp before and after each of them.

use std::rc::{Rc, Weak};

use kps_device::interface::PRINT;
use kps_device::{Access, Command, Commands, Device, Dispatch, PipelineId};
use rustc_hash::FxHashMap;

/// What a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommandKind {
    Kernel,
    Copy,
    /// A copy from memory of the host, over the bus.
    Upload,
    /// A copy to memory of the host.
    Download,
}

/// One command of a list, and the indices of the timestamps around it.
pub struct Timed {
    pub kind: CommandKind,
    pub name: Rc<str>,
    /// Of the device's memory.
    pub bytes_read: u64,
    pub bytes_written: u64,
    pub groups: [u32; 3],
    pub before: usize,
    pub after: usize,
}

/// A list with timestamps.
pub struct TimedList {
    /// While this exists, no other list has the same identity.
    original: Weak<[Command]>,
    pub commands: Commands,
    pub timed: Vec<Timed>,
    /// The timestamps that the original list has itself.
    pub callers: Vec<usize>,
}

/// The lists of living originals.
#[derive(Default)]
pub struct TimedLists {
    /// By identity, those that are submitted again and again.
    known: FxHashMap<usize, Rc<TimedList>>,
    /// By the pipeline of the first dispatch, the last one that was made for one submission. An equal one uses it
    /// again.
    last: FxHashMap<PipelineId, (Vec<Command>, Rc<TimedList>)>,
    names: FxHashMap<PipelineId, Rc<str>>,
    /// The size at which those of dropped lists are removed.
    sweep_at: usize,
}

impl TimedLists {
    pub fn of(&mut self, device: &dyn Device, commands: &Commands) -> Rc<TimedList> {
        if !commands.repeats() {
            return self.of_one_submission(device, commands);
        }
        if let Some(known) = self.known.get(&commands.identity())
            && known.original.strong_count() > 0
        {
            return known.clone();
        }
        if self.known.len() >= self.sweep_at {
            self.known.retain(|_, list| list.original.strong_count() > 0);
            self.sweep_at = 2 * self.known.len() + 64;
        }
        let list = Rc::new(self.build(device, commands));
        self.known.insert(commands.identity(), list.clone());
        list
    }

    fn of_one_submission(&mut self, device: &dyn Device, commands: &Commands) -> Rc<TimedList> {
        let pipeline = commands.iter().find_map(|command| match command {
            Command::Dispatch(dispatch) => Some(dispatch.pipeline),
            _ => None,
        });
        let Some(pipeline) = pipeline else { return Rc::new(self.build(device, commands)) };
        if let Some((source, list)) = self.last.get(&pipeline)
            && source[..] == commands[..]
        {
            return list.clone();
        }
        let list = Rc::new(self.build(device, commands));
        self.last.insert(pipeline, (commands.to_vec(), list.clone()));
        list
    }

    fn build(&mut self, device: &dyn Device, commands: &Commands) -> TimedList {
        let mut timed_commands = Vec::with_capacity(2 * commands.len() + 1);
        let (mut timed, mut callers) = (Vec::new(), Vec::new());
        let mut n_timestamps = 0;
        // The timestamp directly before the next command.
        let mut last = None;
        let mut mark = |commands: &mut Vec<Command>| {
            commands.push(Command::Timestamp);
            n_timestamps += 1;
            n_timestamps - 1
        };
        for command in commands.iter() {
            let before = last.unwrap_or_else(|| mark(&mut timed_commands));
            last = Some(before);
            let Some(entry) = self.entry(device, command) else {
                callers.push(before);
                continue;
            };
            timed_commands.push(command.clone());
            let after = mark(&mut timed_commands);
            timed.push(Timed { before, after, ..entry });
            last = Some(after);
        }
        let commands_with_times = Commands::new(timed_commands);
        TimedList { original: commands.downgrade(), commands: commands_with_times, timed, callers }
    }

    /// The entry of a command that takes time.
    fn entry(&mut self, device: &dyn Device, command: &Command) -> Option<Timed> {
        let (before, after) = (0, 0);
        match command {
            Command::Timestamp => None,
            Command::Copy { from, to, size, .. } => {
                let (kind, name, [bytes_read, bytes_written]) =
                    match (device.is_on_host(*from), device.is_on_host(*to)) {
                        (true, false) => (CommandKind::Upload, "upload", [0, *size]),
                        (false, true) => (CommandKind::Download, "download", [*size, 0]),
                        _ => (CommandKind::Copy, "copy", [*size; 2]),
                    };
                let (name, groups) = (name.into(), [0; 3]);
                Some(Timed { kind, name, bytes_read, bytes_written, groups, before, after })
            }
            Command::Dispatch(dispatch) => {
                let (bytes_read, bytes_written) = bound_bytes(device, dispatch);
                let name = self.name(device, dispatch.pipeline);
                let (kind, groups) = (CommandKind::Kernel, dispatch.groups);
                Some(Timed { kind, name, bytes_read, bytes_written, groups, before, after })
            }
        }
    }

    fn name(&mut self, device: &dyn Device, pipeline: PipelineId) -> Rc<str> {
        let name = || {
            let interface = device.interface(pipeline).ok();
            let name =
                interface.map(|interface| interface.name.clone().unwrap_or(interface.entry_point.clone()));
            name.unwrap_or_else(|| "(unknown)".to_owned()).into()
        };
        self.names.entry(pipeline).or_insert_with(name).clone()
    }
}

/// The bytes that a dispatch may read and write: those of what it binds. The buffer for prints is left out.
fn bound_bytes(device: &dyn Device, dispatch: &Dispatch) -> (u64, u64) {
    let interface = device.interface(dispatch.pipeline).ok();
    let print = interface.iter().flat_map(|interface| &interface.buffers);
    let print = print.filter(|buffer| buffer.name.as_deref() == Some(PRINT));
    let print: Vec<(u32, u32)> = print.map(|buffer| (buffer.set, buffer.binding)).collect();
    let bound = dispatch.bindings.iter().filter(|bound| !print.contains(&(bound.set, bound.binding)));
    let bound = bound.map(|bound| (bound.access, bound.size));
    let all = bound.chain(dispatch.addressed.iter().map(|bound| (bound.access, bound.size)));
    let sum = |counts: fn(Access) -> bool| {
        let counted = all.clone().filter(|(access, _)| counts(*access));
        counted.fold(0_u64, |sum, (_, size)| sum.saturating_add(size))
    };
    (sum(Access::reads), sum(Access::writes))
}
