//! Races in shared memory, which every kind of code must find in random kernels. A model of all pairs of
//! accesses between two barriers decides which findings are right.

use std::collections::BTreeSet;

use kps_device::{Check, Checks, Command, Finding, FindingKind, Instrument, PipelineOptions, Waited};

use super::assembly::kernel_of;
use super::bench::Bench;
use super::programs::Random;

const N_LANES: u32 = 32;

const DECLARATIONS: &str = "%name = OpString \"race.kps\"
OpDecorate %lix BuiltIn LocalInvocationIndex
%lix = OpVariable %in_u32 Input
%n264 = OpConstant %u32 264
%n64 = OpConstant %u32 64
%n7 = OpConstant %u32 7
%n31 = OpConstant %u32 31
%words = OpTypeArray %u32 %n64
%pwords = OpTypePointer Workgroup %words
%pword = OpTypePointer Workgroup %u32
%tile = OpVariable %pwords Workgroup";

const BARRIER: &str = "OpControlBarrier %n2 %n2 %n264";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Touch {
    Read,
    Write,
    Add,
}

/// An access of a kernel, on a line of its own.
#[derive(Clone, Copy)]
struct Access {
    line: u32,
    touch: Touch,
    place: Place,
    /// Invocations below this one make it.
    below: u32,
}

#[derive(Clone, Copy)]
enum Place {
    Ahead(u32),
    Reversed,
    Doubled,
    Low,
}

impl Place {
    fn of(self, lane: u32) -> u32 {
        match self {
            Place::Ahead(by) => lane + by,
            Place::Reversed => N_LANES - 1 - lane,
            Place::Doubled => 2 * lane,
            Place::Low => lane & 7,
        }
    }

    fn text(self) -> String {
        match self {
            Place::Ahead(by) => format!("OpIAdd %u32 %own %k{by}"),
            Place::Reversed => "OpISub %u32 %n31 %own".to_owned(),
            Place::Doubled => "OpIAdd %u32 %own %own".to_owned(),
            Place::Low => "OpBitwiseAnd %u32 %own %n7".to_owned(),
        }
    }
}

impl Access {
    fn random(random: &mut Random, line: u32, may_add: bool) -> Access {
        let touch = match random.below(if may_add { 6 } else { 5 }) {
            0..3 => Touch::Read,
            3..5 => Touch::Write,
            _ => Touch::Add,
        };
        let place = match random.below(10) {
            0 => Place::Reversed,
            1 => Place::Doubled,
            2 => Place::Low,
            3..5 => Place::Ahead(random.below(20) as u32),
            _ => Place::Ahead(0),
        };
        let below = [8, 13, 16, 29, N_LANES, N_LANES][random.below(6) as usize];
        Access { line, touch, place, below }
    }

    /// No two accesses of a kernel store the same value.
    fn text(&self) -> String {
        let Access { line, touch, place, below } = *self;
        let act = match touch {
            Touch::Read => {
                format!("%r{line} = OpLoad %u32 %p{line}\nOpStore %out %r{line}")
            }
            Touch::Write => {
                format!("%v{line} = OpIAdd %u32 %own %k{}\nOpStore %p{line} %v{line}", 64 * line)
            }
            Touch::Add => format!("%r{line} = OpAtomicIAdd %u32 %p{line} %n2 %n0 %k{}", 64 * line),
        };
        format!(
            "OpLine %name {line} 1\n%x{line} = {}\n%p{line} = OpAccessChain %pword %tile %x{line}\n\
             %if{line} = OpULessThan %bool %own %k{below}\nOpSelectionMerge %m{line} None\n\
             OpBranchConditional %if{line} %t{line} %m{line}\n%t{line} = OpLabel\nOpLine %name {line} 1\n{act}\n\
             OpBranch %m{line}\n%m{line} = OpLabel\n",
            place.text()
        )
    }

    fn races(&self, other: &Access) -> bool {
        let touches = [self.touch, other.touch];
        let lanes = || (0..self.below).flat_map(|a| (0..other.below).map(move |b| (a, b)));
        touches != [Touch::Read; 2]
            && touches != [Touch::Add; 2]
            && lanes().any(|(a, b)| a != b && self.place.of(a) == other.place.of(b))
    }
}

/// Pairs of lines, the lower one first.
type Lines = BTreeSet<(u32, u32)>;

/// A kernel of a few phases, and its racing lines.
fn random_kernel(seed: u64) -> (Vec<u32>, Lines) {
    let mut random = Random::new(seed);
    let may_add = random.below(3) == 0;
    let mut line = 0;
    let mut body = "%own = OpLoad %u32 %lix\n%out = OpAccessChain %p0 %b0 %n0 %i\n".to_owned();
    let mut lines = Lines::new();
    let fill = [Place::Ahead(0), Place::Ahead(32)];
    let fill = fill.map(|place| {
        line += 1;
        Access { line, touch: Touch::Write, place, below: N_LANES }
    });
    let mut phases = vec![fill.to_vec()];
    for _ in 0..3 {
        let accesses = (0..1 + random.below(3)).map(|_| {
            line += 1;
            Access::random(&mut random, line, may_add)
        });
        phases.push(accesses.collect());
    }
    for phase in &phases {
        phase.iter().for_each(|access| body += &access.text());
        body += BARRIER;
        body += "\n";
        for (i, a) in phase.iter().enumerate() {
            lines.extend(phase[..=i].iter().filter(|b| a.races(b)).map(|b| (b.line, a.line)));
        }
    }
    let numbers = (0..20).chain([29, N_LANES]).chain((1..=line).map(|line| 64 * line));
    let numbers: BTreeSet<u32> = numbers.collect();
    let numbers: String = numbers.iter().map(|n| format!("\n%k{n} = OpConstant %u32 {n}")).collect();
    (kernel_of(N_LANES, &[("u32", 4)], &format!("{DECLARATIONS}{numbers}"), "", &body), lines)
}

fn lines_of(findings: Vec<Finding>) -> Lines {
    let pair = |finding: Finding| {
        let FindingKind::Race { before, .. } = finding.kind else { panic!("only races are looked for") };
        let [a, b] = [finding.line, before.line].map(|line| line.expect("every access has a line").line);
        (a.min(b), a.max(b))
    };
    findings.into_iter().map(pair).collect()
}

#[test]
fn races_are_found_where_there_are_some() {
    let checks = Checks::NONE.with(Check::SharedRace);
    let options = PipelineOptions { instrument: Instrument::Checked(checks), ..PipelineOptions::default() };
    let (mut n_clean, mut n_racing) = (0, 0);
    for seed in 0..60 {
        let (words, lines) = random_kernel(seed);
        let bench = Bench::all_kinds();
        let buffer = bench.buffer(&[0u32; 2 * N_LANES as usize]);
        let dispatch = bench.dispatch_with(&words, &options, &[buffer], &[], [2, 1, 1]);
        assert_eq!(bench.submit(vec![Command::Dispatch(dispatch)]), Ok(Waited::Done));
        for found in bench.findings_of_each().into_iter().map(lines_of) {
            assert!(found.is_subset(&lines), "seed {seed}: {found:?} of {lines:?}");
            assert_eq!(found.is_empty(), lines.is_empty(), "seed {seed}: {lines:?}");
        }
        if lines.is_empty() { n_clean += 1 } else { n_racing += 1 }
    }
    assert!(n_clean > 5 && n_racing > 5, "{n_clean} without a race, {n_racing} with some");
}
