//! Kernels of random branches, loops and accesses, in gangs of every width and by single invocations: the
//! bench compares the memory that they leave.

use std::fmt::Write;

use super::assembly::kernel_with;
use super::bench::Bench;

/// Invocations of each run: a prime, so that the last gangs reach beyond the buffers.
const N: u32 = 61;

/// Numbers that look random, from a seed (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }
}

/// A kernel over four variables: `%v0` begins as the invocation, the others alike for all.
struct Program {
    random: Random,
    text: String,
    n_ids: u32,
    /// Merge and continue labels of the loops that are open.
    loops: Vec<(String, String)>,
}

impl Program {
    fn id(&mut self, prefix: &str) -> String {
        self.n_ids += 1;
        format!("%{prefix}{}", self.n_ids)
    }

    fn line(&mut self, line: &str) {
        writeln!(self.text, "{line}").expect("a string takes all");
    }

    fn made(&mut self, op: &str) -> String {
        let id = self.id("x");
        self.line(&format!("{id} = {op}"));
        id
    }

    fn variable(&mut self) -> String {
        format!("%v{}", self.random.below(4))
    }

    fn value(&mut self) -> String {
        match self.random.below(6) {
            0 => self.random.pick(&["%n0", "%n1", "%n3", "%n5", "%n10"]).to_owned(),
            1 => "%i".to_owned(),
            _ => {
                let variable = self.variable();
                self.made(&format!("OpLoad %u32 {variable}"))
            }
        }
    }

    fn term(&mut self) -> String {
        let (a, b) = (self.value(), self.value());
        match self.random.below(9) {
            0 => self.load(&a),
            1 => {
                let less = self.made(&format!("OpULessThan %bool {a} {b}"));
                self.made(&format!("OpSelect %u32 {less} {b} %i"))
            }
            2 => {
                let float = self.made(&format!("OpConvertUToF %f32 {a}"));
                let root = self.made(&format!("OpExtInst %f32 %glsl Sqrt {float}"));
                self.made(&format!("OpConvertFToU %u32 {root}"))
            }
            _ => {
                let op = self.random.pick(&[
                    "OpIAdd",
                    "OpISub",
                    "OpIMul",
                    "OpBitwiseXor",
                    "OpUDiv",
                    "OpUMod",
                    "OpShiftLeftLogical",
                    "OpShiftRightLogical",
                    "OpBitwiseAnd",
                ]);
                self.made(&format!("{op} %u32 {a} {b}"))
            }
        }
    }

    /// An element near an index: often a neighbour's, sometimes one that is not there.
    fn place(&mut self, index: &str, buffer: u32) -> String {
        let index = match self.random.below(4) {
            0 => self.made(&format!("OpIAdd %u32 %i {index}")),
            1 => self.made(&format!("OpBitwiseAnd %u32 {index} %n10")),
            2 => "%i".to_owned(),
            _ => index.to_owned(),
        };
        self.made(&format!("OpAccessChain %p{buffer} %b{buffer} %n0 {index}"))
    }

    fn load(&mut self, index: &str) -> String {
        if self.random.below(2) == 0 {
            return self.tested_load(index);
        }
        let place = self.place(index, 0);
        self.made(&format!("OpLoad %u32 {place}"))
    }

    /// A load as compilers write it that test the index themselves: of element 0 where the test fails, and then
    /// zero is taken. The length is the buffer's own, or a number.
    fn tested_load(&mut self, index: &str) -> String {
        let index = match self.random.below(3) {
            0 => "%i".to_owned(),
            1 => self.made(&format!("OpIAdd %u32 %i {index}")),
            _ => index.to_owned(),
        };
        let len = match self.random.below(2) {
            0 => self.made("OpArrayLength %u32 %b0 0"),
            _ => self.random.pick(&["%n10", "%n37"]).to_owned(),
        };
        let inside = self.made(&format!("OpULessThan %bool {index} {len}"));
        let safe = self.made(&format!("OpSelect %u32 {inside} {index} %n0"));
        let place = self.made(&format!("OpAccessChain %p0 %b0 %n0 {safe}"));
        let loaded = self.made(&format!("OpLoad %u32 {place}"));
        self.made(&format!("OpSelect %u32 {inside} {loaded} %n0"))
    }

    /// A store of each invocation's own element behind such a test.
    fn tested_store(&mut self, term: &str) {
        let [then, merge] = ["store", "stored"].map(|name| self.id(name));
        let len = match self.random.below(2) {
            0 => self.made("OpArrayLength %u32 %b1 0"),
            _ => "%n37".to_owned(),
        };
        let inside = self.made(&format!("OpULessThan %bool %i {len}"));
        let safe = self.made(&format!("OpSelect %u32 {inside} %i %n0"));
        self.line(&format!("OpSelectionMerge {merge} None\nOpBranchConditional {inside} {then} {merge}"));
        self.line(&format!("{then} = OpLabel"));
        let place = self.made(&format!("OpAccessChain %p1 %b1 %n0 {safe}"));
        self.line(&format!("OpStore {place} {term}\nOpBranch {merge}\n{merge} = OpLabel"));
    }

    fn condition(&mut self) -> String {
        let (a, b) = (self.value(), self.term());
        let op = self.random.pick(&["OpULessThan", "OpSGreaterThan", "OpIEqual", "OpINotEqual"]);
        self.made(&format!("{op} %bool {a} {b}"))
    }

    fn statements(&mut self, depth: u32) {
        for _ in 0..1 + self.random.below(3) {
            match self.random.below(if depth == 0 { 3 } else { 7 }) {
                0..3 => self.assign(),
                3 | 4 => self.branch(depth),
                5 => self.repeat(depth),
                _ => self.choose(depth),
            }
        }
    }

    fn assign(&mut self) {
        let term = self.term();
        let variable = self.variable();
        self.line(&format!("OpStore {variable} {term}"));
        if self.random.below(6) == 0 {
            self.tested_store(&term);
        } else if self.random.below(4) == 0 {
            // Each invocation has an element of its own to store to, so that the order does not matter.
            let place = self.made("OpAccessChain %p1 %b1 %n0 %i");
            self.line(&format!("OpStore {place} {term}"));
        }
    }

    fn branch(&mut self, depth: u32) {
        let condition = self.condition();
        let [then, otherwise, merge] = ["then", "else", "merge"].map(|name| self.id(name));
        self.line(&format!("OpSelectionMerge {merge} None"));
        self.line(&format!("OpBranchConditional {condition} {then} {otherwise}"));
        for label in [then, otherwise] {
            self.line(&format!("{label} = OpLabel"));
            self.statements(depth - 1);
            self.leave(&merge);
        }
        self.line(&format!("{merge} = OpLabel"));
    }

    /// Goes on behind an arm, or leaves the loop round it.
    fn leave(&mut self, merge: &str) {
        let to = match (self.random.below(5), self.loops.last()) {
            (0, Some((end, _))) => end.clone(),
            (1, Some((_, next))) => next.clone(),
            _ => merge.to_owned(),
        };
        self.line(&format!("OpBranch {to}"));
    }

    fn choose(&mut self, depth: u32) {
        let value = self.value();
        let [one, two, other, merge] = ["case", "case", "other", "merge"].map(|name| self.id(name));
        let value = self.made(&format!("OpBitwiseAnd %u32 {value} %n3"));
        self.line(&format!("OpSelectionMerge {merge} None"));
        self.line(&format!("OpSwitch {value} {other} 1 {one} 2 {two}"));
        for label in [one, two, other] {
            self.line(&format!("{label} = OpLabel"));
            self.statements(depth - 1);
            self.line(&format!("OpBranch {merge}"));
        }
        self.line(&format!("{merge} = OpLabel"));
    }

    /// A loop that ends: its counter goes up to a few rounds, the same for all or not.
    fn repeat(&mut self, depth: u32) {
        let rounds = self.value();
        let rounds = self.made(&format!("OpBitwiseAnd %u32 {rounds} %n5"));
        let counter = format!("%c{depth}");
        let [head, test, body, next, end] = ["head", "test", "body", "next", "end"].map(|name| self.id(name));
        self.line(&format!("OpStore {counter} %n0\nOpBranch {head}\n{head} = OpLabel"));
        self.line(&format!("OpLoopMerge {end} {next} None\nOpBranch {test}\n{test} = OpLabel"));
        let now = self.made(&format!("OpLoad %u32 {counter}"));
        let more = self.made(&format!("OpULessThan %bool {now} {rounds}"));
        self.line(&format!("OpBranchConditional {more} {body} {end}\n{body} = OpLabel"));
        self.loops.push((end.clone(), next.clone()));
        self.statements(depth - 1);
        self.loops.pop();
        self.line(&format!("OpBranch {next}\n{next} = OpLabel"));
        let now = self.made(&format!("OpLoad %u32 {counter}"));
        let after = self.made(&format!("OpIAdd %u32 {now} %n1"));
        self.line(&format!("OpStore {counter} {after}\nOpBranch {head}\n{end} = OpLabel"));
    }
}

fn words(seed: u64) -> Vec<u32> {
    let random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut program = Program { random, text: String::new(), n_ids: 0, loops: Vec::new() };
    program.line("OpStore %v0 %i\nOpStore %v1 %n1\nOpStore %v2 %n5\nOpStore %v3 %n10");
    for _ in 0..3 {
        program.statements(3);
    }
    for k in 0..4u32 {
        let value = program.made(&format!("OpLoad %u32 %v{k}"));
        let index = program.made(&format!("OpIMul %u32 %i %n{}", ["1", "2", "3", "1"][k as usize]));
        let place = program.made(&format!("OpAccessChain %p{0} %b{0} %n0 {index}", k + 2));
        program.line(&format!("OpStore {place} {value}"));
    }
    let variables: String = ["v0", "v1", "v2", "v3", "c1", "c2", "c3"]
        .map(|name| format!("%{name} = OpVariable %pfu Function\n"))
        .concat();
    let declarations = "%pfu = OpTypePointer Function %u32\n%n37 = OpConstant %u32 37";
    kernel_with(&[("u32", 4); 6], declarations, &variables, &program.text)
}

/// The module with another local size along x.
fn with_local_size(mut words: Vec<u32>, n: u32) -> Vec<u32> {
    // `OpExecutionMode %main LocalSize x y z`
    let at = words.windows(3).position(|words| words[0] == 6 << 16 | 16 && words[2] == 17);
    words[at.expect("the module says its local size") + 3] = n;
    words
}

#[test]
fn random_kernels_give_the_same_in_gangs() {
    for seed in 0..20 {
        let words = words(seed);
        for local_size in [1, 4, 8, 16, 32, 6] {
            let bench = Bench::both();
            let input: Vec<u32> = (0..N).map(|i| i.wrapping_mul(2_654_435_761) >> 25).collect();
            let mut buffers = vec![bench.buffer(&input)];
            buffers.extend((1..6).map(|_| bench.buffer(&[7u32; N as usize])));
            let words = with_local_size(words.clone(), local_size);
            bench.run(&words, &buffers, &[], [N.div_ceil(local_size), 1, 1]);
            for &buffer in &buffers {
                bench.read::<u32>(buffer);
            }
        }
    }
}
