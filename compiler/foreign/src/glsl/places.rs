//! Maps places in the preprocessed text to places in the text that the user wrote.
//!
//! The preprocessor keeps lines and changes their content: it drops blanks and expands macros. So the tokens
//! of both versions of a line are aligned by their longest common subsequence. A token in both versions has
//! its own place. A token from a macro has the place of the macro.

use std::ops::Range;

use rustc_hash::FxHashMap;

use kps_syntax::{Location, Source, Span};

use super::log::{LogPlace, Record};
use super::tokens::{Token, closing, tokens};

/// The texts of one compilation.
pub(super) struct Texts<'t> {
    pub source: &'t Source,
    /// By their names in lines and messages.
    pub headers: FxHashMap<String, Source>,
    /// The preprocessed text; `None` if places are positions in the original texts.
    pub preprocessed: Option<String>,
    /// The entry point.
    pub entry_point: &'t str,
}

/// A longer line is pointed at as a whole.
const MAX_ALIGNED: usize = 1000;

impl Texts<'_> {
    /// The place of an error; `None` if glslang reports no place.
    pub fn location(&self, record: &Record) -> Option<Location> {
        let place = record.place.as_ref()?;
        let source = self.source_of(place.file.as_deref());
        let line = line_range(source.text(), place.line);
        let text = &source.text()[line.clone()];
        let range = match self.line_as_parsed(place) {
            Some(parsed) => aligned(text, parsed, place.column, &record.token),
            None => {
                found(&tokens(text), place.column, &record.token).map(|at| tokens(text)[at].range.clone())
            }
        };
        let range = range.unwrap_or_else(|| trimmed(text));
        let span = Span::new((line.start + range.start) as u32, (line.start + range.end) as u32);
        Some(Location { source: source.clone(), span })
    }

    fn source_of(&self, file: Option<&str>) -> &Source {
        file.and_then(|file| self.headers.get(file)).unwrap_or(self.source)
    }

    /// The place of a byte of the preprocessed text.
    pub fn location_of_byte(&self, at: usize) -> Location {
        let before = self.lines().take_while(|line| line.start <= at).last();
        let place = before.map(|line| LogPlace {
            file: line.file.map(str::to_owned),
            line: line.number,
            column: (at - line.start) as u32 + 1,
        });
        self.location(&Record { place, token: String::new(), reason: String::new() })
            .unwrap_or_else(|| self.source.at(Span::point(0)))
    }

    /// The line of the preprocessed text that a place is on.
    fn line_as_parsed(&self, place: &LogPlace) -> Option<&str> {
        let is_it = |line: &Line| line.number == place.line && line.file == place.file.as_deref();
        self.lines().find(is_it).map(|line| line.text)
    }

    /// The lines of the preprocessed text. The preprocessor writes `#line N "FILE"` where a file begins or
    /// continues.
    fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let (mut file, mut number, mut next_start) = (None, 1, 0);
        self.preprocessed.as_deref().unwrap_or_default().split_inclusive('\n').filter_map(move |text| {
            let start = next_start;
            next_start += text.len();
            if let Some((next, name)) = text.trim_start().strip_prefix("#line ").map(line_directive) {
                number = next;
                file = name.or(file);
                return None;
            }
            number += 1;
            Some(Line { file, number: number - 1, start, text: text.trim_end_matches(['\n', '\r']) })
        })
    }
}

/// A line of the preprocessed text.
struct Line<'t> {
    /// The name of an included file; `None` in the text itself.
    file: Option<&'t str>,
    /// In its file, from 1.
    number: u32,
    /// The byte of the preprocessed text that it starts at.
    start: usize,
    text: &'t str,
}

/// The number of the next line, and its file.
fn line_directive(rest: &str) -> (u32, Option<&str>) {
    let (number, name) = rest.split_once(' ').unwrap_or((rest, ""));
    let name = name.trim().trim_matches('"');
    (number.trim().parse().unwrap_or(1), (!name.is_empty() && name != "0").then_some(name))
}

/// The bytes of a line, counted from 1, without its end.
fn line_range(text: &str, number: u32) -> Range<usize> {
    let mut start = 0;
    for (at, line) in text.split_inclusive('\n').enumerate() {
        if at + 1 == number as usize {
            return start..start + line.trim_end().len();
        }
        start += line.len();
    }
    let end = text.trim_end().len();
    text[..end].rfind('\n').map_or(0, |at| at + 1)..end
}

fn trimmed(line: &str) -> Range<usize> {
    line.len() - line.trim_start().len()..line.trim_end().len()
}

/// The range in the original line for the token that glslang names in the preprocessed line.
fn aligned(written: &str, parsed: &str, column: u32, token: &str) -> Option<Range<usize>> {
    let parsed = tokens(parsed);
    let written = with_macros_whole(written, &parsed);
    let at = found(&parsed, column, token)?;
    if written.len() > MAX_ALIGNED || parsed.len() > MAX_ALIGNED {
        return None;
    }
    let pairs = common(&written, &parsed);
    if let Some((own, _)) = pairs.iter().find(|(_, other)| *other == at) {
        return Some(written[*own].range.clone());
    }
    let first = pairs.iter().rfind(|(_, other)| *other < at).map_or(0, |(own, _)| own + 1);
    let end = pairs.iter().find(|(_, other)| *other > at).map_or(written.len(), |(own, _)| *own);
    let replaced = written.get(first..end)?;
    Some(replaced.first()?.range.start..replaced.last()?.range.end)
}

/// The tokens of an original line. A name that is absent from the preprocessed line is a macro: it is one
/// token with its arguments.
fn with_macros_whole<'t>(written: &'t str, parsed: &[Token]) -> Vec<Token<'t>> {
    let tokens = tokens(written);
    let (mut whole, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        let is_macro = tokens[at].is_word() && !parsed.iter().any(|token| token.text == tokens[at].text);
        let end = is_macro.then(|| closing(&tokens, at + 1)).flatten().unwrap_or(at);
        let range = tokens[at].range.start..tokens[end].range.end;
        whole.push(Token { text: &written[range.clone()], range });
        at = end + 1;
    }
    whole
}

/// The token at a column. glslang reports a call at its closing parenthesis, so a name before the column
/// takes precedence over the token at it.
fn found(tokens: &[Token], column: u32, name: &str) -> Option<usize> {
    let at = (column as usize).saturating_sub(1);
    let last =
        tokens.iter().rposition(|token| token.range.start <= at).or((!tokens.is_empty()).then_some(0))?;
    if tokens[last].text == name {
        return Some(last);
    }
    let is_name = name.starts_with(|letter: char| letter.is_alphabetic() || letter == '_');
    let before = tokens[..last].iter().rposition(|token| token.text == name).filter(|_| is_name);
    Some(before.unwrap_or(last))
}

/// The longest common subsequence of two lists of tokens, as pairs of their indices.
fn common(left: &[Token], right: &[Token]) -> Vec<(usize, usize)> {
    let width = right.len() + 1;
    let mut lengths = vec![0_u32; (left.len() + 1) * width];
    for i in (0..left.len()).rev() {
        for j in (0..right.len()).rev() {
            lengths[i * width + j] = match left[i].text == right[j].text {
                true => lengths[(i + 1) * width + j + 1] + 1,
                false => lengths[(i + 1) * width + j].max(lengths[i * width + j + 1]),
            };
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < left.len() && j < right.len() {
        if left[i].text == right[j].text {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if lengths[(i + 1) * width + j] >= lengths[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(written: &str, parsed: &str, at: &str, expect: &str) {
        let column = parsed.find(at).expect("the line has it") as u32 + 1;
        let range = aligned(written, parsed, column, at).expect("it has a place");
        assert_eq!(&written[range], expect);
    }

    #[test]
    fn tokens_keep_their_places_beside_macros() {
        check("    o[1] = a << SIZE(0);", " o[1] = a << ( 0 == 0 ? 3 : 0);", "<<", "<<");
        check("    o[1] = a << SIZE(0);", " o[1] = a << ( 0 == 0 ? 3 : 0);", "?", "SIZE(0)");
        check("x = F(a) + b;", "x = a * a + b;", "b", "b");
        check("x = F(a) + b;", "x = a * a + b;", "*", "F(a)");
    }
}
