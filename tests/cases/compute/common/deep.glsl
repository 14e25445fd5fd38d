#pragma once
const vec3 WEIGHTS = vec3(1.0, 2.0, 4.0);
