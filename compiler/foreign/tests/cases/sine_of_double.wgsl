@group(0) @binding(0) var<storage, read_write> data: array<f64>;
@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) { data[0] = 1.0lf; data[1] = f64(2.0); data[2] = sqrt(data[0]); data[3] = sin(data[1]); }
