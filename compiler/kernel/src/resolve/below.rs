//! Names that a script defines only after a kernel that uses them.
//!
//! In goes a name that is unknown at a place, out comes its later definition in the enclosing blocks. The source is
//! parsed again, so only scripts with mistakes pay for this, once for all of them.

use std::cell::RefCell;
use std::rc::Rc;

use kps_syntax::ast::{Name, Stmt, StmtKind};
use kps_syntax::scope::{Assigns, assigned_names};
use kps_syntax::{Source, Span};
use rustc_hash::FxHashMap;

pub(super) fn binding_below(source: &Source, name: &str, place: Span) -> Option<Span> {
    thread_local! {
        /// The source of the last query.
        static LAST: RefCell<Option<(Source, Rc<Block>)>> = const { RefCell::new(None) };
    }
    let known = LAST.with_borrow(|last| match last {
        Some((known, block)) if known == source => Some(Rc::clone(block)),
        _ => None,
    });
    let block = known.unwrap_or_else(|| {
        let (module, _) = kps_syntax::parse(source);
        let block = Rc::new(Block::of_body(&module.body));
        LAST.set(Some((source.clone(), Rc::clone(&block))));
        block
    });
    block.binding_below(name, place)
}

/// The statements of a block.
#[derive(Default)]
struct Block {
    stmts: Vec<(Span, Vec<Block>)>,
    /// The binding statements of each name, in the order of the source.
    bindings: FxHashMap<Name, Vec<(usize, Span)>>,
}

impl Block {
    fn of_body(body: &[Stmt]) -> Block {
        let mut block = Block::of_class(body);
        // A kernel could not be used above either.
        for (at, stmt) in body.iter().enumerate().filter(|(_, stmt)| !is_decorated(stmt)) {
            assigned_names(std::slice::from_ref(stmt), &mut |name: &Name, assigns| {
                if let Assigns::Name(span) = assigns {
                    block.bindings.entry(name.clone()).or_default().push((at, span));
                }
            });
        }
        block
    }

    /// Functions do not see the names of a class around them.
    fn of_class(body: &[Stmt]) -> Block {
        Block { stmts: body.iter().map(|stmt| (stmt.span, inner(stmt))).collect(), ..Block::default() }
    }

    fn binding_below(&self, name: &str, place: Span) -> Option<Span> {
        let at = self.stmts.partition_point(|(span, _)| span.start <= place.start).checked_sub(1)?;
        let (span, inner) = &self.stmts[at];
        if place.end > span.end {
            return None;
        }
        let below = || {
            let bindings = self.bindings.get(name)?;
            let first = bindings.partition_point(|(stmt, _)| *stmt <= at);
            bindings.get(first).map(|(_, span)| *span)
        };
        inner.iter().find_map(|block| block.binding_below(name, place)).or_else(below)
    }
}

fn inner(stmt: &Stmt) -> Vec<Block> {
    match &stmt.kind {
        StmtKind::Function(def) => vec![Block::of_body(&def.body)],
        StmtKind::Class(def) => vec![Block::of_class(&def.body)],
        _ => stmt.blocks().into_iter().map(Block::of_body).collect(),
    }
}

fn is_decorated(stmt: &Stmt) -> bool {
    matches!(&stmt.kind, StmtKind::Function(def) if !def.decorators.is_empty())
}
