//! Random kernels with shared memory. Between two barriers, in a phase, invocations store to their own
//! elements of one set of arrays, and load any element of the other set; the next phase swaps the sets.

use super::programs::Program;

/// Names of the types of shared arrays.
const TYPES: [&str; 4] = ["u32", "bool", "f64", "u64"];

const DECLARATIONS: &str = "OpDecorate %lix BuiltIn LocalInvocationIndex
OpDecorate %wid BuiltIn WorkgroupId
%lix = OpVariable %in_u32 Input
%wid = OpVariable %in_v3u32 Input
%n31 = OpConstant %u32 31
%n264 = OpConstant %u32 264
%arr_tally = OpTypeArray %u32 %n8
%ptally = OpTypePointer Workgroup %arr_tally
%tally = OpVariable %ptally Workgroup";

/// A kernel with barriers, also in loops and branches that are uniform in the workgroup.
pub fn shared(seed: u64) -> Vec<u32> {
    share_in(Program::new(seed))
}

/// Adds phases to a program.
pub fn share_in(mut program: Program) -> Vec<u32> {
    program.phase = Some(0);
    program
        .line("%own = OpLoad %u32 %lix\n%wid_x = OpAccessChain %in_u32 %wid %n0\n%wg = OpLoad %u32 %wid_x");
    for _ in 0..3 {
        program.statements(2);
        match program.below(4) {
            0 => program.repeat_phases(),
            1 => program.branch_to_phases(),
            _ => program.barrier(),
        }
    }
    program.statements(2);
    program.barrier();
    let k = program.made("OpBitwiseAnd %u32 %own %n5");
    let place = program.made(&format!("OpAccessChain %pw_u32 %tally {k}"));
    let count = program.made(&format!("OpLoad %u32 {place}"));
    program.line(&format!("OpStore %v3 {count}"));
    if program.below(3) == 0 {
        program.end_early();
    }
    let mut declarations = DECLARATIONS.to_owned();
    for ty in TYPES {
        declarations += &format!(
            "\n%arr_{ty} = OpTypeArray %{ty} %n64\n%parr_{ty} = OpTypePointer Workgroup %arr_{ty}\n\
             %pw_{ty} = OpTypePointer Workgroup %{ty}\n%even_{ty} = OpVariable %parr_{ty} Workgroup\n\
             %odd_{ty} = OpVariable %parr_{ty} Workgroup"
        );
    }
    program.finish(&declarations)
}

impl Program {
    fn barrier(&mut self) {
        self.line("OpControlBarrier %n2 %n2 %n264");
        self.phase = self.phase.map(|phase| phase + 1);
    }

    /// The set of arrays to store to, and the set to load from.
    fn sets(&self) -> [&'static str; 2] {
        if self.phase.is_some_and(|phase| phase % 2 == 0) { ["even", "odd"] } else { ["odd", "even"] }
    }

    /// Stores a value for the workgroup.
    pub fn share(&mut self) {
        let [own_set, _] = self.sets();
        if self.below(4) == 0 {
            let value = self.value();
            let k = self.made(&format!("OpBitwiseAnd %u32 {value} %n5"));
            let place = self.made(&format!("OpAccessChain %pw_u32 %tally {k}"));
            self.made(&format!("OpAtomicIAdd %u32 {place} %n2 %n0 {value}"));
            return;
        }
        let ty = self.pick(&TYPES);
        let value = self.value_of(ty);
        let place = self.made(&format!("OpAccessChain %pw_{ty} %{own_set}_{ty} %own"));
        self.line(&format!("OpStore {place} {value}"));
        let ty = self.pick(&TYPES[1..]);
        let value = self.loaded(ty);
        self.line(&format!("OpStore %v{ty} {value}"));
    }

    pub fn load_shared(&mut self, ty: &str) -> String {
        let value = self.loaded(ty);
        self.as_number(ty, &value)
    }

    /// The invocation's own element, a neighbour's, or one that may be out of range.
    fn loaded(&mut self, ty: &str) -> String {
        let [own_set, others] = self.sets();
        let value = self.value();
        let (set, index) = match self.below(4) {
            0 => (own_set, "%own".to_owned()),
            1 => (others, self.made("OpIAdd %u32 %own %n3")),
            2 => (others, self.made(&format!("OpBitwiseAnd %u32 {value} %n31"))),
            _ => (others, value),
        };
        let place = self.made(&format!("OpAccessChain %pw_{ty} %{set}_{ty} {index}"));
        self.made(&format!("OpLoad %{ty} {place}"))
    }

    /// Two barriers, so that the phase after them is the one before.
    fn two_phases(&mut self) {
        for _ in 0..2 {
            self.statements(1);
            self.barrier();
        }
    }

    fn repeat_phases(&mut self) {
        let rounds = self.made("OpIAdd %u32 %wg %n1");
        let rounds = self.made(&format!("OpBitwiseAnd %u32 {rounds} %n3"));
        let [head, test, body, next, end] = ["head", "test", "body", "next", "end"].map(|name| self.id(name));
        self.line(&format!("OpStore %c4 %n0\nOpBranch {head}\n{head} = OpLabel"));
        self.line(&format!("OpLoopMerge {end} {next} None\nOpBranch {test}\n{test} = OpLabel"));
        let now = self.made("OpLoad %u32 %c4");
        let more = self.made(&format!("OpULessThan %bool {now} {rounds}"));
        self.line(&format!("OpBranchConditional {more} {body} {end}\n{body} = OpLabel"));
        self.two_phases();
        self.line(&format!("OpBranch {next}\n{next} = OpLabel"));
        let now = self.made("OpLoad %u32 %c4");
        let after = self.made(&format!("OpIAdd %u32 {now} %n1"));
        self.line(&format!("OpStore %c4 {after}\nOpBranch {head}\n{end} = OpLabel"));
    }

    fn branch_to_phases(&mut self) {
        let condition = self.made("OpULessThan %bool %wg %n1");
        let [then, otherwise, merge] = ["then", "else", "merge"].map(|name| self.id(name));
        self.line(&format!("OpSelectionMerge {merge} None"));
        self.line(&format!("OpBranchConditional {condition} {then} {otherwise}\n{then} = OpLabel"));
        self.two_phases();
        self.line(&format!("OpBranch {merge}\n{otherwise} = OpLabel"));
        self.statements(1);
        self.line(&format!("OpBranch {merge}\n{merge} = OpLabel"));
    }
}
