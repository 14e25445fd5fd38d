//! Whether a prompt should read another line.
//!
//! The lexer's state decides, not the parser: errors inside of complete lines are reported when they run.

use crate::lexer::{self, Open};
use crate::source::Source;
use crate::token::{Spanned, Token};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// Ready to run, whether it is right or not.
    Complete,
    /// More lines are needed: a bracket, a triple-quoted string or a block is open.
    Incomplete,
    /// Wrong already, whatever may follow.
    Invalid,
}

/// Tests the text typed so far, without the line end of its last line.
///
/// A statement with a block, and a decorator, continue until an empty line, as at Python's prompt.
///
/// ```
/// use kps_syntax::{Completeness, completeness};
///
/// assert_eq!(completeness("print(1,"), Completeness::Incomplete);
/// assert_eq!(completeness("for i in x:\n    print(i)"), Completeness::Incomplete);
/// assert_eq!(completeness("for i in x:\n    print(i)\n"), Completeness::Complete);
/// ```
pub fn completeness(text: &str) -> Completeness {
    let source = Source::new("", text);
    let lexed = lexer::lex(&source);
    match lexed.open {
        Some(Open::Bracket | Open::String | Open::Backslash) => Completeness::Incomplete,
        None if !lexed.diagnostics.is_empty() => Completeness::Invalid,
        None if wants_empty_line(&lexed.tokens) && !ends_with_empty_line(text) => Completeness::Incomplete,
        None => Completeness::Complete,
    }
}

/// Whether the last statement of the outermost level has blocks or decorators.
fn wants_empty_line(tokens: &[Spanned]) -> bool {
    let mut level = 0;
    let mut line_start = true;
    let mut wants = false;
    for (_, token, _) in tokens {
        match token {
            Token::Indent => level += 1,
            Token::Dedent => level -= 1,
            Token::Newline => line_start = true,
            _ if line_start => {
                line_start = false;
                if level == 0 {
                    wants = token.opens_block() || *token == Token::At;
                }
            }
            _ => {}
        }
    }
    wants
}

fn ends_with_empty_line(text: &str) -> bool {
    text.rsplit_once('\n').is_some_and(|(_, last)| last.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use Completeness::{Complete, Incomplete, Invalid};

    fn check(text: &str, expect: Completeness) {
        assert_eq!(completeness(text), expect, "{text:?}");
    }

    #[test]
    fn lines_that_end_by_themselves() {
        check("", Complete);
        check("x = 1", Complete);
        check("x = 1; y = 2", Complete);
        check("# a comment", Complete);
        check("f(1)\n", Complete);
        check("x y", Complete);
    }

    #[test]
    fn open_brackets_strings_and_backslashes() {
        check("f(1,", Incomplete);
        check("f(1,\n  2", Incomplete);
        check("f(1,\n  2)", Complete);
        check("x = [", Incomplete);
        check("x = '''a\nb", Incomplete);
        check("x = '''a\n\n", Incomplete);
        check("x = '''a\nb'''", Complete);
        check("f'''{x", Incomplete);
        check("x = 1 + \\", Incomplete);
        check("x = 1 + \\\n 2", Complete);
    }

    #[test]
    fn blocks_end_with_an_empty_line() {
        check("if x:", Incomplete);
        check("if x:\n    y", Incomplete);
        check("if x:\n    y\n", Complete);
        check("if x:\n    y\n    ", Complete);
        check("if x: y", Incomplete);
        check("if x: y\n", Complete);
        check("if x:\n    y\nz = 1", Complete);
        check("match x:\n    case 1: y", Incomplete);
        check("@kernel", Incomplete);
        check("@kernel\ndef f(): pass", Incomplete);
        check("@kernel\ndef f(): pass\n", Complete);
        check("class C:\n    def f(self):\n        pass", Incomplete);
    }

    #[test]
    fn errors_that_no_further_line_fixes() {
        check("f(]", Invalid);
        check("x = 'a", Invalid);
        check("x = ?", Invalid);
        check("x)", Invalid);
        check("f(1, ]\n'''", Invalid);
    }
}
