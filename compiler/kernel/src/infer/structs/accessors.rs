//! Subscripts and properties of structs, by their accessor methods. `g[2] = 50` is `g.__setitem__(2, 50)`,
//! `g[2] += 1` calls `__getitem__` first, and `p.speed = 3.0` calls the setter of the property `speed`.
//!
//! The index is computed once. If the method changes its struct, the result is stored to where the struct came
//! from.

use kps_syntax::Span;
use kps_syntax::ast::{Expr, Ident};

use crate::errors;
use crate::infer::Ctx;
use crate::infer::calls::Arguments;
use crate::infer::expressions::operand::Operand;
use crate::infer::places::targets::Target;
use crate::structs::Method;
use crate::types::Type;

pub(in crate::infer) const SET_ITEM: &str = "__setitem__";

/// The struct, as an expression and as an operand, and the accessed item or property.
pub(in crate::infer) struct StructItem<'e> {
    value: &'e Expr,
    receiver: Operand,
    of: ItemOf<'e>,
}

enum ItemOf<'e> {
    Index(Operand, Span),
    Property(&'e Ident),
}

impl Ctx<'_> {
    pub(in crate::infer) fn item_target<'e>(
        &mut self,
        receiver: Operand,
        value: &'e Expr,
        index: &'e Expr,
        span: Span,
    ) -> Target<'e> {
        let of = ItemOf::Index(self.expr(index), index.span);
        Target::Item(StructItem { value, receiver, of }, span)
    }

    pub(in crate::infer) fn property_target<'e>(
        &mut self,
        value: &'e Expr,
        property: &'e Ident,
        span: Span,
    ) -> Target<'e> {
        let receiver = self.part(value);
        Target::Item(StructItem { value, receiver, of: ItemOf::Property(property) }, span)
    }

    pub(in crate::infer) fn load_item(&mut self, item: &StructItem, span: Span) -> Operand {
        let StructItem { value, receiver, of } = item;
        let receiver_at = (receiver, value.span);
        let loaded = match of {
            ItemOf::Index(at, at_span) => self.call_special("__getitem__", receiver_at, &[(at, *at_span)]),
            ItemOf::Property(property) => self.call_special(&property.name, receiver_at, &[]),
        };
        if let Some(loaded) = loaded {
            return loaded;
        }
        let (text, what) = (self.f.source.slice(value.span), self.describe(receiver));
        self.fail(errors::item_not_read(self.at(span), text, &what))
    }

    pub(in crate::infer) fn store_item(
        &mut self,
        item: StructItem,
        operand: Operand,
        span: Span,
        value_span: Span,
    ) {
        let StructItem { value, receiver, of } = item;
        let Some(Type::Struct(ty)) = self.value_type(&receiver) else { return };
        let (method, index): (Option<&Method>, _) = match of {
            ItemOf::Index(at, at_span) => (ty.method(SET_ITEM), Some((at, at_span))),
            ItemOf::Property(property) => (ty.setter(&property.name), None),
        };
        let Some(method) = method.filter(|method| self.is_supported(&method.function)) else { return };
        let positional = index.into_iter().chain([(operand, value_span)]).collect();
        let args = Arguments { positional, keywords: Vec::new() };
        self.call_changing(&method.function, (&receiver, value), args, span);
    }
}
