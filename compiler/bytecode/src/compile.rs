//! Compiles the tree to bytecode: the compiler's state, names, and frames.

mod call;
mod comprehension;
mod condition;
mod control;
mod expr;
mod function;
mod handler;
mod match_stmt;
mod stmt;
mod target;
mod type_params;

use std::sync::Arc;

use kps_syntax::ast::{Ident, ImportedNames, Module, Name, Stmt, StmtKind};
use kps_syntax::{Diagnostic, Diagnostics, Location, Source, Span};
use rustc_hash::FxHashMap;

use crate::emit::{Emitter, Label, MAX_INSTRUCTIONS, Operand, RegionId, Register};
use crate::errors;
use crate::op::Op;
use crate::program::{Code, CodeKind, Constant, Params, Program, ProgramData};
use crate::scope::{CLASS_CELL, Meaning, ScopeId, Scopes, annotations_are_text};

/// The maximum nesting of loops, handlers and `with` blocks in one frame; CPython's own limit.
const MAX_BLOCKS: usize = 20;

/// Compiles a module.
pub fn compile(module: &Module) -> Result<Program, Diagnostics> {
    compile_as(module, Ending::Module)
}

/// Compiles an entry at the prompt: the value of a last expression is its result.
pub fn compile_entry(module: &Module) -> Result<Program, Diagnostics> {
    compile_as(module, Ending::Entry)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Module,
    Entry,
}

fn compile_as(module: &Module, ending: Ending) -> Result<Program, Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let scopes = Scopes::of_module(module, &mut diagnostics);
    let code = new_code("<module>", "<module>", CodeKind::Module);
    let mut compiler = Compiler {
        source: &module.source,
        scope: scopes.module(),
        frame: Frame::new(code, scopes.module()),
        scopes,
        globals: Globals::default(),
        diagnostics,
        annotations_are_text: annotations_are_text(module),
        knows_all_names: ending == Ending::Module && !imports_star(&module.body),
    };
    compiler.module(&module.body, ending);
    let main = compiler.finish_frame();
    if compiler.diagnostics.has_errors() {
        return Err(compiler.diagnostics);
    }
    let globals = compiler.globals.names;
    Ok(Program::new(ProgramData { source: module.source.clone(), main: Arc::new(main), globals }))
}

/// Whether `from module import *` may bind names that are not written.
fn imports_star(body: &[Stmt]) -> bool {
    let is_star = |stmt: &Stmt| match &stmt.kind {
        StmtKind::ImportFrom(import) => matches!(import.names, ImportedNames::Star(_)),
        _ => false,
    };
    body.iter().any(|stmt| is_star(stmt) || stmt.blocks().into_iter().any(imports_star))
}

fn new_code(name: &str, qualname: &str, kind: CodeKind) -> Code {
    Code {
        name: name.into(),
        qualname: qualname.into(),
        kind,
        params: Params::default(),
        n_registers: 0,
        instructions: Vec::new(),
        spans: Vec::new(),
        constants: Vec::new(),
        sites: Vec::new(),
        locals: Vec::new(),
        free: Vec::new(),
        captures: Vec::new(),
        handlers: Vec::new(),
        handling: Vec::new(),
        children: Vec::new(),
        def: None,
        class: None,
        doc: None,
    }
}

/// The global names of the program, each with an index.
#[derive(Default)]
struct Globals {
    names: Vec<Name>,
    indices: FxHashMap<Name, usize>,
}

impl Globals {
    fn index(&mut self, name: &Name) -> usize {
        if let Some(&at) = self.indices.get(name) {
            return at;
        }
        self.names.push(name.clone());
        self.indices.insert(name.clone(), self.names.len() - 1);
        self.names.len() - 1
    }
}

struct Compiler<'a> {
    source: &'a Source,
    scopes: Scopes,
    /// The innermost scope, maybe a comprehension's.
    scope: ScopeId,
    frame: Frame<'a>,
    globals: Globals,
    diagnostics: Diagnostics,
    /// `from __future__ import annotations` was written.
    annotations_are_text: bool,
    /// A global name that the module does not bind is a builtin.
    knows_all_names: bool,
}

/// One code object under way.
struct Frame<'a> {
    emitter: Emitter,
    /// The scope that owns the code.
    scope: ScopeId,
    blocks: Vec<Block<'a>>,
}

impl Frame<'_> {
    fn new(code: Code, scope: ScopeId) -> Self {
        Frame { emitter: Emitter::new(code), scope, blocks: Vec::new() }
    }
}

/// The blocks that `break`, `continue` and `return` leave.
#[derive(Clone)]
enum Block<'a> {
    Loop {
        start: Label,
        end: Label,
        /// The registers of a `for` loop's iteration.
        iteration: Option<Register>,
    },
    /// A `try` body with handlers.
    Try { region: RegionId },
    /// A body that is followed by a `finally`.
    Finally { region: RegionId, body: &'a [Stmt] },
    /// A handler: the exception is in the register.
    Handler { exception: Register, name: Option<&'a Ident> },
    /// The body of a `with`: manager, exit and value from the register on.
    With { region: RegionId, manager: Register },
}

impl<'a> Compiler<'a> {
    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn location(&self, span: Span) -> Location {
        self.source.at(span)
    }

    fn emitter(&mut self) -> &mut Emitter {
        &mut self.frame.emitter
    }

    fn module(&mut self, body: &'a [Stmt], ending: Ending) {
        if let Some(doc) = function::docstring(body) {
            self.frame.emitter.code.doc = Some(doc);
        }
        match body.split_last() {
            Some((Stmt { kind: StmtKind::Expr(last), .. }, before)) if ending == Ending::Entry => {
                self.block(before);
                let value = self.expr(last);
                self.emitter().abcx(Op::Return, value.register, 0, 0, value.first());
            }
            _ => {
                self.block(body);
                self.return_none();
            }
        }
    }

    fn return_none(&mut self) {
        let mark = self.frame.emitter.mark();
        let value = self.load_none();
        self.emitter().abcx(Op::Return, value.register, 0, 0, value.first());
        self.frame.emitter.release(mark);
    }

    fn load_none(&mut self) -> Operand {
        let register = self.emitter().alloc();
        self.emitter().load_constant(register, Constant::None);
        Operand::temporary(register)
    }

    /// Ends the frame's code.
    fn finish_frame(&mut self) -> Code {
        let empty = Frame::new(new_code("", "", CodeKind::Module), self.frame.scope);
        let frame = std::mem::replace(&mut self.frame, empty);
        let span = frame.emitter.code.spans.first().copied().unwrap_or_default();
        if frame.emitter.has_too_many_registers() {
            self.report(errors::too_large("values at once", self.location(span)));
        }
        if frame.emitter.code.sites.len() > u16::MAX as usize {
            self.report(errors::too_large("attributes", self.location(span)));
        }
        if frame.emitter.code.instructions.len() > MAX_INSTRUCTIONS {
            self.report(errors::too_large("statements", self.location(span)));
        }
        if frame.emitter.code.children.len() > u16::MAX as usize {
            self.report(errors::too_large("functions", self.location(span)));
        }
        frame.emitter.finish()
    }

    // Names.

    fn global_index(&mut self, name: &Name) -> i32 {
        self.globals.index(name) as i32
    }

    /// A constant that holds a name, for an operand of 16 bits.
    fn name_constant(&mut self, name: &str) -> u16 {
        let at = self.emitter().constant(Constant::Str(name.into()));
        self.narrow(at as usize, "names")
    }

    fn narrow(&mut self, at: usize, what: &str) -> u16 {
        u16::try_from(at).unwrap_or_else(|_| {
            let span = self.frame.emitter.span;
            self.report(errors::too_large(what, self.location(span)));
            0
        })
    }

    /// An attribute site. Too many are reported when the code is finished.
    fn site(&mut self, name: &Name) -> u16 {
        let name = self.mangled(name);
        self.emitter().site(&name) as u16
    }

    /// The name as it is stored: a private one of a class has the class's name in front.
    fn mangled(&self, name: &Name) -> Name {
        self.scopes.mangled(self.scope, name)
    }

    fn variable(&self, scope: ScopeId, name: &str) -> Register {
        self.frame.emitter.variable(scope, name)
    }

    /// Assigns registers to the frame's local names, parameters first, and creates the cells.
    fn declare_locals(&mut self, scope: ScopeId) {
        let mut names = self.scopes[scope].locals.clone();
        if self.scopes[scope].captured.contains(CLASS_CELL) {
            names.push(CLASS_CELL.into());
        }
        for name in &names {
            let register = self.emitter().alloc();
            self.emitter().add_variable(scope, name, register);
        }
        let n_params = self.frame.emitter.code.params.n_registers();
        (0..n_params).for_each(|at| self.emitter().set_assigned(at as Register));
        for (at, name) in names.iter().enumerate() {
            if self.scopes[scope].captured.contains(name) {
                self.emitter().abc(Op::MakeCell, at as u16, 0, 0);
            }
        }
        self.frame.emitter.code.locals = names;
    }

    /// The value of a name, in its register if it has one.
    fn name(&mut self, name: &Name) -> Operand {
        let name = &self.mangled(name);
        match self.scopes.meaning(self.scope, name) {
            Meaning::Local(scope) if !self.is_class_name(scope) => {
                let register = self.variable(scope, name);
                self.check_assigned(scope, name, register);
                Operand::variable(register)
            }
            _ => {
                let register = self.emitter().alloc();
                self.name_to(name, register);
                Operand::temporary(register)
            }
        }
    }

    fn is_class_name(&self, scope: ScopeId) -> bool {
        self.scopes[scope].kind == crate::scope::ScopeKind::Class
    }

    fn check_assigned(&mut self, scope: ScopeId, name: &Name, register: Register) {
        let is_certain =
            self.frame.emitter.is_assigned(register) && !self.scopes[scope].deleted.contains(name);
        if !is_certain {
            self.emitter().abc(Op::CheckLocal, register, 0, 0);
            self.emitter().set_assigned(register);
        }
    }

    fn name_to(&mut self, name: &Name, dest: Register) {
        let name = &self.mangled(name);
        if self.scopes.is_member(self.scope, name) {
            self.name_to(&"__class__".into(), dest);
            let site = self.site(name);
            self.emitter().abcx(Op::LoadAttr, dest, dest, site, Operand::temporary(dest).first());
            return;
        }
        match self.scopes.meaning(self.scope, name) {
            Meaning::Local(scope) if self.is_class_name(scope) => {
                let register = self.variable(scope, name);
                let global = self.globals.index(name);
                let global = self.narrow(global, "global names");
                self.emitter().abc(Op::LoadClassName, dest, register, global);
            }
            Meaning::Local(scope) => {
                let register = self.variable(scope, name);
                self.check_assigned(scope, name, register);
                if register != dest {
                    self.emitter().abc(Op::Move, dest, register, 0);
                }
            }
            Meaning::Cell(scope) => {
                let register = self.variable(scope, name);
                self.emitter().abc(Op::LoadCell, dest, register, 0);
            }
            Meaning::Free(at) => {
                self.emitter().abc(Op::LoadFree, dest, at as u16, 0);
            }
            Meaning::Global => {
                let global = self.global_index(name);
                self.emitter().wide(Op::LoadGlobal, dest, global);
            }
        }
    }

    fn store_name(&mut self, name: &Name, value: Operand) {
        let name = &self.mangled(name);
        match self.scopes.meaning(self.scope, name) {
            Meaning::Local(scope) => {
                let register = self.variable(scope, name);
                if register != value.register {
                    self.emitter().abcx(Op::Move, register, value.register, 0, value.first());
                }
                self.emitter().set_assigned(register);
            }
            Meaning::Cell(scope) => {
                let register = self.variable(scope, name);
                self.emitter().abcx(Op::StoreCell, register, value.register, 0, value.first());
            }
            Meaning::Free(at) => {
                self.emitter().abcx(Op::StoreFree, at as u16, value.register, 0, value.first());
            }
            Meaning::Global => {
                let global = self.global_index(name);
                let at = self.emitter().wide(Op::StoreGlobal, value.register, global);
                self.frame.emitter.code.instructions[at].x = value.first();
            }
        }
    }

    fn delete_name(&mut self, name: &Name) {
        let name = &self.mangled(name);
        match self.scopes.meaning(self.scope, name) {
            Meaning::Local(scope) => {
                let register = self.variable(scope, name);
                self.emitter().abc(Op::DeleteLocal, register, 0, 0);
                self.emitter().set_unassigned(register);
            }
            Meaning::Cell(scope) => {
                let register = self.variable(scope, name);
                self.emitter().abc(Op::DeleteCell, register, 0, 0);
            }
            Meaning::Free(at) => {
                self.emitter().abc(Op::DeleteFree, at as u16, 0, 0);
            }
            Meaning::Global => {
                let global = self.global_index(name);
                self.emitter().wide(Op::DeleteGlobal, 0, global);
            }
        }
    }

    /// The register of a plain local, which a result can be written to directly.
    fn local_register(&self, name: &Name) -> Option<Register> {
        let name = &self.mangled(name);
        match self.scopes.meaning(self.scope, name) {
            Meaning::Local(scope) => Some(self.variable(scope, name)),
            _ => None,
        }
    }

    fn push_block(&mut self, block: Block<'a>, span: Span) {
        if self.frame.blocks.len() >= MAX_BLOCKS {
            self.report(errors::too_many_blocks(self.location(span)));
        }
        self.frame.blocks.push(block);
    }
}
