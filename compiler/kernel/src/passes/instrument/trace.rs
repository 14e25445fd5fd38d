//! Traces: each assignment of the script writes a record of its value.
//!
//! In go the assignments, atomic operations and prints of a kernel; out come the records of one invocation's steps,
//! under a test of its id. The text of a record is the name, a line break and the value, both as `print` would write
//! them: `x`, `out[{i32}]`, `p.pos.x`, `image[{i32}, {i32}]`. A value that is too long is shown by its type. If a store
//! was discarded, a third line says why. Printed text is a step called `print`. Library functions record no steps.

use kps_syntax::Span;

use super::arithmetic;
use super::records::{Matrices, push_numbers};
use crate::constant::Constant;
use crate::errors::Found;
use crate::ir::build::{Builder, rewrite_stmts};
use crate::ir::text::{self, Format};
use crate::ir::{
    Assigned, AssignedValue, Assignee, Atomic, AtomicOp, AtomicPlace, BinaryOp, Block, BufferId, CompareOp,
    ElementIndex, Extent, Function, Kernel, LocalId, Message, MessageKind, NodeId, NodeKind, Proof, Record,
    RecordKind, Step, Stmt, Texture, TextureId, Written, as_written,
};
use crate::template::Input;
use crate::types::{Scalar, Type};

/// The maximum number of numbers to show of one value.
const MAX_NUMBERS: u32 = 24;

/// The maximum number of indices to show in one name.
const MAX_INDICES: usize = 8;

/// Why nothing was stored in an array or an image.
const OUT_OF_RANGE: &str = "out of range";
const OUTSIDE: &str = "outside of the image";

pub(super) fn apply(kernel: &mut Kernel, invocation: [u32; 3]) {
    let mut functions = std::mem::take(&mut kernel.functions);
    let source = |function: &&mut Function| function.called_for.is_none();
    for function in functions.iter_mut().filter(source) {
        let (mut head, span) = (Block::new(), function.span);
        let is_traced = is_invocation(&mut Builder::at(function, &mut head, span), invocation);
        rewrite_stmts(function, &mut |builder, stmt| {
            let mut steps = Block::new();
            let place = builder.span;
            Tracer { kernel, builder: &mut Builder::at(builder.function, &mut steps, place) }.stmt(&stmt);
            let is_step = matches!(stmt, Stmt::Assigned(_)) || is_print(&stmt);
            if !is_step {
                builder.stmt(stmt);
            }
            if !steps.is_empty() {
                let steps = Stmt::If { condition: is_traced, then: steps, orelse: Block::new(), span };
                builder.stmt(steps);
            }
        });
        function.body.splice(..0, head);
    }
    kernel.functions = functions;
}

/// Whether the invocation has this id.
fn is_invocation(builder: &mut Builder, id: [u32; 3]) -> NodeId {
    let ty = Type::Vector(3, Scalar::U32);
    let own = builder.node(NodeKind::Input(Input::GlobalInvocationId), ty.clone());
    let id = id.map(|n| builder.constant(Constant::int(Scalar::U32, n.into())));
    let id = builder.node(NodeKind::Construct(id.to_vec()), ty);
    let is_same = builder.compare(CompareOp::Equal, own, id);
    builder.node(NodeKind::All(is_same), Type::BOOL)
}

fn is_print(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Message(message) if matches!(message.kind, MessageKind::Print { .. }))
}

/// Appends the steps of one statement.
struct Tracer<'t, 'f> {
    /// Without its functions.
    kernel: &'t Kernel,
    builder: &'t mut Builder<'f>,
}

/// The text of a step, and the values in it.
#[derive(Clone, Default)]
struct StepText {
    template: String,
    values: Vec<NodeId>,
}

impl StepText {
    fn literal(&mut self, literal: &str) {
        text::push_literal(&mut self.template, literal);
    }

    fn value(&mut self, function: &Function, node: NodeId) {
        text::push_value(&mut self.template, function.ty(node), Format::STEP);
        self.values.push(node);
    }
}

/// A place in memory.
#[derive(Clone, Copy)]
enum Place<'p> {
    Local(LocalId, &'p [Step]),
    Element(BufferId, &'p ElementIndex, &'p [Step]),
}

impl Tracer<'_, '_> {
    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Assigned(assigned) => self.assigned(assigned),
            Stmt::Message(message) if is_print(stmt) => self.printed(message),
            Stmt::Eval(node) => {
                if let NodeKind::Atomic(atomic) = self.builder.kind(*node) {
                    self.builder.span = self.builder.function.node(*node).span;
                    self.atomic(&atomic, *node);
                }
            }
            _ => {}
        }
    }

    /// A step: this text was printed.
    fn printed(&mut self, message: &Message) {
        let mut numbers = Vec::new();
        self.builder.span = message.span;
        for value in &message.values {
            push_numbers(self.builder, *value, Matrices::ByRows, &mut numbers);
        }
        push_record(self.builder, format!("print\n{}", message.template), numbers);
    }

    /// A step: this value was assigned.
    fn assigned(&mut self, assigned: &Assigned) {
        self.builder.span = assigned.span;
        let mut text = StepText::default();
        match &assigned.target {
            Assignee::Name(name) => text.literal(name),
            Assignee::Local { local, path } => {
                return self.stored(Place::Local(*local, path), &assigned.value);
            }
            Assignee::Element { buffer, index, path } => {
                return self.stored(Place::Element(*buffer, index, path), &assigned.value);
            }
            Assignee::Texel { texture, at } => return self.texel(*texture, *at, &assigned.value),
            Assignee::Scattered { inside } => {
                return self.scattered(*inside, assigned.span, &assigned.value);
            }
        }
        self.value(&mut text, &assigned.value);
        self.step(text);
    }

    /// A step: this value was stored there, or was not, since an index is out of range.
    fn stored(&mut self, place: Place, value: &AssignedValue) {
        let mut text = StepText::default();
        if self.place(&mut text, place).is_some() {
            self.value(&mut text, value);
            let inside = self.is_inside(place);
            self.step_if(inside, (text.clone(), text), OUT_OF_RANGE);
        }
    }

    /// A step, if nothing was stored: the places themselves are assigned otherwise.
    fn scattered(&mut self, inside: NodeId, target: Span, value: &AssignedValue) {
        let mut text = StepText::default();
        text.literal(self.builder.function.source.slice(target));
        self.value(&mut text, value);
        let mut dropped = Block::new();
        self.in_block(&mut dropped, |tracer| tracer.dropped(text, OUT_OF_RANGE));
        let stmt = Stmt::If { condition: inside, then: Block::new(), orelse: dropped, span: target };
        self.builder.block.push(stmt);
    }

    /// A step: this value was written to a texel.
    fn texel(&mut self, texture: TextureId, at: NodeId, value: &AssignedValue) {
        let mut text = StepText::default();
        text.literal(&self.texture(texture).name);
        let ty = self.builder.ty(at);
        let axes = match ty {
            Type::Vector(n, scalar) => {
                let axes = 0..u32::from(n);
                axes.map(|axis| self.builder.node(NodeKind::Extract(at, axis), scalar)).collect()
            }
            _ => vec![at],
        };
        self.indices(&mut text, axes.into_iter().map(|axis| Some(Step::At(axis))));
        self.value(&mut text, value);
        let size = self.builder.node(NodeKind::TextureSize(texture), ty);
        let below = self.is_below(at, size);
        let inside = match self.builder.ty(below) {
            Type::Scalar(_) => below,
            _ => self.builder.node(NodeKind::All(below), Type::BOOL),
        };
        self.step_if(Some(inside), (text.clone(), text), OUTSIDE);
    }

    fn texture(&self, texture: TextureId) -> &Texture {
        &self.kernel.textures[texture.idx()]
    }

    /// A step: the new value of an element after an atomic operation, and the old one in brackets.
    fn atomic(&mut self, atomic: &Atomic, found: NodeId) {
        let Some(value) = atomic.value else { return };
        let place = match &atomic.place {
            AtomicPlace::Buffer { buffer, index, path } => Place::Element(*buffer, index, path),
            AtomicPlace::Shared { local, path } => Place::Local(*local, path),
        };
        if atomic.op == AtomicOp::Store {
            return self.stored(place, &AssignedValue::Node(value));
        }
        let mut text = StepText::default();
        if self.place(&mut text, place).is_none() {
            return;
        }
        let left = self.left_by(atomic, found, value);
        text.literal("\n");
        text.value(self.builder.function, left);
        let dropped = text.clone();
        text.literal(" (was ");
        text.value(self.builder.function, found);
        text.literal(")");
        let inside = self.is_inside(place);
        self.step_if(inside, (text, dropped), OUT_OF_RANGE);
    }

    /// The value that an atomic operation stored, computed from the old one.
    fn left_by(&mut self, atomic: &Atomic, found: NodeId, value: NodeId) -> NodeId {
        match atomic.op {
            AtomicOp::Add => arithmetic(self.builder, BinaryOp::Add, found, value),
            AtomicOp::Sub => arithmetic(self.builder, BinaryOp::Sub, found, value),
            AtomicOp::And => arithmetic(self.builder, BinaryOp::And, found, value),
            AtomicOp::Or => arithmetic(self.builder, BinaryOp::Or, found, value),
            AtomicOp::Xor => arithmetic(self.builder, BinaryOp::Xor, found, value),
            AtomicOp::Min | AtomicOp::Max => {
                let op = if atomic.op == AtomicOp::Min { CompareOp::Less } else { CompareOp::Greater };
                let changes = self.builder.compare(op, value, found);
                self.builder.select(changes, value, found)
            }
            AtomicOp::CompareExchange => {
                let expected = atomic.expected.expect("a compare-exchange has a comparator");
                // Bit for bit.
                let scalar = self.builder.ty(value).scalar().expect("atomics are on numbers");
                let [a, b] =
                    [found, expected].map(|x| self.builder.node(NodeKind::Bitcast(x), scalar.as_unsigned()));
                let changes = self.builder.compare(CompareOp::Equal, a, b);
                self.builder.select(changes, value, found)
            }
            AtomicOp::Exchange | AtomicOp::Load | AtomicOp::Store => value,
        }
    }

    /// Adds a line with the value.
    fn value(&mut self, text: &mut StepText, value: &AssignedValue) {
        text.literal("\n");
        match n_numbers(self.builder.function, value) {
            Some(0..=MAX_NUMBERS) => self.value_text(text, value),
            _ => text.literal(&describe(self.builder.function, value)),
        }
    }

    fn value_text(&mut self, text: &mut StepText, value: &AssignedValue) {
        match value {
            AssignedValue::Node(node) => text.value(self.builder.function, *node),
            AssignedValue::InMemory { load, ty } => {
                let node = self.builder.node(load.clone(), ty.clone());
                text.value(self.builder.function, node);
            }
            AssignedValue::Tuple(items) => {
                text.literal("(");
                for (at, item) in items.iter().enumerate() {
                    text.literal(if at > 0 { ", " } else { "" });
                    self.value_text(text, item);
                }
                text.literal(if items.len() == 1 { ",)" } else { ")" });
            }
        }
    }

    /// `out[3, i]`, `p.pos.x`. `None` for a place with too many indices.
    fn place(&self, text: &mut StepText, place: Place) -> Option<()> {
        let function = &*self.builder.function;
        let (ty, path) = match place {
            Place::Local(local, path) => {
                text.literal(&function.local(local).name);
                (&function.local(local).ty, path)
            }
            Place::Element(buffer, index, path) => {
                let buffer = &self.kernel.buffers[buffer.idx()];
                text.literal(&buffer.name);
                self.indices(text, index.indices().iter().map(|index| Some(Step::At(*index))));
                (&buffer.element, path)
            }
        };
        let mut n_indices = 0;
        for step in as_written(ty, path) {
            match step {
                Written::Member(name) => text.literal(&format!(".{name}")),
                Written::Indices(axes) => {
                    n_indices += axes.len();
                    self.indices(text, axes.into_iter().map(|(index, _)| index));
                }
            }
        }
        (n_indices <= MAX_INDICES).then_some(())
    }

    fn indices(&self, text: &mut StepText, indices: impl Iterator<Item = Option<Step>>) {
        let mut before = "[";
        for index in indices {
            text.literal(std::mem::replace(&mut before, ", "));
            match index {
                None => text.literal(":"),
                Some(Step::Part(index)) => text.literal(&index.to_string()),
                Some(Step::At(node)) => text.value(self.builder.function, node),
            }
        }
        text.literal(if before == "[" { "" } else { "]" });
    }

    /// Whether all indices of a place are in range. `None` where that is known.
    fn is_inside(&mut self, place: Place) -> Option<NodeId> {
        let mut tests = Vec::new();
        let (mut ty, path) = match place {
            Place::Local(local, path) => (self.builder.function.local(local).ty.clone(), path),
            Place::Element(buffer, index, path) => {
                if !self.builder.function.is_known_element(index) {
                    let (of, index) = (Extent::Elements(buffer), index.clone());
                    tests.push(self.builder.node(NodeKind::IsInside { of, index }, Type::BOOL));
                }
                (self.kernel.buffers[buffer.idx()].element.clone(), path)
            }
        };
        for step in path {
            if let (Step::At(index), Some(len)) = (*step, ty.n_parts())
                && !self.is_proven(index)
            {
                let scalar = self.builder.ty(index).scalar().expect("an index is an int");
                let len = self.builder.constant(Constant::int(scalar, len.into()));
                tests.push(self.is_below(index, len));
            }
            ty = ty.part(step.part()).unwrap_or(Type::Void);
        }
        tests.into_iter().reduce(|a, b| self.builder.binary(BinaryOp::And, a, b))
    }

    fn is_proven(&self, index: NodeId) -> bool {
        matches!(self.builder.function.node(index).kind, NodeKind::Proven(Proof::InRange, _))
    }

    /// Compares unsigned numbers, so that a negative index is out of range.
    fn is_below(&mut self, index: NodeId, len: NodeId) -> NodeId {
        let ty = self.builder.ty(index);
        let unsigned = ty.with_scalar(ty.scalar().expect("an index is of ints").as_unsigned());
        let [index, len] = [index, len].map(|x| self.builder.node(NodeKind::Bitcast(x), unsigned.clone()));
        self.builder.compare(CompareOp::Less, index, len)
    }

    /// One text if the value was stored, else the other with the reason why nothing was.
    fn step_if(&mut self, inside: Option<NodeId>, (stored, other): (StepText, StepText), why: &str) {
        let Some(condition) = inside else { return self.step(stored) };
        let (mut then, mut orelse, span) = (Block::new(), Block::new(), self.builder.span);
        self.in_block(&mut then, |tracer| tracer.step(stored));
        self.in_block(&mut orelse, |tracer| tracer.dropped(other, why));
        self.builder.block.push(Stmt::If { condition, then, orelse, span });
    }

    fn dropped(&mut self, mut text: StepText, why: &str) {
        text.literal(&format!("\nnot stored: {why}"));
        self.step(text);
    }

    fn step(&mut self, text: StepText) {
        let mut numbers = Vec::new();
        for value in text.values {
            push_numbers(self.builder, value, Matrices::ByColumns, &mut numbers);
        }
        push_record(self.builder, text.template, numbers);
    }

    /// Appends to another block.
    fn in_block(&mut self, block: &mut Block, fill: impl FnOnce(&mut Tracer)) {
        let span = self.builder.span;
        let mut builder = Builder::at(self.builder.function, block, span);
        fill(&mut Tracer { kernel: self.kernel, builder: &mut builder });
    }
}

fn push_record(builder: &mut Builder, template: String, values: Vec<NodeId>) {
    let record = Record { kind: RecordKind::Trace, template, values, span: builder.span };
    builder.block.push(Stmt::Record(Box::new(record)));
}

fn n_numbers(function: &Function, value: &AssignedValue) -> Option<u32> {
    match value {
        AssignedValue::Node(node) => text::n_numbers(function.ty(*node)),
        AssignedValue::InMemory { ty, .. } => text::n_numbers(ty),
        AssignedValue::Tuple(items) => {
            items.iter().try_fold(0u32, |sum, item| Some(sum.saturating_add(n_numbers(function, item)?)))
        }
    }
}

/// A value that is too long to be shown.
fn describe(function: &Function, value: &AssignedValue) -> String {
    match value {
        AssignedValue::Node(node) => function.ty(*node).to_string(),
        AssignedValue::InMemory { ty, .. } => ty.to_string(),
        AssignedValue::Tuple(items) => Found::Tuple(items.len()).plain(),
    }
}
