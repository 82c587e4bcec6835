// The page of a run: decodes the frames, draws the bodies with a projection of its own on a plain canvas, and moves them.
"use strict";
(() => {
const $ = (id) => document.getElementById(id);
const { metadata, film } = JSON.parse($("data").textContent);
const scene = metadata.scene;
const layout = film.layout;

// ---- The frames: count x size numbers of four bytes.
const bytes = Uint8Array.from(atob(film.data), (c) => c.charCodeAt(0));
const numbers = new Float32Array(bytes.buffer);
const size = layout.size;
const count = film.count;
const timeOf = (f) => numbers[f * size];
const end = count > 0 ? timeOf(count - 1) : 0;
const begin = count > 0 ? timeOf(0) : 0;

// ---- The state at a time: the two frames around it, mixed.
function around(t) {
  let low = 0, high = count - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (timeOf(middle) <= t) low = middle; else high = middle;
  }
  const span = timeOf(high) - timeOf(low);
  return [low, high, span > 0 ? Math.min(1, Math.max(0, (t - timeOf(low)) / span)) : 0];
}
function vectorAt(place, mix, length) {
  const [low, high, f] = mix;
  const out = [];
  for (let i = 0; i < length; i++) {
    out.push(numbers[low * size + place + i] * (1 - f) + numbers[high * size + place + i] * f);
  }
  return out;
}
function quaternionAt(place, mix) {
  const [low, high, f] = mix;
  const a = vectorAt(place, [low, low, 0], 4), b = vectorAt(place, [high, high, 0], 4);
  const sign = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] < 0 ? -1 : 1;
  const q = a.map((x, i) => x * (1 - f) + sign * b[i] * f);
  const n = Math.hypot(...q) || 1;
  return q.map((x) => x / n);
}
function posesAt(t) {
  const mix = around(t);
  return layout.poses.map((pose, b) => ({
    m: matrixOf(quaternionAt(pose.q, mix)),
    p: pose.position === null ? scene.bodies[b].position : vectorAt(pose.position, mix, 3),
  }));
}

// ---- The bodies, in faces of their own axes; few of each where there are many.
const sides = scene.bodies.length > 12 ? 10 : 18;
// Okabe and Ito's palette.
const colours = [[0, 114, 178], [213, 94, 0], [0, 158, 115], [204, 121, 167], [230, 159, 0], [86, 180, 233]];
const bodies = scene.bodies.map((body, b) => {
  const faces = [];
  for (const solid of body.solids) {
    const m = matrixOf(solid.q);
    for (const face of facesOf(solid, sides)) {
      const corners = face.map((p) => add(apply(m, p), solid.at));
      // Quarters of what is round are darker, or its spin would not be seen.
      const middle = face.reduce(add);
      corners.dark = solid.kind !== "box" && solid.kind !== "rod" && middle[0] * middle[1] > 0;
      faces.push(corners);
    }
  }
  // Where joints hold it, to be joined with its centre of mass.
  const holds = [];
  for (const joint of scene.joints) for (const end of joint.ends) if (end.body === b) holds.push(end.point);
  const far = Math.max(1e-12, ...faces.flat().map(norm), ...holds.map(norm));
  return { faces, holds, center: body.center, far, colour: colours[b % colours.length] };
});

// ---- The extent of the motion, for the first view.
function extent() {
  let low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity], largest = 0;
  const take = (p, r) => {
    low = low.map((x, i) => Math.min(x, p[i] - r));
    high = high.map((x, i) => Math.max(x, p[i] + r));
  };
  const every = Math.max(1, Math.floor(count / 200));
  for (let f = 0; f < count; f += every) {
    posesAt(timeOf(f)).forEach((pose, b) => take(pose.p, bodies[b].far));
  }
  for (const joint of scene.joints) for (const end of joint.ends) if (end.body === null) take(end.point, 0);
  bodies.forEach((body) => { largest = Math.max(largest, body.far); });
  if (!(low[0] <= high[0])) return { center: [0, 0, 0], radius: 1, largest: 1 };
  return { center: scale(add(low, high), 0.5), radius: Math.max(0.5 * norm(sub(high, low)), 1e-9), largest };
}
const whole = extent();

// ---- A camera that looks at a point.
const gravity = norm(scene.gravity) > 0 ? unit(scene.gravity) : [0, 0, -1];
const up = scale(gravity, -1);
const home = () => {
  // Several bodies have room beside each other where the picture is wide; elsewhere they are seen from farther away.
  const several = $("view").clientWidth > 1.4 * $("view").clientHeight ? 2.3 : 3.4;
  return { turn: 0.7, tilt: 0.42, distance: (scene.bodies.length > 1 ? several : 2.6) * whole.radius, target: whole.center.slice() };
};
let camera = home();
function axesOf(cam, upward) {
  const side = Math.abs(upward[2]) > 0.9 ? [1, 0, 0] : [0, 0, 1];
  const e1 = unit(cross(side, upward)), e2 = cross(upward, e1);
  const flat = add(scale(e1, Math.cos(cam.turn)), scale(e2, Math.sin(cam.turn)));
  const back = add(scale(flat, Math.cos(cam.tilt)), scale(upward, Math.sin(cam.tilt)));
  const right = unit(cross(upward, back));
  return { back, right, top: cross(back, right) };
}
function projector(canvas, cam, upward) {
  const { back, right, top } = axesOf(cam, upward);
  const eye = add(cam.target, scale(back, cam.distance));
  const focus = 1.6 * Math.min(canvas.width, canvas.height);
  const project = (p) => {
    const d = sub(p, eye);
    const depth = -dot(d, back);
    const f = focus / Math.max(depth, 1e-6 * cam.distance);
    return [canvas.width / 2 + f * dot(d, right), canvas.height / 2 - f * dot(d, top), depth];
  };
  return { project, back, right, top };
}
function fit(canvas) {
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  const [w, h] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
  if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; }
  return ratio;
}
const styleOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
function shaded(colour, brightness, alpha) {
  const mix = (x) => Math.round(brightness < 1 ? x * brightness : 255 - (255 - x) * (2 - brightness));
  return `rgba(${mix(colour[0])},${mix(colour[1])},${mix(colour[2])},${alpha})`;
}
function path(ctx, points) {
  ctx.beginPath();
  points.forEach((p, i) => (i === 0 ? ctx.moveTo(p[0], p[1]) : ctx.lineTo(p[0], p[1])));
}

// ---- The main view: everything is put in one list and painted from the back.
const view = $("view");
let traces = false;
function draw(t) {
  const ratio = fit(view);
  const ctx = view.getContext("2d");
  const { project, back, right, top } = projector(view, camera, up);
  ctx.clearRect(0, 0, view.width, view.height);
  ground(ctx, project, ratio);
  const poses = posesAt(t);
  const items = [];
  poses.forEach((pose, b) => {
    const body = bodies[b];
    const put = (p) => add(apply(pose.m, p), pose.p);
    for (const face of body.faces) {
      const corners = face.map(put);
      const normal = unit(cross(sub(corners[1], corners[0]), sub(corners[2], corners[0])));
      const seen = corners.map(project);
      const depth = seen.reduce((sum, p) => sum + p[2], 0) / seen.length;
      // Light from above the shoulder of the viewer; both sides of a face are lit.
      const lamp = unit(add(add(scale(back, 0.7), scale(right, -0.4)), scale(top, 0.6)));
      items.push([depth, 0, seen, shaded(body.colour, (face.dark ? 0.4 : 0.55) + (face.dark ? 0.6 : 0.75) * Math.abs(dot(normal, lamp)), 1)]);
    }
    for (const hold of body.holds) {
      const line = [put(body.center), put(hold)].map(project);
      items.push([(line[0][2] + line[1][2]) / 2, 1, line, shaded(body.colour, 0.8, 1)]);
    }
  });
  for (const joint of scene.joints) {
    const ends = joint.ends.map((e) => (e.body === null ? e.point : add(apply(poses[e.body].m, e.point), poses[e.body].p)));
    const seen = ends.map(project);
    items.push([seen[1][2] - 1e-3 * camera.distance, 2, seen, styleOf("--text")]);
  }
  items.sort((a, b) => b[0] - a[0]);
  ctx.lineJoin = "round";
  for (const [, kind, points, colour] of items) {
    if (points.some((p) => p[2] < 1e-3 * camera.distance)) continue;
    if (kind === 0) {
      path(ctx, points);
      ctx.closePath();
      ctx.fillStyle = colour;
      ctx.strokeStyle = colour;
      ctx.lineWidth = 0.6 * ratio;
      ctx.fill();
      ctx.stroke();
    } else if (kind === 1) {
      path(ctx, points);
      ctx.strokeStyle = colour;
      ctx.lineWidth = 3 * ratio;
      ctx.stroke();
    } else {
      path(ctx, points);
      ctx.strokeStyle = colour;
      ctx.lineWidth = 1.2 * ratio;
      ctx.stroke();
      ctx.beginPath();
      ctx.arc(points[1][0], points[1][1], 3.4 * ratio, 0, 2 * Math.PI);
      ctx.fillStyle = styleOf("--ground");
      ctx.fill();
      ctx.stroke();
    }
  }
  if (traces) drawTraces(ctx, project, t, ratio);
  triad(ctx, right, top, ratio);
}
function ground(ctx, project, ratio) {
  // A grid across gravity, under everything.
  const down = whole.radius * 1.02;
  const base = sub(whole.center, scale(up, down));
  const side = Math.abs(up[2]) > 0.9 ? [1, 0, 0] : [0, 0, 1];
  const e1 = unit(cross(side, up)), e2 = cross(up, e1);
  const step = Math.pow(10, Math.floor(Math.log10(whole.radius)));
  const lines = Math.min(12, Math.ceil(1.6 * whole.radius / step));
  ctx.strokeStyle = styleOf("--line");
  ctx.lineWidth = ratio;
  for (let i = -lines; i <= lines; i++) {
    for (const [a, b] of [[e1, e2], [e2, e1]]) {
      const ends = [-lines, lines].map((k) => project(add(base, add(scale(a, i * step), scale(b, k * step)))));
      if (ends.some((p) => p[2] < 1e-2 * camera.distance)) continue;
      path(ctx, ends);
      ctx.stroke();
    }
  }
}
function triad(ctx, right, top, ratio) {
  const corner = [46 * ratio, view.height - 46 * ratio];
  ctx.font = `${12 * ratio}px system-ui, sans-serif`;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  ["x", "y", "z"].forEach((name, i) => {
    const axis = [0, 0, 0];
    axis[i] = 1;
    const tip = [corner[0] + 28 * ratio * dot(axis, right), corner[1] - 28 * ratio * dot(axis, top)];
    ctx.strokeStyle = ctx.fillStyle = styleOf("--quiet");
    ctx.lineWidth = 1.6 * ratio;
    path(ctx, [corner, tip]);
    ctx.stroke();
    ctx.fillText(name, corner[0] + 38 * ratio * dot(axis, right), corner[1] - 38 * ratio * dot(axis, top));
  });
}
function drawTraces(ctx, project, t, ratio) {
  // The way of each centre of mass; of a body about a fixed point that of its third axis.
  const last = around(t)[0];
  const every = Math.max(1, Math.ceil(count / 1500));
  bodies.slice(0, 12).forEach((body, b) => {
    const fixed = layout.poses[b].position === null && norm(body.center) === 0;
    const point = fixed ? [0, 0, body.far] : body.center;
    const points = [];
    for (let f = 0; f <= last; f += every) {
      const pose = posesAt(timeOf(f))[b];
      points.push(project(add(apply(pose.m, point), pose.p)));
    }
    path(ctx, points);
    ctx.strokeStyle = shaded(body.colour, 0.9, 0.85);
    ctx.lineWidth = 1.4 * ratio;
    ctx.stroke();
  });
}

// ---- Polhode and herpolhode of a single body.
const rolls = layout.omega !== null && scene.inertia !== null;
const omegaOf = (f) => vectorAt(layout.omega, [f, f, 0], 3);
const polhodeView = { turn: 0.6, tilt: 0.4, distance: 1, target: [0, 0, 0] };
let polhodeData = null;
function preparePolhode() {
  const inertia = scene.inertia;
  // Principal axes by Jacobi's rotations.
  const a = [inertia.slice(0, 3), inertia.slice(3, 6), inertia.slice(6, 9)];
  const v = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  for (let sweep = 0; sweep < 30; sweep++) {
    for (const [p, q] of [[0, 1], [0, 2], [1, 2]]) {
      if (Math.abs(a[p][q]) < 1e-300) continue;
      const angle = 0.5 * Math.atan2(2 * a[p][q], a[q][q] - a[p][p]);
      const [c, s] = [Math.cos(angle), Math.sin(angle)];
      for (let k = 0; k < 3; k++) [a[k][p], a[k][q]] = [c * a[k][p] - s * a[k][q], s * a[k][p] + c * a[k][q]];
      for (let k = 0; k < 3; k++) [a[p][k], a[q][k]] = [c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]];
      for (let k = 0; k < 3; k++) [v[k][p], v[k][q]] = [c * v[k][p] - s * v[k][q], s * v[k][p] + c * v[k][q]];
    }
  }
  const moments = [0, 1, 2].map((i) => Math.max(a[i][i], 1e-300));
  const axes = [0, 1, 2].map((i) => [v[0][i], v[1][i], v[2][i]]);
  const every = Math.max(1, Math.ceil(count / 2500));
  const body = [], space = [];
  const momentum = layout.momentum === null ? [0, 0, 1] : vectorAt(layout.momentum, [0, 0, 0], 3);
  const along = unit(momentum);
  const e1 = unit(Math.abs(along[0]) < 0.7 ? cross(along, [1, 0, 0]) : cross(along, [0, 1, 0])), e2 = cross(along, e1);
  for (let f = 0; f < count; f += every) {
    const omega = omegaOf(f);
    body.push(omega);
    const turned = apply(matrixOf(quaternionAt(layout.poses[0].q, [f, f, 0])), omega);
    space.push([dot(turned, e1), dot(turned, e2)]);
  }
  const largest = Math.max(1e-300, ...body.map(norm));
  const twice = (omega) => axes.reduce((sum, axis, i) => sum + moments[i] * dot(axis, omega) ** 2, 0);
  const reach = Math.max(largest, ...body.map((o) => Math.sqrt(twice(o) / Math.min(...moments))));
  // The names of the axes are inside too.
  polhodeView.distance = 5.2 * reach;
  polhodeData = { moments, axes, body, space, twice, e1, e2, every, mesh: ball(28, 16) };
}
function drawPolhode(t) {
  const canvas = $("polhode"), ratio = fit(canvas), ctx = canvas.getContext("2d");
  const { project, back, right, top } = projector(canvas, polhodeView, [0, 0, 1]);
  const { moments, axes, body, twice, mesh } = polhodeData;
  ctx.clearRect(0, 0, canvas.width, canvas.height);
  const now = vectorAt(layout.omega, around(t), 3);
  const radii = moments.map((m) => Math.sqrt(twice(now) / m));
  const put = (p) => axes.reduce((sum, axis, i) => add(sum, scale(axis, p[i] * radii[i])), [0, 0, 0]);
  const grey = [150, 165, 185];
  const faces = mesh.map((face) => face.map(put)).map((corners) => {
    const seen = corners.map(project);
    const outward = unit(corners.reduce(add));
    return [seen.reduce((s, p) => s + p[2], 0) / seen.length, seen, outward];
  }).filter(([, , outward]) => dot(outward, back) > -0.15).sort((a, b) => b[0] - a[0]);
  for (const [, seen, outward] of faces) {
    path(ctx, seen);
    ctx.closePath();
    ctx.fillStyle = ctx.strokeStyle = shaded(grey, 0.75 + 0.5 * Math.max(0, dot(outward, unit(add(add(back, scale(right, -0.5)), scale(top, 0.7))))), 1);
    ctx.lineWidth = ratio;
    ctx.fill();
    ctx.stroke();
  }
  // The part of the curve behind the ellipsoid is thin.
  const eye = scale(back, polhodeView.distance);
  const hidden = (omega) => {
    const normal = axes.reduce((sum, axis, i) => add(sum, scale(axis, moments[i] * dot(axis, omega))), [0, 0, 0]);
    return dot(normal, sub(eye, omega)) < 0;
  };
  for (const behind of [true, false]) {
    ctx.strokeStyle = shaded([213, 94, 0], 1, behind ? 0.3 : 1);
    ctx.lineWidth = (behind ? 1.2 : 2.2) * ratio;
    ctx.beginPath();
    body.forEach((omega, i) => {
      if (i === 0 || hidden(omega) !== behind) return;
      const [a, b] = [project(body[i - 1]), project(omega)];
      ctx.moveTo(a[0], a[1]);
      ctx.lineTo(b[0], b[1]);
    });
    ctx.stroke();
  }
  const tip = project(now);
  ctx.beginPath();
  ctx.arc(tip[0], tip[1], 5 * ratio, 0, 2 * Math.PI);
  ctx.fillStyle = shaded([0, 114, 178], 1, hidden(now) ? 0.4 : 1);
  ctx.fill();
  axes.forEach((axis, i) => {
    const far = project(scale(axis, 1.25 * radii[i]));
    const near = project(scale(axis, radii[i]));
    if (dot(axis, back) < -0.1) return;
    path(ctx, [near, far]);
    ctx.strokeStyle = ctx.fillStyle = styleOf("--quiet");
    ctx.lineWidth = 1.4 * ratio;
    ctx.stroke();
    ctx.font = `${12 * ratio}px system-ui, sans-serif`;
    ctx.fillText(`J${"₁₂₃"[i]}`, far[0] + 4 * ratio, far[1]);
  });
}
function drawHerpolhode(t) {
  const canvas = $("herpolhode"), ratio = fit(canvas), ctx = canvas.getContext("2d");
  const { space, e1, e2, every } = polhodeData;
  ctx.clearRect(0, 0, canvas.width, canvas.height);
  const reach = Math.max(1e-300, ...space.map((p) => Math.hypot(p[0], p[1])));
  const f = 0.43 * Math.min(canvas.width, canvas.height) / reach;
  const put = (p) => [canvas.width / 2 + f * p[0], canvas.height / 2 - f * p[1]];
  ctx.strokeStyle = styleOf("--line");
  ctx.lineWidth = ratio;
  for (const line of [[[-reach, 0], [reach, 0]], [[0, -reach], [0, reach]]]) { path(ctx, line.map(put)); ctx.stroke(); }
  const upTo = Math.floor(around(t)[0] / every);
  const parts = [[space, 0.55], [space.slice(0, upTo + 1), 1]];
  for (const [points, alpha] of parts) {
    path(ctx, points.map(put));
    ctx.strokeStyle = shaded([213, 94, 0], 1, alpha);
    ctx.lineWidth = 1.5 * ratio;
    ctx.stroke();
  }
  const mix = around(t);
  const turned = apply(matrixOf(quaternionAt(layout.poses[0].q, mix)), vectorAt(layout.omega, mix, 3));
  const at = put([dot(turned, e1), dot(turned, e2)]);
  ctx.beginPath();
  ctx.arc(at[0], at[1], 5 * ratio, 0, 2 * Math.PI);
  ctx.fillStyle = shaded([0, 114, 178], 1, 1);
  ctx.fill();
  ctx.font = `${12 * ratio}px system-ui, sans-serif`;
  ctx.fillStyle = styleOf("--quiet");
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  ctx.fillText(`largest distance from the axis ${reach.toPrecision(3)} rad/s`, 12 * ratio, canvas.height - 12 * ratio);
}

// ---- A line at the time that is shown, in every chart.
const cursors = [...document.querySelectorAll('#charts svg rect[fill="none"]')].map((frame) => {
  const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(frame.getAttribute(name)));
  const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
  line.setAttribute("y1", y);
  line.setAttribute("y2", y + height);
  line.setAttribute("stroke", "#666");
  frame.after(line);
  return (part) => ["x1", "x2"].forEach((name) => line.setAttribute(name, x + width * part));
});

// ---- Time.
let now = begin, playing = false, before = 0;
const slider = $("slider"), speed = $("speed");
slider.min = begin;
slider.max = end;
// Speeds so that the whole takes from a few seconds to real time and slower.
const length = Math.max(end - begin, 1e-12);
const round = (x) => Number(x.toPrecision(1));
const choices = [...new Set([0.01, 0.1, 0.25, 0.5, 1, 2, 5, 10].concat([length / 60, length / 15, length / 5].map(round)))]
  .filter((s) => length / s > 0.5 && length / s < 3600).sort((a, b) => a - b);
if (choices.length === 0) choices.push(round(length / 10));
const usual = choices.reduce((best, s) => {
  // Real time where that takes a bearable while, ten seconds otherwise.
  const cost = (x) => Math.abs(Math.log(length / x / 12)) - (x === 1 ? 1.1 : 0);
  return cost(s) < cost(best) ? s : best;
});
for (const s of choices) {
  const option = document.createElement("option");
  option.value = s;
  option.textContent = `× ${s}`;
  option.selected = s === usual;
  speed.append(option);
}
const digits = Math.max(0, Math.min(9, 3 - Math.floor(Math.log10(length))));
let asked = false;
function show() {
  slider.value = now;
  $("time").textContent = `t = ${now.toFixed(digits)} s`;
  if (asked) return;
  asked = true;
  requestAnimationFrame((stamp) => { asked = false; paint(stamp); });
}
function paint(stamp) {
  if (playing) {
    now += Math.min(0.1, Math.max(0, (stamp - before) / 1000)) * Number(speed.value);
    before = stamp;
    if (now >= end) { now = end; setPlaying(false); }
  }
  if (count > 0) draw(now);
  if (rolls && count > 0) { drawPolhode(now); drawHerpolhode(now); }
  cursors.forEach((put) => put((now - begin) / length));
  slider.value = now;
  $("time").textContent = `t = ${now.toFixed(digits)} s`;
  if (playing && !asked) { asked = true; requestAnimationFrame((next) => { asked = false; paint(next); }); }
}
function setPlaying(on) {
  if (on && now >= end) now = begin;
  playing = on;
  before = performance.now();
  $("play").textContent = on ? "❚❚" : "▶";
  $("play").setAttribute("aria-label", on ? "Pause" : "Play");
  if (on) show();
}
$("play").addEventListener("click", () => setPlaying(!playing));
slider.addEventListener("input", () => { now = Number(slider.value); show(); });
$("home").addEventListener("click", () => { camera = home(); show(); });
$("trace").addEventListener("change", (event) => { traces = event.target.checked; show(); });

// ---- Turning and zooming, by mouse, fingers and keys.
function steer(canvas, cam) {
  const fingers = new Map();
  let apart = 0;
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, [event.clientX, event.clientY]);
    apart = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const old = fingers.get(event.pointerId);
    if (!old) return;
    const [dx, dy] = [event.clientX - old[0], event.clientY - old[1]];
    fingers.set(event.pointerId, [event.clientX, event.clientY]);
    const view = cam();
    if (fingers.size === 2) {
      const [a, b] = [...fingers.values()];
      const distance = Math.hypot(a[0] - b[0], a[1] - b[1]);
      if (apart > 0) view.distance *= apart / distance;
      apart = distance;
    } else if (event.shiftKey || event.buttons === 4) {
      move(view, canvas, dx, dy);
    } else {
      turn(view, -0.008 * dx, 0.008 * dy);
    }
    show();
  });
  for (const name of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(name, (event) => { fingers.delete(event.pointerId); apart = 0; });
  }
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    cam().distance *= Math.exp(0.0012 * event.deltaY);
    show();
  }, { passive: false });
}
function turn(view, by, tilt) {
  view.turn += by;
  view.tilt = Math.max(-1.55, Math.min(1.55, view.tilt + tilt));
}
function move(view, canvas, dx, dy) {
  const { right, top } = axesOf(view, up);
  const f = view.distance / (1.6 * Math.min(canvas.clientWidth, canvas.clientHeight));
  view.target = add(view.target, add(scale(right, -dx * f), scale(top, dy * f)));
}
steer(view, () => camera);
view.addEventListener("keydown", (event) => {
  const keys = {
    ArrowLeft: () => turn(camera, -0.1, 0), ArrowRight: () => turn(camera, 0.1, 0),
    ArrowUp: () => turn(camera, 0, 0.1), ArrowDown: () => turn(camera, 0, -0.1),
    "+": () => { camera.distance /= 1.15; }, "=": () => { camera.distance /= 1.15; }, "-": () => { camera.distance *= 1.15; },
    Home: () => { camera = home(); }, " ": () => setPlaying(!playing),
  };
  if (keys[event.key]) { event.preventDefault(); keys[event.key](); show(); }
});
if (rolls) {
  preparePolhode();
  $("curves").hidden = false;
  steer($("polhode"), () => polhodeView);
}
window.addEventListener("resize", show);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);

// ---- Words and numbers.
const few = (x) => (typeof x !== "number" ? String(x) : x === 0 ? "0" : Math.abs(x) >= 1e-3 && Math.abs(x) < 1e6 ? String(Number(x.toPrecision(6))) : x.toExponential(2));
$("title").textContent = metadata.title || metadata.model;
$("subtitle").textContent = `${metadata.model} · ${metadata.method} · step ${few(metadata.step)} s · ${metadata.steps} steps` + (metadata.finished ? "" : " · stopped early");
function card(title, rows) {
  if (rows.length === 0) return;
  const box = document.createElement("div");
  box.className = "card";
  const head = document.createElement("h2");
  head.textContent = title;
  const table = document.createElement("table");
  for (const cells of rows) {
    const row = table.insertRow();
    cells.forEach((cell, i) => {
      const place = document.createElement(i === 0 ? "th" : "td");
      if (i === 0) place.scope = "row";
      place.textContent = cell;
      row.append(place);
    });
  }
  box.append(head, table);
  $("numbers").append(box);
}
const words = (name) => name.replaceAll("_", " ");
const still = layout.momentum !== null && norm(vectorAt(layout.momentum, [0, 0, 0], 3)) === 0;
const drifts = {
  momentum_space: ["angular momentum in space", "kg m²/s"], linear_momentum_space: ["linear momentum in space", "kg m/s"],
  momentum_body: ["length of body momentum", still ? "kg m²/s" : "relative"], momentum_vertical: ["vertical momentum in space", "kg m²/s"],
  momentum_axial: ["momentum about body axis 3", "kg m²/s"],
};
card("Largest drift over the run", Object.entries(metadata.drift).map(([name, d]) => {
  const [title, unit] = drifts[name] ?? [words(name), d.unit];
  return [title, `${few(d.largest)} ${unit}`, d.says];
})
  .concat(metadata.violation ? [["joints, positions", few(metadata.violation.position), "m or rad"], ["joints, velocities", few(metadata.violation.velocity), "m/s or rad/s"]] : []));
const newton = metadata.newton;
card("Newton's method", newton.solves > 0 ? [
  ["iterations", newton.iterations], ["per step", few(newton.iterations / Math.max(1, metadata.steps))], ["most in one solve", newton.most_iterations],
  ["Jacobians", newton.jacobians], ["retries", newton.retries]] : [["no equations to solve", "the method is explicit"]]);
card("Settings", [["model", metadata.model], ["model hash", metadata.model_hash ?? "unknown"], ["method", metadata.method],
  ["step", `${few(metadata.step)} s`], ["end", `${few(metadata.until)} s`], ["degrees of freedom", metadata.degrees_of_freedom],
  ["frames here", `${count} of ${film.rows} rows`], ["polhode", metadata.polhode]]);
card("Parameters", Object.entries(metadata.parameters).filter(([, v]) => v.length > 0).map(([name, v]) => [name, v.map(few).join(", ")]));
show();
})();
