//! Integers that none of GLSL's types holds, which naga cuts to 32 bits, and those whose digits are none, of which it
//! does not tell the place.

use std::ops::Range;

use super::tokens::{Token, tokens};

/// What is wrong with a number, and where it is.
pub(super) enum Odd {
    TooLarge(Range<usize>),
    Digits(Range<usize>),
}

pub(super) fn odd(text: &str) -> Option<Odd> {
    let tokens = tokens(text);
    let touches_point = |at: usize| {
        let before = at.checked_sub(1).map(|before| &tokens[before]);
        let is_point = |other: Option<&Token>| other.is_some_and(|other| other.text == ".");
        is_point(before.filter(|before| before.range.end == tokens[at].range.start))
            || is_point(tokens.get(at + 1).filter(|behind| behind.range.start == tokens[at].range.end))
    };
    let numbers = tokens.iter().enumerate().filter(|(at, token)| {
        token.text.starts_with(|letter: char| letter.is_ascii_digit()) && !touches_point(*at)
    });
    numbers.into_iter().find_map(|(_, token)| odd_integer(token))
}

fn odd_integer(token: &Token) -> Option<Odd> {
    let number = token.text.to_ascii_lowercase();
    let (digits, radix) = match number.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None if number.contains(['e', 'f', 'l', 'h']) => return None,
        None if number.starts_with('0') => (&number[..], 8),
        None => (&number[..], 10),
    };
    let digits = digits.strip_suffix('u').unwrap_or(digits);
    match u64::from_str_radix(digits, radix) {
        Ok(number) if u32::try_from(number).is_ok() => None,
        Ok(_) => Some(Odd::TooLarge(token.range.clone())),
        Err(_) if digits.len() > 9 && digits.chars().all(|digit| digit.is_digit(radix)) => {
            Some(Odd::TooLarge(token.range.clone()))
        }
        Err(_) => Some(Odd::Digits(token.range.clone())),
    }
}
