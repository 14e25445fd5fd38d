//! The instructions of cooperative matrices, as functions of `library/tiles.kps` call them.
//!
//! Legalisation asks for those functions, with matrices that a subgroup holds. Their arguments have the right types.

use kps_syntax::Span;

use crate::builtins::CoopInstruction;
use crate::constant::Constant;
use crate::infer::Ctx;
use crate::infer::control::sequences::Spanned;
use crate::infer::expressions::operand::{Operand, Static};
use crate::ir::{CoopLines, CoopMemory, CoopPlace, NodeId, NodeKind, Place, Proof, Root, Step, Stmt};
use crate::types::{Scalar, Type};

impl Ctx<'_> {
    pub fn coop_instruction(
        &mut self,
        instruction: CoopInstruction,
        args: &[Spanned],
        span: Span,
    ) -> Operand {
        let Operand::Place(matrix @ Place { ty: Type::Coop(coop), .. }) = &args[0].0 else {
            unreachable!("the library calls instructions with matrices")
        };
        match instruction {
            CoopInstruction::Like => {
                let zero = self.constant(Constant::zero(coop.scalar), span);
                let zeros = self.node(NodeKind::Splat(zero), matrix.ty.clone(), span);
                let made = self.new_matrix(matrix.ty.clone(), None, span);
                self.store_whole(&made, zeros, span);
                return Operand::Place(made);
            }
            CoopInstruction::Length => {
                let length = self.node(NodeKind::CoopLength(*coop), Type::U32, span);
                return Operand::Node(self.convert(length, Scalar::I32, span));
            }
            CoopInstruction::Component => {
                let component = matrix.part(self.coop_step(&args[1]), coop.scalar.into());
                return Operand::Node(self.load_whole(&component, span));
            }
            CoopInstruction::Put => {
                let component = matrix.part(self.coop_step(&args[1]), coop.scalar.into());
                let value = self.coop_number(&args[2]);
                self.store_whole(&component, value, span);
            }
            CoopInstruction::Take => {
                let Operand::Place(other) = &args[1].0 else { unreachable!("it takes another matrix") };
                let value = self.load_whole(other, span);
                self.store_whole(matrix, value, span);
            }
            CoopInstruction::Load => self.load_matrix(matrix, args, CoopLines::Rows, span),
            CoopInstruction::LoadColumns => self.load_matrix(matrix, args, CoopLines::Columns, span),
            CoopInstruction::Store => self.store_matrix(matrix, args, CoopLines::Rows, span),
            CoopInstruction::StoreColumns => self.store_matrix(matrix, args, CoopLines::Columns, span),
        }
        Operand::Static(Static::None)
    }

    fn load_matrix(&mut self, matrix: &Place, args: &[Spanned], lines: CoopLines, span: Span) {
        let from = Box::new(self.coop_place(args, lines));
        let loaded = self.node(NodeKind::CoopLoad(from), matrix.ty.clone(), span);
        self.store_whole(matrix, loaded, span);
    }

    fn store_matrix(&mut self, matrix: &Place, args: &[Spanned], lines: CoopLines, span: Span) {
        let place = Box::new(self.coop_place(args, lines));
        let value = self.load_whole(matrix, span);
        self.f.block.push(Stmt::CoopStore { place, value, span });
    }

    /// The arguments after the matrix: an array, where the matrix begins in it, and the stride.
    fn coop_place(&mut self, args: &[Spanned], lines: CoopLines) -> CoopPlace {
        let memory = match &args[1].0 {
            Operand::Buffer(buffer) => CoopMemory::Buffer(*buffer),
            Operand::Place(Place { root: Root::Local(local), .. }) => CoopMemory::Shared(*local),
            _ => unreachable!("matrices are in arrays"),
        };
        let [start, stride] = [&args[2], &args[3]].map(|number| self.coop_number(number));
        CoopPlace { memory, start: self.in_range(start, args[2].1), stride, lines }
    }

    fn coop_step(&mut self, index: &Spanned) -> Step {
        let number = self.coop_number(index);
        Step::At(self.in_range(number, index.1))
    }

    fn in_range(&mut self, index: NodeId, span: Span) -> NodeId {
        self.node(NodeKind::Proven(Proof::InRange, index), self.ty(index).clone(), span)
    }

    fn coop_number(&mut self, (operand, at): &Spanned) -> NodeId {
        self.materialize(operand, *at).expect("the library calls instructions with numbers")
    }
}
