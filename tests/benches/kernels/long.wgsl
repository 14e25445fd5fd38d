// long.kps in WGSL, line for line where the languages allow it.
struct Frame { time: f32, width: i32, height: i32 }
@group(0) @binding(0) var<storage, read_write> image: array<f32>;
@group(0) @binding(1) var<uniform> frame: Frame;

fn hash(x: f32, y: f32) -> f32 {
    let n = sin(x * 12.9898 + y * 78.233) * 43758.547;
    return fract(n);
}

fn noise(x: f32, y: f32) -> f32 {
    let ix = floor(x);
    let iy = floor(y);
    let fx = fract(x);
    let fy = fract(y);
    let ux = fx * fx * (3.0 - 2.0 * fx);
    let uy = fy * fy * (3.0 - 2.0 * fy);
    let a = hash(ix, iy);
    let b = hash(ix + 1.0, iy);
    let c = hash(ix, iy + 1.0);
    let d = hash(ix + 1.0, iy + 1.0);
    let low = a + (b - a) * ux;
    let high = c + (d - c) * ux;
    return low + (high - low) * uy;
}

fn layered_noise(x: f32, y: f32, octaves: i32) -> f32 {
    var total = 0.0;
    var amplitude = 0.5;
    var px = x;
    var py = y;
    for (var octave = 0; octave < octaves; octave++) {
        total += amplitude * noise(px, py);
        amplitude *= 0.5;
        let turned = 1.6 * px - 1.2 * py;
        py = 1.2 * px + 1.6 * py;
        px = turned;
    }
    return total;
}

fn sphere(p: vec3f, radius: f32) -> f32 {
    return length(p) - radius;
}

fn box(p: vec3f, size: vec3f) -> f32 {
    let qx = abs(p.x) - size.x;
    let qy = abs(p.y) - size.y;
    let qz = abs(p.z) - size.z;
    let outside = length(vec3f(max(qx, 0.0), max(qy, 0.0), max(qz, 0.0)));
    let inside = min(max(qx, max(qy, qz)), 0.0);
    return outside + inside;
}

fn torus(p: vec3f, major: f32, minor: f32) -> f32 {
    let ring = length(vec2f(p.x, p.z)) - major;
    return length(vec2f(ring, p.y)) - minor;
}

fn smooth_min(a: f32, b: f32, k: f32) -> f32 {
    let h = clamp(0.5 + 0.5 * (b - a) / k, 0.0, 1.0);
    return b + (a - b) * h - k * h * (1.0 - h);
}

fn turn_y(p: vec3f, angle: f32) -> vec3f {
    let c = cos(angle);
    let s = sin(angle);
    return vec3f(c * p.x - s * p.z, p.y, s * p.x + c * p.z);
}

fn scene(p: vec3f, time: f32) -> f32 {
    let ground = p.y + 1.0 + 0.1 * layered_noise(p.x * 0.7, p.z * 0.7, 3);
    let bob = 0.3 * sin(time);
    let ball = sphere(p - vec3f(0.0, bob, 0.0), 0.8);
    let block = box(turn_y(p - vec3f(1.9, -0.3, 0.4), time * 0.5), vec3f(0.5, 0.5, 0.5)) - 0.05;
    let ring = torus(p - vec3f(-1.9, -0.4, 0.2), 0.7, 0.2);
    var things = smooth_min(ball, block, 0.3);
    things = smooth_min(things, ring, 0.3);
    return min(ground, things);
}

fn material(p: vec3f, time: f32) -> i32 {
    let bob = 0.3 * sin(time);
    let ground = p.y + 1.0 + 0.1 * layered_noise(p.x * 0.7, p.z * 0.7, 3);
    let ball = sphere(p - vec3f(0.0, bob, 0.0), 0.8);
    let block = box(turn_y(p - vec3f(1.9, -0.3, 0.4), time * 0.5), vec3f(0.5, 0.5, 0.5));
    let ring = torus(p - vec3f(-1.9, -0.4, 0.2), 0.7, 0.2);
    var best = ground;
    var which = 0;
    if ball < best {
        best = ball;
        which = 1;
    }
    if block < best {
        best = block;
        which = 2;
    }
    if ring < best {
        best = ring;
        which = 3;
    }
    return which;
}

fn normal(p: vec3f, time: f32) -> vec3f {
    let e = 0.001;
    let dx = scene(p + vec3f(e, 0.0, 0.0), time) - scene(p - vec3f(e, 0.0, 0.0), time);
    let dy = scene(p + vec3f(0.0, e, 0.0), time) - scene(p - vec3f(0.0, e, 0.0), time);
    let dz = scene(p + vec3f(0.0, 0.0, e), time) - scene(p - vec3f(0.0, 0.0, e), time);
    return normalize(vec3f(dx, dy, dz));
}

fn march(origin: vec3f, direction: vec3f, time: f32, limit: f32) -> f32 {
    var t = 0.0;
    for (var step = 0; step < 96; step++) {
        let d = scene(origin + direction * t, time);
        if d < 0.001 * t + 0.0005 {
            return t;
        }
        t += d;
        if t > limit {
            break;
        }
    }
    return -1.0;
}

fn soft_shadow(origin: vec3f, direction: vec3f, time: f32) -> f32 {
    var shade = 1.0;
    var t = 0.05;
    for (var step = 0; step < 32; step++) {
        let d = scene(origin + direction * t, time);
        if d < 0.001 {
            return 0.0;
        }
        shade = min(shade, 8.0 * d / t);
        t += clamp(d, 0.02, 0.3);
        if t > 6.0 {
            break;
        }
    }
    return clamp(shade, 0.0, 1.0);
}

fn occlusion(p: vec3f, n: vec3f, time: f32) -> f32 {
    var total = 0.0;
    var weight = 1.0;
    for (var k = 1; k < 6; k++) {
        let distance_out = 0.08 * f32(k);
        let d = scene(p + n * distance_out, time);
        total += weight * max(distance_out - d, 0.0);
        weight *= 0.6;
    }
    return clamp(1.0 - 2.0 * total, 0.0, 1.0);
}

fn sky(direction: vec3f) -> vec3f {
    let up = clamp(0.5 * direction.y + 0.5, 0.0, 1.0);
    let low = vec3f(0.9, 0.8, 0.7);
    let high = vec3f(0.3, 0.5, 0.9);
    return low * (1.0 - up) + high * up;
}

fn base_colour(p: vec3f, which: i32) -> vec3f {
    if which == 0 {
        let checker = (i32(floor(p.x)) + i32(floor(p.z))) & 1;
        let shade = select(0.55, 0.35, checker == 0);
        return vec3f(shade, shade, shade * 0.9);
    } else if which == 1 {
        return vec3f(0.9, 0.3, 0.2);
    } else if which == 2 {
        let stripe = fract(p.y * 6.0);
        return select(vec3f(0.1, 0.3, 0.6), vec3f(0.2, 0.5, 0.8), stripe < 0.5);
    } else {
        return vec3f(0.8, 0.7, 0.2);
    }
}

fn tone_map(x: f32) -> f32 {
    let mapped = x * (2.51 * x + 0.03) / (x * (2.43 * x + 0.59) + 0.14);
    return pow(clamp(mapped, 0.0, 1.0), 1.0 / 2.2);
}

fn vignette(u: f32, v: f32) -> f32 {
    let edge = clamp(1.2 - 0.25 * (u * u + v * v), 0.0, 1.0);
    return edge * edge;
}

fn dither(px: i32, py: i32) -> f32 {
    var table = array<f32, 16>(0.0, 8.0, 2.0, 10.0, 12.0, 4.0, 14.0, 6.0, 3.0, 11.0, 1.0, 9.0, 15.0, 7.0, 13.0, 5.0);
    return (table[(py & 3) * 4 + (px & 3)] / 16.0 - 0.5) / 255.0;
}

@compute @workgroup_size(16, 16)
fn render(@builtin(global_invocation_id) id: vec3u) {
    let px = i32(id.x);
    let py = i32(id.y);
    if px >= frame.width || py >= frame.height {
        return;
    }
    let time = frame.time;
    let aspect = f32(frame.width) / f32(frame.height);
    let u = (2.0 * (f32(px) + 0.5) / f32(frame.width) - 1.0) * aspect;
    let v = 1.0 - 2.0 * (f32(py) + 0.5) / f32(frame.height);

    let eye = vec3f(4.0 * sin(time * 0.2), 1.2, 4.0 * cos(time * 0.2));
    let forward = normalize(-eye);
    let right = normalize(cross(forward, vec3f(0.0, 1.0, 0.0)));
    let up = cross(right, forward);
    let ray = normalize(forward * 1.8 + right * u + up * v);
    let light = normalize(vec3f(0.6, 0.8, 0.3));

    var colour = sky(ray);
    let t = march(eye, ray, time, 20.0);
    if t > 0.0 {
        let p = eye + ray * t;
        let n = normal(p, time);
        let albedo = base_colour(p, material(p, time));
        var diffuse = max(dot(n, light), 0.0);
        if diffuse > 0.0 {
            diffuse *= soft_shadow(p + n * 0.01, light, time);
        }
        let half_way = normalize(light - ray);
        let glint = pow(max(dot(n, half_way), 0.0), 32.0);
        let open_sky = occlusion(p, n, time);
        var lit = albedo * (0.25 * open_sky + 0.9 * diffuse);
        lit = lit + vec3f(1.0, 0.95, 0.9) * (0.4 * glint * diffuse);
        let fog = 1.0 - exp(-0.01 * t * t);
        colour = lit * (1.0 - fog) + colour * fog;
    }

    // Darker to the corners, and a little unevenness against banding.
    colour = colour * vignette(u, v);
    let grain = dither(px, py);

    let at = 3 * (py * frame.width + px);
    image[at] = tone_map(colour.x) + grain;
    image[at + 1] = tone_map(colour.y) + grain;
    image[at + 2] = tone_map(colour.z) + grain;
}
