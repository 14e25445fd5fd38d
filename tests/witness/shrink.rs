//! Shrinks a kernel with a difference or a panic while that remains. It removes lines with their blocks,
//! replaces statements by their blocks, and operators by one of their operands.

use crate::compare::{Case, Verdict};
use crate::worker::Worker;

/// Limit of smaller kernels that are tried.
const MAX_TRIES: usize = 1500;

/// The smallest kernel found, with its seed and the first difference.
pub fn shrunk(case: Case, verdict: &Verdict, worker: &mut Worker) -> String {
    let mut shrinker = Shrinker { worker, wanted: verdict, tries: 0, case };
    while shrinker.tries < MAX_TRIES && (shrinker.drop_lines() | shrinker.cut_expressions()) {}
    let Shrinker { worker, case, .. } = shrinker;
    let difference = match worker.run(&case) {
        Verdict::Differs(_, difference) => difference,
        Verdict::Panicked(message) => format!("panicked: {message}"),
        _ => "it differs now and then only".to_owned(),
    };
    format!("seed {}\n{}{difference}\n", case.seed, case.source)
}

struct Shrinker<'w> {
    worker: &'w mut Worker,
    /// The failure to preserve: a mistake must not turn into another one.
    wanted: &'w Verdict,
    tries: usize,
    case: Case,
}

impl Shrinker<'_> {
    /// Accepts a text if its failure is the same.
    fn keep(&mut self, source: String) -> bool {
        if self.tries == MAX_TRIES || source == self.case.source {
            return false;
        }
        self.tries += 1;
        let case = Case { source, seed: self.case.seed };
        let is_wanted = self.worker.run(&case).is_same_failure(self.wanted);
        if is_wanted {
            self.case = case;
        }
        is_wanted
    }

    fn drop_lines(&mut self) -> bool {
        let mut any = false;
        let mut at = 0;
        loop {
            let lines: Vec<String> = self.case.source.lines().map(str::to_owned).collect();
            if at >= lines.len() {
                return any;
            }
            let end = end_of_block(&lines, at);
            let body =
                lines[at + 1..end].iter().map(|line| line.strip_prefix("    ").unwrap_or(line).to_owned());
            let without = [&lines[..at], &lines[end..]].concat();
            let opened = [lines[..at].to_vec(), body.collect(), lines[end..].to_vec()].concat();
            let gone =
                self.keep(without.join("\n") + "\n") || end > at + 1 && self.keep(opened.join("\n") + "\n");
            any |= gone;
            at += usize::from(!gone);
        }
    }

    /// Replaces expressions in brackets by one of their operands.
    fn cut_expressions(&mut self) -> bool {
        let mut any = false;
        let mut at = 0;
        while let Some(open) = self.case.source[at..].find('(').map(|found| at + found) {
            let source = self.case.source.clone();
            let cut = closing(&source, open).is_some_and(|close| {
                let inner = &source[open + 1..close];
                let name =
                    source[..open].rfind(|c: char| !c.is_alphanumeric()).map_or(0, |before| before + 1);
                operands(inner).into_iter().any(|part| {
                    let replaced = |from: usize| format!("{}{part}{}", &source[..from], &source[close + 1..]);
                    self.keep(replaced(name)) || self.keep(replaced(open))
                })
            });
            any |= cut;
            at = if cut { at } else { open + 1 };
        }
        any
    }
}

/// The line after the block that is indented under line `at`.
fn end_of_block(lines: &[String], at: usize) -> usize {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let own = indent(&lines[at]);
    let under = lines[at + 1..].iter().take_while(|line| indent(line) > own).count();
    at + 1 + under
}

fn closing(text: &str, open: usize) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text[open..].char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(open + at);
        }
    }
    None
}

/// The operands between operators and commas.
fn operands(inner: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0;
    for word in inner.split_inclusive(' ') {
        let ends_part =
            depth == 0 && parts.last().is_some_and(|part| part.ends_with(' ') || part.ends_with(", "));
        if ends_part {
            parts.push(String::new());
        }
        depth += word.matches(['(', '[']).count() as i32 - word.matches([')', ']']).count() as i32;
        parts.last_mut().expect("there is one").push_str(word);
    }
    let clean = |part: String| part.trim().trim_end_matches(',').trim_start_matches(['~', '-']).to_owned();
    let is_operand = |part: &String| part.starts_with(|c: char| c.is_alphanumeric() || c == '(' || c == '[');
    parts.into_iter().map(clean).filter(is_operand).collect()
}
