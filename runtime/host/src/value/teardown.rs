//! Drops deep structures without a deep stack.
//!
//! A list in a list in a list drops by recursion. Every object with nested values passes its contents to
//! [`teardown`]. It drops them in place while the nesting is small, and defers them to the outermost teardown
//! otherwise.

use std::any::Any;
use std::cell::{Cell, RefCell};

/// Nesting that is dropped by plain recursion.
const MAX_NESTING: u32 = 64;

thread_local! {
    static NESTING: Cell<u32> = const { Cell::new(0) };
    static PUT_OFF: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

pub(crate) fn teardown<T: Any>(contents: T) {
    let nesting = NESTING.get();
    if nesting >= MAX_NESTING {
        PUT_OFF.with_borrow_mut(|put_off| put_off.push(Box::new(contents)));
        return;
    }
    NESTING.set(nesting + 1);
    drop(contents);
    while nesting == 0
        && let Some(contents) = PUT_OFF.with_borrow_mut(Vec::pop)
    {
        drop(contents);
    }
    NESTING.set(nesting);
}
