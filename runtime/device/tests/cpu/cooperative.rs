//! Cooperative matrices of a subgroup.

use half::f16;
use kps_device::{Command, PipelineOptions};

use super::assembly::{Named, kernel_of};
use super::bench::Bench;

struct Sizes {
    rows: usize,
    inner: usize,
    columns: usize,
}

/// `C := A B + C`, all row-major except for `B`, which is column-major; in subgroups of this size.
fn product<T: Named, R: Named>(
    sizes: &Sizes,
    size: u32,
    operands: &str,
    (a, b, c): (&[T], &[T], &[R]),
) -> Vec<R> {
    let Sizes { rows, inner, columns } = *sizes;
    let (t, r) = (T::NAME, R::NAME);
    let declarations = format!(
        "%rows = OpConstant %u32 {rows}\n%inner = OpConstant %u32 {inner}\n%columns = OpConstant %u32 {columns}\n\
         %ma = OpTypeCooperativeMatrixKHR %{t} %n3 %rows %inner %n0\n\
         %mb = OpTypeCooperativeMatrixKHR %{t} %n3 %inner %columns %n1\n\
         %mc = OpTypeCooperativeMatrixKHR %{r} %n3 %rows %columns %n2"
    );
    let body = format!(
        "%pa = OpAccessChain %p0 %b0 %n0 %n0\n%pb = OpAccessChain %p1 %b1 %n0 %n0\n%pc = OpAccessChain %p2 %b2 %n0 %n0\n\
         %a = OpCooperativeMatrixLoadKHR %ma %pa %n0 %inner\n%b = OpCooperativeMatrixLoadKHR %mb %pb %n1 %inner\n\
         %c = OpCooperativeMatrixLoadKHR %mc %pc %n0 %columns\n\
         %d = OpCooperativeMatrixMulAddKHR %mc %a %b %c {operands}\n\
         OpCooperativeMatrixStoreKHR %pc %d %n0 %columns"
    );
    let element = |name, bytes: usize| (name, bytes as u32);
    let elements = [element(t, size_of::<T>()), element(t, size_of::<T>()), element(r, size_of::<R>())];
    let words = kernel_of(size, &elements, &declarations, "", &body);
    let bench = Bench::new();
    let buffers = [bench.buffer(a), bench.buffer(b), bench.buffer(c)];
    let options = PipelineOptions { subgroup_size: Some(size), ..PipelineOptions::default() };
    let dispatch = bench.dispatch_with(&words, &options, &buffers, &[], [1, 1, 1]);
    bench.submit(vec![Command::Dispatch(dispatch)]).expect("it runs");
    bench.read(buffers[2])
}

/// The same in plain loops.
fn expected(sizes: &Sizes, (a, b, c): (&[f64], &[f64], &[f64])) -> Vec<f64> {
    let Sizes { rows, inner, columns } = *sizes;
    let at = |row: usize, column: usize| {
        let terms = (0..inner).map(|k| a[row * inner + k] * b[column * inner + k]);
        c[row * columns + column] + terms.sum::<f64>()
    };
    (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))).map(|(r, c)| at(r, c)).collect()
}

fn numbers(n: usize, step: usize, most: usize) -> Vec<f64> {
    (0..n).map(|i| ((i * step + 3) % most) as f64 - (most / 2) as f64).collect()
}

#[test]
fn products_of_floats() {
    // With the last size, some lanes lack a last component.
    for (rows, inner, columns) in [(16, 16, 16), (8, 4, 16), (3, 5, 7)] {
        let sizes = Sizes { rows, inner, columns };
        let (a, b) = (numbers(rows * inner, 7, 11), numbers(inner * columns, 5, 13));
        let c = numbers(rows * columns, 3, 9);
        let sums = expected(&sizes, (&a, &b, &c));
        let halves = |values: &[f64]| values.iter().map(|&x| f16::from_f64(x)).collect::<Vec<_>>();
        let floats = |values: &[f64]| values.iter().map(|&x| x as f32).collect::<Vec<_>>();
        for size in [4, 8, 32] {
            let results: Vec<f32> = product(&sizes, size, "", (&halves(&a), &halves(&b), &floats(&c)));
            assert_eq!(results, floats(&sums), "{rows} {inner} {columns} in subgroups of {size}");
            let results: Vec<f16> = product(&sizes, size, "", (&halves(&a), &halves(&b), &halves(&c)));
            assert_eq!(results, halves(&sums));
        }
    }
}

#[test]
fn products_of_ints() {
    let sizes = Sizes { rows: 16, inner: 32, columns: 16 };
    let (a, b) = (numbers(512, 31, 255), numbers(512, 17, 251));
    let c = numbers(256, 3, 9);
    let sums = expected(&sizes, (&a, &b, &c));
    let bytes = |values: &[f64]| values.iter().map(|&x| x as i8).collect::<Vec<_>>();
    let wide: Vec<i32> = c.iter().map(|&x| x as i32).collect();
    let signed = "MatrixASignedComponentsKHR|MatrixBSignedComponentsKHR|MatrixCSignedComponentsKHR|\
                  MatrixResultSignedComponentsKHR";
    let results: Vec<i32> = product(&sizes, 8, signed, (&bytes(&a), &bytes(&b), &wide));
    assert_eq!(results, sums.iter().map(|&sum| sum as i32).collect::<Vec<_>>());
    let most = vec![i32::MAX; 256];
    let saturating = format!("{signed}|SaturatingAccumulationKHR");
    let results: Vec<i32> = product(&sizes, 8, &saturating, (&bytes(&a), &bytes(&b), &most));
    let products = expected(&sizes, (&a, &b, &vec![0.0; 256]));
    let sum = |&product: &f64| i32::MAX.saturating_add(product as i32);
    assert_eq!(results, products.iter().map(sum).collect::<Vec<_>>());
}

/// A module for tests that corrupt it.
pub fn module() -> Vec<u32> {
    let declarations =
        "%m = OpTypeCooperativeMatrixKHR %f32 %n3 %n4 %n5 %n2\n%two = OpConstantComposite %m %f2";
    let body = "%p = OpAccessChain %p0 %b0 %n0 %n0\n\
                %x = OpCooperativeMatrixLoadKHR %m %p %n0 %n8\n\
                %y = OpFAdd %m %x %two\n%z = OpMatrixTimesScalar %m %y %f2\n%one = OpCompositeConstruct %m %f1\n\
                %w = OpFSub %m %z %one\nOpCooperativeMatrixStoreKHR %p %w %n0 %n8";
    kernel_of(8, &[("f32", 4)], declarations, "", body)
}

#[test]
fn components_are_changed_one_by_one() {
    let words = module();
    let bench = Bench::new();
    let buffer = bench.buffer(&(0..32).map(|i| i as f32).collect::<Vec<_>>());
    bench.run(&words, &[buffer], &[], [1, 1, 1]);
    let expected = (0..32).map(|i| if i % 8 < 5 { 2.0 * (i as f32 + 2.0) - 1.0 } else { i as f32 });
    assert_eq!(bench.read::<f32>(buffer), expected.collect::<Vec<_>>());
}
