//! Recursion: kernels have no stack, so the graph of who calls whom must have no cycle.

use std::sync::Arc;

use kps_syntax::ast::FunctionDef;
use kps_syntax::{Diagnostic, Location};
use rustc_hash::FxHashMap;

use super::walk::CallSite;
use crate::errors;

/// Who calls whom, and where.
#[derive(Default)]
pub(super) struct CallGraph {
    functions: Vec<Node>,
    numbers: FxHashMap<*const FunctionDef, usize>,
}

struct Node {
    def: Arc<FunctionDef>,
    calls: Vec<(Arc<FunctionDef>, Location)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Color {
    New,
    Open,
    Done,
}

impl CallGraph {
    pub fn contains(&self, def: &Arc<FunctionDef>) -> bool {
        self.numbers.contains_key(&Arc::as_ptr(def))
    }

    pub fn add(&mut self, def: &Arc<FunctionDef>, calls: &[CallSite]) {
        let calls = calls.iter().filter(|call| call.is_called);
        let calls = calls.map(|call| (Arc::clone(&call.callee.def), call.location.clone())).collect();
        self.numbers.insert(Arc::as_ptr(def), self.functions.len());
        self.functions.push(Node { def: Arc::clone(def), calls });
    }

    /// The first cycle that the kernel, which was added first, can reach. Depth first, with a stack
    /// of its own: a chain of calls may be of any length.
    pub fn find_cycle(&self) -> Option<Diagnostic> {
        let mut colors = vec![Color::New; self.functions.len()];
        let mut path: Vec<(usize, usize)> = vec![(0, 0)];
        colors[0] = Color::Open;
        while let Some((function, call_idx)) = path.last_mut() {
            let Some((callee, _)) = self.functions[*function].calls.get(*call_idx) else {
                colors[*function] = Color::Done;
                path.pop();
                continue;
            };
            *call_idx += 1;
            let Some(&callee) = self.numbers.get(&Arc::as_ptr(callee)) else { continue };
            match colors[callee] {
                Color::New => {
                    colors[callee] = Color::Open;
                    path.push((callee, 0));
                }
                Color::Open => return Some(self.describe(&path, callee)),
                Color::Done => {}
            }
        }
        None
    }

    fn describe(&self, path: &[(usize, usize)], start: usize) -> Diagnostic {
        let first = path.iter().position(|(function, _)| *function == start).unwrap_or(0);
        let steps = path[first..].iter().map(|&(function, next_call)| {
            let (callee, location) = &self.functions[function].calls[next_call - 1];
            let caller = &self.functions[function].def.name.name;
            (location.clone(), format!("`{caller}` calls `{}`", callee.name.name))
        });
        errors::recursion(&self.functions[start].def.name.name, steps.collect())
    }
}
