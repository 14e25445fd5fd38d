//! Loggers by their names, and the way of a record from a logger to the handlers above it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use super::handler::{Handler, Record};

pub const NOTSET: i64 = 0;
pub const DEBUG: i64 = 10;
pub const INFO: i64 = 20;
pub const WARNING: i64 = 30;
pub const ERROR: i64 = 40;
pub const CRITICAL: i64 = 50;

/// Levels with the names that records show.
pub const LEVELS: [(&str, i64); 6] = [
    ("NOTSET", NOTSET),
    ("DEBUG", DEBUG),
    ("INFO", INFO),
    ("WARNING", WARNING),
    ("ERROR", ERROR),
    ("CRITICAL", CRITICAL),
];

pub fn level_name(level: i64) -> String {
    let known = LEVELS.iter().find(|(_, known)| *known == level);
    known.map_or_else(|| format!("Level {level}"), |(name, _)| (*name).to_owned())
}

/// All loggers of one machine.
pub struct Registry {
    pub root: Rc<Logger>,
    loggers: RefCell<BTreeMap<String, Rc<Logger>>>,
    /// Records at this level and below are dropped: `logging.disable(level)`.
    pub disabled: Cell<i64>,
}

pub struct Logger {
    /// Dotted; `root` for the one above all.
    pub name: String,
    pub level: Cell<i64>,
    pub handlers: RefCell<Vec<Rc<Handler>>>,
    /// Whether records go on to the handlers of the loggers above.
    pub propagate: Cell<bool>,
    /// Used where nobody up to the root has a handler.
    pub fallback: RefCell<Option<Rc<Handler>>>,
}

impl Default for Registry {
    fn default() -> Registry {
        let root = Rc::new(Logger::new("root"));
        root.level.set(WARNING);
        Registry { root, loggers: RefCell::default(), disabled: Cell::new(NOTSET) }
    }
}

impl Logger {
    fn new(name: &str) -> Logger {
        Logger {
            name: name.to_owned(),
            level: Cell::new(NOTSET),
            handlers: RefCell::default(),
            propagate: Cell::new(true),
            fallback: RefCell::default(),
        }
    }
}

impl Registry {
    /// The logger of this name, made where there is none.
    pub fn logger(&self, name: &str) -> Rc<Logger> {
        if name.is_empty() || name == "root" {
            return self.root.clone();
        }
        let mut loggers = self.loggers.borrow_mut();
        loggers.entry(name.to_owned()).or_insert_with(|| Rc::new(Logger::new(name))).clone()
    }

    /// The nearest logger above: the parent of `a.b` is `a` where somebody asked for that, else the root.
    pub fn parent(&self, logger: &Logger) -> Option<Rc<Logger>> {
        if std::ptr::eq(logger, &*self.root) {
            return None;
        }
        let loggers = self.loggers.borrow();
        let mut name = logger.name.as_str();
        while let Some((above, _)) = name.rsplit_once('.') {
            if let Some(parent) = loggers.get(above) {
                return Some(parent.clone());
            }
            name = above;
        }
        Some(self.root.clone())
    }

    fn line(&self, logger: &Rc<Logger>) -> impl Iterator<Item = Rc<Logger>> {
        std::iter::successors(Some(logger.clone()), |logger| self.parent(logger))
    }

    /// The level of the nearest logger that has one.
    pub fn effective_level(&self, logger: &Rc<Logger>) -> i64 {
        let mut levels = self.line(logger).map(|logger| logger.level.get());
        levels.find(|level| *level != NOTSET).unwrap_or(NOTSET)
    }

    pub fn is_enabled(&self, logger: &Rc<Logger>, level: i64) -> bool {
        level > self.disabled.get() && level >= self.effective_level(logger)
    }

    /// The handlers that a record of this logger goes to.
    pub fn handlers(&self, logger: &Rc<Logger>) -> Vec<Rc<Handler>> {
        let mut handlers = Vec::new();
        for logger in self.line(logger) {
            handlers.extend(logger.handlers.borrow().iter().cloned());
            if !logger.propagate.get() {
                break;
            }
        }
        if handlers.is_empty() {
            let fallback = self.line(logger).find_map(|logger| logger.fallback.borrow().clone());
            handlers.push(fallback.unwrap_or_else(|| Rc::new(Handler::last_resort())));
        }
        handlers
    }

    /// Gives a message that comes from Rust to the handlers.
    pub fn tell(&self, logger: &str, level: i64, message: &str) {
        let logger = self.logger(logger);
        if !self.is_enabled(&logger, level) {
            return;
        }
        let record = Record { logger: logger.name.clone(), level, message: message.to_owned() };
        for handler in self.handlers(&logger) {
            handler.take(&record);
        }
    }
}
