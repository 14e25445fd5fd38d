//! Tracing: each assignment records its value, for the one invocation that the target names.
//!
//! The text of a record is the name, a line break and the value, both as `print` would write them: `x`,
//! `out[{i32}]`, `p.pos.x`, `image[{i32}, {i32}]`. A value that is too long is shown by its type. If a store
//! was discarded, a third line says why (`discarded_stores.rs`). Printed text is a step called `print`. Library
//! functions record no steps.

use kps_syntax::Span;
use kps_syntax::ast::Name;

use super::Ctx;
use super::operand::{Operand, Place, Root};
use super::record::{Format, Text};
use crate::ir::{
    Atomic, AtomicOp, AtomicPlace, BinaryOp, CompareOp, Home, NodeId, NodeKind, RecordKind, Step, TextureId,
    Written, as_written,
};
use crate::types::Type;

/// The maximum number of numbers to show of one value.
const MAX_NUMBERS: u32 = 24;

/// The name of a list without a variable.
const LIST: &str = "list";
/// The name of a cooperative matrix without a variable.
pub(super) const MATRIX: &str = "matrix";

/// Why nothing was stored in an array or an image.
const OUT_OF_RANGE: &str = "out of range";
const OUTSIDE: &str = "outside of the image";

/// The maximum number of indices to show in one name.
const MAX_INDICES: usize = 8;

impl Ctx<'_> {
    pub fn is_traced(&self) -> bool {
        self.trace.is_some() && self.f.func.called_for.is_none()
    }

    /// A step: the name has this value now.
    pub fn trace_name(&mut self, name: &Name, operand: &Operand, span: Span) {
        if !self.is_traced() {
            return;
        }
        let mut text = Text::default();
        text.literal(name);
        self.trace_value(text, operand, span);
    }

    /// A list is named after its variable in steps of its elements.
    pub fn name_list(&mut self, operand: &Operand, name: &Name) {
        if let Operand::Place(Place { root: Root::Local(local), path, .. }) = operand
            && path.is_empty()
            && [LIST, MATRIX].contains(&&*self.f.func.local(*local).name)
        {
            self.f.func.locals[local.idx()].name = name.clone();
        }
    }

    /// A step: this value was stored there.
    pub fn trace_store(&mut self, place: &Place, value: NodeId, span: Span) {
        if !self.is_traced() {
            return;
        }
        let mut text = Text::default();
        if self.place_text(&mut text, place, span).is_none() {
            return;
        }
        if let Some(text) = self.with_value(text, &Operand::Node(value), span) {
            let inside = self.place_inside(place, span);
            self.push_stored(&inside, (text.clone(), text), OUT_OF_RANGE, span);
        }
    }

    /// A step: this value was not stored to `target`, since an index is out of range.
    pub fn trace_dropped(&mut self, target: Span, value: NodeId) {
        if !self.is_traced() {
            return;
        }
        let mut text = Text::default();
        text.literal(self.f.source.slice(target));
        if let Some(mut text) = self.with_value(text, &Operand::Node(value), target) {
            text.literal(&format!("\nnot stored: {OUT_OF_RANGE}"));
            self.push_record(RecordKind::Trace, text, target);
        }
    }

    /// A step: the new value of an element after an atomic operation, and the old one in brackets.
    pub fn trace_atomic(&mut self, atomic: &Atomic, found: NodeId, span: Span) {
        let (true, Some(value)) = (self.is_traced(), atomic.value) else { return };
        let (root, path) = match &atomic.place {
            AtomicPlace::Buffer { buffer, index, path } => (Root::Element(*buffer, *index), path.clone()),
            AtomicPlace::Shared { local, path } => (Root::Local(*local), path.clone()),
        };
        let place = Place { root, path: path.into(), ty: self.ty(value).clone() };
        if atomic.op == AtomicOp::Store {
            return self.trace_store(&place, value, span);
        }
        let mut text = Text::default();
        if self.place_text(&mut text, &place, span).is_none() {
            return;
        }
        let left = self.left_by(atomic, found, value, span);
        text.literal("\n");
        self.operand_text(&mut text, &Operand::Node(left), span, Format::STEP);
        let dropped = text.clone();
        text.literal(" (was ");
        self.operand_text(&mut text, &Operand::Node(found), span, Format::STEP);
        text.literal(")");
        let inside = self.place_inside(&place, span);
        self.push_stored(&inside, (text, dropped), OUT_OF_RANGE, span);
    }

    /// The value that an atomic operation stored, computed from the old one.
    fn left_by(&mut self, atomic: &Atomic, found: NodeId, value: NodeId, span: Span) -> NodeId {
        let ty = self.ty(value).clone();
        let mut math = self.math(span, &ty);
        match atomic.op {
            AtomicOp::Add => math.binary(BinaryOp::Add, found, value),
            AtomicOp::Sub => math.binary(BinaryOp::Sub, found, value),
            AtomicOp::And => math.binary(BinaryOp::And, found, value),
            AtomicOp::Or => math.binary(BinaryOp::Or, found, value),
            AtomicOp::Xor => math.binary(BinaryOp::Xor, found, value),
            AtomicOp::Min | AtomicOp::Max => {
                let op = if atomic.op == AtomicOp::Min { CompareOp::Less } else { CompareOp::Greater };
                let changes = math.compare(op, value, found);
                math.select(changes, value, found)
            }
            AtomicOp::CompareExchange => {
                let expected = atomic.expected.expect("a compare-exchange has a comparator");
                // Bit for bit.
                let bits = Type::from(ty.scalar().expect("atomics are on numbers").as_unsigned());
                let [a, b] = [found, expected].map(|x| self.node(NodeKind::Bitcast(x), bits.clone(), span));
                let changes = self.math(span, &bits).compare(CompareOp::Equal, a, b);
                self.math(span, &ty).select(changes, value, found)
            }
            AtomicOp::Exchange | AtomicOp::Load | AtomicOp::Store => value,
        }
    }

    /// A step: this value was written to a texel.
    pub fn trace_texel(&mut self, texture: TextureId, at: NodeId, value: &Operand, span: Span) {
        if !self.is_traced() {
            return;
        }
        let mut text = Text::default();
        text.literal(&self.textures[texture.idx()].name);
        let axes = match self.ty(at).clone() {
            Type::Vector(n, scalar) => {
                (0..n.into()).map(|axis| self.node(NodeKind::Extract(at, axis), scalar, span)).collect()
            }
            _ => vec![at],
        };
        let axes: Vec<Option<Step>> = axes.into_iter().map(|axis| Some(Step::At(axis))).collect();
        self.indices_text(&mut text, &axes, span);
        if let Some(text) = self.with_value(text, value, span) {
            let inside = self.texel_inside(texture, at, span);
            self.push_stored(&inside, (text.clone(), text), OUTSIDE, span);
        }
    }

    /// A step: this text was printed.
    pub(super) fn trace_print(&mut self, printed: Text, span: Span) {
        if self.is_traced() {
            self.push_record(RecordKind::Trace, printed.headed("print"), span);
        }
    }

    fn trace_value(&mut self, name: Text, operand: &Operand, span: Span) {
        if let Some(text) = self.with_value(name, operand, span) {
            self.push_record(RecordKind::Trace, text, span);
        }
    }

    /// Adds the value to a name. `None` if there is no value.
    fn with_value(&mut self, mut text: Text, operand: &Operand, span: Span) -> Option<Text> {
        let n_numbers = self.n_numbers(operand)?;
        text.literal("\n");
        match n_numbers {
            0..=MAX_NUMBERS => self.operand_text(&mut text, operand, span, Format::STEP),
            _ => text.literal(&self.describe(operand).plain()),
        }
        Some(text)
    }

    /// The number of numbers in a value. `None` if it is not a value, or not in memory of the invocation.
    fn n_numbers(&self, operand: &Operand) -> Option<u32> {
        match operand {
            Operand::Literal(_) => Some(1),
            Operand::Node(node) => n_numbers(self.ty(*node)),
            Operand::Place(Place { root: Root::Local(local), .. })
                if self.f.coops.contains_key(local)
                    || matches!(self.f.func.local(*local).home, Home::Workgroup(_)) =>
            {
                None
            }
            Operand::Place(place) => n_numbers(&place.ty),
            Operand::Tuple(items) => {
                items.iter().try_fold(0u32, |sum, item| Some(sum.saturating_add(self.n_numbers(item)?)))
            }
            _ => None,
        }
    }

    /// `out[3, i]`, `p.pos.x`. `None` for a place with too many indices.
    fn place_text(&mut self, text: &mut Text, place: &Place, span: Span) -> Option<()> {
        let ty = match place.root {
            Root::Local(local) => {
                let local = self.f.func.local(local);
                text.literal(&local.name);
                local.ty.clone()
            }
            Root::Element(buffer, flat) => {
                let known = self.f.indices.get(&flat).filter(|_| self.array(buffer).rank > 1);
                let axes = known.map_or(vec![flat], |axes| axes.to_vec());
                let indices: Vec<Option<Step>> = axes.into_iter().map(|axis| Some(Step::At(axis))).collect();
                text.literal(self.array_name(buffer));
                self.indices_text(text, &indices, span);
                self.array(buffer).element.clone()
            }
        };
        let mut n_indices = 0;
        for step in as_written(&ty, &place.path) {
            match step {
                Written::Member(name) => text.literal(&format!(".{name}")),
                Written::Indices(axes) => {
                    let indices: Vec<Option<Step>> = axes.into_iter().map(|(index, _)| index).collect();
                    self.indices_text(text, &indices, span);
                    n_indices += indices.len();
                }
            }
        }
        (n_indices <= MAX_INDICES).then_some(())
    }

    fn indices_text(&mut self, text: &mut Text, indices: &[Option<Step>], span: Span) {
        for (at, index) in indices.iter().enumerate() {
            text.literal(if at == 0 { "[" } else { ", " });
            match index {
                None => text.literal(":"),
                Some(Step::Part(index)) => text.literal(&index.to_string()),
                Some(Step::At(node)) => self.operand_text(text, &Operand::Node(*node), span, Format::STEP),
            }
        }
        if !indices.is_empty() {
            text.literal("]");
        }
    }
}

fn n_numbers(ty: &Type) -> Option<u32> {
    if let Type::Scalar(_) = ty {
        return Some(1);
    }
    let n_parts = ty.n_parts()?;
    if let Type::Array(_) = ty {
        return Some(n_parts.saturating_mul(n_numbers(&ty.part(0)?)?));
    }
    (0..n_parts).try_fold(0u32, |sum, at| Some(sum.saturating_add(n_numbers(&ty.part(at)?)?)))
}
