// {"tensors": [["u32", 4], ["u32", 8]], "groups": [2, 1, 1]}
#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
layout(local_size_x = 4) in;
layout(binding = 0) buffer Counters { queuefamilycoherent uint counters[4]; };
layout(binding = 1) workgroupcoherent buffer Cells { uint cells[]; };
shared uint seen;
void main() {
    uint lane = gl_LocalInvocationIndex, i = gl_GlobalInvocationID.x;
    if (lane == 0u) atomicStore(seen, 0u, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsRelease);
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    atomicAdd(counters[0], i, gl_ScopeQueueFamily, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease);
    atomicMax(counters[1], i, gl_ScopeQueueFamily, gl_StorageSemanticsNone, gl_SemanticsRelaxed);
    atomicOr(seen, 1u << lane, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
    cells[i] = i * i;
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer | gl_StorageSemanticsShared,
        gl_SemanticsAcquireRelease | gl_SemanticsMakeAvailable | gl_SemanticsMakeVisible);
    uint next = cells[gl_WorkGroupID.x * 4u + (lane + 1u & 3u)];
    controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease);
    cells[i] = next;
    if (i != 7u) return;
    uint all = atomicLoad(seen, gl_ScopeWorkgroup, gl_StorageSemanticsShared, gl_SemanticsAcquire);
    atomicExchange(counters[2], all, gl_ScopeQueueFamily, gl_StorageSemanticsBuffer, gl_SemanticsRelease);
    atomicCompSwap(counters[3], 0u, 9u, gl_ScopeQueueFamily, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease,
        gl_StorageSemanticsBuffer, gl_SemanticsAcquire);
}
