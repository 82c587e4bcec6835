// Vectors, rotations, and solids as faces: what the page of a run is drawn with.
"use strict";

// ---- Vectors and quaternions (w, x, y, z).
const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const scale = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const norm = (a) => Math.hypot(a[0], a[1], a[2]);
const unit = (a) => { const n = norm(a); return n > 0 ? scale(a, 1 / n) : [0, 0, 1]; };
const matrixOf = ([w, x, y, z]) => [
  1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
  2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
  2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)];
const apply = (m, v) => [m[0] * v[0] + m[1] * v[1] + m[2] * v[2], m[3] * v[0] + m[4] * v[1] + m[5] * v[2], m[6] * v[0] + m[7] * v[1] + m[8] * v[2]];

// ---- Solids as faces: lists of corners in body axes.
function revolution(profile, sides) {
  // The profile is a list of [radius, height]; neighbours make a ring of faces.
  const faces = [];
  const point = ([r, z], k) => [r * Math.cos(2 * Math.PI * k / sides), r * Math.sin(2 * Math.PI * k / sides), z];
  for (let i = 0; i + 1 < profile.length; i++) {
    for (let k = 0; k < sides; k++) {
      const [a, b] = [profile[i], profile[i + 1]];
      const face = [point(a, k)];
      if (a[0] > 0) face.push(point(a, k + 1));
      face.push(point(b, k + 1));
      if (b[0] > 0) face.push(point(b, k));
      if (face.length > 2) faces.push(face);
    }
  }
  return faces;
}
function ball(sides, rings) {
  const profile = [];
  for (let i = 0; i <= rings; i++) {
    const angle = Math.PI * i / rings;
    profile.push([i === 0 || i === rings ? 0 : Math.sin(angle), -Math.cos(angle)]);
  }
  return revolution(profile, sides);
}
function facesOf(solid, sides) {
  const [a, b, c] = solid.sizes;
  switch (solid.kind) {
    case "box": {
      const [x, y, z] = [a / 2, b / 2, c / 2];
      const corner = (i) => [i & 1 ? x : -x, i & 2 ? y : -y, i & 4 ? z : -z];
      return [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]].map((f) => f.map(corner));
    }
    case "sphere": return ball(sides, sides / 2).map((f) => f.map((p) => scale(p, a)));
    case "ellipsoid": return ball(sides, sides / 2).map((f) => f.map((p) => [p[0] * a, p[1] * b, p[2] * c]));
    case "cylinder": return revolution([[0, -b / 2], [a, -b / 2], [a, b / 2], [0, b / 2]], sides);
    case "tube": return revolution([[b, -c / 2], [a, -c / 2], [a, c / 2], [b, c / 2], [b, -c / 2]], sides);
    case "cone": return revolution([[0, 0], [a, b], [0, b]], sides);
    default: { // A rod along x, of a thickness that can be seen.
      const r = a * 0.02;
      return revolution([[0, 0], [r, 0], [r, a], [0, a]], 8).map((f) => f.map(([x, y, z]) => [z, x, y]));
    }
  }
}
