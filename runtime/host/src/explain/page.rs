//! The page of `kps explain` and `kernel.explain()`: each line of a kernel, and below it the remarks.

use crate::inspect::{self, BindingPlace, ExplainedFunction, Explanation, Stage};
use kps_syntax::Source;

use super::Explained;
use super::asked::AskedLine;
use super::needs::Needs;
use super::rows::{Detail, Row, Rows};

/// The greatest width of a page, unless its source is wider.
const WIDTH: usize = 96;

/// The greatest width of a quotation of the source; the rest is cut.
const SUBJECT: usize = 28;

/// The whole of a kernel.
pub fn page(Explained { name, explanation, needs }: &Explained) -> String {
    let mut text = head(name, explanation, needs);
    for function in &explanation.functions {
        text.push('\n');
        if !function.signature.is_empty() {
            let at = function.source.line(function.header.start);
            let name = &function.name;
            text += &format!("{name}{} at {}:{at}\n\n", function.signature, function.source.name());
        }
        let (first, last) = lines(function);
        let mut rows = Rows::new(explanation, needs, function, Detail::Essential);
        let width = last.to_string().len();
        for line in first..=last {
            let mut rows_of_line = rows.of_line(line);
            if function.signature.is_empty() {
                add_places(&mut rows_of_line, explanation, function, line);
            }
            source_line(&mut text, &function.source, line, width);
            rows_below(&mut text, &rows_of_line, width);
        }
    }
    text
}

/// All that is known of one line, and its SPIR-V; `None` if no function contains it.
pub fn of_line(Explained { name, explanation, needs }: &Explained, asked: &AskedLine) -> Option<String> {
    let (home, line) = (kernel_source(explanation), asked.line);
    let is_here = |function: &&ExplainedFunction| {
        let (first, last) = lines(function);
        asked.is_of(&function.source, home) && (first..=last).contains(&line)
    };
    let functions: Vec<&ExplainedFunction> = explanation.functions.iter().filter(is_here).collect();
    let mut text = String::new();
    for function in &functions {
        text += &format!("{}{}\n\n", function.name, function.signature);
        let width = line.to_string().len();
        source_line(&mut text, &function.source, line, width);
        let mut rows = Rows::new(explanation, needs, function, Detail::Everything);
        let mut rows_of_line = rows.of_line(line);
        if function.signature.is_empty() {
            add_places(&mut rows_of_line, explanation, function, line);
        }
        rows_below(&mut text, &rows_of_line, width);
        text.push('\n');
    }
    let file = functions.first()?.source.name();
    let assembly = inspect::assembly_of_line(&explanation.module.words, file, line);
    text += &match assembly.is_empty() {
        true => format!("no SPIR-V of `{name}` comes from this line\n"),
        false => assembly.iter().map(|line| format!("{line}\n")).collect(),
    };
    Some(text)
}

/// The first and the last line of a function.
pub fn lines(function: &ExplainedFunction) -> (u32, u32) {
    let source = &function.source;
    let text = source.slice(function.span).trim_end();
    (source.line(function.span.start), source.line(function.span.start + text.len() as u32))
}

fn kernel_source(explanation: &Explanation) -> &Source {
    &explanation.functions[0].source
}

/// Facts about the whole kernel.
fn head(name: &str, explanation: &Explanation, needs: &Needs) -> String {
    let module = &explanation.module;
    let main = &explanation.functions[0];
    let at = main.source.line(main.header.start);
    let mut text = format!("{name} at {}:{at}\n", main.source.name());
    text += &match module.stage {
        Stage::Compute => workgroups(explanation),
        stage => format!("  a {} function: its SPIR-V is for programs that draw\n", stage.name()),
    };
    for (capability, _) in needs.iter().filter(|(_, lacks)| !lacks.is_empty()) {
        text += &format!("  needs {}\n", needs.sentence(*capability));
    }
    let common = needs.iter().filter(|(_, lacks)| lacks.is_empty());
    let common: Vec<&str> = common.map(|(capability, _)| capability.name()).collect();
    let sentence = (!common.is_empty()).then(|| match module.stage {
        Stage::Compute => format!("needs {}, which every device here has", common.join(", ")),
        Stage::Vertex | Stage::Fragment => format!("needs {}", common.join(", ")),
    });
    let refusals = needs.refusals().iter();
    let refusals = refusals.map(|refusal| format!("not for `{}`: {}", refusal.device, refusal.reason));
    for line in sentence.into_iter().chain(refusals).flat_map(|text| wrapped(&text, WIDTH - 4)) {
        text += &format!("  {line}\n");
    }
    if needs.iter().next().is_none() && needs.refusals().is_empty() {
        text += "  needs nothing that a device could lack\n";
    }
    text
}

fn workgroups(explanation: &Explanation) -> String {
    let module = &explanation.module;
    let [x, y, z] = module.local_size;
    let size = match explanation.local_sizes_by_rank {
        Some([[line, ..], [width, height, _], [x, y, z]]) => {
            format!("{line}, {width} x {height} or {x} x {y} x {z} invocations, by the axes of the launch")
        }
        None => format!("{x} x {y} x {z} invocations"),
    };
    let launched = match (module.whole_groups, module.has_domain) {
        (true, _) => "it waits at barriers, so a launch is of whole workgroups",
        (false, true) => "those beyond the domain do nothing",
        (false, false) => "a launch counts workgroups",
    };
    wrapped(&format!("workgroups of {size}; {launched}"), WIDTH - 4)
        .iter()
        .map(|line| format!("  {line}\n"))
        .collect()
}

/// Where each argument is stored, beside the type of its parameter.
fn add_places(rows: &mut [Row], explanation: &Explanation, function: &ExplainedFunction, line: u32) {
    let header = function.header;
    let (first, last) = (function.source.line(header.start), function.source.line(header.end));
    if !(first..=last).contains(&line) {
        return;
    }
    for binding in &explanation.module.bindings {
        if let Some(row) = rows.iter_mut().find(|row| row.subject == *binding.name) {
            row.text += &format!(", {}", place(&binding.place));
        }
    }
}

fn place(place: &BindingPlace) -> String {
    match place {
        BindingPlace::Buffer { set, binding, reads, writes, .. }
        | BindingPlace::Texture { set, binding, reads, writes } => {
            let access = match (reads, writes) {
                (true, true) => "read and written",
                (true, false) => "read",
                (false, true) => "written",
                (false, false) => "not used",
            };
            format!("{access}; {}", slot(*set, *binding))
        }
        BindingPlace::Sampler { set, binding } => slot(*set, *binding),
        BindingPlace::PushConstant { offset, .. } => format!("a push constant at byte {offset}"),
        BindingPlace::Uniform { offset, .. } => format!("at byte {offset} of a uniform buffer"),
    }
}

fn slot(set: u32, binding: u32) -> String {
    match set {
        0 => format!("binding {binding}"),
        set => format!("binding {binding} of set {set}"),
    }
}

fn source_line(text: &mut String, source: &Source, line: u32, width: usize) {
    *text += format!("{line:>width$} │ {}", source.line_text(line)).trim_end();
    text.push('\n');
}

fn rows_below(text: &mut String, rows: &[Row], width: usize) {
    let subjects: Vec<String> = rows.iter().map(|row| cut(&row.subject)).collect();
    let column = subjects.iter().map(|subject| subject.chars().count()).max().unwrap_or(0);
    for (row, subject) in rows.iter().zip(subjects) {
        let gutter = format!("{:>width$} ·   ", "");
        let indent = gutter.chars().count() + column + 2;
        let mut lines = wrapped(&row.text, WIDTH.saturating_sub(indent)).into_iter();
        let first = lines.next().unwrap_or_default();
        *text += &format!("{gutter}{subject:column$}  {first}\n");
        for line in lines {
            *text += &format!("{gutter}{:column$}  {line}\n", "");
        }
    }
}

/// Cut to the width of the column of subjects.
fn cut(subject: &str) -> String {
    match subject.chars().count() > SUBJECT {
        true => format!("{}..", subject.chars().take(SUBJECT - 2).collect::<String>()),
        false => subject.to_owned(),
    }
}

/// Lines of at most `width` characters, broken between words.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
