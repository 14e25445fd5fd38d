#version 450
layout(local_size_x = 64) in;
layout(binding = 0) buffer Bins { uint bins[]; };

void main() {
    atomicAdd(bins[gl_GlobalInvocationID.x % 4u], 1u);
}
