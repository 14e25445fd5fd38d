//! Iterators and generators.
//!
//! `Vm::iter` creates one and `Vm::next` advances it. An iterator written in Rust implements [`NativeIter`].

use std::cell::RefCell;
use std::rc::Rc;

use super::{Dict, Function, List, Name, Result, Set, Str, Tuple, Value, teardown};
use crate::vm::Vm;

/// An iterator written in Rust: `zip`, `map`, the rows of an array.
pub trait NativeIter: 'static {
    /// The next item; `None` at the end and after it.
    fn next(&mut self, vm: &mut Vm) -> Result<Option<Value>>;

    fn type_name(&self) -> &'static str {
        "iterator"
    }
}

pub struct Iter(pub RefCell<IterState>);

pub enum IterState {
    Done,
    List {
        list: Rc<List>,
        at: usize,
    },
    Tuple {
        tuple: Rc<Tuple>,
        at: usize,
    },
    /// `at` counts bytes.
    Str {
        text: Rc<Str>,
        at: usize,
    },
    Bytes {
        bytes: Rc<super::Bytes>,
        at: usize,
    },
    Range {
        next: i64,
        remaining: u64,
        step: i64,
    },
    DictKeys {
        dict: Rc<Dict>,
        at: usize,
        len: usize,
    },
    DictValues {
        dict: Rc<Dict>,
        at: usize,
        len: usize,
    },
    DictItems {
        dict: Rc<Dict>,
        at: usize,
        len: usize,
    },
    Set {
        set: Rc<Set>,
        at: usize,
        len: usize,
    },
    /// The old protocol: `__getitem__` with 0, 1, 2.. until IndexError.
    Sequence {
        object: Value,
        at: i64,
    },
    Native(Box<dyn NativeIter>),
    /// A native iterator that is stepping at this moment.
    Stepping,
}

impl Iter {
    pub fn new(state: IterState) -> Iter {
        Iter(RefCell::new(state))
    }

    pub fn type_name(&self) -> &'static str {
        match &*self.0.borrow() {
            IterState::Done | IterState::Sequence { .. } | IterState::Stepping => "iterator",
            IterState::List { .. } => "list_iterator",
            IterState::Tuple { .. } => "tuple_iterator",
            IterState::Str { .. } => "str_iterator",
            IterState::Bytes { .. } => "bytes_iterator",
            IterState::Range { .. } => "range_iterator",
            IterState::DictKeys { .. } => "dict_keyiterator",
            IterState::DictValues { .. } => "dict_valueiterator",
            IterState::DictItems { .. } => "dict_itemiterator",
            IterState::Set { .. } => "set_iterator",
            IterState::Native(iter) => iter.type_name(),
        }
    }
}

impl Drop for Iter {
    fn drop(&mut self) {
        let state = std::mem::replace(self.0.get_mut(), IterState::Done);
        if !matches!(state, IterState::Done) {
            teardown(state);
        }
    }
}

/// A generator: a frame's registers, moved off the stack between steps.
pub struct Generator {
    pub name: Name,
    pub state: RefCell<GeneratorState>,
}

pub enum GeneratorState {
    Suspended {
        function: Rc<Function>,
        registers: Vec<Value>,
        /// The instruction to resume at; 0 before the first step.
        pc: u32,
        /// The register that receives the sent value.
        sent: u16,
    },
    Running,
    Done,
}

impl Drop for Generator {
    fn drop(&mut self) {
        let state = std::mem::replace(self.state.get_mut(), GeneratorState::Done);
        let GeneratorState::Suspended { function, pc, .. } = &state else { return };
        let code = function.code.clone();
        let is_left = match code.cleans_up_before(*pc) {
            true => code.program.abandoned.put(self.name.clone(), state),
            false => Some(state),
        };
        if let Some(state) = is_left {
            teardown(state);
        }
    }
}
