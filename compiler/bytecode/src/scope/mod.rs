//! Which name means what: every scope of a module, and in it every name as a local, a captured one, or
//! a global.
//!
//! A *frame* is a scope with code of its own: the module, a function, a class body. Comprehensions are
//! scopes without one: their variables live in the registers of the frame around them. Names of a
//! class body are seen by the body alone; names of the module are globals, never registers.

mod walk;

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
