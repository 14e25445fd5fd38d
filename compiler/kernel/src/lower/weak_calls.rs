//! Calls of functions that return only weak numbers: `def half(c): return 0.1 if c else 0.2`.
//!
//! A function that returns a single literal is replaced by that literal. Otherwise an int is converted to the
//! type of the other operand. For a float, the function is called again after the call, compiled for that type.
//! That needs a function without side effects.
//!
//! In a kernel that uses f64, a weak float is passed as an f64, so that it is weak in the function, too.

use std::rc::Rc;

use kps_syntax::Span;

use super::Ctx;
use super::closures::Callee;
use super::helpers::CallStyle;
use super::operand::Operand;
use super::weak_types::{Weak, WeakSide, WeakValues};
use crate::constant::{Constant, Literal};
use crate::ir::{NodeId, Stmt};
use crate::types::{Scalar, Type};

/// A call, by its number in the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallId(u32);

#[derive(Clone)]
pub(crate) struct WeakCall<'a> {
    pub callee: Callee<'a>,
    pub args: Rc<[(Operand, Span)]>,
    pub style: CallStyle,
    pub is_repeatable: bool,
    pub values: WeakValues,
}

impl<'a> Ctx<'a> {
    /// The result of a call, as the weak number that it is.
    pub fn weak_result(&mut self, call: WeakCall<'a>, given: Operand, span: Span) -> Operand {
        let Operand::Node(value) = given else { return given };
        if let [literal] = *call.values.numbers {
            return Operand::Literal(literal);
        }
        if call.values.converts() {
            self.note_given(value, call.values);
            return given;
        }
        if !call.is_repeatable {
            return given;
        }
        // The number is in a local, as for a phi, with a place for the other calls.
        let local = self.new_local(&call.callee.def.name.name, self.ty(value).clone(), span);
        self.f.block.push(Stmt::Store { local, value, span });
        let carry = self.new_carry();
        let id = CallId(self.f.weak_calls.len() as u32);
        self.f.weak_calls.push(call);
        let merge = self.add_phi(local, vec![(carry, WeakSide::Call(id))], span);
        Operand::Node(self.load_phi(merge, span))
    }

    pub fn call_of(&self, call: CallId) -> &WeakCall<'a> {
        &self.f.weak_calls[call.0 as usize]
    }

    /// The possible values of a weak float that is passed as an f64.
    pub fn passed_weak(&self, operand: &Operand) -> Option<Rc<[Literal]>> {
        let Some(side @ WeakSide::Node(_)) = self.weak_side(operand) else { return None };
        let values = self.weak_values(side);
        let is_wide = || {
            let elements = self.buffers.iter().map(|buffer| &buffer.element);
            elements.chain(self.scalars.iter().map(|scalar| &scalar.ty)).any(holds_f64)
        };
        (!values.converts() && self.own_scalar(side) == Scalar::F32 && values.fit(Scalar::F64) && is_wide())
            .then_some(values.numbers)
    }

    /// The possible values of a weak number that is converted where it adopts a type.
    pub fn passed_given(&self, operand: &Operand) -> Option<Rc<[Literal]>> {
        let Some(side @ WeakSide::Node(_)) = self.weak_side(operand) else { return None };
        let values = self.weak_values(side);
        values.converts().then_some(values.numbers)
    }

    /// Whether it is a weak number that is not a literal.
    pub fn is_weak_node(&self, operand: &Operand) -> bool {
        matches!(self.weak_side(operand), Some(WeakSide::Node(_)))
    }

    /// Records a weak float argument that is passed as the f64 `wide`.
    pub fn note_received(&mut self, node: NodeId, wide: NodeId, numbers: &Rc<[Literal]>) {
        // Library functions are compiled for the types of their arguments.
        if self.f.func.called_for.is_none() {
            self.f.weak.insert(node, Weak::received(wide, numbers));
        }
    }

    /// The result of the same call in another type.
    pub fn given_as(&mut self, call: CallId, scalar: Scalar, span: Span) -> NodeId {
        let call = self.call_of(call).clone();
        match self.call_again(&call, scalar, span) {
            Operand::Node(given) => given,
            _ => self.constant(Constant::zero(scalar), span),
        }
    }
}

fn holds_f64(ty: &Type) -> bool {
    match ty {
        Type::Struct(of) => of.members.iter().any(|member| holds_f64(&member.ty)),
        Type::Array(array) => holds_f64(&array.element),
        ty => ty.scalar() == Some(Scalar::F64),
    }
}
