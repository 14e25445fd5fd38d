//! Changes of a text before naga reads it, and the places of all else in the text as it was.
//!
//! A text and changes go in; the changed text comes out, and whoever parsed that gets the places in naga's module, and
//! those of its mistakes, as they are in the text itself. What stands for something in the text has the place of that;
//! what stands for nothing has none.

use std::ops::Range;

use naga::{Arena, Block, Function, Module, Span, UniqueArena};

use crate::statements;

/// What is to stand in a place of the text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Change {
    pub place: Range<usize>,
    pub text: String,
}

pub(super) struct Changed {
    pub text: String,
    /// Where something stands now, and what for; in order.
    places: Vec<(Range<usize>, Range<usize>)>,
}

/// The text with changes, none of which overlap.
pub(super) fn change(text: &str, mut changes: Vec<Change>) -> Changed {
    changes.sort_by_key(|change| change.place.start);
    let mut changed = Changed { text: String::with_capacity(text.len()), places: Vec::new() };
    let mut at = 0;
    for change in changes {
        changed.text.push_str(&text[at..change.place.start]);
        let start = changed.text.len();
        changed.text.push_str(&change.text);
        at = change.place.end;
        changed.places.push((start..changed.text.len(), change.place));
    }
    changed.text.push_str(&text[at..]);
    changed
}

/// Declarations of our own: nothing but comments may stand before the version.
pub(super) fn declare(text: &str, mut declarations: String) -> Change {
    let start = behind_version(text);
    // A directive has its line for itself.
    if text[start..].trim_start_matches([' ', '\t']).starts_with('#') && !declarations.is_empty() {
        declarations.push('\n');
    }
    Change { place: start..start, text: declarations }
}

/// Where the line behind `#version` begins, or the text where it has none.
fn behind_version(text: &str) -> usize {
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        at += if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if first.is_whitespace() {
            first.len_utf8()
        } else if let (true, Some(end)) = (rest.starts_with('#'), rest.find('\n')) {
            return at + end + 1;
        } else {
            break;
        };
    }
    0
}

impl Changed {
    pub fn restore(&self, module: &mut Module) {
        let Module { types, constants, overrides, global_variables, global_expressions, .. } = module;
        self.unique(types);
        self.arena(constants);
        self.arena(overrides);
        self.arena(global_variables);
        self.arena(global_expressions);
        self.arena(&mut module.functions);
        let functions = module.functions.iter_mut().map(|(_, function)| function);
        for function in functions.chain(module.entry_points.iter_mut().map(|entry| &mut entry.function)) {
            self.function(function);
        }
    }

    pub fn span(&self, span: Span) -> Span {
        let Some(Range { start, end }) = span.to_range() else { return span };
        let is_ours = |(new, old): &&(Range<usize>, Range<usize>)| {
            old.is_empty() && new.start <= start && end <= new.end
        };
        if self.places.iter().any(|place| is_ours(&place)) {
            return Span::UNDEFINED;
        }
        Span::new(self.start(start), self.end(end))
    }

    fn start(&self, at: usize) -> u32 {
        match self.places.iter().find(|(new, _)| new.contains(&at)) {
            Some((_, old)) => old.start as u32,
            None => self.unchanged(at),
        }
    }

    fn end(&self, at: usize) -> u32 {
        match self.places.iter().find(|(new, _)| new.start < at && at <= new.end) {
            Some((_, old)) => old.end as u32,
            None => self.unchanged(at),
        }
    }

    fn unchanged(&self, at: usize) -> u32 {
        let last = self.places.iter().rev().find(|(new, _)| new.end <= at);
        last.map_or(at, |(new, old)| at - new.end + old.end) as u32
    }

    fn function(&self, function: &mut Function) {
        self.arena(&mut function.local_variables);
        self.arena(&mut function.expressions);
        statements::blocks(&mut function.body, &mut |block| self.block(block));
    }

    fn block(&self, block: &mut Block) {
        for (_, span) in block.span_iter_mut() {
            if let Some(span) = span {
                *span = self.span(*span);
            }
        }
    }

    /// What is appended in the old order has the old handles.
    fn arena<T>(&self, arena: &mut Arena<T>) {
        for (_, one, span) in arena.take().drain() {
            arena.append(one, self.span(span));
        }
    }

    fn unique(&self, types: &mut UniqueArena<naga::Type>) {
        let old = types.take();
        for (handle, ty) in old.iter() {
            types.insert(ty.clone(), self.span(old.get_span(handle)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_stand_behind_the_version() {
        let check = |text: &str, expected: &str| {
            assert_eq!(change(text, vec![declare(text, "int a;".to_owned())]).text, expected);
        };
        check("#version 450\nvoid main() {}", "#version 450\nint a;void main() {}");
        check(
            "// #version 440\n/*\n*/ #version 450\n\nfloat b;",
            "// #version 440\n/*\n*/ #version 450\nint a;\nfloat b;",
        );
        check("#version 450\n #define N 4\nint b;", "#version 450\nint a;\n #define N 4\nint b;");
        check("float b;", "int a;float b;");
    }

    #[test]
    fn places_are_those_before() {
        let text = "#version 450\nfloat b[N], c;";
        let changes =
            vec![Change { place: 21..22, text: "(2 * 2)".to_owned() }, declare(text, "int a;".to_owned())];
        let changed = change(text, changes);
        assert_eq!(changed.text, "#version 450\nint a;float b[(2 * 2)], c;");
        let check = |of: &str, expected: Option<&str>| {
            let start = changed.text.find(of).expect("it is there");
            let span = changed.span(Span::new(start as u32, (start + of.len()) as u32));
            assert_eq!(span.to_range().map(|range| &text[range]), expected, "{of}");
        };
        check("#version", Some("#version"));
        check("int a;", None);
        check("float b", Some("float b"));
        check("2 * 2", Some("N"));
        check("[(2 * 2)]", Some("[N]"));
        check("(2 * 2)", Some("N"));
        check("c", Some("c"));
    }
}
