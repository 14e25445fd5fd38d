//! What would order the two accesses of a race.

use kps_device::findings::{Before, SharedMemory};
use kps_device::{Finding, SourceLine};
use kps_syntax::Source;

use super::lines::{Enclosing, Kind, Lines};

/// `n_groups` are the workgroups of the launch, and `source` is the script that both accesses stand in, if they do.
pub fn remedy(
    finding: &Finding,
    memory: SharedMemory,
    before: &Before,
    n_groups: u64,
    source: Option<&Source>,
) -> String {
    if finding.invocation.group != before.invocation.group {
        let instead = match memory {
            SharedMemory::Image => "write to another image, or in two launches",
            _ => "use atomics, or two launches",
        };
        return format!("no barrier orders invocations of different workgroups: {instead}");
    }
    if before.beside_atomic {
        return "a plain access beside an atomic one is a race: make both atomic, or put a barrier() between them"
            .to_owned();
    }
    let (Some(first), Some(second)) = (&before.line, &finding.line) else {
        return "put a barrier() between the two".to_owned();
    };
    let within = match source {
        Some(source) => in_script(&Lines::of(source), first, second, memory, before.barrier_between),
        None => by_lines(first, second, memory, before.barrier_between),
    };
    match memory {
        SharedMemory::Workgroup => within,
        _ if n_groups <= 1 => within,
        SharedMemory::Buffer => beyond_one_group(&within, n_groups, "array"),
        SharedMemory::Image => beyond_one_group(&within, n_groups, "image"),
    }
}

/// A barrier is of one workgroup.
fn beyond_one_group(within: &str, n_groups: u64, kind: &str) -> String {
    format!(
        "no barrier orders the {n_groups} workgroups of this launch: write to another {kind}, or in two launches; \
         within one, {within}"
    )
}

/// Where nothing is known but the lines.
fn by_lines(first: &SourceLine, second: &SourceLine, memory: SharedMemory, barrier_between: bool) -> String {
    let (low, high) = (first.line.min(second.line), first.line.max(second.line));
    match (low == high, barrier_between) {
        (true, _) => of_ones_own(memory),
        (false, false) => between(low, high),
        (false, true) => before_the_next_round(high, low),
    }
}

fn in_script(
    lines: &Lines,
    first: &SourceLine,
    second: &SourceLine,
    memory: SharedMemory,
    barrier_between: bool,
) -> String {
    let (low, high) = (first.line.min(second.line), first.line.max(second.line));
    let (around_low, around_high) = (lines.around(low), lines.around(high));
    if function(&around_low) != function(&around_high) {
        return across_functions(lines, (low, &around_low), (high, &around_high));
    }
    let n_common = around_low.iter().zip(&around_high).take_while(|(a, b)| a == b).count();
    let common = &around_low[..n_common];
    let inner_loop = common.iter().rposition(|around| around.kind == Kind::Loop);
    let branch =
        common[inner_loop.map_or(0, |at| at + 1)..].iter().find(|around| around.kind == Kind::Branch);
    // Every invocation has to come to a barrier: it stands behind what not all may enter.
    let behind_low = around_low.get(n_common).map_or(low, |around| around.last);
    let behind_high = branch.or(around_high.get(n_common)).map_or(high, |around| around.last);
    let before_high = around_high.get(n_common).map_or(high, |around| around.first - 1).max(behind_low + 1);
    let rounds = inner_loop
        .map(|at| &common[at])
        .filter(|around| barrier_between || !lines.has_barrier(around.first..=around.last));
    match rounds {
        _ if low == high => match rounds {
            Some(around) => format!(
                "let each invocation write {}; if it was in another round of the loop, {}",
                what_is_its_own(memory),
                before_the_next_round(behind_high, around.first)
            ),
            None => of_ones_own(memory),
        },
        Some(around) if barrier_between || branch.is_some() => {
            before_the_next_round(behind_high, around.first)
        }
        Some(around) => {
            let rounds = before_the_next_round(behind_high, around.first);
            format!("{}; {rounds}", between(behind_low, before_high))
        }
        None => match branch {
            Some(branch) => format!(
                "{}; if not every invocation comes there, end the branch of line {} before it",
                between(behind_low, before_high),
                branch.first
            ),
            None => between(behind_low, before_high),
        },
    }
}

/// One of the two stands in a function that the other's calls.
fn across_functions(lines: &Lines, low: (u32, &[Enclosing]), high: (u32, &[Enclosing])) -> String {
    for ((line, around), (_, callee)) in [(low, high), (high, low)] {
        let (Some(caller), Some(Enclosing { kind: Kind::Function(callee), .. })) =
            (function(around), function(callee))
        else {
            continue;
        };
        if let Some(call) = lines.call(caller, callee).filter(|call| *call != line) {
            let calls = format!("line {call}, which calls `{callee}`,");
            return match line < call {
                true => format!("a barrier() between line {line} and {calls} orders them"),
                false => format!("a barrier() between {calls} and line {line} orders them"),
            };
        }
    }
    "put a barrier() between the two".to_owned()
}

/// The innermost function.
fn function(around: &[Enclosing]) -> Option<&Enclosing> {
    around.iter().rfind(|around| matches!(around.kind, Kind::Function(_)))
}

fn between(low: u32, high: u32) -> String {
    format!("a barrier() between line {low} and line {high} orders them")
}

fn before_the_next_round(behind: u32, first: u32) -> String {
    format!("a barrier() behind line {behind}, before the loop comes back to line {first}, orders them")
}

fn what_is_its_own(memory: SharedMemory) -> &'static str {
    match memory {
        SharedMemory::Image => "a texel of its own",
        _ => "an element of its own, or use an atomic operation",
    }
}

fn of_ones_own(memory: SharedMemory) -> String {
    let own = match memory {
        SharedMemory::Image => "a texel of its own",
        _ => "an element of its own, use an atomic operation",
    };
    format!("let each invocation write {own}, or read first, then barrier(), then write")
}
