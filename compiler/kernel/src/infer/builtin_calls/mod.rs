//! Calls of the functions in `builtins`. The row of a function says what it takes and how it is inferred.
//!
//! The number and the kinds of the arguments are checked here, before inference. A function only reports errors
//! that depend on several arguments at once.

pub(super) mod atomics;
pub(super) mod bits;
pub(super) mod format_spec;
pub(super) mod invocation_ids;
pub(super) mod library_calls;
pub(super) mod library_math;
pub(super) mod math;
pub(super) mod math_of_sequences;
pub(super) mod record;
pub(super) mod subgroup;
pub(super) mod textures;
pub(super) mod typing_rules;

use kps_syntax::Span;
use kps_syntax::ast::Argument;

use crate::builtins::{
    Function, Kind, Lists, Param, Stages, Typing, count_in_words, fold_function, line, takes,
};
use crate::constant::Literal;
use crate::errors;
use crate::infer::Ctx;
use crate::infer::calls::Arguments;
use crate::infer::expressions::arith::Sides;
use crate::infer::expressions::operand::{Operand, Static};
use crate::ir::{Body, FloatFn, MathFn, NodeId, NodeKind};
use crate::library;
use crate::types::{Scalar, Type};

/// A call whose arguments are inferred.
pub(crate) struct BuiltinCall<'c> {
    pub function: Function,
    /// As written in the script: `math.sin`.
    pub name: &'c str,
    pub args: &'c [(Operand, Span)],
    /// The value of a last parameter that is keyword-only.
    pub keyword: Option<&'c (Operand, Span)>,
    pub span: Span,
}

impl BuiltinCall<'_> {
    /// The two arguments, as operands of an operator.
    pub fn sides(&self) -> Sides<'_> {
        let ((left, left_span), (right, right_span)) = (&self.args[0], &self.args[1]);
        Sides { left, right, op_span: self.span, spans: (*left_span, *right_span) }
    }
}

/// A call whose arguments are read from the tree.
pub(crate) struct TreeCall<'c> {
    pub function: Function,
    pub name: &'c str,
    pub args: &'c [Argument],
    pub span: Span,
}

/// The rounding of `round(x)`.
pub(super) static ROUND: MathFn = MathFn::of(Body::Instruction(FloatFn::Round));

impl Ctx<'_> {
    /// A call in the source.
    pub fn builtin_call(
        &mut self,
        function: Function,
        (name, name_span): (&str, Span),
        args: &[Argument],
        span: Span,
    ) -> Operand {
        if function.stages == Stages::Compute && !self.belongs_to_compute(name, name_span) {
            return Operand::Error;
        }
        if let Typing::Tree(rule) = function.typing {
            return self.tree_rule(rule, &TreeCall { function, name, args, span });
        }
        let mut args = self.arguments(args);
        if let Typing::Library(library, rule) = function.typing {
            if !self.are_of_kinds(function, name, &mut args) {
                return Operand::Error;
            }
            if let Some(result) = self.library_rule(rule, &args, span) {
                return result;
            }
            let function = library::function(library).expect("the library has the functions of the table");
            return self.call_helper(&function, args, span);
        }
        // The last parameter may be passed by its name, too.
        let mut keyword = None;
        if let Some((last, before)) = function.params.split_last()
            && (last.is_keyword() || last.is_named && args.positional.len() == before.len())
            && let Some(at) = args.keywords.iter().position(|(keyword, ..)| &*keyword.name == last.name)
        {
            let (_, value, at) = args.keywords.remove(at);
            match last.is_keyword() {
                true => keyword = Some((value, at)),
                false => args.positional.push((value, at)),
            }
        }
        match self.only_positional(args, name) {
            Some(args) => {
                let keyword = keyword.as_ref();
                self.call_builtin(&BuiltinCall { function, name, args: &args, keyword, span })
            }
            None => Operand::Error,
        }
    }

    /// A call with positional arguments.
    pub fn call_builtin(&mut self, call: &BuiltinCall) -> Operand {
        let BuiltinCall { function, name, args, span, .. } = *call;
        // A loop over a `range` is a range, whatever its bounds.
        if function.lists != Lists::Counts && args.iter().any(|(operand, _)| operand.has_error()) {
            return Operand::Error;
        }
        if let (Typing::NumbersOrItems(_, of_items), [(operand, _)]) = (function.typing, args)
            && !matches!(operand, Operand::Literal(_))
        {
            return self.value_rule(of_items, call);
        }
        if !takes(function.params, args.len()) {
            return self.wrong_count(function.params, name, args, span);
        }
        let literals: Option<Vec<Literal>> = args
            .iter()
            .map(|(operand, _)| match operand {
                Operand::Literal(literal) => Some(*literal),
                _ => None,
            })
            .collect();
        if let Some(folded) = literals.and_then(|literals| fold_function(function.fold, &literals)) {
            return Operand::Literal(folded);
        }
        if let (Some(method), [(operand, at)]) = (function.method, args)
            && let Some(result) = self.call_special(method, (operand, *at), &[])
        {
            return result;
        }
        for (i, (operand, at)) in args.iter().enumerate() {
            if !self.is_of_kind(function.kind_of(i), operand) {
                return self.wrong_kind(function.kind_of(i), name, operand, *at);
            }
        }
        match &function.row().typing {
            Typing::Value(rule) => self.value_rule(*rule, call),
            Typing::Numbers(rule) | Typing::NumbersOrItems(rule, _) => {
                self.number_rule(*rule, call).map_or(Operand::Error, Operand::Node)
            }
            Typing::Floats(function) => {
                self.floats_call(function, call).map_or(Operand::Error, Operand::Node)
            }
            Typing::Library(..) | Typing::Tree(_) => {
                unreachable!("`builtin_call` reads their arguments")
            }
        }
    }

    /// A function of floats: all arguments in one type, component by component.
    pub fn floats_call(&mut self, function: &'static MathFn, call: &BuiltinCall) -> Option<NodeId> {
        let (args, ty) = self.floats(call.args, call.name)?;
        let ty = if function.gives_bools() { ty.with_scalar(Scalar::Bool) } else { ty };
        Some(self.node(NodeKind::Math(function, args), ty, call.span))
    }

    /// A call with too few arguments, or too many.
    pub fn wrong_count(
        &mut self,
        params: &[Param],
        name: &str,
        args: &[(Operand, Span)],
        span: Span,
    ) -> Operand {
        // All arguments from one star have the same text.
        let is_spread = args.windows(2).any(|pair| pair[0].1 == pair[1].1);
        let given = if is_spread { &[][..] } else { args };
        let given: Vec<&str> = given.iter().map(|(_, at)| self.f.source.slice(*at)).collect();
        let line = match (name, &given[..]) {
            // GLSL's form.
            ("atan" | "math.atan", [y, x]) => format!("{name}2({y}, {x})"),
            _ => line(params, name, &given),
        };
        let wanted = count_in_words(params);
        self.fail(errors::argument_count_range(self.at(span), name, &wanted, args.len(), &line))
    }

    // Kinds of arguments.

    /// Checks the kinds of arguments of a library function, whose parameters have no types. Converts an int to
    /// a float where one is expected.
    fn are_of_kinds(&mut self, function: Function, name: &str, args: &mut Arguments) -> bool {
        let by_name = |keyword: &str| function.params.iter().find(|param| param.name == keyword);
        let kinds = args.positional.iter().enumerate().map(|(i, given)| (function.kind_of(i), given.clone()));
        let named = args.keywords.iter().filter_map(|(keyword, value, at)| {
            by_name(&keyword.name).map(|param| (param.kind, (value.clone(), *at)))
        });
        let given: Vec<(Kind, (Operand, Span))> = kinds.chain(named).collect();
        if given.iter().any(|(_, (operand, _))| operand.has_error()) {
            return false;
        }
        if let Some((kind, (operand, at))) =
            given.iter().find(|(kind, (operand, _))| !self.is_of_kind(*kind, operand))
        {
            self.wrong_kind(*kind, name, operand, *at);
            return false;
        }
        for (i, (operand, at)) in args.positional.iter_mut().enumerate() {
            if let Operand::Node(node) = operand
                && function.kind_of(i) == Kind::Float
                && self.ty(*node).scalar().is_some_and(Scalar::is_int)
            {
                *operand = Operand::Node(self.convert(*node, Scalar::F32, *at));
            }
        }
        true
    }

    fn is_of_kind(&self, kind: Kind, operand: &Operand) -> bool {
        match kind {
            Kind::Any => true,
            Kind::Number | Kind::Int => self
                .value_type(operand)
                .and_then(|ty| ty.scalar())
                .is_some_and(|scalar| scalar != Scalar::Bool && (kind == Kind::Number || scalar.is_int())),
            Kind::Matrix => matches!(operand, Operand::Node(node) if self.ty(*node).is_matrix()),
            Kind::Texture => matches!(operand, Operand::Static(Static::Texture(_))),
            Kind::OneNumber | Kind::WholeNumber | Kind::Float => match operand {
                Operand::Literal(Literal::Int(_)) => true,
                Operand::Literal(Literal::Float(_)) => kind != Kind::WholeNumber,
                Operand::Node(_) => match self.value_type(operand) {
                    Some(Type::Scalar(scalar)) if kind == Kind::WholeNumber => scalar.is_int(),
                    Some(Type::Scalar(scalar)) => scalar != Scalar::Bool,
                    Some(_) => false,
                    None => true,
                },
                _ => false,
            },
            Kind::Items => match operand {
                Operand::Literal(_) => false,
                Operand::Node(_) => match self.value_type(operand) {
                    Some(Type::Scalar(_)) => false,
                    Some(ty) => ty.n_parts().is_some(),
                    None => true,
                },
                Operand::Static(entity) => matches!(entity, Static::Sequence(_)),
                _ => true,
            },
        }
    }

    fn wrong_kind(&mut self, kind: Kind, name: &str, operand: &Operand, span: Span) -> Operand {
        let what = self.describe(operand);
        let at = self.at(span);
        self.fail(match kind {
            Kind::Any | Kind::Number => errors::number_argument(at, name, &what),
            Kind::Int => errors::bits_argument(at, name, &what),
            Kind::Matrix => errors::matrix_wanted(at, name, &what),
            Kind::Texture => errors::not_a_texture(at, &what),
            Kind::OneNumber | Kind::WholeNumber | Kind::Float | Kind::Items => {
                errors::math_takes(at, name, kind, &what, self.value_type(operand).as_ref())
            }
        })
    }
}
