//! Name resolution: every scope of a module, and the meaning of every name in it: local, captured, or global.
//!
//! A *frame* is a scope with a code object: the module, a function, a class body. Comprehensions are scopes
//! without one: their variables are registers of the enclosing frame. Only the body of a class sees its
//! names. Names of the module are globals, never registers.

mod walk;

use kps_syntax::ast::*;
use kps_syntax::{Diagnostics, Source, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::errors;
pub(crate) use walk::annotations;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeKind {
    Module,
    Function,
    Class,
    Comprehension,
    /// A generator expression: a function for everything but `:=`.
    Generator,
}

/// The local of a class body that holds the cell of `__class__`. A script cannot write this name, so a member named
/// `__class__` is another variable.
pub const CLASS_CELL: &str = ".class";

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
    /// The local names in the order of binding; parameters come first.
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
    /// It evaluates the annotations of a function.
    is_of_annotations: bool,
    /// The scope of the type parameters of a class or a function, which is in it.
    is_of_type_params: bool,
    /// In a class or a function of one: the prefix of its private names.
    private: Option<Name>,
    uses: Vec<(Name, Span)>,
    used: FxHashSet<Name>,
}

/// The meaning of a name at a use.
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
    /// Of each function with annotations, the scope that evaluates them; likewise of each bound of a type parameter.
    annotations: FxHashMap<usize, ScopeId>,
}

/// Functions, classes and comprehensions are identified by their address.
pub fn node<T: ?Sized>(node: &T) -> usize {
    std::ptr::from_ref(node).cast::<u8>() as usize
}

impl Scopes {
    pub fn of_module(module: &Module, diagnostics: &mut Diagnostics) -> Scopes {
        let mut walker = Walker {
            scopes: Scopes {
                scopes: Vec::new(),
                by_node: FxHashMap::default(),
                annotations: FxHashMap::default(),
            },
            current: ScopeId(0),
            source: &module.source,
            diagnostics,
            annotations_are_text: annotations_are_text(module),
            in_declaration: false,
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

    /// The scope of a function's annotations, if it has any, or of the bound of a type parameter.
    pub fn of_annotations(&self, node: usize) -> Option<ScopeId> {
        self.annotations.get(&node).copied()
    }

    /// The name as it is stored: private names of a class have the class's own in front.
    pub fn mangled(&self, scope: ScopeId, name: &Name) -> Name {
        mangled(self[scope].private.as_deref(), name)
    }

    /// Whether the module binds a name anywhere.
    pub fn is_bound_globally(&self, name: &str) -> bool {
        let bound_in_module = self[self.module()].declared.contains_key(name);
        bound_in_module || self.scopes.iter().any(|scope| scope.declared.get(name) == Some(&Declared::Global))
    }

    /// Whether a name in the annotations of a method is that of a member of the class around.
    pub fn is_member(&self, scope: ScopeId, name: &str) -> bool {
        let scope = &self[scope];
        let Some(parent) = scope.parent.map(|parent| &self[self.behind_type_params(parent)]) else {
            return false;
        };
        scope.is_of_annotations
            && parent.kind == ScopeKind::Class
            && parent.declared.get(name) == Some(&Declared::Local)
            && scope.free.iter().any(|free| &**free == "__class__")
    }

    /// The enclosing scope, if this one contains type parameters.
    pub fn behind_type_params(&self, id: ScopeId) -> ScopeId {
        match self[id].parent {
            Some(parent) if self[id].is_of_type_params => self.frame_of(parent),
            _ => id,
        }
    }

    /// The meaning of `name` in `scope`.
    pub fn meaning(&self, user: ScopeId, name: &str) -> Meaning {
        let mut id = user;
        loop {
            let scope = &self[id];
            let is_frame = scope.kind != ScopeKind::Comprehension;
            match scope.declared.get(name) {
                Some(Declared::Local) if scope.kind == ScopeKind::Module => return Meaning::Global,
                // Comprehensions in a class do not see its names.
                Some(Declared::Local) if scope.kind == ScopeKind::Class && id != user => {}
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
            id = scope.parent.expect("a comprehension is in a frame");
        }
    }

    /// The index of a captured name among the free names of a frame.
    pub fn free_index(&self, frame: ScopeId, name: &str) -> Option<usize> {
        self[frame].free.iter().position(|free| &**free == name)
    }

    fn frame_of(&self, mut id: ScopeId) -> ScopeId {
        while self[id].kind == ScopeKind::Comprehension {
            id = self[id].parent.expect("a comprehension is in a frame");
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

/// Whether a module contains `from __future__ import annotations`.
pub(crate) fn annotations_are_text(module: &Module) -> bool {
    let imports_it = |stmt: &Stmt| match &stmt.kind {
        StmtKind::ImportFrom(ImportFrom { level: 0, path, names: ImportedNames::Names(names) }) => {
            dotted(path) == "__future__" && names.iter().any(|name| &*name.path[0].name == "annotations")
        }
        _ => false,
    };
    module.body.iter().any(imports_it)
}

/// `__name` in a class `C` is `_C__name`. Names that end in two underscores are not mangled.
fn mangled(class: Option<&str>, name: &Name) -> Name {
    match class {
        Some(class) if name.starts_with("__") && !name.ends_with("__") => format!("_{class}{name}").into(),
        _ => name.clone(),
    }
}

struct Walker<'a> {
    scopes: Scopes,
    current: ScopeId,
    source: &'a Source,
    diagnostics: &'a mut Diagnostics,
    /// `from __future__ import annotations` was written.
    annotations_are_text: bool,
    /// The current node is not code of its scope: only the used names count.
    in_declaration: bool,
}

impl Walker<'_> {
    fn open(&mut self, node: usize, kind: ScopeKind) -> ScopeId {
        let id = self.open_scope(kind);
        if !self.in_declaration {
            self.scopes.by_node.insert(node, id);
        }
        id
    }

    fn open_scope(&mut self, kind: ScopeKind) -> ScopeId {
        let id = ScopeId(self.scopes.scopes.len() as u32);
        let parent = (id.0 > 0).then_some(self.current);
        let private = parent.and_then(|parent| self.scopes[parent].private.clone());
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
            is_of_annotations: false,
            is_of_type_params: false,
            private,
            uses: Vec::new(),
            used: FxHashSet::default(),
        });
        self.current = id;
        id
    }

    fn close(&mut self) {
        self.current = self.scope().parent.expect("only inner scopes are closed");
    }

    fn scope(&mut self) -> &mut Scope {
        &mut self.scopes.scopes[self.current.0 as usize]
    }

    fn mangled(&self, name: &Name) -> Name {
        self.scopes.mangled(self.current, name)
    }

    fn bind(&mut self, name: &Name) {
        let name = &self.mangled(name);
        let scope = self.scope();
        if !scope.declared.contains_key(name) {
            scope.declared.insert(name.clone(), Declared::Local);
            scope.locals.push(name.clone());
        }
    }

    fn use_name(&mut self, name: &Name, span: Span) {
        let name = &self.mangled(name);
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

    /// A walrus binds in the nearest scope that is not a comprehension. Generator expressions in between
    /// capture the variable.
    fn bind_walrus(&mut self, target: &Ident) {
        let name = self.mangled(&target.name);
        let inner = self.current;
        let mut generators = Vec::new();
        while let ScopeKind::Comprehension | ScopeKind::Generator = self.scope().kind {
            if self.scope().declared.get(&name) == Some(&Declared::Local) {
                let location = self.source.at(target.span);
                self.diagnostics.push(errors::walrus_rebinds(&name, location));
                self.current = inner;
                return;
            }
            if self.scope().kind == ScopeKind::Generator {
                generators.push(self.current);
            }
            self.close();
        }
        if self.current != inner && self.scope().kind == ScopeKind::Class {
            self.diagnostics.push(errors::walrus_in_class(self.source.at(target.span)));
        }
        self.bind(&name);
        self.scope().walrus.insert(name.clone());
        let is_global = self.scope().kind == ScopeKind::Module
            || self.scope().declared.get(&name) == Some(&Declared::Global);
        let declared = if is_global { Declared::Global } else { Declared::Nonlocal };
        for generator in generators {
            self.current = generator;
            self.scope().declared.insert(name.clone(), declared);
            if declared == Declared::Nonlocal {
                self.use_name(&name, target.span);
            }
        }
        self.current = inner;
    }

    fn declare(&mut self, names: &[Ident], declared: Declared) {
        let keyword = if declared == Declared::Global { "global" } else { "nonlocal" };
        for ident in names {
            let location = self.source.at(ident.span);
            let name = self.mangled(&ident.name);
            let scope = self.scope();
            let is_param = scope.declared.get(&name) == Some(&Declared::Local);
            if is_param && scope.kind != ScopeKind::Module || scope.used.contains(&name) {
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
            scope.declared.insert(name.clone(), declared);
            if declared == Declared::Nonlocal {
                self.use_name(&name, ident.span);
            }
        }
    }

    /// Marks captured variables, from every use outwards.
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
        // The frames that pass the variable down.
        let mut frames: Vec<ScopeId> = Vec::new();
        let mut id = user;
        loop {
            let scope = &self.scopes[id];
            if scope.kind == ScopeKind::Class && id != user && &**name == "__class__" {
                self.scopes.scopes[id.0 as usize].captured.insert(CLASS_CELL.into());
                self.capture_through(name, &frames);
                return;
            }
            let is_visible = scope.kind != ScopeKind::Class || id == user;
            match scope.declared.get(name) {
                Some(Declared::Local) if is_visible => {
                    if scope.kind == ScopeKind::Module || frames.is_empty() {
                        break;
                    }
                    self.scopes.scopes[id.0 as usize].captured.insert(name.clone());
                    self.capture_through(name, &frames);
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

    /// Makes a variable of an enclosing scope a captured one in each of these frames.
    fn capture_through(&mut self, name: &Name, frames: &[ScopeId]) {
        for frame in frames {
            let free = &mut self.scopes.scopes[frame.0 as usize].free;
            if !free.contains(name) {
                free.push(name.clone());
            }
        }
    }
}
