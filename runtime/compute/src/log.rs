//! Events for whoever wants to hear them. Nothing is printed here, ever.

use std::rc::Rc;

/// How much an event matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    Trace,
    Debug,
    Info,
    Warning,
    Error,
}

type Sink = dyn Fn(Level, &str);

/// Where events go; nowhere by default.
#[derive(Clone, Default)]
pub struct Log {
    sink: Option<Rc<Sink>>,
}

impl Log {
    pub fn to(sink: impl Fn(Level, &str) + 'static) -> Log {
        Log { sink: Some(Rc::new(sink)) }
    }

    /// Tells the sink, building the message only where there is one.
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
