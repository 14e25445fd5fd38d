//! The kind of a character for Python's `str` methods, its title case and case folding.
//!
//! General categories are those of Unicode 14.0, CPython 3.11's version. Upper and lower case are from Rust's
//! tables, which agree.

use unicode_general_category::{GeneralCategory, get_general_category};

/// Digits that are not decimal ones (superscripts, circled digits): the code points where membership changes,
/// in ascending order. A character is one if an odd number of them are at or below it.
static OTHER_DIGITS: [u32; 40] = [
    0xb2, 0xb4, 0xb9, 0xba, 0x1369, 0x1372, 0x19da, 0x19db, 0x2070, 0x2071, 0x2074, 0x207a, 0x2080, 0x208a,
    0x2460, 0x2469, 0x2474, 0x247d, 0x2488, 0x2491, 0x24ea, 0x24eb, 0x24f5, 0x24fe, 0x24ff, 0x2500, 0x2776,
    0x277f, 0x2780, 0x2789, 0x278a, 0x2793, 0x10a40, 0x10a44, 0x10e60, 0x10e69, 0x11052, 0x1105b, 0x1f100,
    0x1f10b,
];

/// Letters that are numerals: ideographs with a value.
static IDEOGRAPHS: [char; 81] = [
    '㐅',
    '㒃',
    '㠪',
    '㭍',
    '一',
    '七',
    '万',
    '三',
    '九',
    '二',
    '五',
    '亖',
    '亿',
    '什',
    '仟',
    '仨',
    '伍',
    '佰',
    '億',
    '兆',
    '兩',
    '八',
    '六',
    '十',
    '千',
    '卄',
    '卅',
    '卌',
    '叁',
    '参',
    '參',
    '叄',
    '四',
    '壱',
    '壹',
    '幺',
    '廾',
    '廿',
    '弌',
    '弍',
    '弎',
    '弐',
    '拾',
    '捌',
    '柒',
    '漆',
    '玖',
    '百',
    '肆',
    '萬',
    '貮',
    '貳',
    '贰',
    '阡',
    '陆',
    '陌',
    '陸',
    '零',
    '\u{f96b}',
    '\u{f973}',
    '\u{f978}',
    '\u{f9b2}',
    '\u{f9d1}',
    '\u{f9d3}',
    '\u{f9fd}',
    '\u{20001}',
    '\u{20064}',
    '\u{200e2}',
    '\u{20121}',
    '\u{2092a}',
    '\u{20983}',
    '\u{2098c}',
    '\u{2099c}',
    '\u{20aea}',
    '\u{20afd}',
    '\u{20b19}',
    '\u{22390}',
    '\u{22998}',
    '\u{23b1b}',
    '\u{2626d}',
    '\u{2f890}',
];

/// The space characters of `str.isspace`, `split` and `strip`.
#[inline]
pub fn is_space(c: char) -> bool {
    if c.is_ascii() { matches!(c, '\t'..='\r' | '\x1c'..=' ') } else { c.is_whitespace() }
}

/// Whether repr shows the character as it is.
#[inline]
pub fn is_printable(c: char) -> bool {
    if c.is_ascii() { matches!(c, ' '..='~') } else { is_other_printable(c) }
}

fn is_other_printable(c: char) -> bool {
    use GeneralCategory::*;
    !matches!(
        get_general_category(c),
        Control
            | Format
            | Surrogate
            | PrivateUse
            | Unassigned
            | LineSeparator
            | ParagraphSeparator
            | SpaceSeparator
    )
}

#[inline]
pub fn is_alpha(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphabetic() } else { is_other_letter(c) }
}

fn is_other_letter(c: char) -> bool {
    use GeneralCategory::*;
    matches!(
        get_general_category(c),
        UppercaseLetter | LowercaseLetter | TitlecaseLetter | ModifierLetter | OtherLetter
    )
}

/// The value of a decimal digit of any script.
pub fn decimal_value(c: char) -> Option<u8> {
    if c.is_ascii() || !is_decimal(c) {
        return c.to_digit(10).map(|digit| digit as u8);
    }
    // The digits of a script are consecutive, 0 first. Mathematical ones are five such runs in a row.
    let before = (0..c as u32).rev().map_while(char::from_u32).take_while(|&c| is_decimal(c));
    Some((before.count() % 10) as u8)
}

pub fn is_decimal(c: char) -> bool {
    get_general_category(c) == GeneralCategory::DecimalNumber
}

pub fn is_digit(c: char) -> bool {
    is_decimal(c) || OTHER_DIGITS.partition_point(|&point| point <= c as u32) % 2 == 1
}

pub fn is_numeric(c: char) -> bool {
    use GeneralCategory::*;
    matches!(get_general_category(c), DecimalNumber | LetterNumber | OtherNumber)
        || IDEOGRAPHS.binary_search(&c).is_ok()
}

pub fn is_alnum(c: char) -> bool {
    is_alpha(c) || is_numeric(c)
}

/// Title case letters: single characters for two letters, the first of them a capital.
pub fn is_title(c: char) -> bool {
    get_general_category(c) == GeneralCategory::TitlecaseLetter
}

/// Whether upper and lower case mean something for the character.
pub fn is_cased(c: char) -> bool {
    c.is_lowercase() || c.is_uppercase() || is_title(c)
}

/// Appends the character as the first of a word in title case.
pub fn push_title(out: &mut String, c: char) {
    const IOTA_BELOW: char = '\u{345}';
    let code = c as u32;
    match code {
        // Georgian has capitals, but does not use them in titles.
        0x10d0..=0x10ff => out.push(c),
        0x1c4..=0x1cc => out.push(['ǅ', 'ǈ', 'ǋ'][(code as usize - 0x1c4) / 3]),
        0x1f1..=0x1f3 => out.push('ǲ'),
        0x1f80..=0x1faf => out.extend(char::from_u32(code | 8)),
        0x1fb3 | 0x1fbc | 0x1fc3 | 0x1fcc | 0x1ff3 | 0x1ffc => out.extend(char::from_u32(code & !0xf | 0xc)),
        0x1fb7 | 0x1fc7 | 0x1ff7 => {
            out.extend(c.to_uppercase().take(1));
            out.extend(['\u{342}', IOTA_BELOW]);
        }
        0x1fb2 | 0x1fb4 | 0x1fc2 | 0x1fc4 | 0x1ff2 | 0x1ff4 => {
            out.extend(c.to_uppercase().take(1));
            out.push(IOTA_BELOW);
        }
        0x149 => out.extend(c.to_uppercase()),
        _ => {
            let mut upper = c.to_uppercase();
            out.extend(upper.next());
            out.extend(upper.flat_map(char::to_lowercase));
        }
    }
}

/// Appends the case-folded character.
pub fn push_folded(out: &mut String, c: char) {
    match c {
        'ẞ' => out.push_str("ss"),
        'ı' => out.push(c),
        // Cherokee folds to its older capitals.
        '\u{13a0}'..='\u{13f5}' => out.push(c),
        '\u{13f8}'..='\u{13fd}' | '\u{ab70}'..='\u{abbf}' => out.extend(c.to_uppercase()),
        _ => out.extend(c.to_uppercase().flat_map(char::to_lowercase)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of each kind as many characters as in CPython 3.11, with the same sum.
    #[test]
    fn kinds_are_cpythons() {
        fn check(is_kind: fn(char) -> bool, expect: (usize, u64)) {
            let found: Vec<u64> = ('\0'..=char::MAX).filter(|&c| is_kind(c)).map(u64::from).collect();
            assert_eq!((found.len(), found.iter().sum()), expect);
        }
        check(is_space, (29, 141704));
        check(is_printable, (144516, 14867683184));
        check(is_alpha, (131756, 13903637152));
        check(is_decimal, (660, 30806570));
        check(is_digit, (788, 34551904));
        check(is_numeric, (1872, 103269490));
        check(is_alnum, (133547, 14002814217));
        check(is_title, (31, 220514));
    }

    #[test]
    fn decimal_digits_have_values() {
        let values = ('\0'..=char::MAX).filter_map(|c| Some(u64::from(decimal_value(c)?) * u64::from(c)));
        assert_eq!(values.sum::<u64>(), 138635010);
    }
}
