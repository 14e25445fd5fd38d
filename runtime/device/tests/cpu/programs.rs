//! Random kernels of branches, loops and accesses. They always end, and their results do not depend on the
//! order of invocations. [`super::phases`] adds shared memory, and [`super::subgroup_programs`] adds subgroup
//! operations.

use std::fmt::Write;

use super::assembly::kernel_with;

/// Number of `u32` buffers: the first is read, the second gets an element of each invocation, the others get
/// its variables.
pub const N_BUFFERS: usize = 6;

/// Numbers that look random, from a seed (xorshift).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }
}

/// A kernel with four 32-bit variables, of which `%v0` starts as the invocation's index and the others as
/// equal values, and one variable each of other types. `%me` is the index of the invocation.
pub struct Program {
    random: Random,
    text: String,
    n_ids: u32,
    /// Merge and continue labels of the loops that are open.
    loops: Vec<(String, String)>,
    /// Merge labels of the switches that are open inside of the innermost loop.
    switches: Vec<String>,
    /// Counts barriers, where the invocations of a workgroup share memory.
    pub phase: Option<u32>,
    /// Whether there are subgroup operations.
    pub has_subgroup_ops: bool,
    /// Private arrays in use, as the names of their types and their lengths.
    arrays: Vec<(&'static str, u64)>,
}

impl Program {
    pub fn new(seed: u64) -> Program {
        let start = "%gid_y = OpAccessChain %in_u32 %gid %n1\n%iy = OpLoad %u32 %gid_y\n\
                     %first = OpIMul %u32 %iy %n64\n%me = OpIAdd %u32 %i %first\n\
                     OpStore %v0 %me\nOpStore %v1 %n1\nOpStore %v2 %n5\nOpStore %v3 %n10\n\
                     OpStore %vbool %true\nOpStore %vf64 %third\nOpStore %vu64 %large\n";
        let (random, text) = (Random::new(seed), start.to_owned());
        let arrays = [vec![], vec![("u32", 6)], vec![("u32", 6), ("f64", 3)], vec![("u32", 6), ("bool", 5)]];
        let arrays = arrays[seed as usize % 4].clone();
        Program {
            random,
            text,
            n_ids: 0,
            loops: Vec::new(),
            switches: Vec::new(),
            phase: None,
            has_subgroup_ops: false,
            arrays,
        }
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.random.below(n)
    }

    pub fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        self.random.pick(of)
    }

    pub fn id(&mut self, prefix: &str) -> String {
        self.n_ids += 1;
        format!("%{prefix}{}", self.n_ids)
    }

    pub fn line(&mut self, line: &str) {
        writeln!(self.text, "{line}").expect("a string takes all");
    }

    pub fn made(&mut self, op: &str) -> String {
        let id = self.id("x");
        self.line(&format!("{id} = {op}"));
        id
    }

    fn variable(&mut self) -> String {
        format!("%v{}", self.random.below(4))
    }

    pub fn value(&mut self) -> String {
        match self.random.below(6) {
            0 => self.random.pick(&["%n0", "%n1", "%n3", "%n5", "%n10"]).to_owned(),
            1 => "%me".to_owned(),
            _ => {
                let variable = self.variable();
                self.made(&format!("OpLoad %u32 {variable}"))
            }
        }
    }

    pub fn term(&mut self) -> String {
        if self.has_subgroup_ops && self.below(4) == 0 {
            return self.made_in_subgroup();
        }
        let (a, b) = (self.value(), self.value());
        match self.random.below(11) {
            0 => self.load(&a),
            3 => self.of_other_type(),
            4 if self.phase.is_some() => self.load_shared("u32"),
            5 if !self.arrays.is_empty() => self.load_array(),
            1 => {
                let less = self.made(&format!("OpULessThan %bool {a} {b}"));
                self.made(&format!("OpSelect %u32 {less} {b} %me"))
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

    /// An element near an index: often a neighbour's, sometimes out of range.
    fn place(&mut self, index: &str, buffer: u32) -> String {
        let index = match self.random.below(4) {
            0 => self.made(&format!("OpIAdd %u32 %me {index}")),
            1 => self.made(&format!("OpBitwiseAnd %u32 {index} %n10")),
            2 => "%me".to_owned(),
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

    /// A load in the form of compilers that check indices themselves: out of range, it loads element 0 and
    /// selects zero. The length is that of the buffer, or a number.
    fn tested_load(&mut self, index: &str) -> String {
        let index = match self.random.below(3) {
            0 => "%me".to_owned(),
            1 => self.made(&format!("OpIAdd %u32 %me {index}")),
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

    /// A store of each invocation's own element after such a check.
    fn tested_store(&mut self, term: &str) {
        let [then, merge] = ["store", "stored"].map(|name| self.id(name));
        let len = match self.random.below(2) {
            0 => self.made("OpArrayLength %u32 %b1 0"),
            _ => "%n37".to_owned(),
        };
        let inside = self.made(&format!("OpULessThan %bool %me {len}"));
        let safe = self.made(&format!("OpSelect %u32 {inside} %me %n0"));
        self.line(&format!("OpSelectionMerge {merge} None\nOpBranchConditional {inside} {then} {merge}"));
        self.line(&format!("{then} = OpLabel"));
        let place = self.made(&format!("OpAccessChain %p1 %b1 %n0 {safe}"));
        self.line(&format!("OpStore {place} {term}\nOpBranch {merge}\n{merge} = OpLabel"));
    }

    pub fn condition(&mut self) -> String {
        let (a, b) = (self.value(), self.term());
        let op = self.random.pick(&["OpULessThan", "OpSGreaterThan", "OpIEqual", "OpINotEqual"]);
        self.made(&format!("{op} %bool {a} {b}"))
    }

    pub fn statements(&mut self, depth: u32) {
        for _ in 0..1 + self.random.below(3) {
            match self.random.below(if depth == 0 { 5 } else { 10 }) {
                0 if !self.arrays.is_empty() => self.store_array(),
                0..3 => self.assign(),
                3 if self.phase.is_some() => self.share(),
                3 | 4 => self.assign_other(),
                5 | 6 => self.branch(depth),
                7 => self.repeat(depth),
                8 => self.choose(depth),
                _ if self.phase.is_none() => self.end_early(),
                _ => self.assign(),
            }
        }
    }

    /// Some invocations end.
    pub fn end_early(&mut self) {
        let condition = self.condition();
        let [end, merge] = ["end", "merge"].map(|name| self.id(name));
        self.line(&format!("OpSelectionMerge {merge} None\nOpBranchConditional {condition} {end} {merge}"));
        self.line(&format!("{end} = OpLabel\nOpReturn\n{merge} = OpLabel"));
    }

    /// A number made of a variable of another type.
    fn of_other_type(&mut self) -> String {
        let ty = self.random.pick(&OTHER_TYPES);
        let value = self.made(&format!("OpLoad %{ty} %v{ty}"));
        self.as_number(ty, &value)
    }

    pub fn as_number(&mut self, ty: &str, value: &str) -> String {
        match ty {
            "bool" => {
                let other = self.value();
                self.made(&format!("OpSelect %u32 {value} %n3 {other}"))
            }
            "f64" => self.made(&format!("OpConvertFToU %u32 {value}")),
            "u64" => self.made(&format!("OpUConvert %u32 {value}")),
            _ => value.to_owned(),
        }
    }

    /// A new value of this type.
    pub fn value_of(&mut self, ty: &str) -> String {
        let number = self.value();
        let old = (ty != "u32").then(|| self.made(&format!("OpLoad %{ty} %v{ty}")));
        match (ty, old) {
            ("bool", Some(old)) => {
                let new = self.condition();
                let op = self.random.pick(&["OpLogicalAnd", "OpLogicalOr", "OpLogicalNotEqual"]);
                self.made(&format!("{op} %bool {new} {old}"))
            }
            ("f64", Some(old)) => {
                let number = self.made(&format!("OpConvertUToF %f64 {number}"));
                let op = self.random.pick(&["OpFAdd", "OpFSub", "OpFMul"]);
                self.made(&format!("{op} %f64 {number} {old}"))
            }
            ("u64", Some(old)) => {
                let number = self.made(&format!("OpUConvert %u64 {number}"));
                let op = self.random.pick(&["OpIAdd", "OpISub", "OpIMul", "OpBitwiseXor"]);
                self.made(&format!("{op} %u64 {number} {old}"))
            }
            _ => number,
        }
    }

    /// An element of a private array: at a uniform or a varying index, which may be out of range.
    fn own_element(&mut self, ty: &str, len: u64) -> String {
        let index = match self.random.below(4) {
            0 => self.random.pick(&["%n0", "%n1"]).to_owned(),
            1 => self.made("OpLoad %u32 %c1"),
            _ => {
                let variable = self.variable();
                self.made(&format!("OpLoad %u32 {variable}"))
            }
        };
        let index = match self.random.below(3) {
            0 => index,
            _ => self.made(&format!("OpUMod %u32 {index} %n{len}")),
        };
        let pointer = if ty == "u32" { "pfu".to_owned() } else { format!("pf{ty}") };
        self.made(&format!("OpAccessChain %{pointer} %a{ty} {index}"))
    }

    fn load_array(&mut self) -> String {
        let (ty, len) = self.arrays[self.random.below(self.arrays.len() as u64) as usize];
        let place = self.own_element(ty, len);
        let value = self.made(&format!("OpLoad %{ty} {place}"));
        self.as_number(ty, &value)
    }

    fn store_array(&mut self) {
        let (ty, len) = self.arrays[self.random.below(self.arrays.len() as u64) as usize];
        let value = self.value_of(ty);
        let place = self.own_element(ty, len);
        self.line(&format!("OpStore {place} {value}"));
    }

    fn assign_other(&mut self) {
        let ty = self.random.pick(&OTHER_TYPES);
        let value = self.value_of(ty);
        self.line(&format!("OpStore %v{ty} {value}"));
    }

    fn assign(&mut self) {
        let term = self.term();
        let variable = self.variable();
        self.line(&format!("OpStore {variable} {term}"));
        if self.random.below(6) == 0 {
            self.tested_store(&term);
        } else if self.random.below(4) == 0 {
            // Each invocation stores to its own element, so that the order does not matter.
            let place = self.made("OpAccessChain %p1 %b1 %n0 %me");
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

    /// Continues after an arm, or leaves the loop or the switch around it.
    fn leave(&mut self, merge: &str) {
        let to = match (self.random.below(5), self.loops.last(), self.switches.last()) {
            (0, Some((end, _)), _) => end.clone(),
            (1, Some((_, next)), _) => next.clone(),
            (2, _, Some(end)) => end.clone(),
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
        self.switches.push(merge.clone());
        for label in [one, two, other] {
            self.line(&format!("{label} = OpLabel"));
            self.statements(depth - 1);
            self.line(&format!("OpBranch {merge}"));
        }
        self.switches.pop();
        self.line(&format!("{merge} = OpLabel"));
    }

    /// A loop with a small number of iterations, uniform or varying.
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
        let outside = std::mem::take(&mut self.switches);
        self.statements(depth - 1);
        self.switches = outside;
        self.loops.pop();
        self.line(&format!("OpBranch {next}\n{next} = OpLabel"));
        let now = self.made(&format!("OpLoad %u32 {counter}"));
        let after = self.made(&format!("OpIAdd %u32 {now} %n1"));
        self.line(&format!("OpStore {counter} {after}\nOpBranch {head}\n{end} = OpLabel"));
    }
}

/// Names of the types of single variables.
const OTHER_TYPES: [&str; 3] = ["bool", "f64", "u64"];

const DECLARATIONS: &str = "%pfu = OpTypePointer Function %u32
%pfbool = OpTypePointer Function %bool
%pff64 = OpTypePointer Function %f64
%pfu64 = OpTypePointer Function %u64
%third = OpConstant %f64 0.375
%large = OpConstant %u64 81985529216486895
%n6 = OpConstant %u32 6
%arrayu32 = OpTypeArray %u32 %n6
%arrayf64 = OpTypeArray %f64 %n3
%arraybool = OpTypeArray %bool %n5
%pau32 = OpTypePointer Function %arrayu32
%paf64 = OpTypePointer Function %arrayf64
%pabool = OpTypePointer Function %arraybool
%n37 = OpConstant %u32 37
%n64 = OpConstant %u32 64";

impl Program {
    /// The module, which stores the variables at the end.
    pub fn finish(mut self, declarations: &str) -> Vec<u32> {
        for ty in OTHER_TYPES {
            let value = self.made(&format!("OpLoad %{ty} %v{ty}"));
            let (number, variable) = (self.as_number(ty, &value), self.variable());
            let old = self.made(&format!("OpLoad %u32 {variable}"));
            let new = self.made(&format!("OpIAdd %u32 {number} {old}"));
            self.line(&format!("OpStore {variable} {new}"));
        }
        for k in 0..4u32 {
            let value = self.made(&format!("OpLoad %u32 %v{k}"));
            let index = self.made(&format!("OpIMul %u32 %me %n{}", ["1", "2", "3", "1"][k as usize]));
            let place = self.made(&format!("OpAccessChain %p{0} %b{0} %n0 {index}", k + 2));
            self.line(&format!("OpStore {place} {value}"));
        }
        let mut variables: String = ["v0", "v1", "v2", "v3", "c1", "c2", "c3", "c4"]
            .map(|name| format!("%{name} = OpVariable %pfu Function\n"))
            .concat();
        for ty in OTHER_TYPES {
            variables += &format!("%v{ty} = OpVariable %pf{ty} Function\n");
        }
        for (ty, _) in &self.arrays {
            variables += &format!("%a{ty} = OpVariable %pa{ty} Function\n");
        }
        let declarations = format!("{DECLARATIONS}\n{declarations}");
        kernel_with(&[("u32", 4); N_BUFFERS], &declarations, &variables, &self.text)
    }
}

/// A kernel of independent invocations.
pub fn apart(seed: u64) -> Vec<u32> {
    let mut program = Program::new(seed);
    for _ in 0..3 {
        program.statements(3);
    }
    program.finish("")
}

/// A kernel that starts with a test of the domain, which is a push constant.
pub fn guarded(seed: u64) -> Vec<u32> {
    let mut program = Program::new(seed);
    program.line(
        "%domain_at = OpAccessChain %ppush_v3 %push %n0\n%domain = OpLoad %v3u32 %domain_at\n\
         %place = OpLoad %v3u32 %gid\n%below = OpULessThan %v3bool %place %domain\n%inside = OpAll %bool %below\n\
         OpSelectionMerge %go None\nOpBranchConditional %inside %go %stop\n\
         %stop = OpLabel\nOpReturn\n%go = OpLabel",
    );
    for _ in 0..2 {
        program.statements(3);
    }
    program.finish(
        "OpDecorate %push_block Block
OpMemberDecorate %push_block 0 Offset 0
%v3bool = OpTypeVector %bool 3
%push_block = OpTypeStruct %v3u32
%ppush = OpTypePointer PushConstant %push_block
%ppush_v3 = OpTypePointer PushConstant %v3u32
%push = OpVariable %ppush PushConstant",
    )
}
