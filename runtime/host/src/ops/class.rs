//! Operations on class objects: iteration, length, membership, repr. In Python the metaclass defines them.
//! Scripts have no metaclasses, so the library defines them by class methods: `__class_iter__`,
//! `__class_len__`, `__class_contains__`, `__class_repr__`. `__class_setattr__` and `__class_delattr__` are
//! called with the names of attributes before they change, and may raise.
//!
//! `__class_is__` is another class of which instances count as instances. Instances also count as those of a
//! class that registers their class in the list `__class_registered__`, or whose `__class_needs__`, a tuple
//! of method names, they satisfy.

use crate::value::{Result, Value};
use crate::vm::Vm;

impl Vm {
    /// The result of a class method of the library for the class; `None` if there is none.
    pub(super) fn class_says(
        &mut self,
        value: &Value,
        method: &str,
        args: &[Value],
    ) -> Result<Option<Value>> {
        let Value::Class(class) = value else { return Ok(None) };
        let Some(function) = class.lookup_script(method) else { return Ok(None) };
        let function = self.bind(&function, value, class)?;
        self.call(&function, args).map(Some)
    }
}
