//! Random kernels with subgroup operations, also in branches and loops that only some invocations reach.

use super::phases;
use super::programs::Program;

/// A kernel without barriers, or with them.
pub fn in_subgroups(seed: u64) -> Vec<u32> {
    let mut program = Program::new(seed);
    program.has_subgroup_ops = true;
    if seed.is_multiple_of(3) {
        return phases::share_in(program);
    }
    for _ in 0..3 {
        program.statements(3);
    }
    program.finish("")
}

const FOLDS: [&str; 9] = [
    "GroupNonUniformIAdd",
    "GroupNonUniformIMul",
    "GroupNonUniformUMin",
    "GroupNonUniformSMin",
    "GroupNonUniformUMax",
    "GroupNonUniformSMax",
    "GroupNonUniformBitwiseAnd",
    "GroupNonUniformBitwiseOr",
    "GroupNonUniformBitwiseXor",
];

impl Program {
    /// The result of a subgroup operation.
    pub fn made_in_subgroup(&mut self) -> String {
        match self.below(6) {
            0 => self.voted(),
            1 => self.ballot(),
            2 => self.folded_float(),
            3 => self.read_from_another(),
            _ => {
                let (fold, span, value) = (self.pick(&FOLDS), self.span(), self.value());
                self.made(&span.replace("VALUE", &value).replace("FOLD", &format!("Op{fold} %u32")))
            }
        }
    }

    fn span(&mut self) -> String {
        let span = self.pick(&[
            "Reduce VALUE",
            "InclusiveScan VALUE",
            "ExclusiveScan VALUE",
            "ClusteredReduce VALUE %n2",
            "ClusteredReduce VALUE %n4",
        ]);
        format!("FOLD %n3 {span}")
    }

    fn voted(&mut self) -> String {
        let vote = match self.below(4) {
            0 => "OpGroupNonUniformElect %bool %n3".to_owned(),
            1 => {
                let value = self.value();
                format!("OpGroupNonUniformAllEqual %bool %n3 {value}")
            }
            2 => {
                let span = self.span();
                let fold = self.pick(&["LogicalAnd", "LogicalOr", "LogicalXor"]);
                let condition = self.condition();
                span.replace("VALUE", &condition).replace("FOLD", &format!("OpGroupNonUniform{fold} %bool"))
            }
            _ => {
                let (op, condition) = (self.pick(&["All", "Any"]), self.condition());
                format!("OpGroupNonUniform{op} %bool %n3 {condition}")
            }
        };
        let vote = self.made(&vote);
        let other = self.value();
        self.made(&format!("OpSelect %u32 {vote} %n5 {other}"))
    }

    fn ballot(&mut self) -> String {
        let condition = self.condition();
        let votes = self.made(&format!("OpGroupNonUniformBallot %v4u32 %n3 {condition}"));
        match self.below(3) {
            0 => self.made(&format!("OpCompositeExtract %u32 {votes} 0")),
            1 => self.made(&format!("OpCompositeExtract %u32 {votes} 1")),
            _ => self.made(&format!("OpGroupNonUniformBallotBitCount %u32 %n3 ExclusiveScan {votes}")),
        }
    }

    fn folded_float(&mut self) -> String {
        let (span, ty) = (self.span(), self.pick(&["f32", "f64"]));
        let number = self.value();
        let number = self.made(&format!("OpConvertUToF %{ty} {number}"));
        let fold = self.pick(&["FAdd", "FMul", "FMin", "FMax"]);
        let fold = format!("OpGroupNonUniform{fold} %{ty}");
        let folded = self.made(&span.replace("VALUE", &number).replace("FOLD", &fold));
        self.made(&format!("OpConvertFToU %u32 {folded}"))
    }

    fn read_from_another(&mut self) -> String {
        let value = self.value();
        let place = match self.below(4) {
            0 => self.value(),
            1 => {
                let any = self.value();
                self.made(&format!("OpBitwiseAnd %u32 {any} %n5"))
            }
            _ => self.pick(&["%n1", "%n2", "%n3", "%n4"]).to_owned(),
        };
        let sources =
            ["Shuffle", "ShuffleXor", "ShuffleUp", "ShuffleDown", "RotateKHR", "BroadcastFirst", "QuadSwap"];
        match self.pick(&sources) {
            "BroadcastFirst" => self.made(&format!("OpGroupNonUniformBroadcastFirst %u32 %n3 {value}")),
            "QuadSwap" => self.made(&format!("OpGroupNonUniformQuadSwap %u32 %n3 {value} %n1")),
            source => self.made(&format!("OpGroupNonUniform{source} %u32 %n3 {value} {place}")),
        }
    }
}
