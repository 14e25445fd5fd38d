//! What a class does as an object: gives its items, counts them, shows itself. Python asks the class's own class;
//! scripts have no such classes, so those of the library say it in class methods: `__class_iter__`,
//! `__class_len__`, `__class_contains__`, `__class_repr__`. `__class_setattr__` and `__class_delattr__` are told the
//! names of attributes before they change, and may raise. `__class_is__` is another class that instances pass for;
//! instances of the classes in the list `__class_registered__`, and of those that have every method named in
//! the tuple `__class_needs__`, pass for this one.

use crate::value::{Result, Value};
use crate::vm::Vm;

impl Vm {
    /// What a class method of the library says of the class; `None` where there is none.
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
