// {"tensors": [["u32", 16], ["u32", 16]], "groups": [16, 1, 1]}
#version 450
#extension GL_EXT_null_initializer : require
layout(local_size_x = 1) in;
layout(binding = 0) writeonly buffer Before { uint before[]; };
layout(binding = 1) writeonly buffer After { uint after[]; };
struct Pair { uint count; float weights[2]; };
shared Pair pairs[2] = {};
shared uint total = {};
// Every workgroup finds zeros, whatever those before it have left.
void main() {
    uint i = gl_WorkGroupID.x;
    before[i] = pairs[1].count + uint(pairs[0].weights[1]);
    pairs[1].count = i + 1u;
    pairs[0].weights[1] = 5.0;
    atomicAdd(total, i);
    after[i] = total * 100u + pairs[1].count + pairs[0].count;
}
