//! Selects and words the remarks.
//!
//! A row is a piece of a line and a text about it. A page skips expressions that explain themselves: numbers,
//! casts, and later uses of a name. The type of a name is reported at its assignment. The explanation of a
//! single line has every row.

use std::collections::HashSet;

use crate::inspect::{ExplainedFunction, Explanation, IndexTest, Remark, RemarkKind, RemarkType, Stage};
use kps_syntax::{Source, Span};

use super::needs::Needs;

/// A piece of the source and a text about it.
#[derive(Debug, PartialEq, Eq)]
pub struct Row {
    pub subject: String,
    pub text: String,
}

/// How much to report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    Essential,
    Everything,
}

/// Creates the rows of one function, line by line.
pub struct Rows<'e> {
    explanation: &'e Explanation,
    needs: &'e Needs,
    function: &'e ExplainedFunction,
    detail: Detail,
    /// Names whose type was reported.
    names: HashSet<String>,
    /// Index tests whose meaning was reported.
    tests: HashSet<&'static str>,
}

impl<'e> Rows<'e> {
    pub fn new(
        explanation: &'e Explanation,
        needs: &'e Needs,
        function: &'e ExplainedFunction,
        detail: Detail,
    ) -> Rows<'e> {
        Rows { explanation, needs, function, detail, names: HashSet::new(), tests: HashSet::new() }
    }

    /// The rows below line `line`.
    pub fn of_line(&mut self, line: u32) -> Vec<Row> {
        let source = &self.function.source;
        let here: Vec<&Remark> =
            self.function.remarks.iter().filter(|remark| source.line(remark.span.start) == line).collect();
        let mut spans: Vec<Span> = here.iter().map(|remark| remark.span).collect();
        spans.dedup();
        let mut rows = Vec::new();
        for span in spans {
            let texts = self.texts(span, &here);
            if texts.is_empty() {
                continue;
            }
            let row = Row { subject: subject(source, span), text: texts.join("; ") };
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
        rows.extend(self.needs_row(&here));
        rows
    }

    /// The texts about one place.
    fn texts(&mut self, span: Span, here: &[&Remark]) -> Vec<String> {
        let at = || here.iter().filter(|remark| remark.span == span).map(|remark| &remark.kind);
        let mut texts = Vec::new();
        texts.extend(self.type_text(span, here));
        let is_given = at().any(|kind| matches!(kind, RemarkKind::Assigned(_)));
        for kind in at() {
            match kind {
                RemarkKind::Converted { from, .. } if is_given => texts.push(format!("made of {from}")),
                RemarkKind::Converted { to, .. } => texts.push(format!("becomes {to}")),
                RemarkKind::Taken(scalar) => texts.push(format!("is taken as {scalar}")),
                RemarkKind::ComputedIn { wide, ty } => {
                    texts.push(format!("computed in {wide}, rounded to {ty}"));
                }
                RemarkKind::Uniform => texts.push(match self.explanation.module.stage {
                    Stage::Compute => "the same in the whole workgroup".to_owned(),
                    Stage::Vertex | Stage::Fragment => "the same in every invocation".to_owned(),
                }),
                RemarkKind::Emulates => {
                    let text = "no instruction of the device does this, so all matrices here are emulated";
                    texts.push(text.to_owned());
                }
                RemarkKind::Calls(callee) => {
                    let callee = &self.explanation.functions[*callee];
                    texts.push(format!("calls {}{}", callee.name, callee.signature));
                }
                RemarkKind::Type(_)
                | RemarkKind::Assigned(_)
                | RemarkKind::Known(_)
                | RemarkKind::Index(_)
                | RemarkKind::Needs(_) => {}
            }
        }
        texts.extend(self.index_text(at()));
        texts
    }

    /// The type, or the value if that is known.
    fn type_text(&mut self, span: Span, here: &[&Remark]) -> Option<String> {
        let source = &self.function.source;
        let text = source.slice(span);
        let at = || here.iter().filter(|remark| remark.span == span).map(|remark| &remark.kind);
        let known = at().find_map(|kind| match kind {
            RemarkKind::Known(value) => Some(value),
            _ => None,
        });
        let assigned = at().find_map(|kind| match kind {
            RemarkKind::Assigned(ty) => Some(ty),
            _ => None,
        });
        if let Some(ty) = assigned {
            self.names.insert(text.to_owned());
            return Some(match (known, ty) {
                (Some(value), RemarkType::Weak(_)) => {
                    format!("{value}, which adopts the type of the other operand")
                }
                (Some(value), ty) => format!("{ty}, always {value}"),
                (None, ty) => ty.to_string(),
            });
        }
        let ty = type_at(span, here)?;
        let is_everything = self.detail == Detail::Everything;
        if let Some(value) = known {
            if is_number(text) {
                return is_everything.then(|| ty.to_string());
            }
            let is_stated = is_cast(text, ty);
            return (is_everything || !is_stated).then(|| match ty {
                RemarkType::Weak(_) => format!("always {value}"),
                ty => format!("{ty}, always {value}"),
            });
        }
        let is_name = text.chars().all(|c| c.is_alphanumeric() || c == '_');
        let is_said = match is_name {
            true => is_number(text) || !self.names.insert(text.to_owned()),
            false => is_number(text) || is_cast(text, ty),
        };
        (is_everything || !is_said).then(|| ty.to_string())
    }

    /// How an access treats its index; a load and a store report it once. The meaning of a test is reported
    /// once.
    fn index_text<'r>(&mut self, kinds: impl Iterator<Item = &'r RemarkKind>) -> Option<String> {
        let tests: Vec<IndexTest> = kinds
            .filter_map(|kind| match kind {
                RemarkKind::Index(test) => Some(*test),
                _ => None,
            })
            .collect();
        let has = |test| tests.contains(&test);
        let means = match () {
            () if has(IndexTest::TestedAtomic) => "out of range nothing happens",
            () if has(IndexTest::TestedLoad) && has(IndexTest::TestedStore) => {
                "out of range 0 is read and nothing is stored"
            }
            () if has(IndexTest::TestedLoad) => "out of range it is 0",
            () if has(IndexTest::TestedStore) => "out of range nothing is stored",
            () if has(IndexTest::Proven) => return Some("in range, so not tested".to_owned()),
            () => return None,
        };
        let is_new = self.tests.insert(means);
        Some(if is_new { format!("index tested: {means}") } else { "index tested".to_owned() })
    }

    /// The capabilities that the line needs, in one row.
    fn needs_row(&self, here: &[&Remark]) -> Option<Row> {
        let mut needed: Vec<_> = here
            .iter()
            .filter_map(|remark| match remark.kind {
                RemarkKind::Needs(capability) => Some(capability),
                _ => None,
            })
            .collect();
        needed.sort_unstable();
        needed.dedup();
        let texts: Vec<String> =
            needed.into_iter().map(|capability| self.needs.sentence(capability)).collect();
        (!texts.is_empty()).then(|| Row { subject: "(needs)".to_owned(), text: texts.join("; ") })
    }
}

fn type_at<'r>(span: Span, here: &[&'r Remark]) -> Option<&'r RemarkType> {
    here.iter().find_map(|remark| match &remark.kind {
        RemarkKind::Type(ty) if remark.span == span => Some(ty),
        _ => None,
    })
}

/// `2.5`, `-1`, `True`: it explains itself.
fn is_number(text: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_hexdigit() || "xXoO_.+-".contains(c);
    let is_first = |c: char| c.is_ascii_digit() || c == '.' || c == '-';
    matches!(text, "True" | "False") || (text.starts_with(is_first) && text.chars().all(is_digit))
}

/// `f32(x)`: it names its own type.
fn is_cast(text: &str, ty: &RemarkType) -> bool {
    let Some(inner) = text.strip_prefix(&ty.to_string()).and_then(|rest| rest.strip_prefix('(')) else {
        return false;
    };
    let mut depth = 1;
    let close = inner.find(|c| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0
    });
    close == Some(inner.len() - 1)
}

/// The text of a span on one line.
fn subject(source: &Source, span: Span) -> String {
    let text = source.slice(span);
    match text.split_once('\n') {
        Some((first, _)) => format!("{} ..", first.trim_end()),
        None => text.to_owned(),
    }
}
