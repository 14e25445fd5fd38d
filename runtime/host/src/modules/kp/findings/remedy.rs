//! What would order the two accesses of a race.

use kps_device::findings::{Before, SharedMemory};
use kps_device::{Finding, SourceLine};

use super::Near;
use super::lines::{Enclosing, Kind, Lines};
use crate::foreign::Language;

/// For two accesses to some memory.
pub fn remedy(finding: &Finding, memory: SharedMemory, before: &Before, near: &Near) -> String {
    if finding.invocation.group != before.invocation.group {
        let instead = match memory {
            SharedMemory::Image => "write to another image, or in two launches",
            _ => "use atomics, or two launches",
        };
        return format!("no barrier orders invocations of different workgroups: {instead}");
    }
    let order = Order {
        memory,
        barrier: barrier(near.shader, memory),
        is_between: before.barrier_between,
        in_rounds: before.in_rounds,
        parting: &before.parting,
    };
    if before.beside_atomic {
        return format!(
            "a plain access beside an atomic one is a race: make both atomic, or put a {} between them",
            order.barrier
        );
    }
    let within = match (&near.script, &before.line, &finding.line, &before.parting) {
        (Some(source), Some(first), Some(second), _) => order.in_script(&Lines::of(source), first, second),
        (None, _, _, Some([second, first])) => order.by_lines(first, second),
        _ => order.between_the_two(),
    };
    match memory {
        SharedMemory::Workgroup => within,
        _ if near.n_groups <= 1 => within,
        SharedMemory::Buffer => beyond_one_group(&within, near.n_groups, "array"),
        SharedMemory::Image => beyond_one_group(&within, near.n_groups, "image"),
    }
}

/// What waits for a workgroup and orders its accesses to some memory: in a shader's language, or in ours.
pub fn barrier(shader: Option<Language>, memory: SharedMemory) -> &'static str {
    match (shader, memory) {
        (Some(Language::Wgsl), SharedMemory::Workgroup) => "workgroupBarrier()",
        (Some(Language::Wgsl), SharedMemory::Buffer) => "storageBarrier()",
        (Some(Language::Wgsl), SharedMemory::Image) => "textureBarrier()",
        (Some(Language::Glsl), SharedMemory::Buffer) => "memoryBarrierBuffer() and barrier()",
        (Some(Language::Glsl), SharedMemory::Image) => "memoryBarrierImage() and barrier()",
        (Some(Language::Glsl), SharedMemory::Workgroup) | (None, _) => "barrier()",
    }
}

/// A barrier is of one workgroup.
fn beyond_one_group(within: &str, n_groups: u64, kind: &str) -> String {
    format!(
        "no barrier orders the {n_groups} workgroups of this launch: write to another {kind}, or in two launches; \
         within one, {within}"
    )
}

/// What is to come into an order, and how.
struct Order<'f> {
    memory: SharedMemory,
    barrier: &'static str,
    /// As [`Before`] has them.
    is_between: bool,
    in_rounds: bool,
    parting: &'f Option<[SourceLine; 2]>,
}

impl Order<'_> {
    /// Where nothing is known but the lines.
    fn by_lines(&self, first: &SourceLine, second: &SourceLine) -> String {
        let (low, high) = (first.line.min(second.line), first.line.max(second.line));
        match (low == high, self.is_between) {
            (true, _) if self.in_rounds => self.in_another_round(&format!(
                "a {} at the end of the round, where all invocations come to it, orders them",
                self.barrier
            )),
            (true, _) => self.of_ones_own(),
            (false, false) if self.in_rounds => {
                self.in_any_round(&self.between_lines(low, high), (high, low))
            }
            (false, false) => self.between_lines(low, high),
            (false, true) => self.before_the_next_round(high, low),
        }
    }

    fn in_script(&self, lines: &Lines, first: &SourceLine, second: &SourceLine) -> String {
        let (low, high) = (first.line.min(second.line), first.line.max(second.line));
        let (around_low, around_high) = (lines.around(low), lines.around(high));
        let is_reached_apart = |[second_call, first_call]: &[SourceLine; 2]| {
            (first_call.line, second_call.line) != (first.line, second.line) && first_call.file == first.file
        };
        if let Some(calls) = self.parting.as_ref().filter(|calls| is_reached_apart(calls)) {
            return self.in_script(lines, &calls[1], &calls[0]);
        }
        if function(&around_low) != function(&around_high) {
            return self.between_the_two();
        }
        let n_common = around_low.iter().zip(&around_high).take_while(|(a, b)| a == b).count();
        let common = &around_low[..n_common];
        let inner_loop = common.iter().rposition(|around| around.kind == Kind::Loop);
        let branch = common[inner_loop.map_or(0, |at| at + 1)..]
            .iter()
            .find(|around| matches!(around.kind, Kind::Branch { .. }));
        // Every invocation has to come to a barrier: it stands behind what not all may enter.
        let behind_low = around_low.get(n_common).map_or(low, |around| around.last);
        let behind_high = branch.or(around_high.get(n_common)).map_or(high, |around| around.last);
        let before_high =
            around_high.get(n_common).map_or(high, |around| around.first - 1).max(behind_low + 1);
        let within = match [(around_low.get(n_common), high), (around_high.get(n_common), low)]
            .map(|(around, line)| around.is_some_and(|around| around.is_side_of_what_has(line)))
        {
            [false, false] => self.between_lines(behind_low, before_high),
            [true, false] => self.before_the_test(high),
            [false, true] => self.before_the_test(low),
            [true, true] => self.between_the_sides(),
        };
        let rounds = inner_loop
            .map(|at| &common[at])
            .filter(|around| self.is_between || !lines.has_barrier(around.first..=around.last));
        match rounds {
            _ if low == high => match rounds {
                Some(around) => self.in_another_round(&self.before_the_next_round(behind_high, around.first)),
                None => self.of_ones_own(),
            },
            Some(around) if self.is_between || branch.is_some() => {
                self.before_the_next_round(behind_high, around.first)
            }
            Some(around) => self.in_any_round(&within, (behind_high, around.first)),
            None => match branch {
                Some(branch) => format!(
                    "{within}; if not every invocation comes there, end the branch of line {} before it",
                    branch.first
                ),
                None => within,
            },
        }
    }

    fn between_the_two(&self) -> String {
        format!("put a {} between the two", self.barrier)
    }

    fn between_lines(&self, low: u32, high: u32) -> String {
        self.between(format!("line {low}"), format!("line {high}"))
    }

    fn between(&self, one: String, other: String) -> String {
        format!("a {} between {one} and {other} orders them", self.barrier)
    }

    /// One of the two is read to decide whether the other is come to: no line lies between them.
    fn before_the_test(&self, test: u32) -> String {
        format!(
            "let line {test} test a variable that a line before it reads, with a {} between the two",
            self.barrier
        )
    }

    fn between_the_sides(&self) -> String {
        format!(
            "they are on two sides of a branch, in which not all come to a {}: end it, then {0}, then test again",
            self.barrier
        )
    }

    fn before_the_next_round(&self, behind: u32, first: u32) -> String {
        format!(
            "a {} behind line {behind}, which all invocations come to before the loop is back at line {first}, orders \
             them",
            self.barrier
        )
    }

    /// What orders them within a round, and where a round ends and begins.
    fn in_any_round(&self, within: &str, (behind, first): (u32, u32)) -> String {
        format!(
            "within a round of the loop, {within}; from one round to the next, a {} behind line {behind}, which all \
             invocations come to before the loop is back at line {first}, does",
            self.barrier
        )
    }

    /// Both are on one line of a loop.
    fn in_another_round(&self, between_rounds: &str) -> String {
        let own = match self.memory {
            SharedMemory::Image => "a texel of its own",
            _ => "an element of its own, or use an atomic operation",
        };
        format!("let each invocation write {own}; if it was in another round of the loop, {between_rounds}")
    }

    fn of_ones_own(&self) -> String {
        let own = match self.memory {
            SharedMemory::Image => "a texel of its own",
            _ => "an element of its own, use an atomic operation",
        };
        format!("let each invocation write {own}, or read first, then {}, then write", self.barrier)
    }
}

/// The innermost function.
fn function(around: &[Enclosing]) -> Option<&Enclosing> {
    around.iter().rfind(|around| matches!(around.kind, Kind::Function(_)))
}
