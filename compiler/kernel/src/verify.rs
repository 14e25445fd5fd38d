//! What a well-formed kernel obeys. Only a kernel that does can be emitted.
//!
//! 1. A node is used only below its `Eval`, in the same block or one nested in it; constants anywhere.
//!    No node is evaluated twice.
//! 2. Operands have the types that their operation is defined for, and give the node's type.
//! 3. A store has the type of its place; a path leads from part to part.
//! 4. Indices are int scalars; conditions are bools.
//! 5. `Break` and `Continue` stand inside a loop's body; nothing follows them or a `Return`.
//! 6. Every `Return` has a value of the function's type, or none where that is `Void`. The end of a
//!    function that returns a value is not reached.
//! 7. Calls lead to earlier functions, with the arguments that those declare; references are whole
//!    local arrays.
//! 8. Every buffer, scalar, local and carry that is named exists. A carry stands in one place.
//! 9. No type is `Error`. Arithmetic that a type does in a wider one is done there (`widen.rs`).
//! 10. A local that lies in the workgroup's memory has that memory's type. Barriers stand only in a kernel
//!     of whole workgroups.
//! 11. Ports are read and stored, and fragments discarded, in stages that have them.
//! 12. The last function is the kernel: no arguments, no result.

use std::fmt::Display;

use kps_syntax::{Diagnostics, Span};

use crate::builtins::{AtomicOp, Combine, SubgroupOp};
use crate::errors;
use crate::ir::{
    Arg, Atomic, AtomicPlace, BinaryOp, Block, Buffer, BufferId, CallArg, CarryId, CoopMemory, CoopPlace,
    Function, GeometryFn, Home, Kernel, LocalId, NodeId, NodeKind, PortId, Step, Stmt, TextureId, UnaryOp,
    is_terminator,
};
use crate::matrices::{CoopType, CoopUse};
use crate::stages::{Direction, Stage};
use crate::types::{Kind, Scalar, Type};

/// Proof that a kernel is well-formed; nothing else makes one.
#[derive(Debug)]
pub struct Verified<T>(T);

impl<T> Verified<T> {
    pub fn get(&self) -> &T {
        &self.0
    }
}

/// A violation is a mistake of this compiler; it is told as one, with the place.
pub(crate) fn verify(kernel: Kernel) -> Result<Verified<Kernel>, Diagnostics> {
    for function_idx in 0..kernel.functions.len() {
        let function = &kernel.functions[function_idx];
        let is_kernel = function_idx + 1 == kernel.functions.len();
        let mut verifier = Verifier {
            kernel: &kernel,
            function,
            function_idx,
            visible: vec![false; function.nodes.len()],
            evaluated: vec![false; function.nodes.len()],
            carried: vec![false; function.carries.len()],
            n_loops: 0,
        };
        verifier.function(is_kernel).map_err(|violation| {
            let at = function.source.at(violation.span);
            Diagnostics::from(errors::internal(at, &violation.what))
        })?;
    }
    Ok(Verified(kernel))
}

struct Violation {
    what: String,
    span: Span,
}

type Check = Result<(), Violation>;

fn ensure(holds: bool, span: Span, what: impl Display) -> Check {
    if holds { Ok(()) } else { Err(Violation { what: what.to_string(), span }) }
}

struct Verifier<'k> {
    kernel: &'k Kernel,
    function: &'k Function,
    function_idx: usize,
    /// Nodes that may be used here.
    visible: Vec<bool>,
    evaluated: Vec<bool>,
    carried: Vec<bool>,
    n_loops: u32,
}

impl Verifier<'_> {
    fn function(&mut self, is_kernel: bool) -> Check {
        let function = self.function;
        let span = function.span;
        if is_kernel {
            let plain = function.args.is_empty() && function.result == Type::Void;
            ensure(plain, span, "a kernel with arguments or a result")?;
        }
        self.known_type(&function.result, span)?;
        for local in &function.locals {
            self.known_type(&local.ty, local.span)?;
            ensure(local.ty != Type::Void, local.span, "a local without a type")?;
            if let Home::Workgroup(shared) = local.home {
                let def = self.kernel.shared.get(shared.idx());
                let fits = def.is_some_and(|def| def.ty == local.ty);
                ensure(fits, local.span, "a local for shared memory of another type")?;
            }
        }
        for arg in &function.args {
            match arg {
                Arg::Value { ty, .. } => self.known_type(ty, span)?,
                Arg::Reference(local) => {
                    let is_reference =
                        function.locals.get(local.idx()).is_some_and(|local| local.home == Home::Caller);
                    ensure(is_reference, span, "a reference argument that is no reference")?;
                }
            }
        }
        self.block(&function.body)?;
        let ends = function.body.last().is_some_and(ends_control);
        ensure(ends || function.result != Type::Void, span, "a kernel whose end is open")
    }

    fn block(&mut self, block: &Block) -> Check {
        let mut evaluated_here = Vec::new();
        for (at, stmt) in block.iter().enumerate() {
            if let Stmt::Eval(node) = stmt {
                evaluated_here.push(*node);
            }
            self.stmt(stmt)?;
            let is_last = at + 1 == block.len();
            ensure(is_last || !is_terminator(stmt), self.function.span, "code behind a jump")?;
        }
        for node in evaluated_here {
            self.visible[node.idx()] = false;
        }
        Ok(())
    }

    fn stmt(&mut self, stmt: &Stmt) -> Check {
        match stmt {
            Stmt::Eval(node) => self.eval(*node),
            Stmt::Store { local, value, span } => {
                let ty = self.local(*local, *span)?.clone();
                self.value(*value, &ty, *span)
            }
            Stmt::StoreElement { local, path, value, span } => {
                let ty = self.path(*local, path, *span)?;
                self.value(*value, &ty, *span)
            }
            Stmt::BufferStore { buffer, index, path, value, span } => {
                let element = self.buffer(*buffer, *span)?.clone();
                self.index(*index, *span)?;
                let ty = self.part(element, path, *span)?;
                self.value(*value, &ty, *span)
            }
            Stmt::CoopStore { place, value, span } => {
                self.usable(*value, *span)?;
                self.coop_place(place, self.function.ty(*value), *span)
            }
            Stmt::Record(record) => record.values.iter().try_for_each(|value| {
                self.usable(*value, record.span)?;
                let carried = matches!(self.function.ty(*value), Type::Scalar(scalar) if *scalar == Scalar::Bool || scalar.bits() >= 32);
                ensure(carried, record.span, "a record of what no word carries")
            }),
            Stmt::TextureWrite { texture, at, value, span } => {
                let ty = self.texture(*texture, *at, Scalar::I32, *span)?;
                self.value(*value, &ty, *span)
            }
            Stmt::PortStore { port, value, span } => {
                let ty = self.port(*port, Direction::Output, *span)?.clone();
                self.value(*value, &ty, *span)
            }
            Stmt::Discard(span) => {
                ensure(self.kernel.stage == Stage::Fragment, *span, "a discard outside a fragment")
            }
            Stmt::Carry(carry) => self.carry(*carry),
            Stmt::Together(_, span) => {
                ensure(self.kernel.whole_groups, *span, "a barrier in parts of workgroups")
            }
            Stmt::If { condition, then, orelse, span } => {
                self.value(*condition, &Type::BOOL, *span)?;
                self.block(then)?;
                self.block(orelse)
            }
            Stmt::Loop(parts) => {
                // What the test computes can be used in the body and in the step: it dominates both.
                let n_loops = std::mem::replace(&mut self.n_loops, 0);
                self.open_block(&parts.test)?;
                if let Some(condition) = parts.condition {
                    self.value(condition, &Type::BOOL, parts.span)?;
                }
                self.n_loops = n_loops + 1;
                self.block(&parts.body)?;
                self.n_loops = 0;
                self.block(&parts.step)?;
                self.n_loops = n_loops;
                self.close_block(&parts.test);
                Ok(())
            }
            Stmt::Break | Stmt::Continue => {
                ensure(self.n_loops > 0, self.function.span, "a jump outside a loop")
            }
            Stmt::Return(value, span) => match (value, &self.function.result) {
                (None, Type::Void) => Ok(()),
                (Some(value), result) => {
                    let result = result.clone();
                    self.value(*value, &result, *span)
                }
                (None, _) => ensure(false, *span, "a return without its value"),
            },
        }
    }

    fn open_block(&mut self, block: &Block) -> Check {
        block.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn close_block(&mut self, block: &Block) {
        for stmt in block {
            if let Stmt::Eval(node) = stmt {
                self.visible[node.idx()] = false;
            }
        }
    }

    fn carry(&mut self, carry: CarryId) -> Check {
        let span = self.function.span;
        let Some(stores) = self.function.carries.get(carry.idx()) else {
            return ensure(false, span, "a carry that is not there");
        };
        ensure(!std::mem::replace(&mut self.carried[carry.idx()], true), span, "a carry in two places")?;
        for (local, value) in stores {
            let ty = self.local(*local, span)?.clone();
            self.value(*value, &ty, span)?;
        }
        Ok(())
    }

    fn local(&self, local: LocalId, span: Span) -> Result<&Type, Violation> {
        match self.function.locals.get(local.idx()) {
            Some(local) => Ok(&local.ty),
            None => Err(Violation { what: "a local that is not there".to_owned(), span }),
        }
    }

    fn buffer(&self, buffer: BufferId, span: Span) -> Result<&Type, Violation> {
        match self.kernel.buffers.get(buffer.idx()) {
            Some(buffer) => Ok(&buffer.element),
            None => Err(Violation { what: "a buffer that is not there".to_owned(), span }),
        }
    }

    fn port(&self, port: PortId, direction: Direction, span: Span) -> Result<&Type, Violation> {
        match self.kernel.ports.get(port.idx()) {
            Some(port) if port.port.direction == direction => Ok(&port.port.ty),
            _ => Err(Violation { what: "a port that is not there".to_owned(), span }),
        }
    }

    /// What reading a texture gives; its coordinates are as many as its axes, of this kind of number.
    fn texture(&self, texture: TextureId, at: NodeId, scalar: Scalar, span: Span) -> Result<Type, Violation> {
        let Some(texture) = self.kernel.textures.get(texture.idx()) else {
            return Err(Violation { what: "a texture that is not there".to_owned(), span });
        };
        self.usable(at, span)?;
        let place = self.function.ty(at);
        let fits = place.n_components() == texture.ty.n_axes
            && place.scalar().is_some_and(|found| found.is_int() == scalar.is_int() && found.bits() == 32);
        ensure(fits, span, "coordinates that do not fit the texture")?;
        Ok(Type::Vector(4, texture.ty.scalar))
    }

    /// The node may be used here.
    fn usable(&self, node: NodeId, span: Span) -> Check {
        let is_constant = self
            .function
            .nodes
            .get(node.idx())
            .is_some_and(|node| matches!(node.kind, NodeKind::Constant(_)));
        let is_visible = self.visible.get(node.idx()).copied().unwrap_or(false);
        ensure(is_constant || is_visible, span, "a value used where it is not known")
    }

    fn value(&self, node: NodeId, ty: &Type, span: Span) -> Check {
        self.usable(node, span)?;
        let found = self.function.ty(node);
        ensure(found == ty, span, format_args!("a `{found}` where a `{ty}` belongs"))
    }

    fn index(&self, node: NodeId, span: Span) -> Check {
        self.usable(node, span)?;
        let is_int = matches!(self.function.ty(node), Type::Scalar(scalar) if scalar.is_int());
        ensure(is_int, span, "an index that is no int")
    }

    /// The type of the part of a local that a path leads to.
    fn path(&self, local: LocalId, path: &[Step], span: Span) -> Result<Type, Violation> {
        self.part(self.local(local, span)?.clone(), path, span)
    }

    /// The type that a path leads to from a value of type `ty`.
    fn part(&self, mut ty: Type, path: &[Step], span: Span) -> Result<Type, Violation> {
        for step in path {
            let part = match step {
                Step::Part(at) => ty.part(*at),
                Step::At(index) => {
                    self.index(*index, span)?;
                    indexed(&ty)
                }
            };
            ty = part.ok_or_else(|| Violation { what: "a path that leads nowhere".to_owned(), span })?;
        }
        Ok(ty)
    }

    fn known_type(&self, ty: &Type, span: Span) -> Check {
        match ty {
            Type::Void => Ok(()),
            Type::Scalar(_) => Ok(()),
            Type::Vector(n, _) => ensure((2..=4).contains(n), span, "a vector of another size"),
            Type::Matrix { columns, rows, scalar } => {
                let sizes = (2..=4).contains(columns) && (2..=4).contains(rows);
                ensure(sizes && scalar.is_float(), span, "a matrix of another family")
            }
            Type::Array(array) => {
                ensure(array.len > 0, span, "an empty array")?;
                self.known_type(&array.element, span)
            }
            Type::Struct(of) => of.members.iter().try_for_each(|member| self.known_type(&member.ty, span)),
            Type::Tuple(items) => items.iter().try_for_each(|item| self.known_type(item, span)),
            Type::Coop(coop) => {
                let sizes = [coop.rows, coop.columns].iter().all(|side| (1..=64).contains(side));
                ensure(sizes && coop.scalar != Scalar::Bool, span, "a matrix that no subgroup holds")
            }
            Type::Error => ensure(false, span, "a type that is an error"),
        }
    }

    fn eval(&mut self, id: NodeId) -> Check {
        let Some(node) = self.function.nodes.get(id.idx()) else {
            return ensure(false, self.function.span, "a node that is not there");
        };
        let span = node.span;
        let again = std::mem::replace(&mut self.evaluated[id.idx()], true);
        ensure(!again, span, "a node computed twice")?;
        self.known_type(&node.ty, span)?;
        let mut usable = Ok(());
        node.kind.operands(&mut |operand| {
            if usable.is_ok() {
                usable = self.usable(operand, span);
            }
        });
        usable?;
        self.node(&node.kind, &node.ty, span)?;
        self.visible[id.idx()] = true;
        Ok(())
    }

    fn node(&self, kind: &NodeKind, ty: &Type, span: Span) -> Check {
        let of = |node: &NodeId| self.function.ty(*node);
        if let Type::Coop(coop) = ty
            && let Some(holds) = self.coop_math(kind, coop)
        {
            return ensure(holds, span, format_args!("operands that do not fit: {kind:?} as `{ty}`"));
        }
        let holds = match kind {
            NodeKind::Constant(constant) => *ty == Type::from(constant.scalar()),
            NodeKind::Input(input) => *ty == Type::of(input.n_components(), Scalar::U32),
            NodeKind::Port(port) => self.port(*port, Direction::Input, span)? == ty,
            NodeKind::Domain => self.kernel.has_domain && *ty == Type::Vector(3, self.kernel.ids.unsigned()),
            NodeKind::Scalar(scalar) => {
                self.kernel.scalars.get(scalar.idx()).is_some_and(|scalar| scalar.ty == *ty)
            }
            NodeKind::Arg(at) => match self.function.args.get(*at as usize) {
                Some(Arg::Value { ty: arg, .. }) => arg == ty,
                _ => false,
            },
            NodeKind::Unary(op, a) => {
                let wanted = match op {
                    UnaryOp::Negate => !is_kind(ty, &[Kind::Bool]),
                    UnaryOp::Not => is_kind(ty, &[Kind::Bool]),
                    UnaryOp::Invert => is_kind(ty, &[Kind::Signed, Kind::Unsigned]),
                };
                wanted && of(a) == ty
            }
            NodeKind::Binary(op, a, b) => of(a) == ty && of(b) == ty && takes(*op, ty),
            NodeKind::Compare(_, a, b) => {
                let numbers = of(a).n_components() > 0;
                numbers && of(a) == of(b) && *ty == of(a).with_scalar(Scalar::Bool)
            }
            NodeKind::Convert(a) => {
                ty.n_components() > 0 && of(a).n_components() == ty.n_components() && of(a) != ty
            }
            NodeKind::Proven(a) => of(a) == ty && matches!(ty, Type::Scalar(ty) if ty.is_int()),
            NodeKind::Bitcast(a) => {
                let bits = |ty: &Type| ty.scalar().map(Scalar::bits);
                bits(of(a)) == bits(ty) && of(a).n_components() == ty.n_components()
            }
            NodeKind::Select { condition, then, orelse } => {
                let bools = of(condition);
                of(then) == ty
                    && of(orelse) == ty
                    && (*bools == Type::BOOL || *bools == ty.with_scalar(Scalar::Bool))
                    && (ty.n_components() > 0 || (ty.is_matrix() && *bools == Type::BOOL))
            }
            NodeKind::Float(function, args) => {
                let n_args = args.iter().flatten().count();
                is_kind(ty, &[Kind::Float])
                    && n_args == function.n_args()
                    && args.iter().flatten().all(|arg| of(arg) == ty)
            }
            NodeKind::Abs(a) | NodeKind::Sign(a) => of(a) == ty && !is_kind(ty, &[Kind::Bool]),
            NodeKind::IsNan(a) | NodeKind::IsInf(a) => {
                is_kind(of(a), &[Kind::Float]) && *ty == of(a).with_scalar(Scalar::Bool)
            }
            NodeKind::Splat(a) => match ty {
                Type::Coop(coop) => *of(a) == coop.scalar.into(),
                _ => ty.is_vector() && Some(of(a)) == ty.scalar().map(Type::from).as_ref(),
            },
            NodeKind::CoopLoad(place) => return self.coop_place(place, ty, span),
            NodeKind::CoopMultiplyAdd { sum, a, b } => of(sum) == ty && multiplies(of(a), of(b), ty),
            NodeKind::CoopLength(_) => *ty == Type::U32,
            NodeKind::Construct(parts) => self.constructs(parts, ty),
            NodeKind::Extract(a, at) => of(a).part(*at).as_ref() == Some(ty),
            NodeKind::ExtractAt { whole, index } => {
                self.index(*index, span)?;
                indexed(of(whole)).as_ref() == Some(ty)
            }
            NodeKind::Insert { whole, value, part } => {
                of(whole) == ty && ty.part(*part).as_ref() == Some(of(value))
            }
            NodeKind::InsertAt { whole, value, index } => {
                self.index(*index, span)?;
                of(whole) == ty && indexed(ty).as_ref() == Some(of(value))
            }
            NodeKind::Swizzle(a, components) => {
                let n = u32::from(of(a).n_components());
                ty.is_vector()
                    && components.len() == usize::from(ty.n_components())
                    && components.iter().all(|component| *component < n)
                    && ty.scalar() == of(a).scalar()
            }
            NodeKind::Dot(a, b) => of(a).is_vector() && of(a) == of(b) && is_scalar_of(ty, of(a)),
            NodeKind::All(a) | NodeKind::Any(a) => {
                matches!(of(a), Type::Vector(_, Scalar::Bool)) && *ty == Type::BOOL
            }
            NodeKind::Uniform(a) => of(a) == ty,
            NodeKind::Subgroup { op, value, lane } => self.subgroup(*op, *value, *lane, ty),
            NodeKind::Atomic(atomic) => self.atomic(atomic, ty, span)?,
            NodeKind::Geometry(function, args) => self.geometry(*function, args, ty),
            NodeKind::Load(local) => self.local(*local, span)? == ty,
            NodeKind::LoadElement { local, path } => self.path(*local, path, span)? == *ty,
            NodeKind::BufferLoad { buffer, index, path } => {
                self.index(*index, span)?;
                self.part(self.buffer(*buffer, span)?.clone(), path, span)? == *ty
            }
            NodeKind::BufferLen(buffer) => {
                self.buffer(*buffer, span)?;
                *ty == self.kernel.buffers[buffer.idx()].counts.signed().into()
            }
            NodeKind::BufferAxis { buffer, axis } => {
                self.buffer(*buffer, span)?;
                let Buffer { rank, counts, .. } = self.kernel.buffers[buffer.idx()];
                rank > 1 && *axis < rank && *ty == counts.signed().into()
            }
            NodeKind::TextureRead { texture, at } => self.texture(*texture, *at, Scalar::I32, span)? == *ty,
            NodeKind::TextureSample { texture, at, .. } => {
                self.texture(*texture, *at, Scalar::F32, span)? == *ty
            }
            NodeKind::Call { function, args } => {
                return self.call(function.idx(), args, ty, span);
            }
        };
        ensure(holds, span, format_args!("operands that do not fit: {kind:?} as `{ty}`"))
    }

    /// Whether arithmetic of whole matrices fits; `None` for what is none. Devices compute with no `bf16`s.
    fn coop_math(&self, kind: &NodeKind, coop: &CoopType) -> Option<bool> {
        let is = |node: &NodeId| *self.function.ty(*node) == Type::Coop(*coop);
        let fits = match kind {
            NodeKind::Unary(op, a) => *op == UnaryOp::Negate && is(a),
            NodeKind::Binary(op, a, b) => {
                let is_plain = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul);
                let is_quotient = *op == BinaryOp::Div && coop.scalar.is_float();
                (is_plain || is_quotient) && is(a) && is(b)
            }
            NodeKind::Convert(a) => match self.function.ty(*a) {
                Type::Coop(from) => {
                    let is_alike = CoopType { scalar: coop.scalar, ..*from } == *coop;
                    let keeps_ints = !(from.scalar.is_float() && coop.scalar.is_int());
                    is_alike && from.scalar != coop.scalar && from.scalar != Scalar::Bf16 && keeps_ints
                }
                _ => false,
            },
            _ => return None,
        };
        Some(fits && coop.scalar != Scalar::Bf16)
    }

    /// A matrix of type `ty` may lie there.
    fn coop_place(&self, place: &CoopPlace, ty: &Type, span: Span) -> Check {
        let element = match place.memory {
            CoopMemory::Buffer(buffer) => self.buffer(buffer, span)?.clone(),
            CoopMemory::Shared(local) => {
                let home = self.function.locals.get(local.idx()).map(|local| local.home);
                let is_shared = matches!(home, Some(Home::Workgroup(_)));
                ensure(is_shared, span, "a matrix in an invocation's own memory")?;
                indexed(self.local(local, span)?).unwrap_or(Type::Error)
            }
        };
        // Matrices of `bf16` are loaded from their bits, too.
        let bits = |scalar: Scalar| scalar.in_buffers();
        let holds = matches!(ty, Type::Coop(coop) if element.scalar().map(bits) == Some(bits(coop.scalar)));
        ensure(holds, span, "a matrix in an array of other elements")?;
        self.index(place.start, span)?;
        self.index(place.stride, span)?;
        let fits = self.function.ty(place.start) == self.function.ty(place.stride);
        ensure(fits, span, "a stride of another type than where the matrix begins")
    }

    fn constructs(&self, parts: &[NodeId], ty: &Type) -> bool {
        ty.n_parts() == Some(parts.len() as u32)
            && parts.iter().zip(0..).all(|(node, at)| ty.part(at).as_ref() == Some(self.function.ty(*node)))
    }

    fn subgroup(&self, op: SubgroupOp, value: Option<NodeId>, lane: Option<NodeId>, ty: &Type) -> bool {
        let value = value.map(|value| self.function.ty(value));
        let lane = lane.map(|lane| self.function.ty(lane));
        match op {
            SubgroupOp::Elect => value.is_none() && lane.is_none() && *ty == Type::BOOL,
            SubgroupOp::Any | SubgroupOp::All => value == Some(&Type::BOOL) && *ty == Type::BOOL,
            SubgroupOp::Ballot => value == Some(&Type::BOOL) && *ty == Type::Vector(4, Scalar::U32),
            SubgroupOp::Combine(combine, _) => {
                let takes = match combine {
                    Combine::And | Combine::Or | Combine::Xor => !is_kind(ty, &[Kind::Float]),
                    _ => !is_kind(ty, &[Kind::Bool]),
                };
                takes && value == Some(ty) && lane.is_none() && ty.n_components() > 0
            }
            _ => value == Some(ty) && lane == Some(&Type::U32) && ty.n_components() > 0,
        }
    }

    fn atomic(&self, atomic: &Atomic, ty: &Type, span: Span) -> Result<bool, Violation> {
        let element = match &atomic.place {
            AtomicPlace::Buffer { buffer, index } => {
                self.index(*index, span)?;
                self.buffer(*buffer, span)?.clone()
            }
            AtomicPlace::Shared { local, path } => {
                let home = self.function.locals.get(local.idx()).map(|local| local.home);
                let is_shared = matches!(home, Some(Home::Workgroup(_)));
                ensure(is_shared, span, "an atomic operation on an invocation's own memory")?;
                self.path(*local, path, span)?
            }
        };
        let of_element = |node: &Option<NodeId>| node.is_none_or(|node| *self.function.ty(node) == element);
        let result = if atomic.op == AtomicOp::Store { &Type::Void } else { &element };
        let has_value = atomic.value.is_some() == (atomic.op != AtomicOp::Load);
        let has_expected = atomic.expected.is_some() == (atomic.op == AtomicOp::CompareExchange);
        let is_number =
            is_kind(&element, &[Kind::Signed, Kind::Unsigned, Kind::Float]) && !element.is_vector();
        Ok(is_number
            && ty == result
            && has_value
            && has_expected
            && of_element(&atomic.value)
            && of_element(&atomic.expected))
    }

    fn geometry(&self, function: GeometryFn, args: &[NodeId], ty: &Type) -> bool {
        let of = |at: usize| args.get(at).map(|arg| self.function.ty(*arg));
        let is_float = of(0).is_some_and(|ty| is_kind(ty, &[Kind::Float]));
        let alike = |n: usize| args.len() >= n && (0..n).all(|at| of(at) == of(0));
        let (n_args, fits) = match function {
            GeometryFn::Length => (1, of(0).is_some_and(|arg| is_scalar_of(ty, arg))),
            GeometryFn::Distance => (2, alike(2) && of(0).is_some_and(|arg| is_scalar_of(ty, arg))),
            GeometryFn::Cross => (2, alike(2) && of(0) == Some(ty) && ty.n_components() == 3),
            GeometryFn::Normalize => (1, of(0) == Some(ty)),
            GeometryFn::FaceForward => (3, alike(3) && of(0) == Some(ty)),
            GeometryFn::Reflect => (2, alike(2) && of(0) == Some(ty)),
            GeometryFn::Refract => {
                let eta = of(2).is_some_and(|eta| is_scalar_of(eta, ty));
                (3, alike(2) && of(0) == Some(ty) && eta)
            }
        };
        is_float && args.len() == n_args && fits
    }

    fn call(&self, callee: usize, args: &[CallArg], ty: &Type, span: Span) -> Check {
        ensure(callee < self.function_idx, span, "a call of a later function")?;
        let callee = &self.kernel.functions[callee];
        ensure(callee.result == *ty, span, "a call with another result")?;
        ensure(callee.args.len() == args.len(), span, "a call with other arguments")?;
        for (arg, given) in callee.args.iter().zip(args) {
            let fits = match (arg, given) {
                (Arg::Value { ty, .. }, CallArg::Value(value)) => self.function.ty(*value) == ty,
                (Arg::Reference(local), CallArg::Reference(given)) => {
                    callee.local(*local).ty == *self.local(*given, span)?
                }
                _ => false,
            };
            ensure(fits, span, "an argument of another type")?;
        }
        Ok(())
    }
}

fn ends_control(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Break | Stmt::Continue | Stmt::Return(..) | Stmt::Discard(_) => true,
        Stmt::If { then, orelse, .. } => {
            then.last().is_some_and(ends_control) && orelse.last().is_some_and(ends_control)
        }
        // Left by `Break` or by its test, or never.
        Stmt::Loop(_) => true,
        _ => false,
    }
}

/// The type that every part of an array, a vector or a cooperative matrix has.
fn indexed(ty: &Type) -> Option<Type> {
    match ty {
        Type::Array(_) | Type::Vector(..) => ty.part(0),
        Type::Coop(coop) => Some(coop.scalar.into()),
        _ => None,
    }
}

/// Whether `a` times `b` is a matrix of type `sum`.
fn multiplies(a: &Type, b: &Type, sum: &Type) -> bool {
    let (Type::Coop(a), Type::Coop(b), Type::Coop(sum)) = (a, b, sum) else { return false };
    (a.rows, b.columns) == (sum.rows, sum.columns)
        && a.columns == b.rows
        && a.scalar == b.scalar
        && [a.purpose, b.purpose, sum.purpose] == [CoopUse::A, CoopUse::B, CoopUse::Accumulator]
}

fn is_kind(ty: &Type, kinds: &[Kind]) -> bool {
    ty.scalar().is_some_and(|scalar| kinds.contains(&scalar.kind()))
}

fn is_scalar_of(ty: &Type, vector: &Type) -> bool {
    matches!(ty, Type::Scalar(scalar) if Some(*scalar) == vector.scalar())
}

fn takes(op: BinaryOp, ty: &Type) -> bool {
    let ints = is_kind(ty, &[Kind::Signed, Kind::Unsigned]);
    let floats = is_kind(ty, &[Kind::Float]);
    match op {
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::FloorDiv
        | BinaryOp::FloorMod
        | BinaryOp::TruncRem => ints || floats,
        BinaryOp::Div => floats,
        BinaryOp::PlainDiv | BinaryOp::PlainMod => is_kind(ty, &[Kind::Signed]),
        BinaryOp::TruncDiv | BinaryOp::ShiftLeft | BinaryOp::ShiftRight => ints,
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => !floats && ty.scalar().is_some(),
    }
}
