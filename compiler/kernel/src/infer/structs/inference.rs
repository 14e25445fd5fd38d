//! Construction, members and methods of structs.

use std::rc::Rc;
use std::sync::Arc;

use kps_syntax::ast::{Argument, CompareOp as AstCompareOp, Expr, ExprKind, FunctionDef, Ident};
use kps_syntax::{Span, suggest};

use super::{GivenStruct, MethodState, SelfValue};
use crate::constant::Constant;
use crate::env::HelperFunction;
use crate::infer::Ctx;
use crate::infer::calls::Arguments;
use crate::infer::calls::closures::Callee;
use crate::infer::calls::helpers::CallStyle;
use crate::infer::expressions::operand::{Operand, Static};
use crate::infer::places::targets::Target;
use crate::infer::places::vars::Binding;
use crate::ir::{BinaryOp, CompareOp, Home, NodeId, NodeKind, Place, Root, Stmt};
use crate::structs::{Member, Method, MethodKind, StructType};
use crate::types::{Scalar, Type};
use crate::{errors, resolve};

/// Structs with more parts than this cannot be compared.
const MAX_COMPARED: u32 = 64;

impl Ctx<'_> {
    /// The index of a member, or the error that there is no such member.
    pub fn member_of(&mut self, of: &StructType, attr: &Ident) -> Option<u32> {
        if let Some((at, _)) = of.member(&attr.name) {
            return Some(at);
        }
        let error = match of.method(&attr.name) {
            Some(Method { kind: MethodKind::Property, .. }) => {
                errors::property_without_setter(self.at(attr.span), &of.to_string(), &attr.name)
            }
            Some(_) => errors::method_as_value(self.at(attr.span), &of.to_string(), &attr.name),
            None => {
                let known = of.members.iter().map(|member| &member.name);
                let known = known.chain(of.methods.iter().map(|method| &method.name));
                let nearest = suggest::nearest(&attr.name, known.map(|name| &**name));
                errors::unknown_struct_member(self.at(attr.span), of, &attr.name, nearest)
            }
        };
        self.error(error);
        None
    }

    /// `P(..)`, by the class's `__init__` if it has one. Members that it does not assign have their defaults,
    /// or are zero.
    pub fn construct_struct(&mut self, of: &Rc<StructType>, args: Arguments, span: Span) -> Operand {
        if let Some(init) = of.method("__init__") {
            let parts = of.members.iter().map(|member| match &member.default {
                Some(default) => self.filled(&member.ty, &mut default.iter(), span),
                None => self.zero(&member.ty, span),
            });
            let parts = parts.collect();
            let blank = self.node(NodeKind::Construct(parts), Type::Struct(Rc::clone(of)), span);
            return self.made_by(&init.function, blank, args, span);
        }
        match (self.construct_of_members(of, args, span), of.method("__post_init__")) {
            (Operand::Node(made), Some(post)) => {
                let none = Arguments { positional: Vec::new(), keywords: Vec::new() };
                self.made_by(&post.function, made, none, span)
            }
            (made, _) => made,
        }
    }

    /// The result of a method on a struct.
    fn made_by(&mut self, method: &HelperFunction, of: NodeId, mut args: Arguments, span: Span) -> Operand {
        if !self.is_supported(method) {
            return Operand::Error;
        }
        args.positional.insert(0, (Operand::Node(of), span));
        let called = self.call_function(&Callee::of_helper(method), args, CallStyle::Method, span);
        match (called.result, called.changed_self) {
            (Operand::Error, _) => Operand::Error,
            (Operand::Static(Static::None), changed) => Operand::Node(changed.unwrap_or(of)),
            (..) => self.fail(errors::initializer_returns(self.at(span), &method.def.name.name)),
        }
    }

    /// Members by position or by name, and defaults for the others. `P()` is all zero if there are no defaults.
    fn construct_of_members(&mut self, of: &Rc<StructType>, args: Arguments, span: Span) -> Operand {
        let ty = Type::Struct(Rc::clone(of));
        if args.positional.is_empty() && args.keywords.is_empty() {
            return match of.members.iter().all(|member| member.default.is_none()) {
                true => Operand::Node(self.zero(&ty, span)),
                false => self.construct_given(of, vec![None; of.members.len()], span),
            };
        }
        if let [(Operand::Node(node), _)] = &args.positional[..]
            && *self.ty(*node) == ty
            && args.keywords.is_empty()
        {
            return Operand::Node(*node);
        }
        match self.match_members(of, args, span) {
            Some(given) => self.construct_given(of, given, span),
            None => Operand::Error,
        }
    }

    fn match_members(
        &mut self,
        of: &StructType,
        args: Arguments,
        span: Span,
    ) -> Option<Vec<Option<(Operand, Span)>>> {
        let mut given: Vec<Option<(Operand, Span)>> = vec![None; of.members.len()];
        if args.positional.len() > given.len() {
            let n_given = args.positional.len();
            self.error(errors::struct_members(self.at(span), of, n_given));
            return None;
        }
        for (place, arg) in args.positional.into_iter().enumerate() {
            given[place] = Some(arg);
        }
        for (keyword, operand, at) in args.keywords {
            let place = self.member_of(of, keyword)? as usize;
            if given[place].is_some() {
                self.error(errors::member_twice(self.at(keyword.span), of, &keyword.name));
                return None;
            }
            given[place] = Some((operand, at));
        }
        Some(given)
    }

    fn construct_given(
        &mut self,
        of: &Rc<StructType>,
        given: Vec<Option<(Operand, Span)>>,
        span: Span,
    ) -> Operand {
        let mut parts = Vec::with_capacity(given.len());
        let mut missing = Vec::new();
        let mut is_wrong = false;
        for (member, given) in of.members.iter().zip(given) {
            let part = match (given, &member.default) {
                (Some((operand, at)), _) => self.member_value(of, member, &operand, at),
                (None, Some(default)) => Some(self.filled(&member.ty, &mut default.iter(), span)),
                (None, None) => {
                    missing.push(&*member.name);
                    None
                }
            };
            is_wrong |= part.is_none();
            parts.extend(part);
        }
        if !missing.is_empty() {
            return self.fail(errors::members_missing(self.at(span), of, &missing));
        }
        if is_wrong {
            return Operand::Error;
        }
        Operand::Node(self.node(NodeKind::Construct(parts), Type::Struct(Rc::clone(of)), span))
    }

    fn member_value(
        &mut self,
        of: &StructType,
        member: &Member,
        operand: &Operand,
        span: Span,
    ) -> Option<NodeId> {
        if operand.has_error() {
            return None;
        }
        let same_shape =
            self.value_type(operand).is_some_and(|given| given.n_components() == member.ty.n_components());
        let node = same_shape.then(|| self.try_convert(operand, &member.ty, span)).flatten();
        if node.is_none() {
            let what = self.describe(operand);
            let text = self.f.source.slice(span);
            let begun = match operand {
                Operand::Place(Place { root: Root::Local(local), path, .. }) if path.is_empty() => {
                    self.f.source.slice(self.f.func.local(*local).span)
                }
                _ => text,
            };
            let beyond = self.out_of_range_error(operand, &member.ty, span);
            let mistake = beyond
                .unwrap_or_else(|| errors::member_type(self.at(span), of, member, (text, begun), &what));
            self.error(mistake);
        }
        node
    }

    /// A value with these numbers, in order. Those of a matrix are row by row.
    pub fn filled(&mut self, ty: &Type, numbers: &mut dyn Iterator<Item = &Constant>, span: Span) -> NodeId {
        if let Type::Scalar(scalar) = ty {
            let constant = numbers.next().copied().unwrap_or(Constant::zero(*scalar));
            return self.constant(constant, span);
        }
        if let Type::Matrix { columns, rows, scalar } = *ty {
            let number = |_| self.filled(&scalar.into(), numbers, span);
            let numbers: Vec<NodeId> = (0..columns * rows).map(number).collect();
            return self.matrix_of_rows(&numbers, columns, span);
        }
        let n = ty.n_parts().unwrap_or(0);
        let parts = (0..n).filter_map(|at| Some(self.filled(&ty.part(at)?, numbers, span))).collect();
        self.node(NodeKind::Construct(parts), ty.clone(), span)
    }

    pub fn zero(&mut self, ty: &Type, span: Span) -> NodeId {
        self.filled(ty, &mut std::iter::empty(), span)
    }

    // Comparison.

    /// `==` and `!=` of structs of one type, member by member. `None` if the operands are none.
    pub fn compare_structs(
        &mut self,
        op: AstCompareOp,
        left: &Operand,
        right: &Operand,
        span: Span,
    ) -> Option<Operand> {
        let (Operand::Node(a), Operand::Node(b)) = (left, right) else { return None };
        let ty = self.ty(*a).clone();
        if !matches!(ty, Type::Struct(_)) || ty != *self.ty(*b) {
            return None;
        }
        let op = match op {
            AstCompareOp::Eq => CompareOp::Equal,
            AstCompareOp::NotEq => CompareOp::NotEqual,
            _ => return Some(self.fail(errors::structs_have_no_order(self.at(span), &ty))),
        };
        if n_numbers(&ty) > MAX_COMPARED {
            return Some(self.fail(errors::struct_too_long_to_compare(self.at(span), &ty)));
        }
        Some(Operand::Node(self.compare_parts(op, *a, *b, span)))
    }

    fn compare_parts(&mut self, op: CompareOp, a: NodeId, b: NodeId, span: Span) -> NodeId {
        let ty = self.ty(a).clone();
        match ty {
            Type::Scalar(_) => self.node(NodeKind::Compare(op, a, b), Type::BOOL, span),
            Type::Vector(..) => {
                let each = self.node(NodeKind::Compare(op, a, b), ty.with_scalar(Scalar::Bool), span);
                let kind = if op == CompareOp::Equal { NodeKind::All(each) } else { NodeKind::Any(each) };
                self.node(kind, Type::BOOL, span)
            }
            ty => {
                let joined = if op == CompareOp::Equal { BinaryOp::And } else { BinaryOp::Or };
                let mut result = self.constant(Constant::bool(op == CompareOp::Equal), span);
                for at in 0..ty.n_parts().unwrap_or(0) {
                    let part = ty.part(at).expect("counted");
                    let a = self.node(NodeKind::Extract(a, at), part.clone(), span);
                    let b = self.node(NodeKind::Extract(b, at), part, span);
                    let test = self.compare_parts(op, a, b, span);
                    result = match at {
                        0 => test,
                        _ => self.node(NodeKind::Binary(joined, result, test), Type::BOOL, span),
                    };
                }
                result
            }
        }
    }

    // Methods.

    /// A call of a method of the struct `value`. `None` if it is no struct with that method.
    pub fn call_method(
        &mut self,
        receiver: &Operand,
        value: &Expr,
        attr: &Ident,
        args: &[Argument],
        span: Span,
    ) -> Option<Operand> {
        let Some(Type::Struct(of)) = self.value_type(receiver) else { return None };
        let method = of.method(&attr.name).filter(|method| method.kind != MethodKind::Property)?;
        if !self.is_supported(&method.function) {
            return Some(Operand::Error);
        }
        if method.kind == MethodKind::Static {
            let args = self.arguments(args);
            return Some(self.call_helper(&method.function, args, span));
        }
        let args = self.arguments(args);
        Some(self.call_changing(&method.function, (receiver, value), args, span))
    }

    /// A call of a method whose changes are stored to where `receiver`, the operand of `value`, came from.
    pub fn call_changing(
        &mut self,
        function: &HelperFunction,
        (receiver, value): (&Operand, &Expr),
        mut args: Arguments,
        span: Span,
    ) -> Operand {
        let this = match receiver {
            Operand::Place(place) if self.access_path(place).is_some() || place.ty.holds_array() => {
                receiver.clone()
            }
            Operand::Place(place) => self.load_place(place, value.span),
            // The arguments may have changed it: `s.push(s.pop())`.
            _ if is_path(value) => self.expr(value),
            _ => receiver.clone(),
        };
        args.positional.insert(0, (this, value.span));
        let called = self.call_function(&Callee::of_helper(function), args, CallStyle::Method, span);
        if let Some(changed) = called.changed_self {
            self.store_changed(receiver, value, changed);
        }
        called.result
    }

    /// Whether kernels support everything in a method. If not, that is reported once.
    pub fn is_supported(&mut self, function: &HelperFunction) -> bool {
        let key = Arc::as_ptr(&function.def);
        if let Some(is_supported) = self.checked_methods.get(&key) {
            return *is_supported;
        }
        let found = resolve::check_method(function);
        let is_supported = !found.has_errors();
        // Its warnings are reported where it is defined.
        if !is_supported {
            self.f.diagnostics.extend(found);
        }
        self.checked_methods.insert(key, is_supported);
        is_supported
    }

    /// Stores the struct that a method changed to where it came from. A temporary struct is not stored.
    fn store_changed(&mut self, receiver: &Operand, value: &Expr, changed: NodeId) {
        let target = match (receiver, &value.kind) {
            (Operand::Place(place), _) => Target::Place(place.clone(), value.span),
            (_, ExprKind::Name(_) | ExprKind::Attribute { .. } | ExprKind::Subscript { .. }) => {
                self.target(value)
            }
            _ => return,
        };
        self.store(target, Operand::Node(changed), value.span);
    }

    /// From here on, the caller sees changes of the first parameter.
    pub fn track_self(&mut self, def: &FunctionDef) {
        let Some(param) = def.params.iter().next() else { return };
        let Some(var) = self.f.vars.named(&param.name.name) else { return };
        let given = match self.f.vars[var] {
            Binding::Bound { operand: Operand::Node(value), .. } => {
                let ty = self.ty(value).clone();
                let out = self.reference(&param.name.name, ty, param.name.span);
                Some(GivenStruct { now: SelfValue::Value(value), out, changed: false })
            }
            Binding::Bound {
                operand: Operand::Place(Place { root: Root::Local(local), ref ty, .. }),
                ..
            } if self.f.func.local(local).home == Home::Own => {
                let out = self.reference(&param.name.name, ty.clone(), param.name.span);
                Some(GivenStruct { now: SelfValue::Local(local), out, changed: false })
            }
            Binding::Bound { operand: Operand::Place(_), .. } => None,
            _ => return,
        };
        self.f.method = Some(MethodState { var, given });
    }

    /// Before a method ends: returns `self` to the caller if it was changed.
    pub fn return_self(&mut self, span: Span) {
        let Some(&MethodState { var, given: Some(GivenStruct { now: given, out, .. }) }) =
            self.f.method.as_ref()
        else {
            return;
        };
        match self.f.vars[var] {
            Binding::Bound { operand: Operand::Node(now), .. } if matches!(given, SelfValue::Value(value) if value == now) =>
            {
                return;
            }
            Binding::Error => return,
            _ => {}
        }
        let value = match self.read_var(var, span) {
            Operand::Node(value) => Some(value),
            Operand::Place(place) => Some(self.load_whole(&place, span)),
            _ => None,
        };
        if let Some(value) = value {
            self.f.block.push(Stmt::Store { local: out, value, span });
            if let Some(given) = self.f.method.as_mut().and_then(|method| method.given.as_mut()) {
                given.changed = true;
            }
        }
    }

    /// Whether a name is the `self` of the method being inferred.
    pub fn is_self(&self, name: &str) -> bool {
        self.f.method.as_ref().is_some_and(|method| self.f.vars.named(name) == Some(method.var))
    }
}

/// Whether an expression is a name, or members of one. It may be evaluated again.
fn is_path(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Name(_) => true,
        ExprKind::Attribute { value, .. } => is_path(value),
        _ => false,
    }
}

fn n_numbers(ty: &Type) -> u32 {
    match ty {
        Type::Scalar(_) => 1,
        ty => (0..ty.n_parts().unwrap_or(0)).filter_map(|at| ty.part(at)).map(|part| n_numbers(&part)).sum(),
    }
}
