//! Arrays as a Rust program uses them.

use std::rc::Rc;

use kps_array::{Array, Engine, Op, Operand, Part, ReducedAxes, Reducer};
use kps_compute::{Manager, Number, Tensor};

fn engine() -> Rc<Engine> {
    let manager = Manager::builder().device(kps_device::Selector::Cpu).open().expect("it is built in");
    Rc::new(Engine::new(Rc::new(manager), Rc::default()))
}

fn array(engine: &Rc<Engine>, shape: &[usize]) -> Array {
    let n = shape.iter().product::<usize>();
    let elements: Vec<f32> = (0..n).map(|n| n as f32).collect();
    let tensor = Tensor::from_slice(&elements).and_then(|flat| flat.reshape(shape)).expect("a small shape");
    Array::of_tensor(engine, &tensor).expect("it is one of numbers")
}

fn apply(op: &str, inputs: &[Operand]) -> Array {
    Array::apply(Op::named(op).expect("it is in the table"), inputs).expect("the operands fit")
}

fn elements(array: &Array) -> Vec<f32> {
    array.in_one_piece().and_then(|array| Ok(array.tensor()?.to_vec::<f32>()?)).expect("it is one of floats")
}

#[test]
fn an_expression_is_one_kernel() {
    let engine = engine();
    let (x, y) = (array(&engine, &[4]), array(&engine, &[4]));
    let product = apply("multiply", &[Number::Float(2.0).into(), x.into()]);
    let sum = apply("add", &[product.into(), y.into()]);
    assert_eq!(
        sum.source().expect("it compiles"),
        "@kernel\ndef multiply_add(a: Array[f32], b: Array[f32], out: Array[f32], k0: f32):\n    \
         i = global_id.x\n    out[i] = k0 * a[i] + b[i]\n"
    );
    assert_eq!(elements(&sum), [0.0, 3.0, 6.0, 9.0]);
}

#[test]
fn a_view_is_read_in_place() {
    let engine = engine();
    let grid = array(&engine, &[2, 3]);
    let columns = grid.permuted(&[1, 0]).expect("two axes");
    let row = grid.indexed(&[Part::At(-1)]).expect("it has rows");
    let sum = apply("add", &[columns.into(), row.indexed(&[Part::All, Part::New]).expect("one axis").into()]);
    assert_eq!(sum.shape(), [3, 2]);
    assert_eq!(elements(&sum), [3.0, 6.0, 5.0, 8.0, 7.0, 10.0]);
}

#[test]
fn a_tensor_is_read_before_it_is_written() {
    let engine = engine();
    let x = array(&engine, &[3]);
    let pending = apply("add", &[x.clone().into(), Number::Int(10).into()]);
    x.tensor().and_then(|tensor| Ok(tensor.set(0, 7.0)?)).expect("it is in range");
    assert_eq!(elements(&pending), [10.0, 11.0, 12.0]);
    let again = apply("add", &[x.clone().into(), Number::Int(10).into()]);
    x.assign(Number::Int(1).into()).expect("a number fits");
    assert_eq!((elements(&again), elements(&x)), (vec![17.0, 11.0, 12.0], vec![1.0; 3]));
}

#[test]
fn a_reduction_computes_its_elements_itself() {
    let engine = engine();
    for (shape, axis, expected) in [
        (vec![2, 3], None, vec![15.0]),
        (vec![2, 3], Some(0), vec![3.0, 5.0, 7.0]),
        (vec![2, 3], Some(-1), vec![3.0, 12.0]),
        (vec![3, 100], Some(1), vec![4950.0, 14950.0, 24950.0]),
        (vec![100, 2], Some(0), vec![9900.0, 10000.0]),
        (vec![100_000], None, vec![4_999_950_000.0]),
    ] {
        let x = array(&engine, &shape);
        let axes = axis.map(|axis| [axis]);
        let sum = x.reduced(Reducer::Sum, axes.as_ref().map(|axes| &axes[..]), ReducedAxes::Dropped);
        let sum = elements(&sum.expect("the axis is there"));
        let is_close = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-6 * b;
        assert!(
            sum.len() == expected.len() && sum.iter().zip(&expected).all(is_close),
            "{sum:?} {expected:?}"
        );
    }
    let x = array(&engine, &[5, 70]);
    let negative = apply("negative", &[x.into()]);
    let found = negative.reduced(Reducer::ArgSmallest, None, ReducedAxes::Dropped).expect("it has elements");
    assert_eq!(found.tensor().and_then(|tensor| Ok(tensor.to_vec::<i64>()?)).expect("one int"), [349]);
}
