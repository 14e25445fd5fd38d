//! The extent of a number literal, and its errors.

/// How far a number literal reaches.
pub(super) struct Scanned {
    pub len: usize,
    pub problem: Option<NumberProblem>,
}

/// Errors of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberProblem {
    /// `012`.
    LeadingZeros,
    /// `1_`, `1__0`.
    Underscore,
    /// `0x`.
    NoDigits(Radix),
    /// `0b12`, `0o9`.
    Digit(Radix, char),
    /// `12abc`: letters directly after the digits.
    Suffix,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Radix {
    Binary,
    Octal,
    Decimal,
    Hexadecimal,
}

impl Radix {
    pub fn name(self) -> &'static str {
        match self {
            Radix::Binary => "binary",
            Radix::Octal => "octal",
            Radix::Decimal => "decimal",
            Radix::Hexadecimal => "hexadecimal",
        }
    }

    pub fn with_article(self) -> &'static str {
        match self {
            Radix::Binary => "a binary",
            Radix::Octal => "an octal",
            Radix::Decimal => "a decimal",
            Radix::Hexadecimal => "a hexadecimal",
        }
    }

    pub fn base(self) -> u32 {
        match self {
            Radix::Binary => 2,
            Radix::Octal => 8,
            Radix::Decimal => 10,
            Radix::Hexadecimal => 16,
        }
    }
}

/// Scans the number at the start of `text`.
pub(super) fn scan(text: &str) -> Scanned {
    let bytes = text.as_bytes();
    let radix = match bytes {
        [b'0', b'x' | b'X', ..] => Radix::Hexadecimal,
        [b'0', b'o' | b'O', ..] => Radix::Octal,
        [b'0', b'b' | b'B', ..] => Radix::Binary,
        _ => return finish(text, decimal(bytes)),
    };
    let (len, underscore) = digits(&bytes[2..], radix);
    let len = len + 2;
    let problem = match bytes.get(len) {
        _ if underscore => Some(NumberProblem::Underscore),
        Some(digit) if digit.is_ascii_alphanumeric() && len > 2 && !may_follow(word_at(text, len)) => {
            Some(NumberProblem::Digit(radix, *digit as char))
        }
        _ if len == 2 => Some(NumberProblem::NoDigits(radix)),
        _ => None,
    };
    finish(text, Scanned { len, problem })
}

fn decimal(bytes: &[u8]) -> Scanned {
    let (mut len, mut underscore) = digits(bytes, Radix::Decimal);
    let mut is_int = true;
    if bytes.get(len) == Some(&b'.') {
        is_int = false;
        let (n_more, more_underscore) = match bytes.get(len + 1) {
            Some(b'_') => (0, false),
            _ => digits(&bytes[len + 1..], Radix::Decimal),
        };
        len += 1 + n_more;
        underscore |= more_underscore;
    }
    if let Some(n_exponent) = exponent(&bytes[len..]) {
        is_int = false;
        let (n_more, more_underscore) = digits(&bytes[len + n_exponent..], Radix::Decimal);
        len += n_exponent + n_more;
        underscore |= more_underscore;
    }
    if matches!(bytes.get(len), Some(b'j' | b'J')) {
        is_int = false;
        len += 1;
    }
    let leading_zero =
        is_int && bytes[0] == b'0' && bytes[..len].iter().any(|byte| matches!(byte, b'1'..=b'9'));
    let problem = match (underscore, leading_zero) {
        (true, _) => Some(NumberProblem::Underscore),
        (_, true) => Some(NumberProblem::LeadingZeros),
        _ => None,
    };
    Scanned { len, problem }
}

/// The length of `e+` before a digit.
fn exponent(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [b'e' | b'E', b'0'..=b'9', ..] => Some(1),
        [b'e' | b'E', b'+' | b'-', b'0'..=b'9', ..] => Some(2),
        _ => None,
    }
}

/// The length of a run of digits and underscores, and whether an underscore is out of place.
fn digits(bytes: &[u8], radix: Radix) -> (usize, bool) {
    let is_digit = |byte: u8| (byte as char).is_digit(radix.base());
    let len = bytes.iter().take_while(|byte| is_digit(**byte) || **byte == b'_').count();
    let run = &bytes[..len];
    let misplaced = run.last() == Some(&b'_') || run.windows(2).any(|pair| pair == b"__");
    (len, misplaced)
}

/// Includes letters directly after the number, unless they are a keyword that may follow.
fn finish(text: &str, scanned: Scanned) -> Scanned {
    let word = word_at(text, scanned.len);
    if word.is_empty() || may_follow(word) {
        return scanned;
    }
    let problem = scanned.problem.or(Some(NumberProblem::Suffix));
    Scanned { len: scanned.len + word.len(), problem }
}

/// The letters and digits at `at`.
fn word_at(text: &str, at: usize) -> &str {
    let rest = &text[at..];
    let len = rest.find(|c| c != '_' && !unicode_ident::is_xid_continue(c)).unwrap_or(rest.len());
    &rest[..len]
}

/// Whether a number may run into this word without a blank.
fn may_follow(word: &str) -> bool {
    ["and", "else", "for", "if", "in", "is", "not", "or"].contains(&word)
}
