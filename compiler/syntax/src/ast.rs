//! The syntax tree of Python 3.12, shared by both halves of the compiler.
//!
//! Every node has its span. Chains that Python programs write long (`elif`, `and`, comparisons) are flat
//! lists, so that no tree is deep because a program is long; [`MAX_DEPTH`] bounds every other nesting.
//! Functions are in an [`Arc`], because a kernel outlives its module. Nothing here is resolved, typed or
//! checked beyond the grammar.

use std::sync::{Arc, OnceLock};

use num_bigint::BigInt;

use crate::scope::Scope;
use crate::source::{Source, Span};

/// No tree that the parser returns is deeper than this, so later passes and `Drop` may recurse.
pub const MAX_DEPTH: u32 = 1000;

/// A whole file, or one entry at the prompt.
#[derive(Debug, Clone)]
pub struct Module {
    pub source: Source,
    pub body: Vec<Stmt>,
}

/// A name with its place.
#[derive(Debug, Clone)]
pub struct Ident {
    pub name: Name,
    pub span: Span,
}

/// Names are shared, not copied.
pub type Name = Arc<str>;

#[derive(Debug, Clone)]
pub struct Stmt {
    pub span: Span,
    pub kind: StmtKind,
}

#[derive(Debug, Clone)]
pub enum StmtKind {
    Expr(Expr),
    /// `a = b = value`: two targets.
    Assign {
        targets: Vec<Expr>,
        value: Expr,
    },
    AugAssign {
        target: Expr,
        op: BinaryOp,
        op_span: Span,
        value: Expr,
    },
    AnnAssign {
        target: Expr,
        annotation: Expr,
        value: Option<Expr>,
    },
    TypeAlias {
        name: Ident,
        type_params: Vec<TypeParam>,
        value: Expr,
    },
    Delete(Vec<Expr>),
    Return(Option<Expr>),
    Raise {
        exception: Option<Expr>,
        cause: Option<Expr>,
    },
    Global(Vec<Ident>),
    Nonlocal(Vec<Ident>),
    Pass,
    Break,
    Continue,
    Assert {
        test: Expr,
        message: Option<Expr>,
    },
    Import(Vec<ImportName>),
    ImportFrom(ImportFrom),
    /// `if`, then every `elif`, in order; never empty.
    If {
        branches: Vec<Branch>,
        orelse: Vec<Stmt>,
    },
    While {
        test: Expr,
        body: Vec<Stmt>,
        orelse: Vec<Stmt>,
    },
    For {
        target: Expr,
        iter: Expr,
        body: Vec<Stmt>,
        orelse: Vec<Stmt>,
        is_async: bool,
    },
    With {
        items: Vec<WithItem>,
        body: Vec<Stmt>,
        is_async: bool,
    },
    Try(Try),
    Match {
        subject: Expr,
        cases: Vec<MatchCase>,
    },
    Function(Arc<FunctionDef>),
    Class(Arc<ClassDef>),
    /// A node that could not be parsed; a diagnostic was reported for it.
    Error,
}

/// One `if` or `elif` with its block.
#[derive(Debug, Clone)]
pub struct Branch {
    pub test: Expr,
    pub body: Vec<Stmt>,
    pub span: Span,
}

/// `a.b.c as d` in an `import`, or `a as d` in a `from`.
#[derive(Debug, Clone)]
pub struct ImportName {
    /// One identifier per dotted part, at least one; exactly one in a `from`.
    pub path: Vec<Ident>,
    pub alias: Option<Ident>,
    pub span: Span,
}

impl ImportName {
    /// The name that it binds: `a` of `a.b.c`.
    pub fn bound(&self) -> &Ident {
        self.alias.as_ref().unwrap_or(&self.path[0])
    }
}

/// `a.b.c`, as it is written.
pub fn dotted(path: &[Ident]) -> String {
    path.iter().map(|part| &*part.name).collect::<Vec<_>>().join(".")
}

/// `from ..package.module import a as b, c`.
#[derive(Debug, Clone)]
pub struct ImportFrom {
    /// Number of leading dots.
    pub level: u32,
    /// Empty in `from . import a`.
    pub path: Vec<Ident>,
    pub names: ImportedNames,
}

#[derive(Debug, Clone)]
pub enum ImportedNames {
    Star(Span),
    Names(Vec<ImportName>),
}

#[derive(Debug, Clone)]
pub struct WithItem {
    pub context: Expr,
    pub target: Option<Expr>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub struct Try {
    pub body: Vec<Stmt>,
    pub handlers: Vec<Handler>,
    pub orelse: Vec<Stmt>,
    pub finally: Vec<Stmt>,
    /// `except*` was written.
    pub is_star: bool,
}

#[derive(Debug, Clone)]
pub struct Handler {
    pub exception: Option<Expr>,
    pub name: Option<Ident>,
    pub body: Vec<Stmt>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub struct MatchCase {
    pub pattern: Pattern,
    pub guard: Option<Expr>,
    pub body: Vec<Stmt>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub struct Pattern {
    pub span: Span,
    pub kind: PatternKind,
}

#[derive(Debug, Clone)]
pub enum PatternKind {
    /// `_`.
    Wildcard,
    /// A bare name.
    Capture(Ident),
    /// A number, a string or a dotted name, compared with `==`.
    Value(Expr),
    /// `None`, `True` or `False`, compared with `is`.
    Singleton(Expr),
    Sequence(Vec<Pattern>),
    /// `*rest` or `*_` inside a sequence.
    Star(Option<Ident>),
    Mapping {
        items: Vec<(Expr, Pattern)>,
        rest: Option<Ident>,
    },
    Class {
        class: Expr,
        positional: Vec<Pattern>,
        keywords: Vec<(Ident, Pattern)>,
    },
    As {
        pattern: Box<Pattern>,
        name: Ident,
    },
    Or(Vec<Pattern>),
    Error,
}

#[derive(Debug, Clone)]
pub struct FunctionDef {
    pub name: Ident,
    pub decorators: Vec<Expr>,
    pub type_params: Vec<TypeParam>,
    pub params: Parameters,
    pub returns: Option<Expr>,
    pub body: Vec<Stmt>,
    pub is_async: bool,
    /// From the first decorator to the end of the body.
    pub span: Span,
    /// From `def` to the colon.
    pub header: Span,
    /// The local names, computed on demand.
    pub(crate) scope: OnceLock<Arc<Scope>>,
}

#[derive(Debug, Clone)]
pub struct ClassDef {
    pub name: Ident,
    pub decorators: Vec<Expr>,
    pub type_params: Vec<TypeParam>,
    /// Bases and keywords, as in a call.
    pub arguments: Vec<Argument>,
    pub body: Vec<Stmt>,
    pub span: Span,
    pub header: Span,
}

/// `T`, `T: bound`, `*Ts` or `**P`.
#[derive(Debug, Clone)]
pub struct TypeParam {
    pub name: Ident,
    pub kind: TypeParamKind,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub enum TypeParamKind {
    TypeVar { bound: Option<Expr> },
    TypeVarTuple,
    ParamSpec,
}

/// The parameters of a function or lambda, by kind and in order of writing.
#[derive(Debug, Clone, Default)]
pub struct Parameters {
    /// Those before `/`.
    pub positional_only: Vec<Param>,
    pub regular: Vec<Param>,
    /// `*args`.
    pub var_positional: Option<Param>,
    /// Those after `*` or `*args`.
    pub keyword_only: Vec<Param>,
    /// `**kwargs`.
    pub var_keyword: Option<Param>,
}

impl Parameters {
    /// All of them in the order of writing.
    pub fn iter(&self) -> impl Iterator<Item = &Param> {
        self.positional_only
            .iter()
            .chain(&self.regular)
            .chain(&self.var_positional)
            .chain(&self.keyword_only)
            .chain(&self.var_keyword)
    }
}

#[derive(Debug, Clone)]
pub struct Param {
    pub name: Ident,
    pub annotation: Option<Expr>,
    pub default: Option<Expr>,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub struct Expr {
    /// Parentheses around the expression are part of it.
    pub span: Span,
    pub kind: ExprKind,
    /// Height of the tree below, at most [`MAX_DEPTH`]; a leaf has 0.
    pub(crate) depth: u32,
}

impl Expr {
    /// A name at a place where the text does not have it.
    pub fn name(name: Name, span: Span) -> Expr {
        Expr { span, kind: ExprKind::Name(name), depth: 0 }
    }

    /// A tuple of such names.
    pub fn tuple(items: Vec<Expr>, span: Span) -> Expr {
        let depth = items.iter().map(|item| item.depth + 1).max().unwrap_or(0);
        Expr { span, kind: ExprKind::Tuple(items), depth }
    }
}

#[derive(Debug, Clone)]
pub enum ExprKind {
    None,
    True,
    False,
    Ellipsis,
    Int(BigInt),
    Float(f64),
    /// `2j`: the value before the `j`.
    Imaginary(f64),
    /// Adjacent literals are joined.
    Str(Arc<str>),
    Bytes(Arc<[u8]>),
    FString(Vec<FStringPart>),
    Name(Name),
    /// `a and b and c`: two or more values.
    Bool {
        op: BoolOp,
        values: Vec<Expr>,
    },
    /// `name := value`.
    Walrus {
        target: Ident,
        value: Box<Expr>,
    },
    Binary {
        op: BinaryOp,
        op_span: Span,
        left: Box<Expr>,
        right: Box<Expr>,
    },
    Unary {
        op: UnaryOp,
        operand: Box<Expr>,
    },
    /// `a < b <= c`: two comparisons.
    Compare {
        left: Box<Expr>,
        comparisons: Vec<Comparison>,
    },
    Lambda(Arc<Lambda>),
    /// `then if test else orelse`.
    IfElse {
        test: Box<Expr>,
        then: Box<Expr>,
        orelse: Box<Expr>,
    },
    List(Vec<Expr>),
    Tuple(Vec<Expr>),
    Set(Vec<Expr>),
    Dict(Vec<DictItem>),
    ListComp {
        element: Box<Expr>,
        clauses: Vec<Comprehension>,
    },
    SetComp {
        element: Box<Expr>,
        clauses: Vec<Comprehension>,
    },
    DictComp {
        key: Box<Expr>,
        value: Box<Expr>,
        clauses: Vec<Comprehension>,
    },
    Generator {
        element: Box<Expr>,
        clauses: Vec<Comprehension>,
    },
    Call {
        func: Box<Expr>,
        args: Vec<Argument>,
    },
    Attribute {
        value: Box<Expr>,
        attr: Ident,
    },
    Subscript {
        value: Box<Expr>,
        index: Box<Expr>,
    },
    /// Only inside a subscript.
    Slice {
        lower: Option<Box<Expr>>,
        upper: Option<Box<Expr>>,
        step: Option<Box<Expr>>,
    },
    Starred(Box<Expr>),
    Yield(Option<Box<Expr>>),
    YieldFrom(Box<Expr>),
    Await(Box<Expr>),
    /// A node that could not be parsed; a diagnostic was reported for it.
    Error,
}

#[derive(Debug, Clone)]
pub struct Lambda {
    pub params: Parameters,
    pub body: Expr,
}

impl Lambda {
    /// The equivalent function, which returns the body.
    pub fn to_function(&self, span: Span) -> FunctionDef {
        let body = self.body.clone();
        FunctionDef {
            name: Ident { name: "lambda".into(), span },
            decorators: Vec::new(),
            type_params: Vec::new(),
            params: self.params.clone(),
            returns: None,
            body: vec![Stmt { span: body.span, kind: StmtKind::Return(Some(body)) }],
            is_async: false,
            span,
            header: span,
            scope: OnceLock::new(),
        }
    }
}

#[derive(Debug, Clone)]
pub enum FStringPart {
    Literal(Arc<str>),
    Value(FStringValue),
}

/// `{expr!r:spec}`.
#[derive(Debug, Clone)]
pub struct FStringValue {
    pub expr: Expr,
    /// The source text up to and with the `=` of `{expr=}`, spaces included.
    pub debug_text: Option<Arc<str>>,
    pub conversion: Option<Conversion>,
    /// The format spec, which may contain values itself; `None` without a `:`.
    pub spec: Option<Vec<FStringPart>>,
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conversion {
    Str,
    Repr,
    Ascii,
}

#[derive(Debug, Clone)]
pub struct Comparison {
    pub op: CompareOp,
    pub op_span: Span,
    pub right: Expr,
}

#[derive(Debug, Clone)]
pub enum DictItem {
    Pair(Expr, Expr),
    /// `**mapping`.
    Spread(Expr),
}

/// One `for .. in .. if ..` of a comprehension.
#[derive(Debug, Clone)]
pub struct Comprehension {
    pub target: Expr,
    pub iter: Expr,
    pub conditions: Vec<Expr>,
    pub is_async: bool,
    pub span: Span,
}

#[derive(Debug, Clone)]
pub struct Argument {
    pub span: Span,
    pub kind: ArgumentKind,
}

#[derive(Debug, Clone)]
pub enum ArgumentKind {
    Positional(Expr),
    /// `*values`.
    Spread(Expr),
    Keyword(Ident, Expr),
    /// `**mapping`.
    KeywordSpread(Expr),
}

impl Argument {
    /// The argument's value, positional or not.
    pub fn value(&self) -> &Expr {
        match &self.kind {
            ArgumentKind::Positional(value)
            | ArgumentKind::Spread(value)
            | ArgumentKind::Keyword(_, value)
            | ArgumentKind::KeywordSpread(value) => value,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BoolOp {
    And,
    Or,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    MatMul,
    Div,
    FloorDiv,
    Mod,
    Pow,
    LeftShift,
    RightShift,
    BitAnd,
    BitOr,
    BitXor,
}

impl BinaryOp {
    /// As it is written: `+`, `//`.
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::MatMul => "@",
            BinaryOp::Div => "/",
            BinaryOp::FloorDiv => "//",
            BinaryOp::Mod => "%",
            BinaryOp::Pow => "**",
            BinaryOp::LeftShift => "<<",
            BinaryOp::RightShift => ">>",
            BinaryOp::BitAnd => "&",
            BinaryOp::BitOr => "|",
            BinaryOp::BitXor => "^",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    Plus,
    Minus,
    Invert,
    Not,
}

impl UnaryOp {
    pub fn symbol(self) -> &'static str {
        match self {
            UnaryOp::Plus => "+",
            UnaryOp::Minus => "-",
            UnaryOp::Invert => "~",
            UnaryOp::Not => "not",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CompareOp {
    Eq,
    NotEq,
    Less,
    LessEq,
    Greater,
    GreaterEq,
    Is,
    IsNot,
    In,
    NotIn,
}

impl CompareOp {
    pub fn symbol(self) -> &'static str {
        match self {
            CompareOp::Eq => "==",
            CompareOp::NotEq => "!=",
            CompareOp::Less => "<",
            CompareOp::LessEq => "<=",
            CompareOp::Greater => ">",
            CompareOp::GreaterEq => ">=",
            CompareOp::Is => "is",
            CompareOp::IsNot => "is not",
            CompareOp::In => "in",
            CompareOp::NotIn => "not in",
        }
    }
}
