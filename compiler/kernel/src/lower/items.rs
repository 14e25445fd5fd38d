//! Items of structs that have some by their methods: `g[2] = 50` is `g.__setitem__(2, 50)`, and `g[2] += 1` asks
//! `__getitem__` before.
//!
//! The index is computed once. What the method changes of its struct is stored to where the struct came from.

use kps_syntax::Span;
use kps_syntax::ast::Expr;

use super::Ctx;
use super::calls::Arguments;
use super::operand::Operand;
use super::targets::Target;
use crate::errors;
use crate::types::Type;

pub(super) const SET_ITEM: &str = "__setitem__";

/// The struct, as an expression and what that is, and the index.
pub(super) struct StructItem<'e> {
    value: &'e Expr,
    receiver: Operand,
    index: (Operand, Span),
}

impl Ctx<'_> {
    pub(super) fn item_target<'e>(
        &mut self,
        receiver: Operand,
        value: &'e Expr,
        index: &'e Expr,
        span: Span,
    ) -> Target<'e> {
        let at = self.expr(index);
        Target::Item(StructItem { value, receiver, index: (at, index.span) }, span)
    }

    pub(super) fn load_item(&mut self, item: &StructItem, span: Span) -> Operand {
        let StructItem { value, receiver, index: (at, at_span) } = item;
        if let Some(loaded) = self.call_special("__getitem__", (receiver, value.span), &[(at, *at_span)]) {
            return loaded;
        }
        let (text, what) = (self.f.source.slice(value.span), self.describe(receiver));
        self.fail(errors::item_not_read(self.at(span), text, &what))
    }

    pub(super) fn store_item(&mut self, item: StructItem, operand: Operand, span: Span, value_span: Span) {
        let StructItem { value, receiver, index } = item;
        let Some(Type::Struct(of)) = self.value_type(&receiver) else { return };
        let Some(method) = of.method(SET_ITEM) else { return };
        if !self.is_sound(&method.function) {
            return;
        }
        let args = Arguments { positional: vec![index, (operand, value_span)], keywords: Vec::new() };
        self.call_changing(&method.function, (&receiver, value), args, span);
    }
}
