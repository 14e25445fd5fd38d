//! Why a value or the control flow diverges between the invocations of a workgroup.
//!
//! Each reason refers to its cause, down to a value that diverges by itself. A name keeps its first reason.

use kps_syntax::{Location, Source, Span};

/// `None` for a uniform value.
pub(super) type Why = Option<ReasonId>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReasonId(u32);

struct Reason {
    at: Location,
    /// The name of the divergent value in the next reason of the chain.
    subject: String,
    text: String,
    because: Why,
}

#[derive(Default)]
pub(super) struct Reasons(Vec<Reason>);

impl Reasons {
    /// A value that diverges by itself, without an explanation.
    pub fn plain_source(&mut self, source: &Source, span: Span, subject: &str) -> ReasonId {
        self.source(source, span, subject, &differs(subject))
    }

    /// A value that diverges by itself.
    pub fn source(&mut self, source: &Source, span: Span, subject: &str, text: &str) -> ReasonId {
        self.add(source.at(span), subject.to_owned(), text.to_owned(), None)
    }

    /// `subject` differs because of another thing that does.
    pub fn named(&mut self, source: &Source, span: Span, name: &str, because: ReasonId) -> ReasonId {
        let subject = format!("`{name}`");
        let cause = &self.0[because.0 as usize];
        if cause.subject == subject {
            return because;
        }
        // `i = global_id.x` is one step to a reader.
        let is_plain = cause.text == differs(&cause.subject);
        if is_plain && cause.at.source == *source && covers(span, cause.at.span) {
            let text = format!("{} because of {}", differs(&subject), cause.subject);
            return self.add(source.at(span), subject, text, None);
        }
        let text = format!("{subject} depends on {}", cause.subject);
        self.add(source.at(span), subject, text, Some(because))
    }

    /// A step that is no value; `make` gives its text for the value that it depends on.
    pub fn step(
        &mut self,
        at: Location,
        subject: &str,
        because: ReasonId,
        make: impl FnOnce(&str) -> String,
    ) -> ReasonId {
        let text = make(&self.0[because.0 as usize].subject);
        self.add(at, subject.to_owned(), text, Some(because))
    }

    fn add(&mut self, at: Location, subject: String, text: String, because: Why) -> ReasonId {
        self.0.push(Reason { at, subject, text, because });
        ReasonId(self.0.len() as u32 - 1)
    }

    /// The chain from here down to a value that diverges by itself.
    pub fn chain(&self, reason: ReasonId) -> Vec<(Location, String)> {
        let mut chain = Vec::new();
        let mut next = Some(reason);
        while let Some(reason) = next {
            let reason = &self.0[reason.0 as usize];
            chain.push((reason.at.clone(), reason.text.clone()));
            next = reason.because;
        }
        chain
    }
}

fn differs(subject: &str) -> String {
    format!("{subject} differs per invocation")
}

fn covers(outer: Span, inner: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}
