//! Arrays and structs that a text compares as a whole, as naga cannot, in words that both languages share.

/// The message that stands for naga's of operands that do not go together, and what to write instead; `None` where
/// that is of something else.
pub(crate) fn compared(message: &str) -> Option<(&'static str, &'static str)> {
    match message {
        _ if message.contains("Equal(Array") => Some((
            "arrays are compared element by element here",
            "write `a[0] == b[0] && a[1] == b[1]`, or a loop over the elements",
        )),
        _ if message.contains("Equal(Struct") => Some((
            "structs are compared member by member here",
            "write `a.x == b.x && a.y == b.y` with the names of the members",
        )),
        _ => None,
    }
}
