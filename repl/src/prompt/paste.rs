//! Text that is pasted into the prompt: whole programs, indented pieces of a page, and transcripts with their
//! `>>>` and answers.

use kps_syntax::{Source, parse};

const FIRST: &str = ">>>";
const NEXT: &str = "...";

/// The entries of a pasted or typed text, each to be run separately, so that each shows its value. Text that
/// does not parse stays one entry, so that its errors have the right places.
pub fn entries(text: &str) -> Vec<String> {
    match is_transcript(text) {
        true => transcript_entries(text),
        false => statements(&dedent(text)),
    }
}

/// Whether the first line that is not empty begins with the prompt.
pub fn is_transcript(text: &str) -> bool {
    text.lines().find(|line| !line.trim().is_empty()).is_some_and(|line| after_prompt(line, FIRST).is_some())
}

/// The text after the prompt on this line.
fn after_prompt<'l>(line: &'l str, prompt: &str) -> Option<&'l str> {
    let rest = line.trim_start().strip_prefix(prompt)?;
    match rest.is_empty() {
        true => Some(rest),
        false => rest.strip_prefix(' '),
    }
}

/// The lines after prompts; the others are answers in the transcript.
fn transcript_entries(text: &str) -> Vec<String> {
    let mut entries: Vec<String> = vec![];
    for line in text.lines() {
        if let Some(code) = after_prompt(line, FIRST) {
            entries.push(format!("{code}\n"));
        } else if let (Some(code), Some(entry)) = (after_prompt(line, NEXT), entries.last_mut()) {
            entry.push_str(code);
            entry.push('\n');
        }
    }
    entries.retain(|entry| !entry.trim().is_empty());
    entries
}

/// Removes the common indentation of all lines.
fn dedent(text: &str) -> String {
    let indents = text.lines().filter(|line| !line.trim().is_empty()).map(|line| {
        let n_blanks = line.len() - line.trim_start_matches([' ', '\t']).len();
        &line[..n_blanks]
    });
    let shared = indents.reduce(shared_prefix).unwrap_or("");
    if shared.is_empty() {
        return text.to_owned();
    }
    text.lines().map(|line| format!("{}\n", line.strip_prefix(shared).unwrap_or(line.trim_start()))).collect()
}

fn shared_prefix<'t>(left: &'t str, right: &'t str) -> &'t str {
    let n_shared = left.bytes().zip(right.bytes()).take_while(|(left, right)| left == right).count();
    &left[..n_shared]
}

/// The text of each statement of a program that parses, comments in front of it included.
fn statements(text: &str) -> Vec<String> {
    let source = Source::new("<prompt>", text);
    let (module, diagnostics) = parse(&source);
    if diagnostics.has_errors() || module.body.len() < 2 {
        return vec![text.to_owned()];
    }
    let starts_line = |start: u32| text[..start as usize].ends_with('\n') || start == 0;
    let mut starts: Vec<usize> = vec![0];
    starts.extend(
        module
            .body
            .iter()
            .skip(1)
            .map(|stmt| stmt.span.start)
            .filter(|&at| starts_line(at))
            .map(|at| at as usize),
    );
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(&start, end)| text[start..end].to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::entries;

    fn check(input: &str, expect: &[&str]) {
        assert_eq!(entries(input), expect);
    }

    #[test]
    fn text_becomes_entries() {
        check("x = 1\n", &["x = 1\n"]);
        check("x = 1\ny = 2\n", &["x = 1\n", "y = 2\n"]);
        check("x = 1; y = 2\n", &["x = 1; y = 2\n"]);
        check("  x = 1\n  if x:\n    y = 2\n", &["x = 1\n", "if x:\n  y = 2\n"]);
        check(
            " >>> import kp\n >>>\n >>> kp.Manager()\n INFO:kp:found\n <kp.Manager>\n",
            &["import kp\n", "kp.Manager()\n"],
        );
        check(
            ">>> for i in x:\n...     print(i)\n...\n1\n2\n>>> y\n",
            &["for i in x:\n    print(i)\n\n", "y\n"],
        );
        check("x = (\n", &["x = (\n"]);
    }
}
