//! `__LINE__`, which naga's preprocessor does not know: the number of the line stands in its place, and blanks where
//! it is shorter, so that all else keeps its own.

use std::borrow::Cow;

const LINE: &str = "__LINE__";

pub(super) fn counted(text: &str) -> Cow<'_, str> {
    if !text.contains(LINE) {
        return text.into();
    }
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut counted = String::with_capacity(text.len());
    for (at, line) in text.split_inclusive('\n').enumerate() {
        let mut rest = line;
        while let Some(found) = rest.find(LINE) {
            let (before, behind) = (&rest[..found], &rest[found + LINE.len()..]);
            counted.push_str(before);
            match before.ends_with(is_letter) || behind.starts_with(is_letter) {
                true => counted.push_str(LINE),
                false => counted.push_str(&format!("{:<width$}", at + 1, width = LINE.len())),
            }
            rest = behind;
        }
        counted.push_str(rest);
    }
    counted.into()
}
