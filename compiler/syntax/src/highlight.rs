//! Classifies each piece of a text, for colours at a prompt.

use crate::lexer;
use crate::source::{Source, Span};
use crate::token::Token;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenClass {
    Keyword,
    /// `None`, `True`, `False`, `...`.
    Constant,
    Number,
    /// A whole string or bytes literal.
    String,
    /// Quotes, text and format specs of an f-string; the values in between have their own classes.
    FString,
    Comment,
    /// Operators, brackets and other signs, the braces of an f-string's fields among them.
    Operator,
    Name,
    /// Text that is not a token.
    Error,
}

/// Every token of a text with its class, in order; blanks are between them. Soft keywords are keywords where
/// they are used as such.
pub fn tokens(source: &Source) -> Vec<(Span, TokenClass)> {
    let lexed = lexer::lex(source);
    let mut classed: Vec<(Span, TokenClass)> = Vec::with_capacity(lexed.tokens.len());
    for (start, token, end) in lexed.tokens {
        let span = Span::new(start, end);
        if span.is_empty() || token == Token::Newline {
            continue;
        }
        classed.push((span, class(token, source.slice(span))));
    }
    classed.extend(lexed.comments.into_iter().map(|span| (span, TokenClass::Comment)));
    classed.sort_by_key(|(span, _)| *span);
    classed.dedup_by(|later, earlier| later.0.start < earlier.0.end);
    classed
}

fn class(token: Token, text: &str) -> TokenClass {
    match token {
        Token::Name(_) => TokenClass::Name,
        Token::Ellipsis => TokenClass::Constant,
        Token::Literal(_) if matches!(text, "None" | "True" | "False") => TokenClass::Constant,
        Token::Literal(_) => TokenClass::Number,
        Token::Str(_) => TokenClass::String,
        Token::FStart | Token::FText(_) | Token::FEnd => TokenClass::FString,
        // A string that has not ended yet looks like one all the same.
        Token::Invalid
            if text.trim_start_matches(|c: char| c.is_ascii_alphabetic()).starts_with(['\'', '"']) =>
        {
            TokenClass::String
        }
        Token::Invalid | Token::ErrorExpr => TokenClass::Error,
        token if token.is_keyword() => TokenClass::Keyword,
        _ => TokenClass::Operator,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `expect` has the first letter of each token's class, then the token.
    fn check(text: &str, expect: &str) {
        let source = Source::new("", text);
        let classed: Vec<String> = tokens(&source)
            .into_iter()
            .map(|(span, class)| format!("{}:{}", &format!("{class:?}")[..1], source.slice(span)))
            .collect();
        assert_eq!(classed.join(" "), expect);
    }

    #[test]
    fn plain_tokens() {
        check("if x is not None: y = 0x1f # end", "K:if N:x K:is not C:None O:: N:y O:= N:0x1f C:# end");
    }

    #[test]
    fn fstring_parts() {
        check("f'a{b!r:>{w}}c'", "F:f' F:a O:{ N:b O:!r O:: F:> O:{ N:w O:} O:} F:c F:'");
    }

    #[test]
    fn soft_keywords() {
        check("match = 1", "N:match O:= N:1");
        check("match x:\n case _: pass", "K:match N:x O:: K:case N:_ O:: K:pass");
    }

    #[test]
    fn mistakes() {
        check("x = 'abc", "N:x O:= S:'abc");
        check("a ? b", "N:a E:? N:b");
        check("f(1", "N:f O:( N:1");
    }
}
