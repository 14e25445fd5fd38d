//! The outputs of vertex and fragment functions, assigned as a whole or part by part.
//!
//! An output is a variable of its declared type. Its value at the end of the function goes to the next stage.
//! So every path to the end must assign it.
//!
//! An output that is assigned in parts (`pos.xyz = ..`) starts as zeros. Each of its numbers has a mark, a
//! variable that is set where the number is written. Marks join like any variable, so they show which number
//! some path does not write. An index that is known only at run time marks all numbers that it may select.

mod inference;

use std::rc::Rc;

use crate::infer::places::vars::Var;
use crate::ir::PortId;

/// A parameter that the function assigns.
#[derive(Clone)]
pub(crate) struct Output {
    var: Var,
    port: PortId,
    /// The marks of an output that is assigned in parts, one for each number. Other outputs have none.
    marks: Rc<[Var]>,
}
