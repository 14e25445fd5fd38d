//! The names that a pattern binds: each once, and the same in every alternative.

use crate::Diagnostic;
use crate::ast::{Ident, Pattern, PatternKind};
use crate::errors;
use crate::source::Source;

pub(super) fn check(source: &Source, pattern: &Pattern, diagnostics: &mut Vec<Diagnostic>) {
    Captures { source, diagnostics }.of(pattern);
}

struct Captures<'a> {
    source: &'a Source,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl Captures<'_> {
    /// The names that a pattern binds, in order of writing.
    fn of<'p>(&mut self, pattern: &'p Pattern) -> Vec<&'p Ident> {
        let mut names = match &pattern.kind {
            PatternKind::Capture(name) => vec![name],
            PatternKind::Star(name) => name.iter().collect(),
            PatternKind::Sequence(patterns) => self.of_all(patterns),
            PatternKind::Mapping { items, rest } => {
                let mut names = self.of_all(items.iter().map(|(_, pattern)| pattern));
                names.extend(rest);
                names
            }
            PatternKind::Class { positional, keywords, .. } => {
                self.of_all(positional.iter().chain(keywords.iter().map(|(_, pattern)| pattern)))
            }
            PatternKind::As { pattern, name } => {
                let mut names = self.of(pattern);
                names.push(name);
                names
            }
            PatternKind::Or(alternatives) => return self.of_alternatives(alternatives),
            PatternKind::Wildcard
            | PatternKind::Value(_)
            | PatternKind::Singleton(_)
            | PatternKind::Error => {
                return Vec::new();
            }
        };
        self.report_repeated(&mut names);
        names
    }

    fn of_all<'p>(&mut self, patterns: impl IntoIterator<Item = &'p Pattern>) -> Vec<&'p Ident> {
        patterns.into_iter().flat_map(|pattern| self.of(pattern)).collect()
    }

    /// Reports names that are bound twice, and forgets all but the first.
    fn report_repeated(&mut self, names: &mut Vec<&Ident>) {
        names.sort_by(|a, b| a.name.cmp(&b.name).then(a.span.cmp(&b.span)));
        names.dedup_by(|again, first| {
            let is_same = again.name == first.name;
            if is_same {
                let (at, first) = (self.source.at(again.span), self.source.at(first.span));
                self.diagnostics.push(errors::repeated_capture(at, &again.name, first));
            }
            is_same
        });
    }

    fn of_alternatives<'p>(&mut self, alternatives: &'p [Pattern]) -> Vec<&'p Ident> {
        let mut bound = alternatives.iter().map(|alternative| (alternative, self.of(alternative)));
        let Some((first, names)) = bound.next() else { return Vec::new() };
        let others: Vec<_> = bound.collect();
        for (alternative, others) in others {
            if let Some(difference) = difference(&names, &others) {
                let (at, first) = (self.source.at(alternative.span), self.source.at(first.span));
                self.diagnostics.push(errors::unequal_alternatives(at, first, &difference));
                break;
            }
        }
        names
    }
}

/// The names, both lists sorted, that only one of them has.
fn difference(names: &[&Ident], others: &[&Ident]) -> Option<String> {
    let has =
        |list: &[&Ident], name: &Ident| list.binary_search_by(|ident| ident.name.cmp(&name.name)).is_ok();
    let missing = names.iter().filter(|name| !has(others, name));
    let added = others.iter().filter(|name| !has(names, name));
    let all: Vec<String> = missing.chain(added).map(|name| format!("`{}`", name.name)).collect();
    (!all.is_empty()).then(|| all.join(", "))
}
