//! Errors of an expression, by the types of its operands.

use naga::front::Typifier;
use naga::proc::ResolveContext;
use naga::valid::{ComposeError, ExpressionError as Error, LiteralError};
use naga::{BinaryOperator, Expression, Function, Handle, ImageClass, ScalarKind, TypeInner, UnaryOperator};

use super::functions::not_a_condition;
use super::report::{Report, report};
use crate::wgsl::composite_comparisons;
use crate::wgsl::names::{Names, binary, unary};

/// A function's expressions with their types.
pub(super) struct Typed<'m> {
    pub names: Names<'m>,
    types: Typifier,
    function: &'m Function,
}

impl<'m> Typed<'m> {
    pub fn new(names: Names<'m>, function: &'m Function) -> Typed<'m> {
        Typed { names, types: Typifier::new(), function }
    }

    /// The name of an expression's type.
    pub fn ty(&mut self, handle: Handle<Expression>) -> String {
        let names = self.names;
        self.inner(handle).map_or_else(|| "this type".to_owned(), |inner| format!("`{}`", names.inner(inner)))
    }

    /// The type of an expression. A composite that is read through a pointer has the composite's type.
    pub fn inner(&mut self, handle: Handle<Expression>) -> Option<&TypeInner> {
        let Names { module, .. } = self.names;
        let context =
            ResolveContext::with_locals(module, &self.function.local_variables, &self.function.arguments);
        self.types.grow(handle, &self.function.expressions, &context).ok()?;
        let inner = self.types.get(handle, &module.types);
        match *inner {
            TypeInner::Pointer { base, .. } => Some(&module.types[base].inner),
            _ => Some(inner),
        }
    }

    pub fn is_pointer(&mut self, handle: Handle<Expression>) -> bool {
        let context = ResolveContext::with_locals(
            self.names.module,
            &self.function.local_variables,
            &self.function.arguments,
        );
        self.types.grow(handle, &self.function.expressions, &context).is_ok()
            && self.types.get(handle, &self.names.module.types).pointer_space().is_some()
    }

    /// Adds how to convert one type to another, if a conversion exists.
    pub fn converted(&mut self, message: Report, to: &TypeInner, value: Handle<Expression>) -> Report {
        let name = self.names.inner(to);
        let Some(from) = self.inner(value) else { return message };
        match (to, from) {
            (TypeInner::Vector { size, .. }, TypeInner::Vector { size: given, .. }) if size != given => {
                message.help(format!("`{name}` has {} components", *size as u8))
            }
            (TypeInner::Vector { .. }, TypeInner::Vector { .. } | TypeInner::Scalar(_))
            | (TypeInner::Scalar(_), TypeInner::Scalar(_)) => {
                message.help(format!("convert it: `{name}(..)`"))
            }
            (TypeInner::Scalar(_), TypeInner::Vector { .. }) => {
                message.help("take one of its components: `v.x`")
            }
            (TypeInner::Scalar(_), TypeInner::Array { .. }) => {
                message.help("take one of its elements: `values[0]`")
            }
            (TypeInner::Array { size: naga::ArraySize::Constant(n), .. }, TypeInner::Array { .. }) => {
                message.help(format!("give it {n} values"))
            }
            (TypeInner::Struct { .. }, _) => {
                message.help(format!("make one of all its members, `{name}(..)`, or assign to a member"))
            }
            _ => message,
        }
    }

    /// A component of a composite has another type than it should have.
    pub fn component(&mut self, whole: Handle<Expression>, error: &Error) -> Option<Report> {
        let Error::Compose(ComposeError::ComponentType { index }) = *error else { return None };
        let Expression::Compose { ty, ref components } = self.function.expressions[whole] else {
            return None;
        };
        let wanted = match &self.names.module.types[ty].inner {
            TypeInner::Struct { members, .. } => members.get(index as usize)?.ty,
            TypeInner::Array { base, .. } => *base,
            _ => return None,
        };
        let value = *components.get(index as usize)?;
        let (name, given) = (format!("`{}`", self.names.ty(wanted)), self.ty(value));
        let is_array = matches!(self.names.module.types[wanted].inner, TypeInner::Array { .. });
        if name == given && is_array {
            return Some(report(format!("{given} has another layout in a struct than in variables")).help(
                "write the struct with other values first, and assign to the member then: `s.values = x;`",
            ));
        }
        if name == given {
            // naga computes the layout of a GLSL struct for each kind of block.
            return Some(
                report(format!("{given} has other offsets in this block than in variables"))
                    .help("copy it into a variable first, and write that one here"),
            );
        }
        let message = report(format!("value {} belongs to {name}, and this is {given}", index + 1));
        let wanted = &self.names.module.types[wanted].inner;
        Some(self.converted(message, wanted, value))
    }

    pub fn describe(&mut self, error: &Error) -> Option<Report> {
        Some(match *error {
            Error::InvalidUnaryOperandType(operator, operand) => self.unary(operator, operand),
            Error::InvalidBinaryOperandTypes { op, ref lhs_type, ref rhs_type, .. } => {
                self.binary(op, lhs_type, rhs_type)
            }
            Error::ShiftAmountTooLarge { ref lhs_type, .. } => {
                report(format!("this shifts by more bits than `{}` has", self.names.inner(lhs_type)))
                    .help("a shift is by fewer bits than the number has")
            }
            Error::DivideByZero => report("division by zero").help("write a divisor that is not 0"),
            Error::IndexOutOfBounds(base, index) => self.out_of_bounds(base, index),
            Error::NegativeIndex(_) => {
                report("this index is negative").help("the first element has the index 0")
            }
            Error::InvalidIndexType(index) => self.index(index),
            Error::InvalidBaseType(base) => report(format!("{} has no elements", self.ty(base))),
            Error::InvalidPointerType(_) => self.unsized_value(),
            Error::InvalidArrayType(array) => report(format!("{} has no length to ask for", self.ty(array)))
                .help("vectors and matrices have as many components as their types say"),
            Error::Compose(ref error) => composed(error),
            Error::SelectConditionNotABool { ref actual } => {
                report(format!("a condition is a `bool`, and this one is `{}`", self.names.inner(actual)))
            }
            Error::SelectValuesTypeMismatch { ref accept, ref reject } => {
                let [accept, reject] = [accept, reject].map(|one| self.names.inner(one));
                report(format!("both values have one type, and these are `{accept}` and `{reject}`"))
            }
            Error::InvalidArgumentType(function, at, argument) => {
                let ty = self.ty(argument);
                report(format!("`{}` does not take {ty} as its argument {}", camel(&function), at + 1))
            }
            Error::WrongArgumentCount(function) => {
                report(format!("`{}` takes another number of arguments", camel(&function)))
            }
            Error::UnsupportedWidth(function, _, width) => report(format!(
                "`{}` is not known of numbers with {} bits here",
                camel(&function),
                u32::from(width) * 8
            ))
            .help("convert the argument to 32 bits"),
            Error::InvalidCastArgument => report("this cannot be converted so"),
            Error::Type(ref error) => {
                let (message, help) = composite_comparisons::compared(&error.to_string())?;
                report(message).help(help)
            }
            Error::Literal(ref error) => literal(error),
            _ => return self.image(error),
        })
    }

    /// Whether a value is negated though the text has no operator for it.
    fn is_turned_round(&self, operand: Handle<Expression>) -> bool {
        let expressions = &self.function.expressions;
        let is_negation = |one: &Expression| matches!(one, Expression::Unary { op: UnaryOperator::LogicalNot, expr } if *expr == operand);
        expressions.iter().any(|(handle, one)| {
            is_negation(one) && expressions.get_span(handle) == expressions.get_span(operand)
        })
    }

    fn unary(&mut self, operator: UnaryOperator, operand: Handle<Expression>) -> Report {
        let ty = self.ty(operand);
        let message = report(format!("`{}` does not take {ty}", unary(operator)));
        match (operator, self.inner(operand).and_then(TypeInner::scalar_kind)) {
            // naga negates the condition of a loop in GLSL.
            (UnaryOperator::LogicalNot, _) if self.is_turned_round(operand) => not_a_condition(self, operand),
            (UnaryOperator::LogicalNot, Some(kind)) if kind != ScalarKind::Bool => {
                message.help("it takes a `bool`: write `x == 0` for whether a number is 0")
            }
            (UnaryOperator::Negate, Some(ScalarKind::Uint)) => {
                message.help("a number without a sign has no negative: convert it first")
            }
            (UnaryOperator::BitwiseNot, _) => message.help("it takes integers"),
            _ => message,
        }
    }

    fn binary(&self, operator: BinaryOperator, left: &TypeInner, right: &TypeInner) -> Report {
        use BinaryOperator as Op;
        let [l, r] = [left, right].map(|one| self.names.inner(one));
        let message = report(format!("`{}` does not take `{l}` and `{r}`", binary(operator)));
        let kinds = [left, right].map(TypeInner::scalar_kind);
        match operator {
            Op::LogicalAnd | Op::LogicalOr => {
                message.help("it takes a `bool` on both sides: write `x != 0` for a number")
            }
            Op::ShiftLeft | Op::ShiftRight | Op::And | Op::InclusiveOr | Op::ExclusiveOr if l == r => {
                message.help("it takes integers")
            }
            Op::ShiftLeft | Op::ShiftRight => message.help("it takes integers"),
            _ if kinds.contains(&Some(ScalarKind::Bool)) => {
                message.help("it takes numbers: a `bool` is none")
            }
            _ if l == r => message,
            _ if kinds[0] != kinds[1] => message.help("convert one of them: `f32(x)`"),
            Op::Multiply => message.help("a matrix takes a vector with as many components as it has columns"),
            _ => message.help("give both sides as many components"),
        }
    }

    fn index(&mut self, index: Handle<Expression>) -> Report {
        let message = report(format!("an index is an integer, and this one is {}", self.ty(index)));
        let is_vector = matches!(self.inner(index), Some(TypeInner::Vector { .. }));
        match is_vector {
            true => {
                message.help(format!("take one of its components: `{}.x`", self.name(index).unwrap_or("v")))
            }
            false => message.help("convert it: `i32(x)`"),
        }
    }

    /// The name of a value that comes from a variable or a parameter.
    fn name(&self, value: Handle<Expression>) -> Option<&str> {
        let function = self.function;
        match function.expressions[value] {
            Expression::FunctionArgument(at) => function.arguments.get(at as usize)?.name.as_deref(),
            Expression::LocalVariable(variable) => function.local_variables[variable].name.as_deref(),
            Expression::GlobalVariable(variable) => {
                self.names.module.global_variables[variable].name.as_deref()
            }
            Expression::Load { pointer } => self.name(pointer),
            _ => function.named_expressions.get(&value).map(String::as_str),
        }
    }

    fn out_of_bounds(&mut self, base: Handle<Expression>, index: u32) -> Report {
        let n = match self.inner(base) {
            Some(TypeInner::Array { size: naga::ArraySize::Constant(n), .. }) => Some(n.get()),
            Some(TypeInner::Vector { size, .. }) => Some(*size as u32),
            Some(TypeInner::Matrix { columns, .. }) => Some(*columns as u32),
            _ => None,
        };
        let message = report(format!("there is no element {index}"));
        match n {
            Some(n) => message.help(format!("{} has {n}: the last is {}", self.ty(base), n - 1)),
            None => message,
        }
    }

    fn unsized_value(&self) -> Report {
        report("a buffer whose length is only known at run time cannot be used as a value")
            .help("name an element, `data[i]`, or take its address, `arrayLength(&data)`")
    }

    /// Errors of reading an image.
    fn image(&mut self, error: &Error) -> Option<Report> {
        Some(match *error {
            Error::InvalidImageCoordinateType(dimension, coordinate) => {
                let ty = self.ty(coordinate);
                let n = match dimension {
                    naga::ImageDimension::D1 => "one component",
                    naga::ImageDimension::D2 => "two components",
                    _ => "three components",
                };
                report(format!("a place in this image is not {ty}"))
                    .help(format!("it has {n}: integers for a texel, floats for a sample"))
            }
            Error::InvalidImageArrayIndexType(index) | Error::InvalidImageOtherIndexType(index) => {
                report(format!("a layer or a level is an integer, and this one is {}", self.ty(index)))
            }
            Error::InvalidImageArrayIndex => {
                report("an image with layers is read at one of them, and no other is")
            }
            Error::InvalidImageClass(ImageClass::Sampled { .. }) => {
                report("an image of integers cannot be sampled").help("read its texels: `textureLoad`")
            }
            Error::InvalidImageClass(_) => report("this cannot be done with an image of this kind"),
            Error::ComparisonSamplingMismatch { sampler: true, .. } => {
                report("a sampler that compares is for images of depths").help("declare it as `sampler`")
            }
            Error::ComparisonSamplingMismatch { .. } => {
                report("this sampler does not compare").help("declare it as `sampler_comparison`")
            }
            Error::InvalidImageStorageAccess(_) => report("this image takes no atomic operations")
                .help("declare it with that access: `texture_storage_2d<r32uint, atomic>`"),
            Error::InvalidImageFormat(_) => report("images of this format take no atomic operations")
                .help("those of `r32uint` and `r32sint` do"),
            Error::InvalidSampleOffsetExprType | Error::InvalidSampleOffset(..) => {
                report("the offset of a sample is a constant with as many components as the image has axes")
            }
            Error::InvalidSampleLevelExactType(level) | Error::InvalidSampleLevelBiasType(level) => {
                let ty = self.ty(level);
                report(format!("the level of a sample of this image is not {ty}"))
                    .help("it is an integer for an image of depths, and a float for others")
            }
            Error::InvalidSampleLevelBiasDimension(_) => {
                report("images of this kind are sampled without a bias")
            }
            Error::InvalidSampleLevelGradientType(..) => {
                report("a gradient has as many components as the image has axes")
            }
            Error::InvalidGatherDimension(_) => {
                report("components are gathered only from images with two axes")
            }
            Error::InvalidGatherComponent(_) | Error::InvalidGatherLevel => {
                report("this component cannot be gathered")
            }
            Error::InvalidDepthReference(_) => report("what a depth is compared with is a float"),
            Error::InvalidDerivative => report("derivatives are of floats"),
            _ => return None,
        })
    }
}

fn composed(error: &ComposeError) -> Report {
    match *error {
        ComposeError::Type(_) => report("values of this type cannot be made of parts"),
        ComposeError::ComponentCount { given, expected } => report(format!(
            "this is made of {expected} values, and {given} {} given",
            if given == 1 { "is" } else { "are" }
        ))
        .help("give one value for each member or element"),
        ComposeError::ComponentType { index } => report(format!("value {} is of another type", index + 1))
            .help("convert it to the type of that component"),
    }
}

pub(super) fn literal(error: &LiteralError) -> Report {
    let what = match error {
        LiteralError::NaN => "NaN",
        LiteralError::Infinity => "infinite",
        LiteralError::Width(_) => {
            return report("nothing says which type this literal has").help(
                "write it, as in `1.0f` and `1u`; a `return` takes a value where the function says its type",
            );
        }
    };
    report(format!("a constant here is {what}"))
        .help("read the number from a buffer or a push constant: these take any")
}

/// `InverseSqrt` as `inverseSqrt`.
fn camel(function: &naga::MathFunction) -> String {
    let name = format!("{function:?}");
    name[..1].to_lowercase() + &name[1..]
}
