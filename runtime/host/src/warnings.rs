//! Lint warnings about kernels, for the embedder. The machine never prints them itself.

use std::cell::RefCell;

use kps_syntax::{Diagnostic, Diagnostics, Location};

/// The sink of warnings, and the reported ones: each is reported once, however often its kernel is defined.
#[derive(Default)]
pub struct Warnings {
    sink: Option<RefCell<Sink>>,
    reported: RefCell<Vec<(&'static str, Option<Location>)>>,
}

type Sink = Box<dyn FnMut(&Diagnostic)>;

impl Warnings {
    pub(crate) fn set_sink(&mut self, sink: Sink) {
        self.sink = Some(RefCell::new(sink));
    }

    pub(crate) fn report(&self, warnings: &Diagnostics) {
        let Some(sink) = &self.sink else { return };
        for warning in warnings.iter() {
            let key = (warning.code, warning.location().cloned());
            if !self.reported.borrow().contains(&key) {
                self.reported.borrow_mut().push(key);
                sink.borrow_mut()(warning);
            }
        }
    }
}
