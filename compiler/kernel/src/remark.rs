//! Remarks: facts about places of the source, from inference and later passes. `explain` and `types_of` return them.

use std::fmt;

use kps_syntax::ast::{FunctionDef, Name};
use kps_syntax::{Source, Span};
use rustc_hash::FxHashMap;

use crate::constant::LiteralKind;
use crate::ir::FunctionId;
use crate::signature::{ArrayParam, Capability};
use crate::textures::TextureType;
use crate::types::{Scalar, Type};

/// A function with remarks on its source, for one signature.
#[derive(Clone, Debug)]
pub struct ExplainedFunction {
    pub name: Name,
    pub source: Source,
    /// From the first decorator to the end of the body.
    pub span: Span,
    /// From `def` to the colon.
    pub header: Span,
    /// The types of this specialisation: `(f32, Array(4, f32)) -> f32`. Empty for the kernel itself.
    pub signature: String,
    /// By place; where two begin together, the longer one first.
    pub remarks: Vec<Remark>,
}

/// Something known of a piece of the source.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    pub span: Span,
    pub kind: RemarkKind,
}

/// A remark on a place of a function.
pub(crate) type FunctionRemark = (FunctionId, Remark);

#[derive(Clone, Debug, PartialEq)]
pub enum RemarkKind {
    /// The type of an expression.
    Type(RemarkType),
    /// A variable gets a value of this type.
    Assigned(RemarkType),
    /// The value is known before the kernel runs.
    Known(String),
    /// An implicit conversion of the value.
    Converted { from: Type, to: Type },
    /// A literal adopts the type of its operand.
    Taken(Scalar),
    /// Computed in a wider type and rounded back.
    ComputedIn { wide: Scalar, ty: Type },
    /// Loaded or stored at an index that is tested first, or proven to need no test.
    Index(IndexTest),
    /// A load that gives every invocation of a workgroup the same.
    Uniform,
    /// Calls a function of the script: its place in [`Explanation::functions`](crate::Explanation::functions).
    Calls(usize),
    /// The device has no instruction for this, so all matrices of the kernel are emulated.
    Emulates,
    /// It needs a feature that not every device has.
    Needs(Capability),
}

/// The type of a place. Its text is that of an annotation.
#[derive(Clone, Debug, PartialEq)]
pub enum RemarkType {
    Value(Type),
    /// A weakly typed literal, or a variable with one: it adopts the type of the other operand.
    Weak(LiteralKind),
    Array(ArrayParam),
    Image(TextureType),
    Sampler,
    Function,
}

impl fmt::Display for RemarkType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RemarkType::Value(ty) => ty.fmt(f),
            RemarkType::Weak(kind) => f.write_str(kind.name()),
            RemarkType::Array(array) => array.fmt(f),
            RemarkType::Image(ty) => write!(f, "Image[\"{ty}\"]"),
            RemarkType::Sampler => f.write_str("Sampler"),
            RemarkType::Function => f.write_str("a function"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexTest {
    /// Out of range it reads 0.
    TestedLoad,
    /// Out of range nothing is stored.
    TestedStore,
    /// Out of range it has no effect, and gives 0.
    TestedAtomic,
    Proven,
}

/// By place, without duplicates. Remarks of a later pass over a loop come last. A value that differs between the rounds
/// of an unrolled loop is not known.
pub(crate) fn in_order(remarks: Vec<Remark>) -> Vec<Remark> {
    let mut ordered: Vec<Remark> = Vec::with_capacity(remarks.len());
    for remark in remarks {
        if !ordered.contains(&remark) {
            ordered.push(remark);
        }
    }
    let known = ordered.iter().filter(|remark| matches!(remark.kind, RemarkKind::Known(_)));
    let mut n_values: FxHashMap<Span, u32> = FxHashMap::default();
    known.for_each(|remark| *n_values.entry(remark.span).or_default() += 1);
    ordered.retain(|remark| !matches!(remark.kind, RemarkKind::Known(_)) || n_values[&remark.span] == 1);
    ordered.sort_by_key(|remark| (remark.span.start, std::cmp::Reverse(remark.span.end)));
    ordered
}

/// `(f32, Array(4, f32)) -> f32`, from the types of its parameters.
pub(crate) fn signature_of(def: &FunctionDef, result: &Type, remarks: &[Remark]) -> String {
    let type_of = |at: Span| {
        remarks.iter().find_map(|remark| match &remark.kind {
            RemarkKind::Assigned(ty) if remark.span == at => Some(ty.to_string()),
            _ => None,
        })
    };
    let params = def.params.iter().map(|param| type_of(param.name.span).unwrap_or_else(|| "..".to_owned()));
    let params: Vec<String> = params.collect();
    let params = params.join(", ");
    match result {
        Type::Void => format!("({params})"),
        result => format!("({params}) -> {result}"),
    }
}

/// Merges functions with the same remarks that were compiled more than once, for different function arguments.
pub(crate) fn without_duplicates(functions: Vec<ExplainedFunction>) -> Vec<ExplainedFunction> {
    let mut kept: Vec<ExplainedFunction> = Vec::with_capacity(functions.len());
    let mut place = Vec::with_capacity(functions.len());
    for function in functions {
        let first = kept.iter().position(|known| is_duplicate(known, &function));
        place.push(first.unwrap_or(kept.len()));
        if first.is_none() {
            kept.push(function);
        }
    }
    for remark in kept.iter_mut().flat_map(|function| &mut function.remarks) {
        if let RemarkKind::Calls(callee) = &mut remark.kind {
            *callee = place[*callee];
        }
    }
    kept
}

fn is_duplicate(a: &ExplainedFunction, b: &ExplainedFunction) -> bool {
    let said = |function: &ExplainedFunction| {
        let is_call = |remark: &Remark| matches!(remark.kind, RemarkKind::Calls(_));
        function.remarks.iter().filter(|remark| !is_call(remark)).cloned().collect::<Vec<_>>()
    };
    (&a.source, a.span, &a.signature) == (&b.source, b.span, &b.signature) && said(a) == said(b)
}

/// The typed IR has rows in place of the matrices that a subgroup holds.
pub(crate) fn of_subgroup(remark: &mut Remark) {
    if let RemarkKind::Type(RemarkType::Value(ty)) | RemarkKind::Assigned(RemarkType::Value(ty)) =
        &mut remark.kind
        && let Some(legal) = ty.with_coops(&Type::Coop)
    {
        *ty = legal;
    }
}
