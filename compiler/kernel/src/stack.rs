//! Room on the stack for passes that follow calls: a kernel's functions may call one another many deep.

/// What the deepest function takes.
const RED_ZONE: usize = 1 << 20;
const SEGMENT: usize = 4 << 20;

/// So many levels fit in the stack of any thread. Asking how much is left of it takes the system a
/// while, and few kernels need to know.
const SHALLOW: u32 = 32;

/// Walks a function that is called so many levels of blocks and calls down.
pub(crate) fn with_room<R>(levels: u32, walk: impl FnOnce() -> R) -> R {
    if levels < SHALLOW { walk() } else { stacker::maybe_grow(RED_ZONE, SEGMENT, walk) }
}
