//! Members of a value in a kernel that is being written, for completion.
//!
//! In goes an entry up to the dot; out come the names that may follow it. The line with the dot has no meaning yet, so
//! the expression before the dot takes its place.

use kps_kernel::KernelEnv;
use kps_syntax::Source;
use kps_syntax::ast::*;

use super::broken::Broken;
use super::decoration::decoration;
use super::names::StaticEnv;

/// The names that may follow `entry` and a dot, if it ends in a kernel whose other names are in `env`.
pub(crate) fn members(entry: &str, env: &dyn KernelEnv) -> Vec<String> {
    let line_start = entry.rfind('\n').map_or(0, |at| at + 1);
    let (before, line) = entry.split_at(line_start);
    let indent = &line[..line.len() - line.trim_start().len()];
    let text = format!("{before}{indent}{}\n", last_operand(line));
    let source = Source::new("<entry>", text);
    let end = source.text().trim_end().len() as u32;
    let (mut module, diagnostics) = kps_syntax::parse(&source);
    Broken::take_out(&mut module, &diagnostics, &source);
    let static_env = StaticEnv::of_script(&module);
    let kernel = module.body.iter().find_map(|stmt| match &stmt.kind {
        StmtKind::Function(def) if (stmt.span.start..=stmt.span.end).contains(&end) => {
            let mut decorators = def.decorators.iter();
            let options = decorators.find_map(|decorator| decoration(decorator, &source, &static_env));
            options.map(|decoration| (def, decoration.options))
        }
        _ => None,
    });
    let Some((def, options)) = kernel else { return Vec::new() };
    let template = kps_kernel::read(def, &source, env, options);
    let types = kps_kernel::types_of(&template, env, None);
    types.members_at(&source, end.saturating_sub(1))
}

/// The operand at the end of a line: names, dots, and what is in brackets.
fn last_operand(line: &str) -> &str {
    let mut depth = 0;
    for (at, char) in line.char_indices().rev() {
        match char {
            ')' | ']' => depth += 1,
            '(' | '[' if depth > 0 => depth -= 1,
            '_' | '.' => {}
            _ if depth > 0 || char.is_alphanumeric() => {}
            _ => return &line[at + char.len_utf8()..],
        }
    }
    line.trim_start()
}
