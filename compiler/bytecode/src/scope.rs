//! Which name means what: every scope of a module, and in it every name as a local, a captured one, or
//! a global.
//!
//! A *frame* is a scope with code of its own: the module, a function, a class body. Comprehensions are
//! scopes without one: their variables live in the registers of the frame around them. Names of a
//! class body are seen by the body alone; names of the module are globals, never registers.

use kps_syntax::ast::*;
use kps_syntax::{Diagnostics, Source, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::errors;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeKind {
    Module,
    Function,
    Class,
    Comprehension,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScopeId(u32);

/// How a scope declares a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Declared {
    Local,
    Global,
    Nonlocal,
}

#[derive(Debug)]
pub struct Scope {
    pub kind: ScopeKind,
    parent: Option<ScopeId>,
    declared: FxHashMap<Name, Declared>,
    /// Its own names in the order of binding; parameters come first.
    pub locals: Vec<Name>,
    /// Own names that inner functions use: they live in cells.
    pub captured: FxHashSet<Name>,
    /// Names of enclosing functions that this frame, or one inside of it, uses.
    pub free: Vec<Name>,
    /// Names that are deleted somewhere: whether they are set is never certain.
    pub deleted: FxHashSet<Name>,
    /// Names that are bound inside of expressions: operands that name them are copied.
    pub walrus: FxHashSet<Name>,
    pub is_generator: bool,
    uses: Vec<(Name, Span)>,
    used: FxHashSet<Name>,
}

/// What a name means where it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A local of this scope, a register.
    Local(ScopeId),
    /// A local of this scope in a cell.
    Cell(ScopeId),
    /// A captured variable of an enclosing function, by its index.
    Free(usize),
    Global,
}

pub struct Scopes {
    scopes: Vec<Scope>,
    by_node: FxHashMap<usize, ScopeId>,
}

/// Functions, classes and comprehensions are known by where they lie in memory.
pub fn node<T: ?Sized>(node: &T) -> usize {
    std::ptr::from_ref(node).cast::<u8>() as usize
}

impl Scopes {
    pub fn of_module(module: &Module, diagnostics: &mut Diagnostics) -> Scopes {
        let mut walker = Walker {
            scopes: Scopes { scopes: Vec::new(), by_node: FxHashMap::default() },
            current: ScopeId(0),
            source: &module.source,
            diagnostics,
        };
        walker.open(node(module), ScopeKind::Module);
        walker.block(&module.body);
        walker.resolve_all();
        walker.scopes
    }

    pub fn module(&self) -> ScopeId {
        ScopeId(0)
    }

    pub fn at(&self, node: usize) -> ScopeId {
        *self.by_node.get(&node).expect("every node with a scope was walked")
    }

    /// What `name` means in `scope`.
    pub fn meaning(&self, scope: ScopeId, name: &str) -> Meaning {
        let mut id = scope;
        loop {
            let scope = &self[id];
            let is_frame = scope.kind != ScopeKind::Comprehension;
            match scope.declared.get(name) {
                Some(Declared::Local) if scope.kind == ScopeKind::Module => return Meaning::Global,
                Some(Declared::Local) if scope.captured.contains(name) => return Meaning::Cell(id),
                Some(Declared::Local) => return Meaning::Local(id),
                Some(Declared::Global) => return Meaning::Global,
                _ => {}
            }
            if is_frame {
                return match scope.free.iter().position(|free| &**free == name) {
                    Some(at) => Meaning::Free(at),
                    None => Meaning::Global,
                };
            }
            id = scope.parent.expect("a comprehension lies in a frame");
        }
    }

    /// The index of a captured name among the free names of a frame.
    pub fn free_index(&self, frame: ScopeId, name: &str) -> Option<usize> {
        self[frame].free.iter().position(|free| &**free == name)
    }

    fn frame_of(&self, mut id: ScopeId) -> ScopeId {
        while self[id].kind == ScopeKind::Comprehension {
            id = self[id].parent.expect("a comprehension lies in a frame");
        }
        id
    }
}

impl std::ops::Index<ScopeId> for Scopes {
    type Output = Scope;

    fn index(&self, id: ScopeId) -> &Scope {
        &self.scopes[id.0 as usize]
    }
}

struct Walker<'a> {
    scopes: Scopes,
    current: ScopeId,
    source: &'a Source,
    diagnostics: &'a mut Diagnostics,
}

impl Walker<'_> {
    fn open(&mut self, node: usize, kind: ScopeKind) -> ScopeId {
        let id = ScopeId(self.scopes.scopes.len() as u32);
        let parent = (id.0 > 0).then_some(self.current);
        self.scopes.scopes.push(Scope {
            kind,
            parent,
            declared: FxHashMap::default(),
            locals: Vec::new(),
            captured: FxHashSet::default(),
            free: Vec::new(),
            deleted: FxHashSet::default(),
            walrus: FxHashSet::default(),
            is_generator: false,
            uses: Vec::new(),
            used: FxHashSet::default(),
        });
        self.scopes.by_node.insert(node, id);
        self.current = id;
        id
    }

    fn close(&mut self) {
        self.current = self.scope().parent.expect("only inner scopes are closed");
    }

    fn scope(&mut self) -> &mut Scope {
        &mut self.scopes.scopes[self.current.0 as usize]
    }

    fn bind(&mut self, name: &Name) {
        let scope = self.scope();
        if !scope.declared.contains_key(name) {
            scope.declared.insert(name.clone(), Declared::Local);
            scope.locals.push(name.clone());
        }
    }

    fn use_name(&mut self, name: &Name, span: Span) {
        let scope = self.scope();
        if scope.used.insert(name.clone()) {
            scope.uses.push((name.clone(), span));
        }
        // A bare `super()` needs to know its class.
        if &**name == "super" {
            let class: Name = "__class__".into();
            self.use_name(&class, span);
        }
    }

    /// The scope that a walrus binds in: the nearest that is not a comprehension.
    fn bind_walrus(&mut self, target: &Ident) {
        let inner = self.current;
        while self.scope().kind == ScopeKind::Comprehension {
            self.close();
        }
        self.bind(&target.name);
        self.scope().walrus.insert(target.name.clone());
        self.current = inner;
    }

    fn declare(&mut self, names: &[Ident], declared: Declared) {
        let keyword = if declared == Declared::Global { "global" } else { "nonlocal" };
        for ident in names {
            let location = self.source.at(ident.span);
            let scope = self.scope();
            let is_param = scope.declared.get(&ident.name) == Some(&Declared::Local);
            if is_param && scope.kind != ScopeKind::Module || scope.used.contains(&ident.name) {
                self.diagnostics.push(errors::declared_after_use(keyword, &ident.name, location));
                continue;
            }
            if declared == Declared::Nonlocal && scope.kind == ScopeKind::Module {
                self.diagnostics.push(errors::nonlocal_at_module(location));
                continue;
            }
            if scope.kind == ScopeKind::Module {
                continue;
            }
            scope.declared.insert(ident.name.clone(), declared);
            if declared == Declared::Nonlocal {
                self.use_name(&ident.name, ident.span);
            }
        }
    }

    fn block(&mut self, body: &[Stmt]) {
        for stmt in body {
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Expr(expr) => self.expr(expr),
            StmtKind::Assign { targets, value } => {
                self.expr(value);
                targets.iter().for_each(|target| self.target(target));
            }
            StmtKind::AugAssign { target, value, .. } => {
                if let ExprKind::Name(name) = &target.kind {
                    self.use_name(name, target.span);
                }
                self.expr(value);
                self.target(target);
            }
            StmtKind::AnnAssign { target, annotation, value } => {
                if self.scope().kind == ScopeKind::Class {
                    self.expr(annotation);
                    self.bind(&"__annotations__".into());
                }
                if let Some(value) = value {
                    self.expr(value);
                }
                self.target(target);
            }
            StmtKind::TypeAlias { name, value, .. } => {
                self.expr(value);
                self.bind(&name.name);
            }
            StmtKind::Delete(targets) => targets.iter().for_each(|target| self.delete(target)),
            StmtKind::Return(value) => self.optional(value.as_ref()),
            StmtKind::Raise { exception, cause } => {
                self.optional(exception.as_ref());
                self.optional(cause.as_ref());
            }
            StmtKind::Global(names) => self.declare(names, Declared::Global),
            StmtKind::Nonlocal(names) => self.declare(names, Declared::Nonlocal),
            StmtKind::Pass | StmtKind::Break | StmtKind::Continue | StmtKind::Error => {}
            StmtKind::Assert { test, message } => {
                self.expr(test);
                self.optional(message.as_ref());
            }
            StmtKind::Import(names) => {
                for import in names {
                    let bound = import.alias.as_ref().unwrap_or(&import.path[0]);
                    self.bind(&bound.name);
                }
            }
            StmtKind::ImportFrom(import) => {
                if let ImportedNames::Names(names) = &import.names {
                    for import in names {
                        let bound = import.alias.as_ref().unwrap_or(&import.path[0]);
                        self.bind(&bound.name);
                    }
                }
            }
            StmtKind::If { branches, orelse } => {
                for branch in branches {
                    self.expr(&branch.test);
                    self.block(&branch.body);
                }
                self.block(orelse);
            }
            StmtKind::While { test, body, orelse } => {
                self.expr(test);
                self.block(body);
                self.block(orelse);
            }
            StmtKind::For { target, iter, body, orelse, .. } => {
                self.expr(iter);
                self.target(target);
                self.block(body);
                self.block(orelse);
            }
            StmtKind::With { items, body, .. } => {
                for item in items {
                    self.expr(&item.context);
                    if let Some(target) = &item.target {
                        self.target(target);
                    }
                }
                self.block(body);
            }
            StmtKind::Try(stmt) => self.try_stmt(stmt),
            StmtKind::Match { subject, cases } => {
                self.expr(subject);
                for case in cases {
                    self.pattern(&case.pattern);
                    self.optional(case.guard.as_ref());
                    self.block(&case.body);
                }
            }
            StmtKind::Function(def) => self.function(def),
            StmtKind::Class(def) => self.class(def),
        }
    }

    fn try_stmt(&mut self, stmt: &Try) {
        self.block(&stmt.body);
        for handler in &stmt.handlers {
            self.optional(handler.exception.as_ref());
            if let Some(name) = &handler.name {
                self.bind(&name.name);
                self.scope().deleted.insert(name.name.clone());
            }
            self.block(&handler.body);
        }
        self.block(&stmt.orelse);
        self.block(&stmt.finally);
    }

    fn pattern(&mut self, pattern: &Pattern) {
        match &pattern.kind {
            PatternKind::Wildcard | PatternKind::Error | PatternKind::Star(None) => {}
            PatternKind::Capture(name) | PatternKind::Star(Some(name)) => self.bind(&name.name),
            PatternKind::Value(value) | PatternKind::Singleton(value) => self.expr(value),
            PatternKind::Sequence(patterns) | PatternKind::Or(patterns) => {
                patterns.iter().for_each(|pattern| self.pattern(pattern));
            }
            PatternKind::Mapping { items, rest } => {
                for (key, pattern) in items {
                    self.expr(key);
                    self.pattern(pattern);
                }
                if let Some(rest) = rest {
                    self.bind(&rest.name);
                }
            }
            PatternKind::Class { class, positional, keywords } => {
                self.expr(class);
                positional.iter().for_each(|pattern| self.pattern(pattern));
                keywords.iter().for_each(|(_, pattern)| self.pattern(pattern));
            }
            PatternKind::As { pattern, name } => {
                self.pattern(pattern);
                self.bind(&name.name);
            }
        }
    }

    fn function(&mut self, def: &FunctionDef) {
        def.decorators.iter().for_each(|decorator| self.expr(decorator));
        self.defaults(&def.params);
        self.bind(&def.name.name);
        self.open(node(def), ScopeKind::Function);
        self.params(&def.params);
        self.block(&def.body);
        self.close();
    }

    fn defaults(&mut self, params: &Parameters) {
        for param in params.iter() {
            self.optional(param.default.as_ref());
        }
    }

    fn params(&mut self, params: &Parameters) {
        let ordered = params.positional_only.iter().chain(&params.regular).chain(&params.keyword_only);
        for param in ordered.chain(&params.var_positional).chain(&params.var_keyword) {
            if self.scope().declared.contains_key(&param.name.name) {
                let location = self.source.at(param.name.span);
                self.diagnostics.push(errors::duplicate_parameter(&param.name.name, location));
            }
            self.bind(&param.name.name);
        }
    }

    fn class(&mut self, def: &ClassDef) {
        def.decorators.iter().for_each(|decorator| self.expr(decorator));
        def.arguments.iter().for_each(|argument| self.argument(argument));
        self.bind(&def.name.name);
        self.open(node(def), ScopeKind::Class);
        // Methods that say `super()` capture it.
        self.scope().declared.insert("__class__".into(), Declared::Local);
        self.block(&def.body);
        self.close();
    }

    fn argument(&mut self, argument: &Argument) {
        match &argument.kind {
            ArgumentKind::Positional(value)
            | ArgumentKind::Spread(value)
            | ArgumentKind::Keyword(_, value)
            | ArgumentKind::KeywordSpread(value) => self.expr(value),
        }
    }

    fn target(&mut self, target: &Expr) {
        match &target.kind {
            ExprKind::Name(name) => self.bind(name),
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                items.iter().for_each(|item| self.target(item));
            }
            ExprKind::Starred(inner) => self.target(inner),
            _ => self.expr(target),
        }
    }

    fn delete(&mut self, target: &Expr) {
        match &target.kind {
            ExprKind::Name(name) => {
                self.bind(name);
                self.scope().deleted.insert(name.clone());
            }
            ExprKind::Tuple(items) | ExprKind::List(items) => {
                items.iter().for_each(|item| self.delete(item));
            }
            _ => self.expr(target),
        }
    }

    fn optional(&mut self, expr: Option<&Expr>) {
        if let Some(expr) = expr {
            self.expr(expr);
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::None
            | ExprKind::True
            | ExprKind::False
            | ExprKind::Ellipsis
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Imaginary(_)
            | ExprKind::Str(_)
            | ExprKind::Bytes(_)
            | ExprKind::Error => {}
            ExprKind::FString(parts) => self.fstring(parts),
            ExprKind::Name(name) => self.use_name(name, expr.span),
            ExprKind::Bool { values, .. } => values.iter().for_each(|value| self.expr(value)),
            ExprKind::Walrus { target, value } => {
                self.expr(value);
                self.bind_walrus(target);
            }
            ExprKind::Binary { left, right, .. } => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Unary { operand, .. } => self.expr(operand),
            ExprKind::Compare { left, comparisons } => {
                self.expr(left);
                comparisons.iter().for_each(|comparison| self.expr(&comparison.right));
            }
            ExprKind::Lambda(lambda) => {
                self.defaults(&lambda.params);
                self.open(node(&**lambda), ScopeKind::Function);
                self.params(&lambda.params);
                self.expr(&lambda.body);
                self.close();
            }
            ExprKind::IfElse { test, then, orelse } => {
                self.expr(test);
                self.expr(then);
                self.expr(orelse);
            }
            ExprKind::List(items) | ExprKind::Tuple(items) | ExprKind::Set(items) => {
                items.iter().for_each(|item| self.expr(item));
            }
            ExprKind::Dict(items) => {
                for item in items {
                    match item {
                        DictItem::Pair(key, value) => {
                            self.expr(key);
                            self.expr(value);
                        }
                        DictItem::Spread(mapping) => self.expr(mapping),
                    }
                }
            }
            ExprKind::ListComp { element, clauses } | ExprKind::SetComp { element, clauses } => {
                self.comprehension(clauses, ScopeKind::Comprehension, &[element]);
            }
            ExprKind::DictComp { key, value, clauses } => {
                self.comprehension(clauses, ScopeKind::Comprehension, &[key, value]);
            }
            ExprKind::Generator { element, clauses } => {
                self.comprehension(clauses, ScopeKind::Function, &[element]);
            }
            ExprKind::Call { func, args } => {
                self.expr(func);
                args.iter().for_each(|argument| self.argument(argument));
            }
            ExprKind::Attribute { value, .. } | ExprKind::Starred(value) | ExprKind::Await(value) => {
                self.expr(value);
            }
            ExprKind::Subscript { value, index } => {
                self.expr(value);
                self.expr(index);
            }
            ExprKind::Slice { lower, upper, step } => {
                for part in [lower, upper, step] {
                    self.optional(part.as_deref());
                }
            }
            ExprKind::Yield(value) => {
                self.mark_generator(expr.span);
                self.optional(value.as_deref());
            }
            ExprKind::YieldFrom(value) => {
                self.mark_generator(expr.span);
                self.expr(value);
            }
        }
    }

    fn mark_generator(&mut self, span: Span) {
        let frame = self.scopes.frame_of(self.current);
        if self.scopes[frame].kind != ScopeKind::Function {
            self.diagnostics.push(errors::yield_outside_function(self.source.at(span)));
        }
        self.scopes.scopes[frame.0 as usize].is_generator = true;
    }

    fn fstring(&mut self, parts: &[FStringPart]) {
        for part in parts {
            if let FStringPart::Value(value) = part {
                self.expr(&value.expr);
                if let Some(spec) = &value.spec {
                    self.fstring(spec);
                }
            }
        }
    }

    /// The first iterable belongs to the scope around; everything else is inside.
    fn comprehension(&mut self, clauses: &[Comprehension], kind: ScopeKind, elements: &[&Expr]) {
        let Some((first, others)) = clauses.split_first() else { return };
        self.expr(&first.iter);
        self.open(node(clauses), kind);
        if kind == ScopeKind::Function {
            self.bind(&".0".into());
            self.scope().is_generator = true;
        }
        self.target(&first.target);
        first.conditions.iter().for_each(|condition| self.expr(condition));
        for clause in others {
            self.expr(&clause.iter);
            self.target(&clause.target);
            clause.conditions.iter().for_each(|condition| self.expr(condition));
        }
        elements.iter().for_each(|element| self.expr(element));
        self.close();
    }

    /// Marks what is captured, from every use outwards.
    fn resolve_all(&mut self) {
        for at in 0..self.scopes.scopes.len() {
            let uses = std::mem::take(&mut self.scopes.scopes[at].uses);
            for (name, span) in uses {
                self.resolve(ScopeId(at as u32), &name, span);
            }
        }
    }

    fn resolve(&mut self, user: ScopeId, name: &Name, span: Span) {
        let is_nonlocal = self.scopes[user].declared.get(name) == Some(&Declared::Nonlocal);
        let home = self.scopes.frame_of(user);
        // The frames that hand the variable down.
        let mut frames: Vec<ScopeId> = Vec::new();
        let mut id = user;
        loop {
            let scope = &self.scopes[id];
            let is_visible =
                scope.kind != ScopeKind::Class || self.scopes.frame_of(id) == home || &**name == "__class__";
            match scope.declared.get(name) {
                Some(Declared::Local) if is_visible => {
                    if scope.kind == ScopeKind::Module || frames.is_empty() {
                        break;
                    }
                    self.scopes.scopes[id.0 as usize].captured.insert(name.clone());
                    for frame in frames {
                        let free = &mut self.scopes.scopes[frame.0 as usize].free;
                        if !free.contains(name) {
                            free.push(name.clone());
                        }
                    }
                    return;
                }
                Some(Declared::Global) => return,
                _ => {}
            }
            if scope.kind != ScopeKind::Comprehension {
                frames.push(id);
            }
            let Some(parent) = scope.parent else { break };
            id = parent;
        }
        let is_bound_here = self.scopes[user].declared.get(name) == Some(&Declared::Local);
        if is_nonlocal && !is_bound_here {
            self.diagnostics.push(errors::no_nonlocal(name, self.source.at(span)));
        }
    }
}
