//! Catches panics inside naga: a shader is input, and no input may end the process.
//!
//! A panic becomes one diagnostic. Nothing is printed: the process's panic hook is silent on this thread
//! while naga runs, and unchanged on all others.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use kps_syntax::{Diagnostics, Source};

use crate::errors;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// The result of `work`. A panic in it becomes a diagnostic about the shader.
pub(crate) fn caught<T>(
    source: &Source,
    work: impl FnOnce() -> Result<T, Diagnostics>,
) -> Result<T, Diagnostics> {
    install_hook();
    let was_quiet = QUIET.replace(true);
    // What `work` borrows is only read, and what it created is dropped with the panic.
    let result = catch_unwind(AssertUnwindSafe(work));
    QUIET.set(was_quiet);
    result.unwrap_or_else(|_| Err(errors::translator_stopped(source).into()))
}

fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let others = take_hook();
        set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                others(panic);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_mistake() {
        let source = Source::new("odd.wgsl", "");
        let result: Result<(), _> = caught(&source, || panic!("index out of bounds"));
        let message = result.expect_err("it panicked").iter().map(|one| one.one_line()).collect::<String>();
        assert!(message.contains("`odd.wgsl`"), "{message}");
        assert!(!QUIET.get());
        assert_eq!(caught(&source, || Ok(1)).ok(), Some(1));
    }
}
