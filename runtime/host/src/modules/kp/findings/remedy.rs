//! Suggests how to order the two accesses of a race, and how to bring all invocations to a barrier.

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
    let order = Order { memory, barrier: barrier(near.shader, memory), before, near };
    if before.beside_atomic {
        return format!(
            "a plain access beside an atomic one is a race: make both atomic, or put a {} between them",
            order.barrier
        );
    }
    let within = match (&near.script, &before.line, &finding.line, &before.divergence) {
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

/// The statement that waits for a workgroup and orders its accesses to some memory, in a shader's language or
/// in kernels.
pub fn barrier(shader: Option<Language>, memory: SharedMemory) -> &'static str {
    match (shader, memory) {
        (Some(Language::Wgsl), SharedMemory::Workgroup) => "workgroupBarrier()",
        (Some(Language::Wgsl), SharedMemory::Buffer) => "storageBarrier()",
        (Some(Language::Wgsl), SharedMemory::Image) => "textureBarrier()",
        (Some(Language::Glsl), SharedMemory::Buffer) => "memoryBarrierBuffer() and barrier()",
        (Some(Language::Glsl), SharedMemory::Image) => "memoryBarrierImage() and barrier()",
        (Some(Language::Hlsl), SharedMemory::Workgroup) => "GroupMemoryBarrierWithGroupSync()",
        (Some(Language::Hlsl), _) => "DeviceMemoryBarrierWithGroupSync()",
        (Some(Language::Glsl), SharedMemory::Workgroup) | (None, _) => "barrier()",
    }
}

/// For a barrier that some invocations reach after others have ended.
pub fn remedy_of_ended(line: Option<&SourceLine>, near: &Near) -> String {
    let lines = near.script.as_ref().map(Lines::of);
    let Some((lines, line)) = lines.zip(line.map(|line| line.line)) else {
        return "move the barrier out of the branch or the loop, and let none return before it".to_owned();
    };
    let around = lines.around(line);
    let is_own = |around: &&Enclosing| !matches!(around.kind, Kind::Function(_));
    match lines.return_before(line) {
        Some(at) if around.iter().rev().take_while(is_own).next().is_none() => format!(
            "let none return before the barrier, as on line {at}: skip what they are not to do by an `if` that ends \
             before it"
        ),
        _ => "move the barrier out of the branch or the loop".to_owned(),
    }
}

/// A barrier is of one workgroup.
fn beyond_one_group(within: &str, n_groups: u64, kind: &str) -> String {
    format!(
        "no barrier orders the {n_groups} workgroups of this launch: write to another {kind}, or in two launches; \
         within one, {within}"
    )
}

/// The two accesses to order.
struct Order<'f> {
    memory: SharedMemory,
    barrier: &'static str,
    before: &'f Before,
    near: &'f Near<'f>,
}

impl Order<'_> {
    /// If only the lines are known.
    fn by_lines(&self, first: &SourceLine, second: &SourceLine) -> String {
        let (low, high) = (first.line.min(second.line), first.line.max(second.line));
        let rounds = self.before.in_rounds.then(|| (format!("line {high}"), low));
        let within = self.between(format!("line {low}"), format!("line {high}"));
        match rounds {
            Some(_) if low == high => self.in_another_round(&format!(
                "a {} at the end of the round, where all invocations come to it, orders them",
                self.barrier
            )),
            None if low == high => self.of_ones_own(),
            Some(rounds) if self.before.in_one_round => self.in_any_round(&within, rounds),
            Some(rounds) => self.before_the_next_round(rounds),
            None => within,
        }
    }

    fn in_script(&self, lines: &Lines, first: &SourceLine, second: &SourceLine) -> String {
        let (low, high) = (first.line.min(second.line), first.line.max(second.line));
        let (around_low, around_high) = (lines.around(low), lines.around(high));
        let is_reached_apart = |[second_call, first_call]: &[SourceLine; 2]| {
            (first_call.line, second_call.line) != (first.line, second.line) && first_call.file == first.file
        };
        if let Some(calls) = self.before.divergence.as_ref().filter(|calls| is_reached_apart(calls)) {
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
        let [own_low, own_high] = [&around_low, &around_high].map(|around| around.get(n_common));
        let within = self.in_one_round((low, own_low), (high, own_high));
        let test = lines.tested_on(high);
        let rounds = self.before.in_rounds.then(|| match inner_loop {
            Some(at) => Some((behind(high, branch.or(own_high).or(test.as_ref())), common[at].first)),
            None => self.rounds_of_callers(),
        });
        match (rounds.flatten(), branch) {
            (Some(rounds), _) if low == high => self.in_another_round(&self.before_the_next_round(rounds)),
            (None, _) if low == high => self.of_ones_own(),
            (Some(rounds), _) if !self.before.in_one_round => self.before_the_next_round(rounds),
            (Some(rounds), None) => self.in_any_round(&within, rounds),
            (Some(rounds), Some(_)) => format!(
                "{}; should both occur within one iteration, {within}, if every invocation gets there",
                self.before_the_next_round(rounds)
            ),
            (None, _) if !self.before.in_one_round => self.after_each_call(),
            (None, Some(branch)) => format!(
                "{within}; if not every invocation comes there, end the branch of line {} before it",
                branch.whole().0
            ),
            (None, None) => within,
        }
    }

    /// Between two lines in one iteration, with the constructs that contain only one of them. Every
    /// invocation must reach a barrier, so it is placed after divergent constructs.
    fn in_one_round(
        &self,
        (low, around_low): (u32, Option<&Enclosing>),
        (high, around_high): (u32, Option<&Enclosing>),
    ) -> String {
        let is_side_of =
            |around: Option<&Enclosing>, line| around.is_some_and(|around| around.is_side_of_what_has(line));
        match (is_side_of(around_low, high), is_side_of(around_high, low)) {
            (false, false) => {
                let before_high = around_high.map_or(high, |around| around.whole().0);
                self.between(behind(low, around_low), format!("line {before_high}"))
            }
            (true, false) => self.before_the_test(high),
            (false, true) => self.before_the_test(low),
            (true, true) => self.between_the_sides(),
        }
    }

    /// Where an iteration ends in the innermost loop that calls the function of both, and where that loop
    /// begins.
    fn rounds_of_callers(&self) -> Option<(String, u32)> {
        self.near.callers.iter().rev().find_map(|(source, call)| {
            let around = Lines::of(source).around(*call);
            let own = around.iter().rposition(|around| matches!(around.kind, Kind::Function(_)))?;
            let at = around[own..].iter().rposition(|around| around.kind == Kind::Loop)? + own;
            let place = behind(*call, around.get(at + 1));
            let place = match self.near.script.as_ref().is_some_and(|script| script == source) {
                true => place,
                false => format!("{place} of `{}`", source.name()),
            };
            Some((place, around[at].first))
        })
    }

    /// If no visible loop leads from one of the two to the other.
    fn after_each_call(&self) -> String {
        format!(
            "they are of different calls: a {} behind the call, where all invocations come to it, orders them",
            self.barrier
        )
    }

    fn between_the_two(&self) -> String {
        format!("put a {} between the two", self.barrier)
    }

    fn between(&self, one: String, other: String) -> String {
        format!("a {} between {one} and {other} orders them", self.barrier)
    }

    /// One of the two is read by the condition that decides whether the other is reached: no line is between
    /// them.
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

    fn before_the_next_round(&self, (behind, first): (String, u32)) -> String {
        format!(
            "a {} behind {behind}, which all invocations come to before the loop is back at line {first}, orders \
             them",
            self.barrier
        )
    }

    /// Orders them within an iteration, and where an iteration ends and begins.
    fn in_any_round(&self, within: &str, (behind, first): (String, u32)) -> String {
        format!(
            "within a round of the loop, {within}; from one round to the next, a {} behind {behind}, which all \
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

/// What a barrier is placed after: a line, or the construct that contains it.
fn behind(line: u32, around: Option<&Enclosing>) -> String {
    let Some(around) = around else { return format!("line {line}") };
    let what = if around.kind == Kind::Loop { "loop" } else { "branch" };
    match around.whole() {
        (first, last) if first == last => format!("line {first}"),
        (first, last) => format!("the {what} of lines {first} to {last}"),
    }
}

/// The innermost function.
fn function(around: &[Enclosing]) -> Option<&Enclosing> {
    around.iter().rfind(|around| matches!(around.kind, Kind::Function(_)))
}
