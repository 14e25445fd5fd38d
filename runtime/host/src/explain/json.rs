//! The explanation for tools: every remark with its place, in lines and columns that count from 1.

use kps_syntax::Source;

use super::{AskedLine, Explained, needs::Needs};
use crate::inspect::{ExplainedFunction, IndexTest, Remark, RemarkKind, RemarkType, Stage};
use crate::text::quote;

/// A list of kernels, restricted to the remarks of one line if it is given.
pub fn text(explained: &[Explained], asked: Option<&AskedLine>) -> String {
    let kernels = explained.iter().map(|found| kernel(found, asked));
    format!("{}\n", list(kernels))
}

fn kernel(Explained { name, explanation, needs }: &Explained, asked: Option<&AskedLine>) -> String {
    let size = |[x, y, z]: [u32; 3]| format!("[{x},{y},{z}]");
    let form = match (explanation.module.stage, explanation.local_sizes_by_rank) {
        (Stage::Compute, Some(sizes)) => ("local_sizes_by_axes", list(sizes.into_iter().map(size))),
        (Stage::Compute, None) => ("local_size", size(explanation.module.local_size)),
        (stage, _) => ("stage", quote::json(stage.name())),
    };
    let home = &explanation.functions[0].source;
    let functions = explanation.functions.iter().map(|found| {
        let line = asked.map(|asked| asked.is_of(&found.source, home).then_some(asked.line));
        function(found, |at| line.is_none_or(|line| line == Some(at)))
    });
    object([
        ("kernel", quote::json(name)),
        form,
        ("needs", needs_list(needs)),
        ("refused_by", refusals(needs)),
        ("functions", list(functions)),
    ])
}

fn needs_list(needs: &Needs) -> String {
    list(needs.iter().map(|(capability, lacks)| {
        let lacks = lacks.iter().map(|lacks| quote::json(&lacks.device));
        object([("capability", quote::json(capability.name())), ("lacked_by", list(lacks))])
    }))
}

fn refusals(needs: &Needs) -> String {
    list(needs.refusals().iter().map(|refusal| {
        object([("device", quote::json(&refusal.device)), ("reason", quote::json(&refusal.reason))])
    }))
}

fn function(function: &ExplainedFunction, is_asked: impl Fn(u32) -> bool) -> String {
    let source = &function.source;
    let asked = |remark: &&Remark| is_asked(source.line(remark.span.start));
    let remarks = function.remarks.iter().filter(asked).map(|found| remark(found, source));
    object([
        ("name", quote::json(&function.name)),
        ("signature", quote::json(&function.signature)),
        ("file", quote::json(source.name())),
        ("line", source.line(function.header.start).to_string()),
        ("remarks", list(remarks)),
    ])
}

fn remark(remark: &Remark, source: &Source) -> String {
    let (line, column) = source.line_column(remark.span.start);
    let (end_line, end_column) = source.line_column(remark.span.end);
    let (kind, value) = kind_and_value(&remark.kind);
    object([
        ("line", line.to_string()),
        ("column", column.to_string()),
        ("end_line", end_line.to_string()),
        ("end_column", end_column.to_string()),
        ("text", quote::json(source.slice(remark.span))),
        ("kind", quote::json(kind)),
        ("value", value),
    ])
}

fn kind_and_value(kind: &RemarkKind) -> (&'static str, String) {
    match kind {
        RemarkKind::Type(ty) => ("type", quote::json(&ty.to_string())),
        RemarkKind::Assigned(ty @ RemarkType::Weak(_)) => ("assigned", quote::json(&format!("weak {ty}"))),
        RemarkKind::Assigned(ty) => ("assigned", quote::json(&ty.to_string())),
        RemarkKind::Known(value) => ("known", quote::json(value)),
        RemarkKind::Converted { from, to } => (
            "converted",
            object([("from", quote::json(&from.to_string())), ("to", quote::json(&to.to_string()))]),
        ),
        RemarkKind::Taken(scalar) => ("taken", quote::json(scalar.name())),
        RemarkKind::ComputedIn { wide, .. } => ("computed_in", quote::json(wide.name())),
        RemarkKind::Index(test) => ("index", quote::json(test_name(*test))),
        RemarkKind::Uniform => ("uniform", "true".to_owned()),
        RemarkKind::Emulates => ("emulates", "true".to_owned()),
        RemarkKind::Calls(callee) => ("calls", callee.to_string()),
        RemarkKind::Needs(capability) => ("needs", quote::json(capability.name())),
    }
}

fn test_name(test: IndexTest) -> &'static str {
    match test {
        IndexTest::TestedLoad => "tested load",
        IndexTest::TestedStore => "tested store",
        IndexTest::TestedAtomic => "tested atomic",
        IndexTest::Proven => "proven",
    }
}

fn object<const N: usize>(members: [(&str, String); N]) -> String {
    let members: Vec<String> =
        members.into_iter().map(|(name, value)| format!("{}:{value}", quote::json(name))).collect();
    format!("{{{}}}", members.join(","))
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}
