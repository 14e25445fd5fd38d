//! Names whose values may change without a visible binding.
//!
//! The body of a scope goes in. Out come names that functions bind by `global` or `nonlocal`, names with a
//! part that is set or deleted, and lists that are passed to a function, which may change them. Scopes are
//! not distinguished: fewer known values mean fewer reports, never false ones.

use kps_syntax::Part;
use kps_syntax::ast::*;
use rustc_hash::FxHashSet;

use super::decoration::is_kernel;

/// Functions that read a list and do not change it.
const READERS: [&str; 24] = [
    "len",
    "print",
    "sum",
    "min",
    "max",
    "any",
    "all",
    "sorted",
    "reversed",
    "enumerate",
    "zip",
    "map",
    "filter",
    "range",
    "list",
    "tuple",
    "set",
    "str",
    "repr",
    "isinstance",
    "type",
    "id",
    "iter",
    "round",
];
/// They copy all of a list, or look at no item of it.
const COPIERS: [&str; 7] = ["len", "print", "array", "asarray", "tensor", "tensor_t", "Tensor"];
/// Methods of a list that do not change it.
const LOOKS: [&str; 3] = ["index", "count", "copy"];

#[derive(Default)]
pub(super) struct Changes {
    /// Bound by a function further in, or deleted.
    rebound: FxHashSet<Name>,
    /// Passed on, or an attribute of it is set.
    escaped: FxHashSet<Name>,
    /// Accessed: values in it may be passed on.
    opened: FxHashSet<Name>,
    /// Passed on as a whole, not only a part of its content.
    passed: FxHashSet<Name>,
    /// Attributes of theirs are set.
    set: FxHashSet<Name>,
}

impl Changes {
    pub fn of(body: &[Stmt]) -> Changes {
        let mut changes = Changes::default();
        changes.block(body);
        changes
    }

    pub fn rebinds(&self, name: &str) -> bool {
        self.rebound.contains(name)
    }

    pub fn sets_attributes(&self, name: &str) -> bool {
        self.set.contains(name)
    }

    /// Whether the object with this name is passed to code that may set its attributes. Calling it does not
    /// pass it.
    pub fn passes(&self, name: &str) -> bool {
        self.passed.contains(name)
    }

    /// Whether the items of this list may change.
    pub fn touches_list(&self, name: &str) -> bool {
        self.escaped.contains(name)
    }

    /// Whether a list in a list of this name may.
    pub fn touches_nested(&self, name: &str) -> bool {
        self.escaped.contains(name) || self.opened.contains(name)
    }

    fn block(&mut self, body: &[Stmt]) {
        body.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Global(names) | StmtKind::Nonlocal(names) => {
                self.rebound.extend(names.iter().map(|ident| ident.name.clone()));
            }
            StmtKind::Assign { targets, value } => {
                targets.iter().for_each(|target| self.target(target));
                self.escape(value);
            }
            StmtKind::AnnAssign { target, value, .. } => {
                self.target(target);
                value.iter().for_each(|value| self.escape(value));
            }
            StmtKind::AugAssign { target, value, .. } => {
                self.target(target);
                self.look(value);
            }
            StmtKind::Delete(targets) => {
                for target in targets {
                    self.target(target);
                    if let ExprKind::Name(name) = &target.kind {
                        self.rebound.insert(name.clone());
                    }
                }
            }
            StmtKind::For { target, iter, .. } => {
                self.target(target);
                self.look(iter);
            }
            StmtKind::With { items, .. } => {
                for item in items {
                    item.target.iter().for_each(|target| self.target(target));
                    self.escape(&item.context);
                }
            }
            // A kernel only reads what it captures.
            StmtKind::Function(def) if def.decorators.iter().any(is_kernel) => {}
            StmtKind::Function(def) => {
                stmt.each_expr(&mut |expr| self.escape(expr));
                self.block(&def.body);
            }
            StmtKind::Class(def) => {
                stmt.each_expr(&mut |expr| self.escape(expr));
                self.block(&def.body);
            }
            StmtKind::Return(_) | StmtKind::Raise { .. } => stmt.each_expr(&mut |expr| self.escape(expr)),
            _ => stmt.each_expr(&mut |expr| self.look(expr)),
        }
        stmt.blocks().into_iter().for_each(|block| self.block(block));
    }

    /// The target of an assignment: a name is bound; of anything else a part is set.
    fn target(&mut self, target: &Expr) {
        target.each_target(&mut |part| {
            let Part::Place(place) = part else { return };
            if let ExprKind::Attribute { value, .. } = &place.kind
                && let ExprKind::Name(name) = &value.kind
            {
                self.set.insert(name.clone());
            }
            place.each_child(&mut |part| self.escape(part));
        });
    }

    /// A value is passed to code that may retain it.
    fn escape(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Name(name) => {
                self.escaped.insert(name.clone());
                self.passed.insert(name.clone());
            }
            ExprKind::Attribute { value, .. } => self.escape_part(value),
            ExprKind::Call { func, args } => self.call(func, args),
            ExprKind::Subscript { .. }
            | ExprKind::Compare { .. }
            | ExprKind::Binary { .. }
            | ExprKind::Unary { .. }
            | ExprKind::Starred(_)
            | ExprKind::FString(_) => expr.each_child(&mut |part| self.look(part)),
            ExprKind::ListComp { element, clauses }
            | ExprKind::SetComp { element, clauses }
            | ExprKind::Generator { element, clauses } => {
                self.escape(element);
                self.clauses(clauses);
            }
            ExprKind::DictComp { key, value, clauses } => {
                self.escape(key);
                self.escape(value);
                self.clauses(clauses);
            }
            _ => expr.each_child(&mut |part| self.escape(part)),
        }
    }

    /// A part of a value is passed on.
    fn escape_part(&mut self, whole: &Expr) {
        match &whole.kind {
            ExprKind::Name(name) => drop(self.escaped.insert(name.clone())),
            _ => self.escape(whole),
        }
    }

    /// A value that is only looked at.
    fn look(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Name(name) => drop(self.opened.insert(name.clone())),
            _ => self.escape(expr),
        }
    }

    fn clauses(&mut self, clauses: &[Comprehension]) {
        for clause in clauses {
            self.look(&clause.iter);
            clause.conditions.iter().for_each(|condition| self.look(condition));
        }
    }

    fn call(&mut self, func: &Expr, args: &[Argument]) {
        let args = args.iter().map(Argument::value);
        let is_name = |expr: &&Expr| matches!(expr.kind, ExprKind::Name(_));
        match &func.kind {
            ExprKind::Name(name) if COPIERS.contains(&&**name) => {
                args.filter(|arg| !is_name(arg)).for_each(|arg| self.escape(arg));
            }
            ExprKind::Attribute { value, attr } if COPIERS.contains(&&*attr.name) => {
                self.look(value);
                args.filter(|arg| !is_name(arg)).for_each(|arg| self.escape(arg));
            }
            ExprKind::Name(name) if READERS.contains(&&**name) => args.for_each(|arg| self.look(arg)),
            ExprKind::Attribute { value, attr } if LOOKS.contains(&&*attr.name) => {
                self.look(value);
                args.for_each(|arg| self.escape(arg));
            }
            _ => {
                self.escape_part(func);
                args.for_each(|arg| self.escape(arg));
            }
        }
    }
}
