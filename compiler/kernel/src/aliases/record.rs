//! The record of a function: what it does with lists, in the order in which inference walks it.

use std::ops::Range;
use std::rc::Rc;

use kps_syntax::Span;
use kps_syntax::ast::Name;

use crate::ir::{LocalId, Place, Root};

/// A variable of the function, by its number.
pub(crate) type Var = u32;

/// A point of the record.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Point(u32);

impl Point {
    pub fn of(idx: usize) -> Point {
        Point(idx as u32)
    }

    pub fn idx(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone)]
pub(crate) enum Event {
    /// A path begins here, which a [`Event::Rewind`] to this point ends.
    Fork,
    /// The code after this does not follow the path that was recorded since the point.
    Rewind(Point),
    /// The end of a path that joins others.
    PathEnd,
    /// Paths join. Their ends are in the join.
    Join(Box<Join>),
    /// The head of a loop. The ends of its rounds are in the join.
    Head(Box<Join>),
    /// The end of the loop that has its head at the point.
    LoopEnd(Point),
    /// A loop begins to go over a list.
    Iterates(Place, Span),
    /// A loop over so many lists ends.
    IterationsEnd(usize),
    /// A variable names a list, a part of one, or a value with lists in it.
    Named(Var, Rc<Named>),
    /// A variable no longer names one.
    Unnamed(Var),
    Read(Var, Span),
    /// The function makes a list.
    Made(LocalId),
    /// A list is a copy.
    Copied {
        list: LocalId,
        at: Span,
        kind: Copied,
    },
    Written(Box<Written>),
    /// A whole list or struct inside another is replaced.
    Replaced {
        place: Place,
        by: Span,
    },
    /// A list is stored into another one.
    Stored {
        list: Place,
        into: Place,
        at: Span,
    },
    /// The function returns a list.
    Returned(Place),
    /// The function returns a list that is a part of a value.
    ReturnedPart,
}

/// A name of a list.
#[derive(PartialEq)]
pub(crate) struct Named {
    pub name: Name,
    pub place: Place,
    pub span: Span,
    /// The part of another list that it names, in the source.
    pub part: Option<Span>,
}

impl Named {
    /// The list of the function of which it is the name or a part.
    pub fn list(&self) -> Option<LocalId> {
        match self.place.root {
            Root::Local(list) => Some(list),
            Root::Element(..) => None,
        }
    }
}

/// Of what a list is a copy.
#[derive(Clone)]
pub(crate) enum Copied {
    /// Of these lists, if there are other references to one of them.
    OfShared(Vec<Place>),
    /// Of these lists, or of a part of a value if there are none.
    Of(Vec<Place>),
    /// Of a list of the script. A kernel does not change those.
    Captured,
    /// The launch passes it to the kernel by value.
    Given,
    /// Its rows are copies of each other: `[[0] * 3] * 2`.
    OfOneRow,
}

/// A write to a list.
#[derive(Clone)]
pub(crate) struct Written {
    pub place: Place,
    /// The list that is written, in the source.
    pub at: Span,
    pub by: Writer,
    /// It is a cooperative matrix.
    pub is_matrix: bool,
}

#[derive(Clone, Copy)]
pub(crate) enum Writer {
    /// An assignment, there.
    Store,
    /// A call or an operation on a cooperative matrix, which may write to every part.
    Call(Span),
}

#[derive(Clone)]
pub(crate) struct Join {
    /// The ends of the paths. Of a head, those of the rounds.
    pub paths: Vec<Point>,
    /// What the variables name that a path changes. `None` if it is no list.
    pub names: Vec<(Var, Option<Rc<Named>>)>,
    /// Variables that get a list of their own, to which each path copies.
    pub copied: Vec<Var>,
}

impl Join {
    /// The join of paths that change no variable.
    pub fn of_lists(paths: Vec<Point>) -> Join {
        Join { paths, names: Vec::new(), copied: Vec::new() }
    }
}

#[derive(Clone, Default)]
pub(crate) struct Record {
    events: Vec<Event>,
    /// What is recorded there is code that a launch may skip, and has no mistakes.
    muted: Vec<Range<usize>>,
}

impl Record {
    pub fn now(&self) -> Point {
        Point::of(self.events.len())
    }

    /// Returns the point of the event.
    pub fn push(&mut self, event: Event) -> Point {
        let point = self.now();
        self.events.push(event);
        point
    }

    /// Ends a loop of which each round ends at one of these points.
    pub fn end_loop(&mut self, head: Point, rounds: Vec<Point>) {
        let Event::Head(join) = &mut self.events[head.idx()] else { unreachable!("a loop has a head") };
        join.paths = rounds;
        self.push(Event::LoopEnd(head));
    }

    /// Nothing since the point causes a report.
    pub fn mute_since(&mut self, start: Point) {
        self.muted.push(start.idx()..self.events.len());
    }

    /// Whether a launch passes the list by value.
    pub fn is_given(&self, local: LocalId) -> bool {
        let is_it = |event: &Event| matches!(event, Event::Copied { list, kind: Copied::Given, .. } if *list == local);
        self.events.iter().any(is_it)
    }

    pub fn events(&self) -> &[Event] {
        &self.events
    }

    pub fn is_muted(&self, at: usize) -> bool {
        self.muted.iter().any(|range| range.contains(&at))
    }

    /// Whether it has more than control flow.
    pub fn has_lists(&self) -> bool {
        let is_flow = |event: &Event| match event {
            Event::Fork | Event::Rewind(_) | Event::PathEnd | Event::LoopEnd(_) | Event::IterationsEnd(_) => {
                true
            }
            Event::Join(join) | Event::Head(join) => join.names.iter().all(|(_, named)| named.is_none()),
            _ => false,
        };
        !self.events.iter().all(is_flow)
    }
}
