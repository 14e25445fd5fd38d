//! Tuples with named items: `sys.version_info`, `sys.float_info`, `time.struct_time`.

use crate::value::{CompareOp, Native, NativeType, Result, Value};
use crate::vm::Vm;

/// A tuple with a name for each item.
pub struct StructSeq {
    ty: &'static NativeType,
    names: &'static [&'static str],
    items: Value,
}

impl StructSeq {
    pub fn value(ty: &'static NativeType, names: &'static [&'static str], items: Vec<Value>) -> Value {
        debug_assert_eq!(names.len(), items.len());
        Value::native(StructSeq { ty, names, items: Value::tuple(items) })
    }

    pub fn items(&self) -> &[Value] {
        match &self.items {
            Value::Tuple(items) => items,
            _ => &[],
        }
    }
}

impl Native for StructSeq {
    fn native_type(&self) -> &'static NativeType {
        self.ty
    }

    fn get_attr(&self, _: &Value, _: &mut Vm, name: &str) -> Result<Option<Value>> {
        let at = self.names.iter().position(|known| *known == name);
        Ok(at.map(|at| self.items()[at].clone()))
    }

    fn get_item(&self, _: &Value, vm: &mut Vm, index: &Value) -> Result<Option<Value>> {
        vm.get_item(&self.items, index).map(Some)
    }

    fn is_sequence(&self) -> bool {
        true
    }

    fn len(&self, _: &mut Vm) -> Result<Option<usize>> {
        Ok(Some(self.names.len()))
    }

    fn iter(&self, _: &Value, vm: &mut Vm) -> Result<Option<Value>> {
        vm.iter(&self.items).map(Some)
    }

    fn contains(&self, _: &Value, vm: &mut Vm, item: &Value) -> Result<Option<bool>> {
        vm.contains(&self.items, item).map(Some)
    }

    fn compare(&self, _: &Value, vm: &mut Vm, op: CompareOp, other: &Value) -> Result<Option<Value>> {
        let other = match other.downcast::<StructSeq>() {
            Some(other) => other.items.clone(),
            None if matches!(other, Value::Tuple(_)) => other.clone(),
            None => return Ok(None),
        };
        vm.compare(op, &self.items, &other).map(Some)
    }

    fn repr(&self, _: &Value, vm: &mut Vm) -> Result<String> {
        let mut fields = Vec::with_capacity(self.names.len());
        for (name, item) in self.names.iter().zip(self.items()) {
            fields.push(format!("{name}={}", vm.repr(item)?));
        }
        Ok(format!("{}.{}({})", self.ty.module, self.ty.name, fields.join(", ")))
    }

    fn hash(&self, _: &Value, vm: &mut Vm) -> Result<Option<i64>> {
        vm.hash(&self.items).map(Some)
    }
}
