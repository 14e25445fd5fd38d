//! What a walk over a function assumes about types that later statements determine: those of variables at the
//! heads of loops, and those of numbers that are made of literals.
//!
//! A walk takes these types as given, and records where they should be others. Then the function is walked again
//! with the better ones, from its beginning. The last walk is the one without corrections. A correction only ever
//! widens a type or gives up, so this ends; usually after one walk or two. How deep loops nest does not matter.

mod inference;

use std::rc::Rc;

use kps_syntax::Span;
use rustc_hash::FxHashMap;

use crate::infer::places::selected_arrays::ArraySetId;
use crate::infer::places::vars::{Conflict, Var};
use crate::types::{Scalar, Type};

/// A variable at the head of the loop that starts here in the source.
pub(crate) type Head = (u32, Var);

/// What is known of a variable at the head of a loop besides its value before the loop.
#[derive(Clone)]
pub(crate) enum Hint {
    /// The type that it needs.
    Type(Type),
    /// The guess was right. It is no longer a guess.
    Confirmed,
    /// It needs its own list, of this type.
    List(Type),
    /// It is one of these arrays.
    Arrays(ArraySetId),
    Conflict(Rc<Conflict>),
    /// A round assigns it a value of which nothing is known.
    Unknown,
}

/// A number that is made of literals and has one type in the whole function.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum WeakKey {
    /// All that a variable may be where paths join.
    Var(Var),
    /// The conditional expression, list or call at this place. Of several numbers there, one by its position.
    At(Span, u32),
}

impl WeakKey {
    /// The key. Afterwards it is that of the next number at the same place.
    pub fn advance(&mut self) -> WeakKey {
        let key = *self;
        if let WeakKey::At(_, at) = self {
            *at += 1;
        }
        key
    }
}

#[derive(Clone, Default)]
pub(crate) struct Assumptions {
    heads: FxHashMap<Head, Hint>,
    /// Types of numbers that need another type than their default.
    weak: FxHashMap<WeakKey, Scalar>,
    /// A type guess was wrong, or suppressed an error.
    pub used_guess: bool,
    corrections: Corrections,
    n_walks: usize,
    /// Variables at heads of loops, in the last walk.
    n_heads: usize,
}

/// What the current walk found.
#[derive(Clone, Default)]
struct Corrections {
    is_wrong: bool,
    /// Considered if all types are right, since a wrong type may be their cause.
    conflicts: Vec<(Head, Rc<Conflict>)>,
    /// Considered if there is nothing else.
    unknown: Vec<Head>,
    /// Variables whose type is a guess, and the loop.
    guesses: Vec<Head>,
    n_heads: usize,
    /// The last loop with a wrong type.
    span: Span,
}

impl Assumptions {
    pub fn head(&self, head: Head) -> Option<&Hint> {
        self.heads.get(&head)
    }

    /// Whether no walk has found a type for a variable.
    pub fn is_open(&self, head: Head) -> bool {
        matches!(self.head(head), None | Some(Hint::Confirmed))
    }

    pub fn weak(&self, key: WeakKey) -> Option<Scalar> {
        self.weak.get(&key).copied()
    }

    /// A variable with a guessed type enters a loop.
    pub fn note_guess(&mut self, head: Head) {
        self.corrections.guesses.push(head);
    }

    pub fn note_heads(&mut self, n_heads: usize) {
        self.corrections.n_heads += n_heads;
    }

    /// Whether so many walks were wrong that types no longer widen.
    pub fn gives_up(&self) -> bool {
        self.n_walks > 3 * self.n_heads + 4
    }

    pub fn correct(&mut self, head: Head, hint: Hint, span: Span) {
        match hint {
            Hint::Conflict(conflict) => self.corrections.conflicts.push((head, conflict)),
            Hint::Unknown => self.corrections.unknown.push(head),
            hint => {
                self.heads.insert(head, hint);
                self.corrections.is_wrong = true;
                self.corrections.span = span;
            }
        }
    }

    /// A list that the loop carries after all cannot be carried with this type.
    pub fn forget(&mut self, head: Head, span: Span) {
        self.heads.remove(&head);
        self.corrections.is_wrong = true;
        self.corrections.span = span;
    }

    /// The number should have this type. Of several types, it gets the widest.
    pub fn demand(&mut self, key: WeakKey, scalar: Scalar) {
        let known = self.weak.entry(key).or_insert(Scalar::F32);
        if known.bits() < scalar.bits() {
            *known = scalar;
            self.corrections.is_wrong = true;
        }
    }

    /// Applies the corrections of a walk. Returns what to do next.
    fn revise(&mut self) -> Revision {
        let found = std::mem::take(&mut self.corrections);
        let used_guess = std::mem::take(&mut self.used_guess);
        self.n_walks += 1;
        self.n_heads = self.n_heads.max(found.n_heads);
        if found.is_wrong {
            return Revision::Again;
        }
        let n_hints = self.heads.len();
        let mut is_new = false;
        for (head, conflict) in found.conflicts {
            is_new |= !matches!(self.heads.insert(head, Hint::Conflict(conflict)), Some(Hint::Conflict(_)));
        }
        if is_new {
            return Revision::Again;
        }
        if used_guess && !found.guesses.is_empty() {
            self.heads.extend(found.guesses.into_iter().map(|head| (head, Hint::Confirmed)));
            return Revision::Again;
        }
        self.heads.extend(found.unknown.into_iter().map(|head| (head, Hint::Unknown)));
        if self.heads.len() > n_hints { Revision::AgainWithMistakes } else { Revision::Done }
    }
}

enum Revision {
    Done,
    Again,
    /// All types were right, so the mistakes of the walk are final. The next walk reports nothing about unknown
    /// values.
    AgainWithMistakes,
}
