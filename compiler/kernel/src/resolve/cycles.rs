//! Recursion: kernels have no stack, so the call graph must have no cycle.

use std::sync::Arc;

use kps_syntax::ast::FunctionDef;
use kps_syntax::{Diagnostic, Location};
use rustc_hash::FxHashMap;

use super::walk::CallSite;
use crate::env::HelperFunction;
use crate::errors;

/// Who calls whom, and where.
#[derive(Default)]
pub(super) struct CallGraph {
    functions: Vec<Node>,
    numbers: FxHashMap<Identity, usize>,
    /// How many functions there are of one definition.
    n_of: FxHashMap<*const FunctionDef, usize>,
}

/// A function by its definition and environment: one definition may make several functions.
type Identity = (*const FunctionDef, usize);

/// Functions of one definition that are looked at: where a script is only read, each reading may make a new one.
const MAX_OF_ONE: usize = 64;

struct Node {
    def: Arc<FunctionDef>,
    calls: Vec<(Arc<FunctionDef>, Identity, Location)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Color {
    New,
    Open,
    Done,
}

fn identity(function: &HelperFunction) -> Identity {
    (Arc::as_ptr(&function.def), function.env.identity())
}

impl CallGraph {
    /// Whether the function was added, or enough of its kind were.
    pub fn contains(&self, function: &HelperFunction) -> bool {
        let n_of = self.n_of.get(&Arc::as_ptr(&function.def));
        self.numbers.contains_key(&identity(function)) || n_of.is_some_and(|n| *n >= MAX_OF_ONE)
    }

    /// Adds a function that sees the environment of this identity.
    pub fn add(&mut self, def: &Arc<FunctionDef>, env: usize, calls: &[CallSite]) {
        let calls = calls
            .iter()
            .filter(|call| call.is_called)
            .map(|call| (Arc::clone(&call.callee.def), identity(&call.callee), call.location.clone()));
        let calls = calls.collect();
        self.numbers.insert((Arc::as_ptr(def), env), self.functions.len());
        *self.n_of.entry(Arc::as_ptr(def)).or_default() += 1;
        self.functions.push(Node { def: Arc::clone(def), calls });
    }

    /// The first cycle that the kernel, which was added first, can reach. Depth first, with a stack
    /// of its own: a chain of calls may be of any length.
    pub fn find_cycle(&self) -> Option<Diagnostic> {
        let mut colors = vec![Color::New; self.functions.len()];
        let mut path: Vec<(usize, usize)> = vec![(0, 0)];
        colors[0] = Color::Open;
        while let Some((function, call_idx)) = path.last_mut() {
            let Some((_, callee, _)) = self.functions[*function].calls.get(*call_idx) else {
                colors[*function] = Color::Done;
                path.pop();
                continue;
            };
            *call_idx += 1;
            let Some(&callee) = self.numbers.get(callee) else { continue };
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
            let (callee, _, location) = &self.functions[function].calls[next_call - 1];
            let caller = &self.functions[function].def.name.name;
            (location.clone(), format!("`{caller}` calls `{}`", callee.name.name))
        });
        errors::recursion(&self.functions[start].def.name.name, steps.collect())
    }
}
