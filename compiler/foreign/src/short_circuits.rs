//! `a && b` and `a || b` of GLSL, whose right side is done only where it decides. naga's front end computes both sides
//! and puts them together, so that `b` is done always: a call, `i++`, a load that `a` was to keep inside. Here it gets
//! a branch round it, as naga's front end for WGSL writes them.
//!
//! naga writes expressions from left to right, so what the right side does stands together, in front of the operator.
//!
//! ```text
//! %a = ..                                 %a = ..
//! %b = ..          what it does           OpBranchConditional %a %right %merge
//! %c = OpLogicalAnd %bool %a %b           %right = OpLabel, %b = .., OpBranch %merge
//!                                         %merge = OpLabel
//!                                         %c = OpPhi %bool %b %right %a %before
//! ```
//!
//! Words go in, words come out. A right side that only compares variables of the invocation's own stays, for that costs
//! less than a branch, and so does one that cannot be cut out as a whole.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::words::{BOUND, HEADER_WORDS, instructions, n_before};

const OP_TYPE_BOOL: u32 = 20;
const OP_FUNCTION: u32 = 54;
const OP_FUNCTION_END: u32 = 56;
const OP_FUNCTION_CALL: u32 = 57;
const OP_VARIABLE: u32 = 59;
const OP_LOAD: u32 = 61;
const OP_STORE: u32 = 62;
const OP_LINE: u32 = 8;
const OP_EXT_INST: u32 = 12;
const OP_VECTOR_SHUFFLE: u32 = 79;
const OP_COMPOSITE_EXTRACT: u32 = 81;
const OP_COMPOSITE_INSERT: u32 = 82;
const OP_LOGICAL_OR: u32 = 166;
const OP_LOGICAL_AND: u32 = 167;
const OP_PHI: u32 = 245;
const OP_LOOP_MERGE: u32 = 246;
const OP_SELECTION_MERGE: u32 = 247;
const OP_LABEL: u32 = 248;
const OP_BRANCH: u32 = 249;
const OP_BRANCH_CONDITIONAL: u32 = 250;
const OP_SWITCH: u32 = 251;

/// Inputs, and variables of an invocation and of a function.
const OWN_CLASSES: [u32; 3] = [1, 6, 7];

pub(crate) fn branch(words: Vec<u32>) -> Vec<u32> {
    let mut ids = FxHashMap::default();
    for instruction in instructions(&words) {
        match (opcode(instruction), instruction) {
            (OP_TYPE_BOOL, [_, id]) => ids.insert(*id, Known::Bool),
            (OP_VARIABLE, [_, _, id, class, ..]) if OWN_CLASSES.contains(class) => {
                ids.insert(*id, Known::OwnVariable)
            }
            _ => None,
        };
    }
    let n_declared = HEADER_WORDS + n_before(&words[HEADER_WORDS..], |opcode| opcode == OP_FUNCTION);
    let mut branched = words[..n_declared].to_vec();
    let mut function = Function { ids: &ids, next_id: words[BOUND], instructions: Vec::new() };
    for instruction in instructions(&words).skip_while(|instruction| opcode(instruction) != OP_FUNCTION) {
        function.instructions.push(instruction.to_vec());
        if opcode(instruction) == OP_FUNCTION_END {
            function.branch();
            branched.extend(function.instructions.drain(..).flatten());
        }
    }
    branched[BOUND] = function.next_id;
    branched
}

#[derive(PartialEq)]
enum Known {
    Bool,
    OwnVariable,
}

struct Function<'k> {
    ids: &'k FxHashMap<u32, Known>,
    next_id: u32,
    instructions: Vec<Vec<u32>>,
}

impl Function<'_> {
    /// One operator after the other, so that one within another comes first.
    fn branch(&mut self) {
        let mut at = 0;
        while at < self.instructions.len() {
            if let Some(right) = self.right_side(at) {
                at = self.go_round(right, at);
            }
            at += 1;
        }
    }

    /// What the right side of the operator here does, if there should be a branch round it.
    fn right_side(&self, at: usize) -> Option<Range<usize>> {
        let &[_, ty, _, left, right] = &self.instructions[at][..] else { return None };
        let is_operator = matches!(opcode(&self.instructions[at]), OP_LOGICAL_AND | OP_LOGICAL_OR);
        if !is_operator || self.ids.get(&ty) != Some(&Known::Bool) {
            return None;
        }
        let made = self.instructions[..at].iter().rposition(|one| result(one) == Some(left))?;
        let stored = self.where_stored(left, made..at);
        let side = self.first_towards(right, stored + 1..at)?..at;
        let does_much = !self.instructions[side.clone()].iter().all(|one| self.is_cheap(one));
        (does_much && !self.takes_what_is_left(&side, made) && self.is_apart(&side)).then_some(side)
    }

    /// Where a left side is through that stores its value (`(ok = x > 2) && ..`), perhaps behind a test of an index.
    fn where_stored(&self, value: u32, range: Range<usize>) -> usize {
        let is_store = |at: &usize| {
            let one = &self.instructions[*at];
            opcode(one) == OP_STORE && one[2] == value
        };
        let is_label = |at: &usize| opcode(&self.instructions[*at]) == OP_LABEL;
        let Some(store) = range.clone().rev().find(is_store) else { return range.start };
        let is_tested = (range.start..store).any(|at| is_label(&at));
        (store..range.end).find(is_label).filter(|_| is_tested).unwrap_or(store)
    }

    /// Whether a range loads what the call that gave the left side left in variables, and so may be part of that side.
    fn takes_what_is_left(&self, range: &Range<usize>, left: usize) -> bool {
        let left = &self.instructions[left];
        let is_taken = |one: &Vec<u32>| opcode(one) == OP_LOAD && operands(left).contains(&one[3]);
        opcode(left) == OP_FUNCTION_CALL && self.instructions[range.clone()].iter().any(is_taken)
    }

    /// The first instruction of a range that leads to a value, by way of other values, or of what decides how flow
    /// goes and what it stores on the way.
    fn first_towards(&self, value: u32, range: Range<usize>) -> Option<usize> {
        let label = range.clone().find(|at| opcode(&self.instructions[*at]) == OP_LABEL);
        let mut wanted = FxHashSet::from_iter([value]);
        let (mut first, mut is_behind_others) = (None, false);
        for at in range.rev() {
            let instruction = &self.instructions[at];
            let is_wanted = match opcode(instruction) {
                OP_LABEL => {
                    is_behind_others |= first.is_some();
                    false
                }
                OP_STORE => label.is_some_and(|label| at > label) && wanted.contains(&instruction[1]),
                code if is_flow(code) => is_behind_others,
                _ => result(instruction).is_some_and(|id| wanted.contains(&id)),
            };
            if is_wanted {
                first = Some(at);
                wanted.extend(operands(instruction));
            }
        }
        first
    }

    fn is_cheap(&self, instruction: &[u32]) -> bool {
        match opcode(instruction) {
            OP_LOAD => self.ids.get(&instruction[3]) == Some(&Known::OwnVariable),
            // Construction, bits as another type, tests, comparisons.
            OP_LINE | 79..=82 | 124 | 154..=157 | 164..=191 => true,
            _ => false,
        }
    }

    /// Whether flow comes in at the start and goes out at the end alone, and nothing else needs what is done there.
    fn is_apart(&self, side: &Range<usize>) -> bool {
        let inside = &self.instructions[side.clone()];
        // Loops, choices of many, and what ends a function.
        if inside.iter().any(|one| matches!(opcode(one), OP_LOOP_MERGE | OP_SWITCH..=255)) {
            return false;
        }
        let made: FxHashSet<u32> = inside.iter().filter_map(|one| result(one)).collect();
        let is_flow = |one: &&Vec<u32>| is_flow(opcode(one));
        let stays = |one: &Vec<u32>| labels(one).iter().all(|label| made.contains(label));
        let around = self.instructions[..side.start].iter().chain(&self.instructions[side.end + 1..]);
        let uses = |one: &Vec<u32>| operands(one).iter().chain(labels(one)).any(|id| made.contains(id));
        inside.iter().filter(is_flow).all(stays) && !around.into_iter().any(uses)
    }

    /// Puts a branch round the right side of the operator at a place; where that stands afterwards.
    fn go_round(&mut self, side: Range<usize>, at: usize) -> usize {
        let [_, ty, id, left, right] = self.instructions[at][..] else { return at };
        let [before, last] = [side.start, at].map(|at| self.block_of(at));
        let [begin, merge] = [self.next_id, self.next_id + 1];
        self.next_id += 2;
        for (position, phi) in self.instructions.iter_mut().enumerate() {
            let (from, to) = if side.contains(&position) { (before, begin) } else { (last, merge) };
            if opcode(phi) == OP_PHI {
                phi[3..].chunks_exact_mut(2).filter(|way| way[1] == from).for_each(|way| way[1] = to);
            }
        }
        let last = if last == before { begin } else { last };
        let ways = match opcode(&self.instructions[at]) {
            OP_LOGICAL_AND => [begin, merge],
            _ => [merge, begin],
        };
        let enter = [
            instruction(OP_SELECTION_MERGE, &[merge, 0]),
            instruction(OP_BRANCH_CONDITIONAL, &[left, ways[0], ways[1]]),
            instruction(OP_LABEL, &[begin]),
        ];
        let leave = [
            instruction(OP_BRANCH, &[merge]),
            instruction(OP_LABEL, &[merge]),
            // Where the right side is not done, the left one is what comes out.
            instruction(OP_PHI, &[ty, id, right, last, left, before]),
        ];
        let n_more = enter.len() + leave.len() - 1;
        self.instructions.splice(at..=at, leave);
        self.instructions.splice(side.start..side.start, enter);
        at + n_more
    }

    /// The label of the block in which an instruction stands.
    fn block_of(&self, at: usize) -> u32 {
        let label = self.instructions[..at].iter().rev().find(|one| opcode(one) == OP_LABEL);
        label.map_or(0, |label| label[1])
    }
}

fn opcode(instruction: &[u32]) -> u32 {
    instruction[0] & 0xffff
}

fn instruction(opcode: u32, operands: &[u32]) -> Vec<u32> {
    [&[(operands.len() as u32 + 1) << 16 | opcode], operands].concat()
}

/// Branches, and where they meet again.
fn is_flow(opcode: u32) -> bool {
    (OP_LOOP_MERGE..=OP_SWITCH).contains(&opcode) && opcode != OP_LABEL
}

/// The id that an instruction of a function defines.
fn result(instruction: &[u32]) -> Option<u32> {
    match opcode(instruction) {
        OP_LABEL => instruction.get(1).copied(),
        // Lines, stores and copies, writes of texels, barriers and atomic stores, flow and ends.
        OP_LINE | 56 | 62..=64 | 99 | 224 | 225 | 228 | 246..=255 | 317 => None,
        _ => instruction.get(2).copied(),
    }
}

/// What may be a value that an instruction uses; a number may pass for one.
fn operands(instruction: &[u32]) -> &[u32] {
    let range = match opcode(instruction) {
        OP_LINE | OP_LABEL | OP_BRANCH | OP_SELECTION_MERGE | OP_LOOP_MERGE => 0..0,
        OP_LOAD | OP_COMPOSITE_EXTRACT => 3..4,
        OP_VECTOR_SHUFFLE | OP_COMPOSITE_INSERT => 3..5,
        OP_EXT_INST => 5..instruction.len(),
        OP_STORE => 1..3,
        OP_BRANCH_CONDITIONAL | OP_SWITCH => 1..2,
        _ if result(instruction).is_some() => 3..instruction.len(),
        _ => 1..instruction.len(),
    };
    instruction.get(range).unwrap_or_default()
}

/// Where flow may go from an instruction, now or in the end.
fn labels(instruction: &[u32]) -> &[u32] {
    match opcode(instruction) {
        OP_BRANCH | OP_SELECTION_MERGE => &instruction[1..2],
        OP_LOOP_MERGE => &instruction[1..3],
        OP_BRANCH_CONDITIONAL => &instruction[2..4],
        OP_SWITCH => &instruction[2..],
        _ => &[],
    }
}
