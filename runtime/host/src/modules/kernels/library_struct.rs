//! Structs of the library that kernels name through `kp`: `kp.rng(seed, stream)`.
//!
//! A kernel names one, and gets its type. Its chapter is read at that moment, and not run: scripts that do not use it
//! pay nothing. On the host it has no meaning.

use std::cell::OnceCell;

use kps_kernel::Type;

use super::errors;
use crate::inspect;
use crate::value::{Args, Doc, Module, Native, NativeType, Result, Value};
use crate::vm::Vm;

pub static LIBRARY_STRUCT: NativeType =
    NativeType::new("LibraryStruct", "kp").doc("", "A struct of the library, for kernels.");

/// The structs of the module `kp`.
pub fn add_to(module: &Module) {
    let rng = LibraryStruct {
        name: "rng",
        chapter: "kp.kernels.philox",
        class: "Rng",
        doc: Doc {
            signature: "(seed, stream)",
            sentence: "In kernels, the random numbers of one stream: `bits()`, `uniform()`, `normal()`, `integers(low, \
                       high)`.",
        },
        ty: OnceCell::new(),
    };
    module.set(rng.name, Value::native(rng));
}

pub struct LibraryStruct {
    /// In the module `kp`.
    name: &'static str,
    chapter: &'static str,
    class: &'static str,
    doc: Doc,
    ty: OnceCell<Type>,
}

impl LibraryStruct {
    pub fn ty(&self) -> &Type {
        self.ty.get_or_init(|| {
            inspect::library_type(self.chapter, self.class).expect("the chapter has the struct")
        })
    }
}

impl Native for LibraryStruct {
    fn native_type(&self) -> &'static NativeType {
        &LIBRARY_STRUCT
    }

    fn get_attr(&self, _: &Value, _: &mut Vm, name: &str) -> Result<Option<Value>> {
        Ok(match name {
            "__name__" => Some(self.name.into()),
            "__text_signature__" => Some(self.doc.signature.into()),
            "__doc__" => Some(self.doc.sentence.into()),
            _ => None,
        })
    }

    fn is_callable(&self) -> bool {
        true
    }

    fn call(&self, _: &Value, _: &mut Vm, _: &Args) -> Result<Option<Value>> {
        Err(errors::struct_only_in_kernels(self.name))
    }

    fn repr(&self, _: &Value, _: &mut Vm) -> Result<String> {
        Ok(format!("<struct kp.{}>", self.name))
    }
}
