//! Attributes of objects, and the inline caches of their sites.

use kps_bytecode::op::Instruction;

use crate::ops::is_data_descriptor;
use crate::value::{Instance, Result, Value};
use crate::vm::Vm;
use crate::vm::code::{CacheKey, Site};
use crate::vm::register::Registers;

impl Vm {
    pub(in crate::vm) fn step_load_attr(
        &mut self,
        registers: Registers,
        i: Instruction,
        site: &Site,
    ) -> Result<()> {
        let object = registers.operand(i.b, i.ends_b());
        let value = self.get_attr_named(&object, &site.name)?;
        if let Value::Instance(instance) = &object {
            let class = instance.class();
            let fields = instance.fields.borrow();
            let is_plain = class.lookup_script("__getattribute__").is_none()
                && !class.lookup(&site.name).is_some_and(|attr| is_data_descriptor(&attr));
            if let Some(slot) = fields.slot(&site.name)
                && is_plain
                && fields.shape_id() != 0
            {
                site.key.set(CacheKey { shape: fields.shape_id(), epoch: self.class_epoch });
                site.slot.set(slot);
            }
        }
        registers.set(i.a, value);
        Ok(())
    }

    pub(in crate::vm) fn step_store_attr(
        &mut self,
        registers: Registers,
        i: Instruction,
        site: &Site,
    ) -> Result<()> {
        let object = registers.operand(i.a, i.ends_b());
        let value = registers.operand(i.b, i.ends_c());
        let Value::Instance(instance) = &object else {
            return self.set_attr_named(&object, &site.name, value);
        };
        let key = CacheKey { shape: instance.fields.borrow().shape_id(), epoch: self.class_epoch };
        if site.key.get() == key {
            self.remembered.instance(instance, &value);
            let mut fields = instance.fields.borrow_mut();
            if let Some(next) = &*site.next.borrow() {
                fields.extend(next.clone(), value);
                return Ok(());
            }
            if let Some(place) = fields.at_mut(site.slot.get()) {
                let previous = std::mem::replace(place, value);
                drop(fields);
                drop(previous);
                return Ok(());
            }
        }
        self.set_attr_named(&object, &site.name, value)?;
        self.remember_store(instance, site, key);
        Ok(())
    }

    /// Fills the cache of a site after an attribute was stored in an instance with the shape of `key`.
    fn remember_store(&self, instance: &Instance, site: &Site, key: CacheKey) {
        let class = instance.class();
        let fields = instance.fields.borrow();
        let is_plain = class.lookup_script("__setattr__").is_none()
            && !class.lookup(&site.name).is_some_and(|attr| is_data_descriptor(&attr));
        let Some(slot) = fields.slot(&site.name) else { return };
        if !is_plain || key.shape == 0 || fields.shape_id() == 0 || key.epoch != self.class_epoch {
            return;
        }
        site.key.set(key);
        site.slot.set(slot);
        // If the shape changed, the attribute is new and in the last slot.
        let next = (fields.shape_id() != key.shape).then(|| fields.shape().clone());
        *site.next.borrow_mut() = next;
    }

    pub(in crate::vm) fn step_load_method(
        &mut self,
        registers: Registers,
        i: Instruction,
        site: &Site,
    ) -> Result<()> {
        let object = registers.operand(i.b, i.ends_b());
        // Values of built-in types and host objects have no shape: their class's initial shape is used.
        let class = match &object {
            Value::Instance(_)
            | Value::Class(_)
            | Value::Module(_)
            | Value::Super(_)
            | Value::Function(_) => None,
            other => Some(self.class_of(other)),
        };
        let key = class.map(|class| CacheKey { shape: class.shape.id(), epoch: self.class_epoch });
        if key == Some(site.key.get()) {
            let method = site.method.borrow().clone();
            registers.set(i.a, method);
            registers.set(i.a + 1, object);
            return Ok(());
        }
        let (method, receiver) = self.get_method(&object, &site.name)?;
        if !receiver.is_unset() {
            let key = key.or_else(|| match &object {
                Value::Instance(instance) => {
                    let shape = instance.fields.borrow().shape_id();
                    (shape != 0).then_some(CacheKey { shape, epoch: self.class_epoch })
                }
                _ => None,
            });
            if let Some(key) = key {
                site.key.set(key);
                let previous = site.method.replace(method.clone());
                drop(previous);
            }
        }
        registers.set(i.a, method);
        registers.set(i.a + 1, receiver);
        Ok(())
    }
}
