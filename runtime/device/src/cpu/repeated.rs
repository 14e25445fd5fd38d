//! Keeps the resolved submissions of lists that are submitted again and again.
//!
//! Such a submission has the addresses of buffers and the code of pipelines. All of them are dropped when a buffer
//! or a pipeline goes, and when a module is loaded, for which the library may evict code.

use std::rc::Weak;

use rustc_hash::FxHashMap;

use super::submission::Submission;
use crate::{Command, Commands};

/// Number of lists at which those that were dropped are removed. If as many remain, all are.
const MAX_LISTS: usize = 64;

#[derive(Default)]
pub struct Repeated {
    /// By identity.
    lists: FxHashMap<usize, List>,
    n_lists: u64,
}

struct List {
    /// While this exists, no other list has the same identity.
    commands: Weak<[Command]>,
    number: u64,
    /// `None` while it is in flight.
    submission: Option<Submission>,
}

/// The list that a submission belongs to.
#[derive(Clone, Copy)]
pub struct ListId {
    identity: usize,
    number: u64,
}

impl Repeated {
    /// Drops all submissions, also those in flight when they have ended.
    pub fn clear(&mut self) {
        self.lists.clear();
    }

    /// Takes the submission of a list, if there is one that has ended.
    pub fn take(&mut self, commands: &Commands) -> Option<Submission> {
        self.lists.get_mut(&commands.identity())?.submission.take()
    }

    /// The list, for a new submission of it.
    pub fn id_of(&mut self, commands: &Commands) -> ListId {
        let identity = commands.identity();
        if self.lists.len() >= MAX_LISTS && !self.lists.contains_key(&identity) {
            self.lists.retain(|_, list| list.commands.strong_count() > 0);
            if self.lists.len() >= MAX_LISTS {
                self.lists.clear();
            }
        }
        let list = self.lists.entry(identity).or_insert_with(|| {
            self.n_lists += 1;
            List { commands: commands.downgrade(), number: self.n_lists, submission: None }
        });
        ListId { identity, number: list.number }
    }

    /// Keeps a submission that has ended, if it belongs to a list.
    pub fn keep(&mut self, submission: Submission) {
        let Some(ListId { identity, number }) = submission.list else { return };
        if let Some(list) = self.lists.get_mut(&identity).filter(|list| list.number == number) {
            list.submission = Some(submission);
        }
    }
}
