//! Keywords in place of names, statements in place of expressions, and words of other languages.

use crate::Diagnostic;
use crate::errors;
use crate::token::Token;

use super::declarations::is_type;
use super::{Scene, begins_operand, ends_operand, is_whole_statement, line_of};

/// `print "text"`.
pub(super) fn print_statement(scene: &Scene) -> Option<Diagnostic> {
    let is_first = scene.at == scene.line.start + 1;
    let word = scene.text(scene.line.start);
    if !is_first || word != "print" || !begins_operand(scene.here()) {
        return None;
    }
    let rest = scene.stretch(scene.at, scene.line.end.saturating_sub(2).max(scene.at));
    let argument = scene.source.slice(rest.span).to_owned();
    Some(errors::print_statement(scene.stretch(scene.line.start, scene.at), word, &argument))
}

/// `raise ValueError, "text"`.
pub(super) fn raise_comma(scene: &Scene) -> Option<Diagnostic> {
    let is_raise =
        scene.first() == Token::Raise && scene.here() == Token::Comma && scene.open_bracket().is_none();
    is_raise.then(|| errors::raise_comma(scene.place()))
}

pub(super) fn keyword_as_name(scene: &Scene) -> Option<Diagnostic> {
    let place = scene.place();
    let word = scene.text(scene.at);
    let here = scene.here();
    let is_constant = matches!(here, Token::Literal(_)) && matches!(word, "None" | "True" | "False");
    let names_something = matches!(
        scene.previous(),
        Some(
            Token::Dot
                | Token::Def
                | Token::Class
                | Token::As
                | Token::Import
                | Token::Global
                | Token::Nonlocal
        )
    );
    if (here.is_keyword() || is_constant) && names_something {
        return Some(errors::keyword_as_name(place, word));
    }
    // `class = 3`: the keyword was parsed as the start of its statement.
    if let Some(previous) = scene.previous()
        && previous.is_keyword()
        && matches!(here, Token::Equal | Token::Augmented(_))
        && (scene.at == scene.line.start + 1 || scene.open_bracket() == Some(scene.at.saturating_sub(2)))
    {
        return Some(errors::keyword_as_name(scene.location(scene.at - 1), scene.text(scene.at - 1)));
    }
    let is_whole_line =
        matches!(scene.next(), Token::Equal | Token::Comma | Token::RightParen | Token::RightBracket);
    let begins =
        matches!(scene.previous(), Some(Token::LeftParen | Token::LeftBracket | Token::Comma | Token::For));
    (here.is_keyword() && is_whole_line && begins).then(|| errors::keyword_as_name(place, word))
}

/// A first word that another language would understand.
pub(super) fn other_language_statement(scene: &Scene) -> Option<Diagnostic> {
    let is_word = matches!(scene.first(), Token::Name(_));
    if is_word && scene.previous() == Some(Token::Colon) {
        let word = scene.text(scene.line.start);
        let help = match word {
            "switch" => "write `match value:` with `case`s below it",
            "do" => "write `while True:`, with `if not ..: break` at the end of its block",
            _ => "",
        };
        if !help.is_empty() {
            return Some(errors::other_language_statement(
                scene.location(scene.line.start),
                word,
                help.to_owned(),
            ));
        }
    }
    if !is_word || scene.at != scene.line.start + 1 {
        return None;
    }
    let follows = begins_operand(scene.here()) || matches!(scene.here(), Token::If);
    if !follows {
        return None;
    }
    let word = scene.text(scene.line.start);
    let help = match word {
        "elseif" | "elsif" => "write `elif`".to_owned(),
        "function" | "func" | "fn" | "fun" | "sub" => {
            format!("a function begins with `def`: `def {}(..):`", scene.text(scene.at))
        }
        "void" | "kernel" | "__global__" | "__kernel"
            if scene.after().iter().any(|(_, token, _)| *token == Token::LeftParen) =>
        {
            let open = (scene.at..).find(|at| scene.token(*at) == Token::LeftParen).unwrap_or(scene.at);
            format!("a function begins with `def`: `def {}(..):`", scene.text(open - 1))
        }
        "__shared__" | "shared" | "groupshared" => {
            "memory of a workgroup is made by a call: `tile = shared(f32, 64)`".to_owned()
        }
        word if matches!(word, "var" | "let" | "const" | "static") || is_type(word) => {
            let equal = (scene.at..scene.line.end).find(|at| scene.token(*at) == Token::Equal);
            let name = equal.map(|at| scene.text(at - 1)).filter(|_| scene.at + 2 == equal.unwrap_or(0));
            format!("variables are not declared: write `{} = ..`", name.unwrap_or(scene.text(scene.at)))
        }
        "switch" => "write `match value:` with `case`s below it".to_owned(),
        "case" => "a `case` belongs in the block of a `match`".to_owned(),
        "foreach" => "write `for item in items:`".to_owned(),
        "unless" => "write `if not ..:`".to_owned(),
        "until" => "write `while not ..:`".to_owned(),
        "throw" => "write `raise ValueError(..)`".to_owned(),
        "catch" => "write `except Exception as error:`".to_owned(),
        "new" => "an object is made by calling its class: `Name(..)`".to_owned(),
        "struct" | "interface" | "enum" => format!("write `class {}:`", scene.text(scene.at)),
        "include" | "require" | "using" | "use" => format!("write `import {}`", scene.text(scene.at)),
        _ => return None,
    };
    Some(errors::other_language_statement(scene.location(scene.line.start), word, help))
}

/// The `while` without a block that ends one begun by `do:`.
pub(super) fn ends_do(scene: &Scene) -> bool {
    if scene.first() != Token::While || scene.here() != Token::Newline {
        return false;
    }
    let mut depth = 0;
    for at in (0..scene.line.start).rev() {
        match scene.token(at) {
            Token::Dedent => depth += 1,
            Token::Indent if depth == 1 => {
                let header = line_of(scene.tokens, at.saturating_sub(1));
                return scene.text(header.start).trim_end().trim_end_matches(':') == "do";
            }
            Token::Indent => depth -= 1,
            _ if depth == 0 => return false,
            _ => {}
        }
    }
    false
}

/// `whlie x:`, `retrun y`.
pub(super) fn misspelt_keyword(scene: &Scene) -> Option<Diagnostic> {
    const STATEMENTS: [&str; 22] = [
        "if", "elif", "else", "while", "for", "def", "class", "return", "import", "from", "try", "except",
        "finally", "with", "raise", "assert", "global", "nonlocal", "del", "async", "match", "lambda",
    ];
    if !matches!(scene.first(), Token::Name(_)) {
        return None;
    }
    let at_second = scene.at == scene.line.start + 1 && begins_operand(scene.here());
    let header = scene.here() == Token::Newline && scene.previous() == Some(Token::Colon);
    if !at_second && !header {
        return None;
    }
    let word = scene.text(scene.line.start);
    let meant = STATEMENTS.iter().find(|keyword| word.len() > 2 && is_near(word, keyword))?;
    Some(errors::misspelt_keyword(scene.location(scene.line.start), word, meant))
}

/// Whether the words differ by one letter that is extra, missing, or wrong, or by two swapped letters.
fn is_near(word: &str, keyword: &str) -> bool {
    let (word, keyword) = (word.as_bytes(), keyword.as_bytes());
    let n_same = word.iter().zip(keyword).take_while(|(a, b)| a == b).count();
    match (&word[n_same..], &keyword[n_same..]) {
        ([a, b, word @ ..], [c, d, keyword @ ..]) if (a, b) == (d, c) && word == keyword => true,
        // So short a word is often another one: only a letter more at the end counts, as in `iff`.
        (rest, keyword) if word.len() <= 3 => rest.len() == 1 && keyword.is_empty(),
        ([_, word @ ..], [_, keyword @ ..]) if word == keyword => true,
        ([_, word @ ..], keyword) if word == keyword => true,
        (word, [_, keyword @ ..]) => word == keyword,
        _ => false,
    }
}

pub(super) fn bare_yield(scene: &Scene) -> Option<Diagnostic> {
    let is_inside = scene.here() == Token::Yield && scene.at > scene.line.start;
    is_inside.then(|| errors::bare_yield(scene.place()))
}

/// `x = import y`.
pub(super) fn statement_in_expression(scene: &Scene) -> Option<Diagnostic> {
    let is_statement = scene.here().opens_statement() || matches!(scene.here(), Token::Def | Token::Class);
    let follows_end = |token| ends_operand(token) || is_whole_statement(token);
    let is_inside = scene.at > scene.line.start && !scene.previous().is_some_and(follows_end);
    (is_statement && is_inside).then(|| errors::statement_in_expression(scene.place(), scene.text(scene.at)))
}

/// Type names of C's casts.
const TYPES: [&str; 12] =
    ["int", "float", "double", "bool", "i32", "u32", "i64", "u64", "f16", "f32", "f64", "uint"];

/// Two operands beside each other outside brackets.
pub(super) fn neighbours(scene: &Scene) -> Option<Diagnostic> {
    let previous = scene.previous()?;
    if is_whole_statement(previous) {
        return Some(errors::two_statements(scene.place(), scene.location(scene.at - 1)));
    }
    let beside = ends_operand(previous) && (begins_operand(scene.here()) || scene.here().is_keyword());
    if beside && scene.at >= scene.line.start + 3 {
        let [open, ty, close] = [3, 2, 1].map(|back| scene.text(scene.at - back));
        if (open, close) == ("(", ")") && TYPES.contains(&ty) {
            let operand = scene.text(scene.at);
            return Some(errors::c_cast(scene.location(scene.at - 2), ty, operand));
        }
    }
    beside.then(|| errors::neighbours(scene.place(), &scene.describe(), scene.location(scene.at - 1)))
}
