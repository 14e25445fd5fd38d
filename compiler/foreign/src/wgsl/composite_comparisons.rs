//! Rewords naga's errors about comparisons of whole arrays and structs, in terms that GLSL and WGSL share.

/// The replacement for naga's message about operands that do not match, and a suggestion; `None` for other
/// messages.
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
