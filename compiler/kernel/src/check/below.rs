//! Names that a script binds further down than where a kernel needs them.
//!
//! In goes a name that is unknown at a place of a source, out comes where the blocks around the place bind it
//! later. The source is parsed again, so only mistakes pay for this.

use kps_syntax::ast::{Name, Stmt, StmtKind};
use kps_syntax::scope::{Assigns, assigned_names};
use kps_syntax::{Source, Span};

pub(super) fn binding_below(source: &Source, name: &str, place: Span) -> Option<Span> {
    let (module, _) = kps_syntax::parse(source);
    in_block(&module.body, name, place)
}

fn in_block(body: &[Stmt], name: &str, place: Span) -> Option<Span> {
    let at = body.iter().position(|stmt| has(stmt, place))?;
    in_stmt(&body[at], name, place).or_else(|| first_binding(&body[at + 1..], name))
}

fn in_stmt(stmt: &Stmt, name: &str, place: Span) -> Option<Span> {
    let within = |body: &[Stmt]| in_block(body, name, place);
    match &stmt.kind {
        StmtKind::Function(def) => within(&def.body),
        // Functions do not see the names of a class around them.
        StmtKind::Class(def) => {
            def.body.iter().filter(|stmt| has(stmt, place)).find_map(|stmt| in_stmt(stmt, name, place))
        }
        _ => stmt.blocks().into_iter().find_map(within),
    }
}

fn has(stmt: &Stmt, place: Span) -> bool {
    stmt.span.start <= place.start && place.end <= stmt.span.end
}

fn first_binding(body: &[Stmt], name: &str) -> Option<Span> {
    let mut first = None;
    // A kernel could not be used above either.
    for stmt in body.iter().filter(|stmt| !is_decorated(stmt)) {
        assigned_names(std::slice::from_ref(stmt), &mut |bound: &Name, assigns| {
            if let (Assigns::Name(span), true) = (assigns, &**bound == name) {
                first.get_or_insert(span);
            }
        });
    }
    first
}

fn is_decorated(stmt: &Stmt) -> bool {
    matches!(&stmt.kind, StmtKind::Function(def) if !def.decorators.is_empty())
}
