//! Cooperative matrices in native form, on a device that has instructions for all matrix operations of a
//! kernel.
//!
//! A matrix is a local of a type of its own. Any operation without an instruction is an error here: unsupported
//! products, other uses of a matrix, arrays that no instruction can access. Then the kernel is lowered again
//! with all matrices emulated, and the user sees the diagnostics of that pass. So native and emulated matrices
//! are never mixed.
//!
//! Loads and stores call `library/tiles.kps`, which tests that a matrix is inside its array. The first
//! invocation of the subgroup determines where the matrix begins.

use kps_syntax::Span;

use super::Ctx;
use super::coop::{Coop, CoopMove};
use super::operand::{Operand, Place, Root, Static};
use super::sequences::Spanned;
use crate::constant::Constant;
use crate::errors;
use crate::ir::{
    AtomicPlace, CoopLines, CoopMemory, CoopPlace, Function, Node, NodeId, NodeKind, Shared, SharedId, Step,
    Stmt, SubgroupOp, Together,
};
use crate::matrices::{CoopType, MAX_SIDE, Matrices, Product};
use crate::signature::{Target, Width};
use crate::template::{Input, KernelTemplate};
use crate::types::{Scalar, Type};

/// The alignment in bytes of the lines of a matrix in memory, unless they are shorter.
const ALIGNMENT: u32 = 16;

/// The native matrices of a kernel.
pub(super) struct Tiles {
    pub products: Matrices,
    /// The kernel makes matrices.
    pub are_used: bool,
    /// Shared memory with the numbers from 1 on, for each type in use.
    numbers: Vec<(Scalar, SharedId)>,
}

impl Tiles {
    /// `None` if all matrices are emulated: checks and traces inspect single elements.
    pub fn new(target: &Target, template: &KernelTemplate, rank: u8) -> Option<Tiles> {
        let products = target.matrices;
        let subgroup_size = template.options.subgroup_size.unwrap_or(products.subgroup_size).max(1);
        let whole_subgroups = template.local_size(rank)[0].is_multiple_of(subgroup_size);
        let is_watched = target.checks || target.trace.is_some();
        (!products.has_none() && whole_subgroups && !is_watched).then_some(Tiles {
            products,
            are_used: false,
            numbers: Vec::new(),
        })
    }
}

/// Operations on native matrices. The library calls them by names that no script can write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum CoopInstruction {
    /// A matrix that is known to be inside the array, row by row.
    Load,
    LoadColumns,
    Store,
    StoreColumns,
    Like,
    Take,
    Length,
    Component,
    Put,
}

impl Ctx<'_> {
    /// Whether the kernel uses matrices in a way for which there is no instruction.
    pub fn needs_emulation(&self) -> bool {
        let Some(tiles) = self.matrices.as_ref().filter(|tiles| tiles.are_used) else { return false };
        let n_shared: u64 = self.shared.iter().map(|shared| u64::from(shared.ty.packed_size())).sum();
        n_shared > u64::from(tiles.products.max_shared)
            || self.has_narrow_atomics()
            || !self.all_diagnostics().is_empty()
    }

    /// Atomic operations store narrow numbers of a workgroup in another format than matrices load.
    fn has_narrow_atomics(&self) -> bool {
        let is_narrow = |function: &Function, node: &Node| match &node.kind {
            NodeKind::Atomic(atomic) => match &atomic.place {
                AtomicPlace::Shared { local, .. } => {
                    let numbers = function.local(*local).ty.numbers();
                    numbers.first().is_some_and(|(_, scalar)| scalar.bits() < 32)
                }
                AtomicPlace::Buffer { .. } => false,
            },
            _ => false,
        };
        let mut functions = self.functions.iter().chain([&self.f.func]);
        functions.any(|function| function.nodes.iter().any(|node| is_narrow(function, node)))
    }

    /// A matrix of zeros.
    pub(super) fn tile(&mut self, coop: CoopType, span: Span) -> Operand {
        let zero = self.constant(Constant::zero(coop.scalar), span);
        self.tile_of(coop, NodeKind::Splat(zero), span)
    }

    /// A matrix as the result of a node.
    pub(super) fn tile_of(&mut self, coop: CoopType, kind: NodeKind, span: Span) -> Operand {
        let Some(tiles) = &mut self.matrices else { return Operand::Error };
        tiles.are_used = true;
        if !tiles.products.take(&coop) {
            return self.fail(errors::coop_emulated(self.at(span)));
        }
        let ty = Type::Coop(coop);
        let local = self.new_local("matrix", ty.clone(), span);
        let place = Place::local(local, ty.clone());
        let value = self.node(kind, ty, span);
        self.store_whole(&place, value, span);
        Operand::Place(place)
    }

    pub(super) fn tile_fill(&mut self, coop: &Coop, value: NodeId, span: Span) -> Option<Operand> {
        let filled = self.node(NodeKind::Splat(value), coop.place.ty.clone(), span);
        self.store_whole(&coop.place, filled, span);
        Some(Operand::Static(Static::None))
    }

    /// In a precise kernel every sum is computed in source order.
    pub(super) fn tile_multiply_add(&mut self, [c, a, b]: [&Coop; 3], span: Span) -> Option<Operand> {
        let product = Product { m: c.rows, n: c.columns, k: a.columns, factor: a.scalar, sum: c.scalar };
        let is_there = self.matrices.as_ref().is_some_and(|tiles| tiles.products.has(product));
        if !is_there || (self.template.options.precise && c.scalar.is_float()) {
            return Some(self.fail(errors::coop_emulated(self.at(span))));
        }
        let [sum, a, b] = [c, a, b].map(|coop| self.load_whole(&coop.place, span));
        let kind = NodeKind::CoopMultiplyAdd { sum, a, b };
        let sum = self.node(kind, c.place.ty.clone(), span);
        self.store_whole(&c.place, sum, span);
        Some(Operand::Static(Static::None))
    }

    pub(super) fn tile_move(
        &mut self,
        function: CoopMove,
        lines: CoopLines,
        coop: &Coop,
        args: &[Spanned],
        span: Span,
    ) -> Option<Operand> {
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
        let numbers = (Operand::Place(self.numbers(coop.scalar, span)?), span);
        let places = [start, stride].map(|node| (Operand::Node(node), span));
        let args = [matrix, array].into_iter().chain(places).chain(known).chain([numbers]).collect();
        let name = match (function, lines) {
            (CoopMove::Store, CoopLines::Rows) => "tile_store",
            (CoopMove::Store, CoopLines::Columns) => "tile_store_columns",
            (CoopMove::Load, CoopLines::Rows) => "tile_load",
            (CoopMove::Load, CoopLines::Columns) => "tile_load_columns",
        };
        Some(self.call_coop(name, args, span))
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
    fn tile_memory(&mut self, (operand, at): &(Operand, Span)) -> Option<CoopMemory> {
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
            _ => {
                self.error(errors::coop_emulated(self.at(*at)));
                None
            }
        }
    }

    /// The numbers of this type, as a place in this function. For `bf16`, their bits.
    fn numbers(&mut self, scalar: Scalar, span: Span) -> Option<Place> {
        let at = self.at(span);
        let tiles = self.matrices.as_mut()?;
        let ty = Type::array(MAX_SIDE, scalar.in_buffers().into());
        let known = tiles.numbers.iter().find(|(known, _)| *known == scalar).map(|(_, id)| *id);
        let id = known.unwrap_or_else(|| {
            let id = SharedId(self.shared.len() as u32);
            self.shared.push(Shared { name: "kps.numbers".into(), ty: ty.clone(), at });
            tiles.numbers.push((scalar, id));
            id
        });
        let local = self.local_for_shared(id, "kps.numbers", ty.clone(), span);
        Some(Place::local(local, ty))
    }

    /// Writes the numbers at the start of the kernel.
    pub fn write_numbers(&mut self, span: Span) {
        let asked = self.matrices.as_ref().map_or(Vec::new(), |tiles| tiles.numbers.clone());
        if asked.is_empty() {
            return;
        }
        let body = std::mem::take(&mut self.f.func.body);
        let first = self.input(Input::LocalInvocationIndex, &Type::I32, span);
        let step = Operand::int(self.local_size.iter().map(|n| i128::from(*n)).product());
        for (scalar, _) in asked {
            let Some(numbers) = self.numbers(scalar, span) else { continue };
            let number = Operand::Static(Static::Type(scalar.into()));
            let args = [Operand::Place(numbers), number, first.clone(), step.clone()];
            let name = if scalar == Scalar::Bf16 { "tile_bits" } else { "tile_numbers" };
            self.call_coop(name, args.map(|arg| (arg, span)).to_vec(), span);
        }
        self.f.block.push(Stmt::Together(Together::Barrier, span));
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
        let Type::Coop(coop) = place.ty else { return Operand::Error };
        let done = match instruction {
            CoopInstruction::Like => return self.tile(coop, span),
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
        let start = self.node(NodeKind::Proven(start), ty, span);
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
        let index = self.node(NodeKind::Proven(index), self.ty(index).clone(), span);
        Some(place.part(Step::At(index), coop.scalar.into()))
    }
}
