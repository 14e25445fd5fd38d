//! The verifier: the rules of a well-formed kernel. Only a verified kernel can be emitted.
//!
//! 1. A node is used only below its `Eval`, in the same block or one nested in it; constants anywhere, opaque ones
//!    in kernels alone. No node is evaluated twice.
//! 2. Operands have the types that their operation is defined for, and give the node's type.
//! 3. A store has the type of its place; a path leads from part to part.
//! 4. Indices are int scalars; conditions are bools. An access has one index, the number of its element.
//! 5. `Break` and `Continue` are inside a loop's body; nothing follows them or a `Return`.
//! 6. Every `Return` has a value of the function's type, or none where that is `Void`. The end of a
//!    function that returns a value is not reached.
//! 7. Calls lead to earlier functions, with the arguments that those declare; references are whole
//!    local arrays.
//! 8. Every buffer, scalar, local and carry that is named exists. Every buffer is a parameter. A carry is in one place.
//! 9. No type is `Error`. Arithmetic that a type needs a wider type for is in the wider type
//!    (`passes/legalise/narrow_floats.rs`).
//! 10. A local in the workgroup's memory has that memory's type. Only a kernel of whole workgroups has barriers.
//! 11. Ports are read and stored, and fragments discarded, in stages that have them.
//! 12. The last function is the kernel: no arguments, no result.

mod operands;

use std::fmt::Display;

use kps_syntax::{Diagnostics, Span};

use crate::errors;
use crate::ir::{self, text};
use crate::ir::{
    Arg, Assigned, AssignedValue, Assignee, Block, BufferId, CarryId, CheckKind, ElementIndex, Function,
    Home, Indexed, Kernel, LocalId, NodeId, NodeKind, PortId, RoundBy, Step, Stmt, TextureId, ends_control,
    is_terminator,
};
use crate::stages::{Direction, Stage};
use crate::textures::TextureType;
use crate::types::{Scalar, Type};

/// Proof that a kernel is well-formed; nothing else makes one.
#[derive(Debug)]
pub struct Verified<T>(T);

impl<T> Verified<T> {
    pub fn get(&self) -> &T {
        &self.0
    }

    /// Gives the proof up, to change the kernel.
    pub(crate) fn into_inner(self) -> T {
        self.0
    }
}

/// A violation is a bug of this compiler, and is reported as such, with its place.
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
            let has_opaque = self.kernel.stage == Stage::Compute;
            let wants_opaque = self.kernel.conversions.f16 == RoundBy::OpaqueBits;
            ensure(has_opaque || !wants_opaque, span, "roundings by opaque bits outside of a kernel")?;
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
        for (at, stmt) in block.iter().enumerate() {
            self.stmt(stmt)?;
            let is_last = at + 1 == block.len();
            ensure(is_last || !is_terminator(stmt), self.function.span, "code behind a jump")?;
        }
        self.close_block(block);
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
                self.element(index, *span)?;
                let ty = self.part(element, path, *span)?;
                self.value(*value, &ty, *span)
            }
            Stmt::CoopStore { place, value, span } => {
                self.usable(*value, *span)?;
                self.coop_place(place, self.function.ty(*value), *span)
            }
            Stmt::Coop(op) => ensure(false, op.span, "an operation on a matrix that is not expanded"),
            Stmt::Assigned(assigned) => self.assigned(assigned),
            Stmt::Message(message) => message.values.iter().try_for_each(|value| {
                self.usable(*value, message.span)?;
                let has_text = text::n_numbers(self.function.ty(*value)).is_some();
                ensure(has_text, message.span, "a message with what has no text")
            }),
            Stmt::Record(record) => record.values.iter().try_for_each(|value| {
                self.usable(*value, record.span)?;
                let carried = matches!(self.function.ty(*value), Type::Scalar(scalar) if *scalar == Scalar::Bool || scalar.bits() >= 32);
                ensure(carried, record.span, "a record of what no word carries")
            }),
            Stmt::TextureWrite { texture, at, value, span } => {
                let ty = self.texture(*texture, *at, Scalar::I32, *span)?;
                self.value(*value, &ty, *span)
            }
            Stmt::Index(index) => {
                index.axes.iter().try_for_each(|(at, _)| self.index(*at, index.span))
            }
            Stmt::Check(check) => self.check(check),
            Stmt::PortStore { port, value, span } => {
                let ty = self.port(*port, Direction::Output, *span)?.clone();
                self.value(*value, &ty, *span)
            }
            Stmt::End(span) => {
                let is_alone = self.kernel.stage == Stage::Fragment || !self.kernel.whole_groups;
                ensure(is_alone, *span, "an end of an invocation that others may wait for")
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
                // Nodes of the test dominate the body and the step, so both may use them.
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

    fn check(&self, check: &ir::Check) -> Check {
        let span = check.span;
        match &check.kind {
            CheckKind::Index { of, axes, .. } => axes.iter().try_for_each(|(index, len)| {
                self.index(*index, span)?;
                match (len, of) {
                    (Some(len), _) => self.index(*len, span),
                    (None, Indexed::Buffer(_)) => Ok(()),
                    (None, Indexed::Named(_)) => ensure(false, span, "an index without a length"),
                }
            }),
            CheckKind::Operation(_, operands) => {
                operands.iter().try_for_each(|operand| self.usable(*operand, span))
            }
        }
    }

    fn assigned(&self, assigned: &Assigned) -> Check {
        let span = assigned.span;
        match &assigned.target {
            Assignee::Name(_) => {}
            Assignee::Local { local, path } => drop(self.path(*local, path, span)?),
            Assignee::Element { buffer, index, path, .. } => {
                let element = self.buffer(*buffer, span)?.clone();
                self.element(index, span)?;
                self.part(element, path, span)?;
            }
            Assignee::Texel { at, .. } => self.usable(*at, span)?,
            Assignee::Scattered { inside } => self.value(*inside, &Type::BOOL, span)?,
        }
        self.assigned_value(&assigned.value, span)
    }

    fn assigned_value(&self, value: &AssignedValue, span: Span) -> Check {
        match value {
            AssignedValue::Node(node) => self.usable(*node, span),
            AssignedValue::InMemory { load, ty } => {
                let mut usable = Ok(());
                load.operands(&mut |operand| {
                    if usable.is_ok() {
                        usable = self.usable(operand, span);
                    }
                });
                usable?;
                self.node(load, ty, span)
            }
            AssignedValue::Tuple(items) => items.iter().try_for_each(|item| self.assigned_value(item, span)),
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
        let what = match buffer {
            BufferId::Param(at) => match self.kernel.buffers.get(at as usize) {
                Some(buffer) => return Ok(&buffer.element),
                None => "a buffer that is not there",
            },
            BufferId::Choice(_) => "one of several arrays, of which none was selected",
        };
        Err(Violation { what: what.to_owned(), span })
    }

    fn port(&self, port: PortId, direction: Direction, span: Span) -> Result<&Type, Violation> {
        match self.kernel.ports.get(port.idx()) {
            Some(port) if port.port.direction == direction => Ok(&port.port.ty),
            _ => Err(Violation { what: "a port that is not there".to_owned(), span }),
        }
    }

    /// The type of a texture read. It has a coordinate for each axis, of this kind of number.
    fn texture(&self, texture: TextureId, at: NodeId, scalar: Scalar, span: Span) -> Result<Type, Violation> {
        let texture = self.texture_type(texture, span)?;
        self.usable(at, span)?;
        let place = self.function.ty(at);
        let fits = place.n_components() == texture.n_axes
            && place.scalar().is_some_and(|found| found.is_int() == scalar.is_int() && found.bits() == 32);
        ensure(fits, span, "coordinates that do not fit the texture")?;
        Ok(Type::Vector(4, texture.scalar))
    }

    fn texture_type(&self, texture: TextureId, span: Span) -> Result<TextureType, Violation> {
        let texture = self.kernel.textures.get(texture.idx());
        let missing = || Violation { what: "a texture that is not there".to_owned(), span };
        texture.map(|texture| texture.ty).ok_or_else(missing)
    }

    /// The node may be used here.
    fn usable(&self, node: NodeId, span: Span) -> Check {
        let is_constant = self.function.nodes.get(node.idx()).is_some_and(|node| match node.kind {
            NodeKind::Constant(_) => true,
            NodeKind::Opaque(constant) => self.opaque(constant, &node.ty),
            _ => false,
        });
        let is_visible = self.visible.get(node.idx()).copied().unwrap_or(false);
        ensure(is_constant || is_visible, span, "a value used where it is not known")
    }

    fn value(&self, node: NodeId, ty: &Type, span: Span) -> Check {
        self.usable(node, span)?;
        let found = self.function.ty(node);
        ensure(found == ty, span, format_args!("a `{found}` where a `{ty}` belongs"))
    }

    fn element(&self, index: &ElementIndex, span: Span) -> Check {
        match index {
            ElementIndex::Flat(flat) => self.index(*flat, span),
            ElementIndex::Tested { flat, fits } => {
                self.value(*fits, &Type::BOOL, span)?;
                self.index(*flat, span)
            }
            ElementIndex::Axes(_) => ensure(false, span, "an access with several indices"),
        }
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
                    ty.column().or_else(|| indexed(&ty))
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
                ensure(array.purpose.is_none(), span, "the rows of a matrix that may be one of a subgroup")?;
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
}

/// The type that every part of an array, a vector or a cooperative matrix has.
fn indexed(ty: &Type) -> Option<Type> {
    match ty {
        Type::Array(_) | Type::Vector(..) => ty.part(0),
        Type::Coop(coop) => Some(coop.scalar.into()),
        _ => None,
    }
}
