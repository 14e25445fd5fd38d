//! Colours for the line being typed, by the language's own lexer.

use kps_syntax::{Source, TokenClass, tokens};

const RESET: &str = "\x1b[0m";

/// The text with colours inserted.
pub fn highlight(text: &str) -> String {
    let source = Source::new("<prompt>", text);
    let mut coloured = String::with_capacity(text.len() * 2);
    let mut done = 0;
    for (span, class) in tokens(&source) {
        let range = span.range();
        let Some(token) = text.get(range.clone()) else { continue };
        let Some(colour) = colour(class) else { continue };
        // Tokens come in order; one that overlaps the last is already drawn.
        let Some(between) = text.get(done..range.start) else { continue };
        coloured.push_str(between);
        coloured.push_str(colour);
        coloured.push_str(token);
        coloured.push_str(RESET);
        done = range.end;
    }
    coloured.push_str(&text[done..]);
    coloured
}

/// `None` leaves the terminal's own colour.
fn colour(class: TokenClass) -> Option<&'static str> {
    match class {
        TokenClass::Keyword => Some("\x1b[35m"),
        TokenClass::Number => Some("\x1b[36m"),
        TokenClass::String => Some("\x1b[32m"),
        TokenClass::Comment => Some("\x1b[90m"),
        TokenClass::Error => Some("\x1b[31m"),
        _ => None,
    }
}
