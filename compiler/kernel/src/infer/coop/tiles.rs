//! Cooperative matrices by instructions: the native form of their operations.
//!
//! In go operations on matrices that are lists of rows here; out come nodes for whole matrices, or `None` where
//! no device has an instruction. What the device of the launch has, no one asks here.
//!
//! Loads and stores call `library/tiles.kps`, which tests that a matrix is inside its array. The first invocation of the
//! subgroup determines where the matrix begins.

use kps_syntax::Span;

use super::{Coop, CoopMove};
use crate::builtins::CoopInstruction;
use crate::constant::Constant;
use crate::infer::Ctx;
use crate::infer::control::sequences::Spanned;
use crate::infer::expressions::operand::{Operand, Static};
use crate::ir::{
    CoopLines, CoopMemory, CoopPlace, NodeId, NodeKind, Place, Proof, Root, Shared, Step, Stmt, SubgroupOp,
    Together,
};
use crate::matrices::{CoopType, CoopUse, MAX_SIDE};
use crate::signature::Width;
use crate::template::Input;
use crate::types::{Scalar, Type};

/// The alignment in bytes of the lines of a matrix in memory, unless they are shorter.
const ALIGNMENT: u32 = 16;

impl Ctx<'_> {
    /// Stores zeros in a matrix.
    pub(in crate::infer) fn tile_zero(&mut self, matrix: &Place, span: Span) -> Option<()> {
        let zero = self.constant(Constant::zero(matrix.ty.coop()?.scalar), span);
        let value = self.node(NodeKind::Splat(zero), matrix.ty.clone(), span);
        self.store_whole(matrix, value, span);
        Some(())
    }

    pub(in crate::infer) fn tile_fill(&mut self, coop: &Coop, value: NodeId, span: Span) -> Option<()> {
        coop.ty()?;
        let filled = self.node(NodeKind::Splat(value), coop.place.ty.clone(), span);
        self.store_whole(&coop.place, filled, span);
        Some(())
    }

    pub(in crate::infer) fn tile_multiply_add(&mut self, matrices: [&Coop; 3], span: Span) -> Option<()> {
        let uses = [CoopUse::Accumulator, CoopUse::A, CoopUse::B];
        if matrices.map(|coop| coop.ty().map(|ty| ty.purpose)) != uses.map(Some) {
            return None;
        }
        let [sum, a, b] = matrices.map(|coop| self.load_whole(&coop.place, span));
        let place = &matrices[0].place;
        let sum = self.node(NodeKind::CoopMultiplyAdd { sum, a, b }, place.ty.clone(), span);
        self.store_whole(place, sum, span);
        Some(())
    }

    pub(in crate::infer) fn tile_move(
        &mut self,
        function: CoopMove,
        lines: CoopLines,
        coop: &Coop,
        args: &[Spanned],
        span: Span,
    ) -> Option<()> {
        coop.ty()?;
        let (matrix, array) = (args[0].clone(), args[1].clone());
        let is_wide = match self.tile_memory(&array)? {
            CoopMemory::Buffer(buffer) => self.counts_of(buffer) == Width::Wide,
            CoopMemory::Shared(_) => false,
        };
        let [start, stride] = [&args[2], &args[3]].map(|(operand, at)| self.index_node(operand, *at));
        let (start, stride) = (start?, stride?);
        let is_wide = is_wide || [start, stride].iter().any(|node| *self.ty(*node) == Scalar::I64.into());
        let index = if is_wide { Scalar::I64 } else { Scalar::I32 };
        let [start, stride] = [start, stride].map(|node| self.of_subgroup(node, index, span));
        let n_each = if lines == CoopLines::Rows { coop.columns } else { coop.rows };
        let line_bytes = n_each * coop.scalar.bytes();
        let align = (line_bytes.min(ALIGNMENT) / coop.scalar.bytes()).max(1);
        let known = [coop.rows, coop.columns, align].map(|known| (Operand::int(known.into()), span));
        let numbers = (Operand::Place(self.numbers(coop.scalar, span)), span);
        let places = [start, stride].map(|node| (Operand::Node(node), span));
        let args = [matrix, array].into_iter().chain(places).chain(known).chain([numbers]).collect();
        let name = match (function, lines) {
            (CoopMove::Store, CoopLines::Rows) => "tile_store",
            (CoopMove::Store, CoopLines::Columns) => "tile_store_columns",
            (CoopMove::Load, CoopLines::Rows) => "tile_load",
            (CoopMove::Load, CoopLines::Columns) => "tile_load_columns",
        };
        (!self.call_coop(name, args, span).has_error()).then_some(())
    }

    /// An index, as the first invocation of the subgroup computes it.
    fn of_subgroup(&mut self, index: NodeId, scalar: Scalar, span: Span) -> NodeId {
        let index = self.convert(index, scalar, span);
        if self.f.func.constant(index).is_some() {
            return index;
        }
        let kind = NodeKind::Subgroup { op: SubgroupOp::FromFirst, value: Some(index), lane: None };
        self.node(kind, scalar, span)
    }

    /// The array that contains a matrix, if instructions can access it.
    fn tile_memory(&self, (operand, _): &Spanned) -> Option<CoopMemory> {
        match operand {
            Operand::Buffer(buffer) if self.array(*buffer).rank == 1 && !self.is_selected(*buffer) => {
                Some(CoopMemory::Buffer(*buffer))
            }
            // Workgroup memory stores `bf16` as f32.
            Operand::Place(place)
                if self.shared_id(place).is_some()
                    && place.path.is_empty()
                    && place.ty.part(0) != Some(Scalar::Bf16.into()) =>
            {
                match place.root {
                    Root::Local(local) => Some(CoopMemory::Shared(local)),
                    Root::Element(..) => None,
                }
            }
            _ => None,
        }
    }

    /// The numbers of this type, as a place in this function. For `bf16`, their bits.
    fn numbers(&mut self, scalar: Scalar, span: Span) -> Place {
        let ty = Type::array(MAX_SIDE, scalar.in_buffers().into());
        let known = self.matrix_numbers.iter().find(|(known, _)| *known == scalar).map(|(_, id)| *id);
        let id = known.unwrap_or_else(|| {
            let (name, at) = ("kps.numbers".into(), self.at(span));
            let id = self.interface.add_shared(Shared { name, ty: ty.clone(), at, is_for_matrices: true });
            self.matrix_numbers.push((scalar, id));
            id
        });
        let local = self.local_for_shared(id, "kps.numbers", ty.clone(), span);
        Place::local(local, ty)
    }

    /// Writes the numbers at the start of the kernel.
    pub fn write_numbers(&mut self, span: Span) {
        let asked = self.matrix_numbers.clone();
        if asked.is_empty() {
            return;
        }
        let body = std::mem::take(&mut self.f.func.body);
        let native = |ctx: &mut Self| {
            let first = ctx.input(Input::LocalInvocationIndex, &Type::I32, span);
            let step = Operand::int(ctx.local_size.iter().map(|n| i128::from(*n)).product());
            for (scalar, _) in asked {
                let numbers = Operand::Place(ctx.numbers(scalar, span));
                let number = Operand::Static(Static::Type(scalar.into()));
                let args = [numbers, number, first.clone(), step.clone()];
                let name = if scalar == Scalar::Bf16 { "tile_bits" } else { "tile_numbers" };
                ctx.call_coop(name, args.map(|arg| (arg, span)).to_vec(), span);
            }
            ctx.f.block.push(Stmt::Together(Together::Barrier, span));
            Some(())
        };
        self.coop_forms(span, native, |_| ());
        self.f.func.body = std::mem::take(&mut self.f.block);
        self.f.func.body.extend(body);
    }

    // Instructions, as library functions call them. The number of arguments is correct.

    pub fn coop_instruction(
        &mut self,
        instruction: CoopInstruction,
        args: &[Spanned],
        span: Span,
    ) -> Operand {
        let Some(place) = self.tile_place(&args[0].0) else { return Operand::Error };
        let Some(coop) = place.ty.coop() else { return Operand::Error };
        let done = match instruction {
            CoopInstruction::Like => {
                let matrix = self.new_matrix(place.ty, None, span);
                self.tile_zero(&matrix, span);
                return Operand::Place(matrix);
            }
            CoopInstruction::Length => {
                let length = self.node(NodeKind::CoopLength(coop), Type::U32, span);
                return Operand::Node(self.convert(length, Scalar::I32, span));
            }
            CoopInstruction::Take => self.tile_place(&args[1].0).map(|other| {
                let value = self.load_whole(&other, span);
                self.store_whole(&place, value, span);
            }),
            CoopInstruction::Load => self.load_tile(&place, args, CoopLines::Rows, span),
            CoopInstruction::LoadColumns => self.load_tile(&place, args, CoopLines::Columns, span),
            CoopInstruction::Store => self.store_tile(&place, args, CoopLines::Rows, span),
            CoopInstruction::StoreColumns => self.store_tile(&place, args, CoopLines::Columns, span),
            CoopInstruction::Component => {
                return match self.tile_component(&place, &args[1], coop, span) {
                    Some(component) => Operand::Node(self.load_whole(&component, span)),
                    None => Operand::Error,
                };
            }
            CoopInstruction::Put => self.tile_component(&place, &args[1], coop, span).and_then(|component| {
                let value = self.stored_value(&args[2].0, &component.ty, span, span)?;
                self.store_whole(&component, value, span);
                Some(())
            }),
        };
        done.map_or(Operand::Error, |()| Operand::Static(Static::None))
    }

    fn load_tile(
        &mut self,
        matrix: &Place,
        args: &[(Operand, Span)],
        lines: CoopLines,
        span: Span,
    ) -> Option<()> {
        let from = self.coop_place(args, lines, span)?;
        let loaded = self.node(NodeKind::CoopLoad(Box::new(from)), matrix.ty.clone(), span);
        self.store_whole(matrix, loaded, span);
        Some(())
    }

    fn store_tile(
        &mut self,
        matrix: &Place,
        args: &[(Operand, Span)],
        lines: CoopLines,
        span: Span,
    ) -> Option<()> {
        let place = Box::new(self.coop_place(args, lines, span)?);
        let value = self.load_whole(matrix, span);
        self.f.block.push(Stmt::CoopStore { place, value, span });
        Some(())
    }

    fn tile_place(&self, operand: &Operand) -> Option<Place> {
        match operand {
            Operand::Place(place) => Some(place.clone()),
            _ => None,
        }
    }

    /// The arguments after the matrix: an array, where the matrix begins in it, and the stride.
    fn coop_place(&mut self, args: &[(Operand, Span)], lines: CoopLines, span: Span) -> Option<CoopPlace> {
        let memory = self.tile_memory(&args[1])?;
        let [start, stride] = [&args[2], &args[3]].map(|(operand, at)| self.materialize(operand, *at));
        let (start, ty) = (start?, self.ty(start?).clone());
        let start = self.node(NodeKind::Proven(Proof::InRange, start), ty, span);
        Some(CoopPlace { memory, start, stride: stride?, lines })
    }

    fn tile_component(
        &mut self,
        place: &Place,
        (index, at): &(Operand, Span),
        coop: CoopType,
        span: Span,
    ) -> Option<Place> {
        let index = self.materialize(index, *at)?;
        let index = self.node(NodeKind::Proven(Proof::InRange, index), self.ty(index).clone(), span);
        Some(place.part(Step::At(index), coop.scalar.into()))
    }
}
