//! Stores out of range, in traces. A traced kernel tests each index. The trace
//! step of a discarded store has an extra line after the value that says why.

use kps_syntax::Span;

use super::Ctx;
use super::operand::{Place, Root};
use super::record::Text;
use super::stmts::Condition;
use crate::ir::{BinaryOp, CompareOp, Extent, NodeId, NodeKind, RecordKind, Step, TextureId};
use crate::types::Type;

impl Ctx<'_> {
    /// Records a trace step: one text if all indices are in range, else the other with the reason why nothing
    /// was stored.
    pub(super) fn push_stored(&mut self, inside: &Condition, texts: (Text, Text), why: &str, span: Span) {
        let (stored, mut dropped) = texts;
        dropped.literal(&format!("\nnot stored: {why}"));
        let push = |text: Text| move |ctx: &mut Self| ctx.push_record(RecordKind::Trace, text, span);
        self.branch(inside, span, push(stored), push(dropped));
    }

    /// Whether all indices of a place are in range.
    pub fn place_inside(&mut self, place: &Place, span: Span) -> Condition {
        let (mut tests, mut ty) = (Vec::new(), Type::Void);
        match place.root {
            Root::Local(local) => ty.clone_from(&self.f.func.local(local).ty),
            Root::Element(buffer, index) => {
                ty.clone_from(&self.array(buffer).element);
                let of = Extent::Elements(buffer);
                tests.push(self.node(NodeKind::IsInside { of, index }, Type::BOOL, span));
            }
        }
        for &step in place.path.iter() {
            if let (Step::At(index), Some(len)) = (step, ty.n_parts()) {
                tests.push(self.is_below_len(index, len, span));
            }
            ty = ty.part(step.part()).unwrap_or(Type::Void);
        }
        let both = |a, b| self.node(NodeKind::Binary(BinaryOp::And, a, b), Type::BOOL, span);
        tests.into_iter().reduce(both).map_or(Condition::Known(true), Condition::Node)
    }

    /// Whether an image has such a texel.
    pub fn texel_inside(&mut self, texture: TextureId, at: NodeId, span: Span) -> Condition {
        let size = self.node(NodeKind::TextureSize(texture), self.ty(at).clone(), span);
        let below = self.is_below(at, size, span);
        Condition::Node(match self.ty(below) {
            Type::Scalar(_) => below,
            _ => self.node(NodeKind::All(below), Type::BOOL, span),
        })
    }

    pub fn is_below_len(&mut self, index: NodeId, len: u32, span: Span) -> NodeId {
        self.node(NodeKind::IsInside { of: Extent::Parts(len), index }, Type::BOOL, span)
    }

    /// Compares unsigned numbers, so that a negative index is out of range.
    fn is_below(&mut self, index: NodeId, len: NodeId, span: Span) -> NodeId {
        let ty = self.ty(index).clone();
        let unsigned = ty.with_scalar(ty.scalar().expect("an index is of ints").as_unsigned());
        let [index, len] = [index, len].map(|x| self.node(NodeKind::Bitcast(x), unsigned.clone(), span));
        self.math(span, &unsigned).compare(CompareOp::Less, index, len)
    }
}
