//! When a queue last used a buffer, which decides what has to end before another use. Both devices keep it.

use crate::Access;

/// The last submissions of one queue that name a buffer; 0 for none.
#[derive(Clone, Copy, Default)]
pub(crate) struct LastUse {
    any: u64,
    write: u64,
}

impl LastUse {
    pub fn note(&mut self, submission: u64, access: Access) {
        self.any = submission;
        if access.writes() {
            self.write = submission;
        }
    }

    /// The submission that has to end before another queue or the host uses the buffer in this way.
    pub fn before(self, access: Access) -> u64 {
        if access.writes() { self.any } else { self.write }
    }
}
