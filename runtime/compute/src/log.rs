//! Events for a logger. This crate never prints.

use std::rc::Rc;

/// The severity of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    Trace,
    Debug,
    Info,
    Warning,
    Error,
}

type Sink = dyn Fn(Level, &str);

/// The sink of events; none by default.
#[derive(Clone, Default)]
pub struct Log {
    sink: Option<Rc<Sink>>,
}

impl Log {
    pub fn to(sink: impl Fn(Level, &str) + 'static) -> Log {
        Log { sink: Some(Rc::new(sink)) }
    }

    /// Passes an event to the sink. The message is built only if there is one.
    pub(crate) fn event(&self, level: Level, message: impl FnOnce() -> String) {
        if let Some(sink) = &self.sink {
            sink(level, &message());
        }
    }
}

impl std::fmt::Debug for Log {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.sink.is_some() { "Log(sink)" } else { "Log(none)" })
    }
}
