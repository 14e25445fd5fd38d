//! Determinants and inverses.

use super::assembly::kernel;
use super::bench::Bench;

/// Runs a body over `n` by `n` matrices, 16 apart in the first buffer; `%m` is that of the lane.
fn run(n: u32, matrices: &[f32], n_results: usize, body: &str) -> Vec<f32> {
    let declarations = format!(
        "OpMemberDecorate %sm 0 Offset 0\nOpMemberDecorate %sm 0 ColMajor\nOpMemberDecorate %sm 0 MatrixStride {}\n\
         OpDecorate %am ArrayStride {}\nOpDecorate %bm Block\nOpMemberDecorate %bm 0 Offset 0\n\
         OpDecorate %vm DescriptorSet 0\nOpDecorate %vm Binding 1\n\
         %col = OpTypeVector %f32 {n}\n%mat = OpTypeMatrix %col {n}\n%sm = OpTypeStruct %mat\n\
         %am = OpTypeRuntimeArray %sm\n%bm = OpTypeStruct %am\n%pbm = OpTypePointer StorageBuffer %bm\n\
         %pm = OpTypePointer StorageBuffer %mat\n%vm = OpVariable %pbm StorageBuffer",
        4 * n,
        4 * n * n,
    );
    let declarations = match n {
        2 => declarations.replace("%col = OpTypeVector %f32 2\n", "").replace("%col", "%v2f32"),
        3 => declarations.replace("%col = OpTypeVector %f32 3\n", "").replace("%col", "%v3f32"),
        _ => declarations.replace("%col = OpTypeVector %f32 4\n", "").replace("%col", "%v4f32"),
    };
    let load = "%mp = OpAccessChain %pm %vm %n0 %i %n0\n%m = OpLoad %mat %mp\n";
    let words = kernel(&[("f32", 4)], &declarations, &format!("{load}{body}"));
    let bench = Bench::new();
    let (results, from) = (bench.buffer(&vec![0f32; n_results]), bench.buffer(matrices));
    bench.run(&words, &[results, from], &[], [1, 1, 1]);
    bench.read(results)
}

#[test]
fn determinants() {
    let body = "%d = OpExtInst %f32 %glsl Determinant %m\n%at = OpAccessChain %p0 %b0 %n0 %i\nOpStore %at %d";
    assert_eq!(run(2, &[1.0, 2.0, 3.0, 4.0, 2.0, 0.0, 0.0, 5.0], 2, body), [-2.0, 10.0]);
    assert_eq!(run(3, &[2.0, 0.0, 1.0, 1.0, 3.0, 2.0, 1.0, 1.0, 1.0], 1, body), [0.0]);
    assert_eq!(run(3, &[2.0, 0.0, 1.0, 1.0, 3.0, 2.0, 1.0, 1.0, 4.0], 1, body), [18.0]);
    let matrix = [1.0, 2.0, 0.0, 1.0, 3.0, 1.0, 1.0, 0.0, 0.0, 2.0, 1.0, 4.0, 2.0, 0.0, 1.0, 1.0];
    assert_eq!(run(4, &matrix, 1, body), [-7.0]);
}

#[test]
fn an_inverse_times_its_matrix_is_one() {
    for n in [2usize, 3, 4] {
        let n_lanes = 4;
        // Integers with a dominant diagonal; their products are exact.
        let matrices: Vec<f32> = (0..n_lanes * n * n)
            .map(|i| {
                let (column, row) = (i % (n * n) / n, i % n);
                ((i * 7 + 3) % 5) as f32 + if column == row { 9.0 } else { 0.0 }
            })
            .collect();
        let columns: String = (0..n)
            .flat_map(|column| (0..n).map(move |row| (column, row)))
            .enumerate()
            .map(|(k, (column, row))| {
                format!(
                    "%e{k} = OpCompositeExtract %f32 %product {column} {row}\n%o{k} = OpIAdd %u32 %base {index}\n\
                     %at{k} = OpAccessChain %p0 %b0 %n0 %o{k}\nOpStore %at{k} %e{k}\n",
                    index = format_args!("%k{k}"),
                )
            })
            .collect();
        let numbers: String = (0..n * n)
            .map(|k| {
                // There are only a few constants: each is one more than the one before.
                match k {
                    0 => "%k0 = OpCopyObject %u32 %n0\n".to_owned(),
                    k => format!("%k{k} = OpIAdd %u32 %k{} %n1\n", k - 1),
                }
            })
            .collect();
        let side = ["%n2", "%n3", "%n4"][n - 2];
        let body = format!(
            "{numbers}%size = OpIMul %u32 {side} {side}\n%base = OpIMul %u32 %i %size\n\
             %inverse = OpExtInst %mat %glsl MatrixInverse %m\n%product = OpMatrixTimesMatrix %mat %inverse %m\n{columns}"
        );
        let products = run(n as u32, &matrices, n_lanes * n * n, &body);
        for (i, value) in products.iter().enumerate() {
            let expected = if i % (n * n) / n == i % n { 1.0 } else { 0.0 };
            assert!((value - expected).abs() < 1e-5, "element {i} of {n}: {value}");
        }
    }
}
