//! `a.flags`: the memory layout of an array, and whether its elements may be assigned.

use super::methods::receiver;
use crate::value::{Args, Native, NativeDef, NativeType, Result, Value};
use crate::vm::Vm;

pub static FLAGS: NativeType = NativeType {
    methods: &[
        NativeDef::getter("c_contiguous", |_, args| flag(args, "C_CONTIGUOUS")),
        NativeDef::getter("f_contiguous", |_, args| flag(args, "F_CONTIGUOUS")),
        NativeDef::getter("contiguous", |_, args| flag(args, "C_CONTIGUOUS")),
        NativeDef::getter("owndata", |_, args| flag(args, "OWNDATA")),
        NativeDef::getter("writeable", |_, args| flag(args, "WRITEABLE")),
        NativeDef::getter("aligned", |_, args| flag(args, "ALIGNED")),
    ],
    ..NativeType::new("flagsobj", "numpy._core.multiarray")
};

struct Flags([(&'static str, bool); 5]);

impl Flags {
    fn find(&self, name: &str) -> Option<bool> {
        let name = match name {
            "C" | "CONTIGUOUS" => "C_CONTIGUOUS",
            "F" | "FORTRAN" => "F_CONTIGUOUS",
            "O" => "OWNDATA",
            "W" => "WRITEABLE",
            "A" => "ALIGNED",
            other => other,
        };
        self.0.iter().find(|(known, _)| *known == name).map(|(_, is_set)| *is_set)
    }
}

impl Native for Flags {
    fn native_type(&self) -> &'static NativeType {
        &FLAGS
    }

    fn get_item(&self, _: &Value, _: &mut Vm, index: &Value) -> Result<Option<Value>> {
        let found = index.as_str().and_then(|name| self.find(name));
        match found {
            Some(is_set) => Ok(Some(Value::Bool(is_set))),
            None => Err(crate::errors::key_error(Value::str("Unknown flag"))),
        }
    }

    fn repr(&self, _: &Value, _: &mut Vm) -> Result<String> {
        let shown = |is_set: bool| if is_set { "True" } else { "False" };
        Ok(self.0.iter().map(|(name, is_set)| format!("  {name} : {}\n", shown(*is_set))).collect())
    }
}

pub fn flags(vm: &mut Vm, args: &Args) -> Result {
    let array = receiver(vm, args)?.into_array()?;
    Ok(Value::native(Flags([
        ("C_CONTIGUOUS", array.layout().is_contiguous()),
        ("F_CONTIGUOUS", array.layout().is_fortran()),
        ("OWNDATA", array.base().is_none()),
        ("WRITEABLE", !array.is_read_only()),
        ("ALIGNED", true),
    ])))
}

fn flag(args: &Args, name: &str) -> Result {
    Ok(Value::Bool(args.this::<Flags>()?.find(name).expect("every getter names a flag that is there")))
}
