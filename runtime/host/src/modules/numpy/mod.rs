//! `numpy`: arrays for scripts about tensors.
//!
//! An array is a typed, strided view of a [`kps_compute::Storage`], so `t.numpy()` and `t.data()` share a
//! tensor's memory. Operations read chunks of elements (`kernel/source.rs`), run loops over them (`kernel/`), on
//! all cores if there are many, and wrap the result in a new storage. `promote.rs` and `operators.rs`
//! determine the type of a result. `operand.rs` converts operands. `print.rs` formats text as NumPy does.
//!
//! Arrays of structs are in `records.rs`, those of complex numbers in `complex.rs`. Objects, text and sub-classes are not
//! supported.
//!
//! For other modules: [`NdArray::from_storage`] creates an array over a tensor's memory, [`dtype_object`] an
//! element type. An object with a method `__array__` is accepted wherever an array is.

mod array;
mod casting;
mod complex;
mod complex_math;
mod create;
mod digits;
mod dtype;
mod errors;
mod file;
mod flags;
mod flat;
mod histogram;
mod index;
mod join;
mod kernel;
mod layout;
mod linear;
mod methods;
pub mod npy;
mod operand;
mod operators;
mod order;
mod print;
mod promote;
mod random;
mod records;
mod reduce;
mod scalar;
mod search;
mod settings;
mod shape;
mod strided;
mod tensor_data;
mod ufunc;

use std::cell::Cell;
use std::rc::Rc;

use kps_array::ElementType;

use crate::value::{Module, NativeDef, NativeFunction, NativeModule, Result, Value};
use crate::vm::Vm;

pub use array::{NDARRAY, NdArray, element};
pub use complex::ComplexArray;
pub use dtype::object as dtype_object;
pub use layout::Layout;
pub use random::MODULE as RANDOM;
pub use records::{RecordArray, nested, type_of as struct_of_dtype};
pub use scalar::Scalar;
pub use tensor_data::of_tensor as tensor_data;

pub static MODULE: NativeModule = NativeModule {
    init: Some(init),
    ..NativeModule::new("numpy").doc("Arrays of numbers, as NumPy 2 has them.")
};

pub static LINALG: NativeModule = NativeModule {
    functions: linear::LINALG,
    ..NativeModule::new("numpy.linalg").doc("Linear algebra of arrays.")
};

/// The module's state per machine.
#[derive(Default)]
pub struct State {
    print_options: Cell<print::PrintOptions>,
}

fn init(vm: &mut Vm, module: &Module) -> Result<()> {
    let tables = [
        create::FUNCTIONS,
        shape::FUNCTIONS,
        join::FUNCTIONS,
        linear::FUNCTIONS,
        search::FUNCTIONS,
        histogram::FUNCTIONS,
        file::FUNCTIONS,
        settings::FUNCTIONS,
        complex_math::FUNCTIONS,
    ];
    for function in tables.into_iter().flatten().chain(REDUCTIONS) {
        module.set(function.name, native(function));
    }
    for (name, func) in ufunc::UFUNCS {
        module.set(name, Value::native(ufunc::Ufunc { name, func: *func }));
    }
    module.set("ndarray", Value::Class(vm.native_class(&NDARRAY)));
    module.set("dtype", Value::Class(vm.native_class(&dtype::DTYPE)));
    for ty in scalar::ABSTRACT.iter().chain(&scalar::SCALARS) {
        module.set(ty.name, Value::Class(vm.native_class(ty)));
    }
    for (alias, name) in ALIASES {
        let class = module.get(name).expect("an alias names a class that was just set");
        module.set(alias, class);
    }
    for (name, constant) in CONSTANTS {
        module.set(name, *constant);
    }
    for (name, ty) in COMPLEX {
        module.set(name, dtype_object(*ty));
    }
    module.set("newaxis", Value::None);
    module.set("True_", scalar::scalar(true));
    module.set("False_", scalar::scalar(false));
    module.set("__version__", "2.4.0");
    // A module adds itself to its package.
    vm.import(LINALG.name)?;
    vm.import(RANDOM.name)?;
    Ok(())
}

fn native(function: &NativeDef) -> Value {
    Value::NativeFunction(Rc::new(NativeFunction::of_module(function)))
}

static REDUCTIONS: &[NativeDef] = &[
    NativeDef::function("sum", reduce::sum_method),
    NativeDef::function("prod", reduce::prod_method),
    NativeDef::function("mean", reduce::mean_method),
    NativeDef::function("average", reduce::average),
    NativeDef::function("var", reduce::var_method),
    NativeDef::function("std", reduce::std_method),
    NativeDef::function("min", reduce::min_method),
    NativeDef::function("max", reduce::max_method),
    NativeDef::function("amin", reduce::min_method),
    NativeDef::function("amax", reduce::max_method),
    NativeDef::function("ptp", reduce::ptp),
    NativeDef::function("argmin", reduce::argmin),
    NativeDef::function("argmax", reduce::argmax),
    NativeDef::function("all", reduce::all_method),
    NativeDef::function("any", reduce::any_method),
    NativeDef::function("cumsum", reduce::cumsum),
    NativeDef::function("cumprod", reduce::cumprod),
    NativeDef::function("round", methods::round),
    NativeDef::function("around", methods::round),
    NativeDef::function("clip", methods::clip),
];

static ALIASES: &[(&str, &str)] = &[
    ("bool_", "bool"),
    ("byte", "int8"),
    ("short", "int16"),
    ("intc", "int32"),
    ("int_", "int64"),
    ("intp", "int64"),
    ("long", "int64"),
    ("longlong", "int64"),
    ("ubyte", "uint8"),
    ("ushort", "uint16"),
    ("uintc", "uint32"),
    ("uint", "uint64"),
    ("uintp", "uint64"),
    ("ulong", "uint64"),
    ("ulonglong", "uint64"),
    ("half", "float16"),
    ("single", "float32"),
    ("double", "float64"),
];

static COMPLEX: &[(&str, ElementType)] = &[
    ("complex64", ElementType::Complex64),
    ("csingle", ElementType::Complex64),
    ("complex128", ElementType::Complex128),
    ("cdouble", ElementType::Complex128),
];

static CONSTANTS: &[(&str, f64)] = &[
    ("pi", std::f64::consts::PI),
    ("e", std::f64::consts::E),
    ("euler_gamma", 0.577_215_664_901_532_9),
    ("inf", f64::INFINITY),
    ("nan", f64::NAN),
];
