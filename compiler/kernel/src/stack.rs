//! Stack space for passes that recurse into calls: kernels may nest calls deeply.

/// The stack space that the deepest function needs.
const RED_ZONE: usize = 1 << 20;
const SEGMENT: usize = 4 << 20;

/// This many levels fit the stack of any thread. Asking the system for the remaining space is slow, and few kernels
/// need it.
const SHALLOW: u32 = 32;

/// Runs `walk` at this nesting depth of blocks and calls, on a larger stack if needed.
pub(crate) fn with_room<R>(levels: u32, walk: impl FnOnce() -> R) -> R {
    if levels < SHALLOW { walk() } else { stacker::maybe_grow(RED_ZONE, SEGMENT, walk) }
}
