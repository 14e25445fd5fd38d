//! Hazards: which commands must wait for which.
//!
//! Two uses of the same bytes conflict unless both only read. Within a queue, [`Hazards`] records the uses
//! since the last barrier. A command or submission that conflicts with them needs a barrier before it.
//! Barriers are full: after one, nothing is pending. Between queues, and between a queue and the host, a
//! buffer's [`LastUse`] determines which submission has to end first.

use std::ops::Range;

use ash::vk;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

pub(super) use crate::last_use::LastUse;
use crate::{Access, BufferId};

/// A command's use of a range of a buffer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Use {
    pub buffer: BufferId,
    pub bytes: Range<u64>,
    pub access: Access,
}

impl Use {
    fn conflicts(&self, other: &Use) -> bool {
        let overlap = self.bytes.start < other.bytes.end && other.bytes.start < self.bytes.end;
        overlap && (self.access.writes() || other.access.writes())
    }

    /// Whether every conflict of `other` is a conflict of this use, too.
    fn covers(&self, other: &Use) -> bool {
        let wider = self.bytes.start <= other.bytes.start && other.bytes.end <= self.bytes.end;
        wider && (self.access.writes() || !other.access.writes())
    }
}

/// The uses since the last barrier.
#[derive(Default)]
pub(super) struct Hazards {
    /// Mostly one use for each buffer.
    pending: FxHashMap<BufferId, SmallVec<[Use; 1]>>,
}

impl Hazards {
    pub fn need_barrier(&self, uses: &[Use]) -> bool {
        uses.iter().any(|used| {
            self.pending.get(&used.buffer).is_some_and(|list| list.iter().any(|other| other.conflicts(used)))
        })
    }

    pub fn note(&mut self, uses: &[Use]) {
        for used in uses {
            let list = self.pending.entry(used.buffer).or_default();
            if list.iter().any(|other| other.covers(used)) {
                continue;
            }
            list.retain(|other| !used.covers(other));
            list.push(used.clone());
        }
    }

    pub fn clear(&mut self) {
        self.pending.clear();
    }

    /// A destroyed buffer has no conflicts.
    pub fn forget(&mut self, buffer: BufferId) {
        self.pending.remove(&buffer);
    }
}

/// A list of so many uses is searched faster than it is hashed.
const FEW: usize = 16;

/// Adds one use for each buffer to an empty list: the union of all ranges and accesses.
pub(super) fn merge(uses: &[Use], merged: &mut Vec<Use>) {
    let mut places: FxHashMap<BufferId, usize> = FxHashMap::default();
    for used in uses {
        let place = match uses.len() <= FEW {
            true => merged.iter().position(|known| known.buffer == used.buffer),
            false => places.get(&used.buffer).copied(),
        };
        if let Some(place) = place {
            let known = &mut merged[place];
            known.bytes = known.bytes.start.min(used.bytes.start)..known.bytes.end.max(used.bytes.end);
            known.access = known.access.and(used.access);
            continue;
        }
        if uses.len() > FEW {
            places.insert(used.buffer, merged.len());
        }
        merged.push(used.clone());
    }
}

/// A full execution and memory barrier.
pub(super) fn full_barrier(device: &ash::Device, commands: vk::CommandBuffer) {
    let stages = vk::PipelineStageFlags::COMPUTE_SHADER | vk::PipelineStageFlags::TRANSFER;
    let barrier = vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::SHADER_WRITE | vk::AccessFlags::TRANSFER_WRITE)
        .dst_access_mask(
            vk::AccessFlags::SHADER_READ
                | vk::AccessFlags::SHADER_WRITE
                | vk::AccessFlags::UNIFORM_READ
                | vk::AccessFlags::TRANSFER_READ
                | vk::AccessFlags::TRANSFER_WRITE,
        );
    // SAFETY: the caller is recording `commands`.
    unsafe {
        device.cmd_pipeline_barrier(commands, stages, stages, Default::default(), &[barrier], &[], &[]);
    }
}

/// Makes writes visible to the host, once the submission has ended.
pub(super) fn host_barrier(device: &ash::Device, commands: vk::CommandBuffer) {
    let stages = vk::PipelineStageFlags::COMPUTE_SHADER | vk::PipelineStageFlags::TRANSFER;
    let barrier = vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::SHADER_WRITE | vk::AccessFlags::TRANSFER_WRITE)
        .dst_access_mask(vk::AccessFlags::HOST_READ);
    let host = vk::PipelineStageFlags::HOST;
    // SAFETY: the caller is recording `commands`.
    unsafe { device.cmd_pipeline_barrier(commands, stages, host, Default::default(), &[barrier], &[], &[]) };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(text: &str) -> Use {
        let [buffer, start, end, access] = text.split(' ').collect::<Vec<_>>()[..] else {
            panic!("`{text}` is not `buffer start end access`")
        };
        let number = |text: &str| text.parse().expect("a number");
        let access = match access {
            "r" => Access::Read,
            "w" => Access::Write,
            _ => Access::ReadWrite,
        };
        Use { buffer: BufferId(number(buffer)), bytes: number(start)..number(end), access }
    }

    /// Commands in order, each with its uses; the result has `|` at each barrier.
    fn check(commands: &[&[&str]], expect: &str) {
        let mut hazards = Hazards::default();
        let mut result = String::new();
        for command in commands {
            let uses: Vec<Use> = command.iter().map(|text| used(text)).collect();
            if hazards.need_barrier(&uses) {
                hazards.clear();
                result.push('|');
            }
            hazards.note(&uses);
            result.push('c');
        }
        assert_eq!(result, expect, "{commands:?}");
    }

    #[test]
    fn barriers_separate_conflicts_only() {
        check(&[&["0 0 8 r"], &["0 0 8 r"]], "cc");
        check(&[&["0 0 8 w"], &["0 0 8 r"]], "c|c");
        check(&[&["0 0 8 r"], &["0 0 8 w"]], "c|c");
        check(&[&["0 0 8 w"], &["0 0 8 w"]], "c|c");
        check(&[&["0 0 8 w"], &["0 8 16 w"]], "cc");
        check(&[&["0 0 8 w"], &["1 0 8 rw"]], "cc");
        check(&[&["0 0 8 rw"], &["0 0 8 rw"], &["0 0 8 rw"]], "c|c|c");
        // The barrier for the second command also serves the third.
        check(&[&["0 0 8 w", "1 0 8 w"], &["0 0 8 r"], &["1 0 8 r"]], "c|cc");
        check(&[&["0 0 8 r"], &["0 4 12 r"], &["0 10 12 w"]], "cc|c");
        // Uses within one command do not conflict.
        check(&[&["0 0 8 r", "0 0 8 w"]], "c");
    }

    #[test]
    fn wider_uses_swallow_narrower_ones() {
        let mut hazards = Hazards::default();
        hazards.note(&[used("0 0 8 r"), used("0 2 4 r"), used("0 0 16 w"), used("0 4 6 r")]);
        assert_eq!(hazards.pending[&BufferId(0)][..], [used("0 0 16 w")]);
    }

    #[test]
    fn reading_waits_for_writes_and_writing_for_everything() {
        let mut last = LastUse::default();
        assert_eq!((last.before(Access::Read), last.before(Access::Write)), (0, 0));
        last.note(3, Access::ReadWrite);
        last.note(5, Access::Read);
        assert_eq!((last.before(Access::Read), last.before(Access::ReadWrite)), (3, 5));
    }

    #[test]
    fn merging_keeps_every_byte_and_every_access() {
        let few = ["0 4 8 r", "1 0 4 w", "0 12 16 w", "1 0 4 w"].map(used);
        for uses in [few.to_vec(), vec![few.to_vec(); FEW].concat()] {
            let mut merged = Vec::new();
            merge(&uses, &mut merged);
            assert_eq!(merged, [used("0 4 16 rw"), used("1 0 4 w")]);
        }
    }
}
