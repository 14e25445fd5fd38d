//! Declarations in a variable of the script: `G = ("input", "GlobalInvocationId", ivec3)`, `i=G`.
//!
//! In goes a tuple of values; out comes the tuple as an expression, so that one reader reads both. Each value gets a
//! name that no script can have, in an environment of its own. All spans are that of the variable.

use kps_syntax::Span;
use kps_syntax::ast::{Expr, Name};

use crate::env::{EnvValue, KernelEnv};

/// The values of a tuple by their positions, in front of the enclosing environment.
pub(super) struct TupleEnv<'a> {
    items: Vec<(Name, EnvValue)>,
    around: &'a dyn KernelEnv,
}

/// The tuple as an expression at `span`, with its environment.
pub(super) fn spelled<'a>(
    items: &[EnvValue],
    span: Span,
    around: &'a dyn KernelEnv,
) -> (Vec<Expr>, TupleEnv<'a>) {
    let mut env = TupleEnv { items: Vec::new(), around };
    let parts = items.iter().map(|item| env.spell(item, span)).collect();
    (parts, env)
}

impl TupleEnv<'_> {
    fn spell(&mut self, item: &EnvValue, span: Span) -> Expr {
        if let EnvValue::Tuple(items) = item {
            return Expr::tuple(items.iter().map(|item| self.spell(item, span)).collect(), span);
        }
        let name = Name::from(self.items.len().to_string());
        self.items.push((name.clone(), item.clone()));
        Expr::name(name, span)
    }
}

impl KernelEnv for TupleEnv<'_> {
    fn get(&self, name: &str) -> Option<EnvValue> {
        let own = self.items.iter().find(|(known, _)| &**known == name);
        own.map(|(_, value)| value.clone()).or_else(|| self.around.get(name))
    }

    fn names(&self) -> Vec<Name> {
        self.around.names()
    }

    fn identity(&self) -> usize {
        self.around.identity()
    }
}
