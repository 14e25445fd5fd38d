//! The arguments of a launch: from values of a script to the types of parameters and what is bound to them.
//!
//! Values go in as the call gives them. Types for the signature and arguments for the dispatch come out, in the
//! order of the parameters. A value that a parameter cannot take is an error that names both.

use kps_compute::number::Unfit;
use kps_compute::{ComputeError, DType, MemoryType, Number, Tensor};
use kps_device::{ImageInfo, Sampler};
use kps_kernel::{
    ArrayParam, Constant, FunctionParam, KernelTemplate, Param, ParamKind, ParamType, Scalar, TextureType,
    Type,
};
use num_traits::ToPrimitive;

use super::errors::Wanted;
use super::object::Kernel;
use super::types::KernelType;
use super::{captured, errors, structs};
use crate::modules::numpy::NdArray;
use crate::modules::{kp, numpy};
use crate::value::{Args, Name, Raise, Result, Value};
use crate::vm::Vm;

/// The argument of one parameter.
pub enum Argument {
    Tensor(Tensor),
    /// The buffer of a uniform or of one struct, which does not determine the domain.
    Uniform(Tensor),
    Numbers(Vec<Number>),
    Sampler(Sampler),
    /// Nothing at run time: an input of the device, or part of the signature.
    None,
}

impl Argument {
    pub fn tensor(&self) -> Option<&Tensor> {
        match self {
            Argument::Tensor(tensor) | Argument::Uniform(tensor) => Some(tensor),
            _ => None,
        }
    }

    pub fn numbers(&self) -> &[Number] {
        match self {
            Argument::Numbers(numbers) => numbers,
            _ => &[],
        }
    }
}

/// The arguments in the order of the parameters; `Unset` for those that the device provides.
pub fn in_order(kernel: &Kernel, args: &Args) -> Result<Vec<Value>> {
    let template = &kernel.template;
    let is_input = |param: &Param| matches!(param.kind, ParamKind::Input { .. });
    let places: Vec<usize> =
        (0..template.params.len()).filter(|at| !is_input(&template.params[*at])).collect();
    let given = args.positional();
    let miscounted = || {
        let needed = places.iter().filter(|place| kernel.default_of(**place).is_none()).count();
        errors::argument_count(template, needed, given)
    };
    if given.len() > places.len() {
        return Err(miscounted());
    }
    // They are the last ones.
    let n_by_place = places.len() - template.def.params.keyword_only.len().min(places.len());
    if let Some(place) = places.get(n_by_place).filter(|_| given.len() > n_by_place) {
        return Err(errors::keyword_only(template, &template.params[*place].name.name));
    }
    let mut values = vec![Value::Unset; template.params.len()];
    for (place, value) in places.iter().zip(given) {
        values[*place] = value.clone();
    }
    for (name, value) in args.keywords() {
        let name = &**name;
        let place = places.iter().find(|place| &*template.params[**place].name.name == name);
        match place {
            Some(place) if values[*place].is_unset() => values[*place] = value.clone(),
            Some(_) => return Err(errors::argument_twice(template, name)),
            None => return Err(errors::unknown_argument(template, name, value)),
        }
    }
    for place in &places {
        if values[*place].is_unset()
            && let Some(default) = kernel.default_of(*place)
        {
            values[*place] = default;
        }
    }
    match places.iter().find(|place| values[**place].is_unset()) {
        None => Ok(values),
        Some(_) if !args.has_keywords() => Err(miscounted()),
        Some(place) => Err(errors::missing_argument(template, &template.params[*place].name.name)),
    }
}

pub fn argument(vm: &mut Vm, kernel: &Kernel, param: &Param, value: &Value) -> Result<(ParamType, Argument)> {
    let name = &*param.name.name;
    let wrong = |vm: &Vm, wanted: Wanted| wrong(vm, kernel, name, wanted, value);
    Ok(match &param.kind {
        ParamKind::Input { .. } | ParamKind::Port(_) => (ParamType::Input, Argument::None),
        ParamKind::Texture { ty, .. } => {
            let image = kp::tensor_of(value)?.filter(|tensor| tensor.as_image().is_some());
            let image =
                image.ok_or_else(|| errors::argument_for_image(&kernel.template, name, *ty, value))?;
            (ParamType::Texture(*ty), Argument::Tensor(image))
        }
        ParamKind::Sampler { .. } => {
            let sampler = kp::sampler_of(value).ok_or_else(|| wrong(vm, Wanted::Sampler))?;
            (ParamType::Sampler, Argument::Sampler(sampler))
        }
        ParamKind::Array(array) => {
            let tensor = kp::tensor_of(value)?.ok_or_else(|| wrong(vm, Wanted::Tensor))?;
            if let Some(image) = tensor.as_image() {
                return Err(errors::image_for_array(name, &tensor, texture_type(image)));
            }
            check_record(kernel, name, &array.element, value)?;
            check_dtype(kernel, name, &array.element, &tensor)?;
            let tensor = seen_as(kernel, name, array, tensor)?;
            (ParamType::Array(array.clone()), Argument::Tensor(tensor))
        }
        ParamKind::Uniform { ty, .. } => {
            let tensor = match kp::tensor_of(value)? {
                Some(tensor) => tensor,
                None => {
                    let bytes = structs::pack(vm, ty, value, name)?;
                    let (n, memory) = (bytes.len(), MemoryType::Device);
                    Tensor::records(&ty.to_string(), n, structs::fields(ty), &[1], memory, bytes)
                        .map_err(kp::compute)?
                }
            };
            (ParamType::Array(ArrayParam::flat(ty.clone())), Argument::Uniform(tensor))
        }
        ParamKind::Buffer { element, .. } | ParamKind::Cell { ty: element, .. } => {
            let tensor = kp::tensor_of(value)?.ok_or_else(|| wrong(vm, Wanted::Tensor))?;
            check_record(kernel, name, element, value)?;
            // PyShader's structs accept any bytes.
            if element.number().is_some() {
                check_dtype(kernel, name, element, &tensor)?;
            }
            let of = match &param.kind {
                ParamKind::Cell { .. } => Argument::Uniform(tensor),
                _ => Argument::Tensor(tensor),
            };
            (ParamType::Array(ArrayParam::flat(element.clone())), of)
        }
        ParamKind::Scalar(ty) => {
            let numbers = components(vm, ty, value, name)?
                .ok_or_else(|| errors::argument_numbers(&kernel.template, name, ty, value))?;
            let numbers = match ty.scalar().filter(|_| !ty.is_aggregate()) {
                Some(scalar) => narrowed(&kernel.template, name, scalar, numbers)?,
                None => numbers,
            };
            (ParamType::Scalar(ty.clone()), Argument::Numbers(numbers))
        }
        ParamKind::Const(scalar) => {
            let number = kp::number(value)?.ok_or_else(|| wrong(vm, Wanted::Number((*scalar).into())))?;
            let constant = constant(*scalar, number);
            let constant =
                constant.map_err(|unfit| unfit_number(&kernel.template, name, number, *scalar, unfit))?;
            (ParamType::Const(constant), Argument::None)
        }
        ParamKind::Untyped => return by_value(vm, kernel, name, value),
    })
}

fn wrong(vm: &Vm, kernel: &Kernel, name: &str, wanted: Wanted, value: &Value) -> Raise {
    errors::argument_kind(&kernel.template, name, &wanted, value, name_of(vm, value).as_deref())
}

/// The name of a value in the script that launches the kernel.
fn name_of(vm: &Vm, value: &Value) -> Option<Name> {
    let locals = vm.caller_locals().unwrap_or_default();
    let globals = vm.caller_globals().map(|globals| globals.to_pairs()).unwrap_or_default();
    let mut names = locals.into_iter().chain(globals);
    names.find(|(name, known)| known.is(value) && !name.starts_with('_')).map(|(name, _)| name)
}

/// A parameter whose type only the argument determines.
fn by_value(vm: &mut Vm, kernel: &Kernel, name: &str, value: &Value) -> Result<(ParamType, Argument)> {
    if let Some(tensor) = kp::tensor_of(value)? {
        return Ok((tensor_type(&tensor, kp::element_of(value)), Argument::Tensor(tensor)));
    }
    if let Some(sampler) = kp::sampler_of(value) {
        return Ok((ParamType::Sampler, Argument::Sampler(sampler)));
    }
    if let Some(ty) = structs::type_of_value(value) {
        let numbers = components(vm, &ty, value, name)?.unwrap_or_default();
        return Ok((ParamType::Scalar(structs::now(&ty)), Argument::Numbers(numbers)));
    }
    if let Some(function) = function(&kernel.template, value) {
        return Ok((ParamType::Function(function), Argument::None));
    }
    let number = kp::number(value)?.ok_or_else(|| wrong(vm, kernel, name, Wanted::Anything, value))?;
    Ok((ParamType::Scalar(number_type(value, number)), Argument::Numbers(vec![number])))
}

/// A function that kernels can call; `None` for any other value.
pub fn function(template: &KernelTemplate, value: &Value) -> Option<FunctionParam> {
    let is_function = matches!(value, Value::Function(_) | Value::NativeFunction(_) | Value::Class(_))
        || value.downcast::<KernelType>().is_some();
    is_function.then(|| FunctionParam::new(template, captured(value))).flatten()
}

/// The type of a parameter without an annotation, by the number that it gets.
pub fn number_type(value: &Value, number: Number) -> Type {
    match value.downcast::<numpy::Scalar>() {
        Some(scalar) => Type::Scalar(scalar.dtype),
        None => host_type(number),
    }
}

/// The annotation for a tensor, whose elements may be structs or vectors, or for an image.
pub fn tensor_type(tensor: &Tensor, of: Option<Type>) -> ParamType {
    match tensor.as_image() {
        Some(image) => ParamType::Texture(texture_type(image)),
        None => {
            let is_of_vectors = of.as_ref().is_some_and(Type::is_vector);
            let element = of.unwrap_or_else(|| Type::Scalar(tensor.dtype()));
            let rank = rank_of(tensor);
            ParamType::Array(ArrayParam::new(element, if is_of_vectors { (rank - 1).max(1) } else { rank }))
        }
    }
}

/// The annotation for the image.
fn texture_type(image: &ImageInfo) -> TextureType {
    let text = format!("{} {}", image.dimension.name(), image.format.name());
    TextureType::parse(&text).expect("images have the dimensions and formats that textures name")
}

/// Elements that are structs must have the kernel's struct type.
fn check_record(kernel: &Kernel, name: &str, element: &Type, value: &Value) -> Result<()> {
    match kp::record_of(value) {
        Some(of) if !structs::same_layout(element, &Type::Struct(of.clone())) => {
            Err(errors::record_type(&kernel.template, name, element, &of))
        }
        _ => Ok(()),
    }
}

/// A module does not distinguish a bool from a u8, nor a bf16 from a u16; the declared type does. Structs and
/// lists accept the bytes of a tensor if all their numbers have its type.
fn check_dtype(kernel: &Kernel, name: &str, element: &Type, tensor: &Tensor) -> Result<()> {
    if tensor.is_record() {
        return Ok(());
    }
    let mut scalars = element.numbers().into_iter().map(|(_, scalar)| scalar);
    let Some(expected) = scalars.find(|scalar| *scalar != tensor.dtype()) else { return Ok(()) };
    if element.number().is_none() && tensor.dtype() == DType::U8 {
        return Ok(());
    }
    if let Type::Struct(_) = element {
        return Err(errors::numbers_for_records(&kernel.template, name, element, tensor.dtype()));
    }
    let (parameter, label) = (name.to_owned(), tensor.label().to_owned());
    let mismatch = ComputeError::ParameterDType { parameter, tensor: label, expected, given: tensor.dtype() };
    Err(errors::launch(&kernel.template, mismatch))
}

/// The tensor with the dimensions that the parameter declares: one is any shape, flattened. Numbers that form
/// one element of the array are not an axis of it: they are the last axes of the tensor, or part of its last
/// one.
fn seen_as(kernel: &Kernel, name: &str, array: &ArrayParam, tensor: Tensor) -> Result<Tensor> {
    let rank = rank_of(&tensor);
    if array.rank == 1 && rank > 1 {
        return tensor.reshape(&[tensor.size()]).map_err(kp::compute);
    }
    if array.rank == rank {
        tensor.check_last_axis(name, array.element.packed_size() as usize).map_err(kp::compute)?;
        return Ok(tensor);
    }
    if usize::from(array.rank) + inner_axes(&array.element, &tensor) == usize::from(rank) {
        return Ok(tensor);
    }
    Err(errors::argument_rank(&kernel.template, name, array, tensor.shape()))
}

/// Elements of the tensor in one element of the array.
pub fn numbers_per_element(element: &Type, tensor: &Tensor) -> usize {
    tensor.numbers_in(element.packed_size() as usize)
}

/// How many of a tensor's last axes are within one element of the array: those of the element, such as a
/// matrix's rows and columns, or one for all its numbers.
fn inner_axes(element: &Type, tensor: &Tensor) -> usize {
    let (own, shape) = (own_axes(element), tensor.shape());
    if shape.len() > own.len() && shape.ends_with(&own) {
        return own.len();
    }
    let per_element = numbers_per_element(element, tensor);
    match shape {
        [_, .., inner] if per_element > 1 && *inner == per_element => 1,
        _ => 0,
    }
}

/// The axes of one such value in NumPy: `(2, 3)` for `Array(2, vec3)`.
fn own_axes(ty: &Type) -> Vec<usize> {
    match ty {
        Type::Vector(n, _) => vec![usize::from(*n)],
        Type::Matrix { columns, rows, .. } => vec![usize::from(*rows), usize::from(*columns)],
        Type::Array(array) => [array.len as usize].into_iter().chain(own_axes(&array.element)).collect(),
        _ => Vec::new(),
    }
}

/// The axes of an array parameter.
pub fn array_shape(array: &ArrayParam, tensor: &Tensor) -> Vec<usize> {
    match tensor.shape() {
        [] => vec![1],
        shape if shape.len() > usize::from(array.rank) => shape[..usize::from(array.rank)].to_vec(),
        [first @ .., last] => {
            let per_element = numbers_per_element(&array.element, tensor);
            first.iter().copied().chain([(last / per_element).max(1)]).collect()
        }
    }
}

/// One number is an array of one.
fn rank_of(tensor: &Tensor) -> u8 {
    u8::try_from(tensor.shape().len()).unwrap_or(u8::MAX).max(1)
}

/// The kernel type of a host number that has no type.
fn host_type(number: Number) -> Type {
    match number {
        Number::Bool(_) => Type::BOOL,
        Number::Int(_) => Type::I32,
        Number::Float(_) => Type::F32,
    }
}

/// The numbers of a value; `None` for another kind of value.
fn components(vm: &mut Vm, ty: &Type, value: &Value, name: &str) -> Result<Option<Vec<Number>>> {
    if !matches!(ty, Type::Scalar(_) | Type::Vector(..)) {
        let bytes = structs::pack(vm, ty, value, name)?;
        return Ok(Some(structs::numbers(ty, &bytes)));
    }
    let n = usize::from(ty.n_components());
    if let (Value::BigInt(big), Some(scalar)) = (value.base_value(), ty.scalar())
        && i128::try_from(&**big).is_err()
    {
        return match big.to_f64().filter(|_| scalar.is_float()) {
            Some(float) if float.is_finite() => Ok(Some(vec![Number::Float(float)])),
            _ => Err(errors::argument_too_large(name, ty, big.bits())),
        };
    }
    if n <= 1 {
        return Ok(kp::number(value)?.map(|number| vec![number]));
    }
    let is_row = value.downcast::<NdArray>().is_some_and(|array| array.shape().len() == 1);
    if !is_row && !matches!(value, Value::Tuple(_) | Value::List(_)) {
        return Ok(None);
    }
    let items = vm.collect(value)?;
    let numbers: Result<Option<Vec<Number>>> = items.iter().map(kp::number).collect();
    Ok(numbers?.filter(|numbers| numbers.len() == n))
}

/// The numbers as a narrow type holds them, which the push constants do not show: its numbers travel
/// in 32 bits. The wider types are checked with the push constants.
pub fn narrowed(
    template: &KernelTemplate,
    name: &str,
    scalar: Scalar,
    numbers: Vec<Number>,
) -> Result<Vec<Number>> {
    if scalar.bits() >= 32 {
        return Ok(numbers);
    }
    let narrow = |number: Number| {
        let mut element = [0; 8];
        match number.exact(scalar, &mut element) {
            Ok(()) => Ok(Number::load(scalar, &element)),
            Err(unfit) => Err(unfit_number(template, name, number, scalar, unfit)),
        }
    };
    numbers.into_iter().map(narrow).collect()
}

/// The value of a `const` parameter.
fn constant(scalar: Scalar, number: Number) -> std::result::Result<Constant, Unfit> {
    let mut element = [0; 8];
    number.exact(scalar, &mut element)?;
    Ok(structs::constant(scalar, &element))
}

fn unfit_number(template: &KernelTemplate, name: &str, value: Number, scalar: Scalar, unfit: Unfit) -> Raise {
    let member = name.to_owned();
    errors::launch(template, ComputeError::PushUnfit { member, value, dtype: scalar, unfit })
}
