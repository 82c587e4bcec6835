//! Frames and joints of a model file.

use super::attitude::{Attitude, direction};
use super::build::{Builder, did_you_mean};
use super::keys::{FRAME, JOINT, JOINT_TYPES};
use super::loads::StateExpression;
use super::number::{Number, Numbers, Scope, Values};
use super::place::{Fault, Span, Spot};
use super::signals::{Drive, JointSpring, Motor, Seen, Watch, of_time_alone};
use super::table::Table;
use super::tree::Kind;
use crate::group::Rotation;
use crate::lookup::plain;
use crate::multibody::{Coordinate, End, JointKind, OwnForce, OwnJoint, Signal};
use crate::scalar::{Dual, Scalar};
use nalgebra::{Matrix3, Vector3};

/// A frame as the file has it.
#[derive(Clone, Debug)]
pub(super) struct FrameDraft {
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) count: Option<Number>,
    pub(super) body: (String, Span),
    pub(super) at: Option<Numbers>,
    attitude: Option<Attitude>,
}

impl FrameDraft {
    pub(super) fn read(name: &str, table: &Table<'_>, scope: &Scope<'_>) -> Result<FrameDraft, Fault> {
        table.only(FRAME)?;
        let scope = &scope.counted(table.entry("count").is_some());
        let missing = || Fault::new(&table.span, format!("{} needs `body`", table.name));
        Ok(FrameDraft {
            name: name.into(),
            span: table.span.clone(),
            count: table.number("count", scope)?,
            body: table.text("body")?.ok_or_else(missing)?,
            at: table.numbers("at", &[3], scope)?,
            attitude: Attitude::read(table, scope)?,
        })
    }
    pub(super) fn point<S: Scalar>(&self, values: &Values<S>) -> Result<Vector3<S>, Fault> {
        self.at.as_ref().map_or(Ok(Vector3::zeros()), |at| at.vector(values))
    }
    pub(super) fn build<S: Scalar>(
        &self,
        name: &str,
        body: &str,
        values: &Values<S>,
        builder: &mut Builder<'_, S>,
    ) -> Result<(), Fault> {
        let axes = match &self.attitude {
            Some(attitude) => attitude.at(values)?.1,
            None => Rotation::identity(),
        };
        let point = self.point(values)?;
        if body != crate::multibody::GROUND && builder.system.index(body).is_none() {
            return Err(builder.no_body(body, &self.body.1, &format!("the frame '{name}'")));
        }
        builder
            .system
            .frame(name, body, point, axes)
            .map_err(|error| Fault::new(&self.span, error.to_string()))
    }
}

/// A joint as the file has it.
#[derive(Clone, Debug)]
pub(super) struct JointDraft {
    pub(super) name: String,
    pub(super) spot: Spot,
    pub(super) count: Option<Number>,
    types: Types,
    choose: Option<Number>,
    pub(super) between: [(Box<str>, Spot); 2],
    at: Option<Numbers>,
    axis: Option<Numbers>,
    axis2: Option<Numbers>,
    length: Option<Number>,
    pitch: Option<Number>,
    teeth: Option<Numbers>,
    stiffness: Option<Number>,
    damping: Option<Number>,
    rest: Option<Number>,
    /// Angle, distance, and the rates of both, at the start.
    start: [Option<Number>; 4],
    /// Moment or force of a motor.
    pub(super) motor: Option<Box<StateExpression>>,
    pub(super) drive: Option<Box<StateExpression>>,
}

/// Its type, or several to choose from.
#[derive(Clone, Debug)]
enum Types {
    One(&'static str),
    Several(Box<[&'static str]>),
}

impl Types {
    fn of(list: Vec<&'static str>) -> Types {
        match list.as_slice() {
            [one] => Types::One(one),
            _ => Types::Several(list.into()),
        }
    }
    fn list(&self) -> &[&'static str] {
        match self {
            Types::One(one) => core::slice::from_ref(one),
            Types::Several(list) => list,
        }
    }
}

/// The two names of a table.
pub(super) fn between(table: &Table<'_>) -> Result<[(String, Span); 2], Fault> {
    let missing = || Fault::new(&table.span, format!("{} needs `between`", table.name));
    let names = table.entry("between").ok_or_else(missing)?.names(2)?;
    match <[(String, Span); 2]>::try_from(names) {
        Ok(both) => Ok(both),
        Err(_) => Err(missing()),
    }
}

impl JointDraft {
    pub(super) fn read(name: &str, table: &Table<'_>, scope: &Scope<'_>) -> Result<JointDraft, Fault> {
        table.only(JOINT)?;
        let scope = &scope.counted(table.entry("count").is_some());
        let known = |word: &str| JOINT_TYPES.iter().copied().find(|known| *known == word);
        let types: Vec<&'static str> = match table.entry("type") {
            Some(entry) if matches!(entry.value.kind, Kind::Array(_)) => {
                let list = entry.names(entry.array()?.len())?;
                let read = |(word, span): (String, Span)| {
                    known(&word).ok_or_else(|| {
                        let message =
                            format!("type '{word}' is not known: it is one of {}", JOINT_TYPES.join(", "));
                        Fault::new(&span, message)
                    })
                };
                list.into_iter().map(read).collect::<Result<_, _>>()?
            }
            _ => table.word("type", JOINT_TYPES)?.and_then(|(word, _)| known(&word)).into_iter().collect(),
        };
        let expression = |key: &str| {
            let entry = table.entry(key);
            entry
                .map(|entry| StateExpression::read(key, &entry.value, scope.hyphened).map(Box::new))
                .transpose()
        };
        let draft = JointDraft {
            name: name.into(),
            spot: Spot::new(&table.span, 0),
            count: table.number("count", scope)?,
            types: Types::of(types),
            choose: table.number("choose", scope)?,
            between: between(table)?.map(|(name, span)| (name.into(), Spot::new(&span, 0))),
            at: table.numbers("at", &[3], scope)?,
            axis: table.numbers("axis", &[3], scope)?,
            axis2: table.numbers("axis2", &[3], scope)?,
            length: table.number("length", scope)?,
            pitch: table.number("pitch", scope)?,
            teeth: table.numbers("teeth", &[2], scope)?,
            stiffness: table.number("stiffness", scope)?,
            damping: table.number("damping", scope)?,
            rest: table.angle("rest", scope)?,
            start: [
                table.angle("angle", scope)?,
                table.number("distance", scope)?,
                table.angle("rate", scope)?,
                table.number("speed", scope)?,
            ],
            motor: expression("moment")?.or(expression("force")?),
            drive: expression("drive")?,
        };
        draft.check(table)?;
        Ok(draft)
    }
    /// Keys that do not go together.
    fn check(&self, table: &Table<'_>) -> Result<(), Fault> {
        let kind = match self.types.list() {
            [one] if self.choose.is_none() => *one,
            [] => return Err(Fault::new(&table.span, format!("{} needs a type", table.name))),
            _ if self.choose.is_none() => {
                return Err(Fault::new(
                    &table.span,
                    format!("{} has several types and needs `choose`", table.name),
                ));
            }
            _ => return Ok(()),
        };
        let stray = |key: &str, why: &str| match table
            .angular(key)
            .ok()
            .flatten()
            .map(|(entry, _)| entry)
            .or(table.entry(key))
        {
            Some(entry) => Err(Fault::new(&entry.key_span(), format!("`{}` {why}", entry.key))),
            None => Ok(()),
        };
        let coordinates: &[&str] = match kind {
            "revolute" => &["angle"],
            "prismatic" => &["distance"],
            "cylindrical" => &["angle", "distance"],
            // The distance of a screw follows its angle; the angle of axes is what is kept.
            "screw" | "constant-angle" => &["angle"],
            _ => &[],
        };
        let why = format!("does not belong to a joint of type \"{kind}\"");
        for key in ["angle", "distance"] {
            if !coordinates.contains(&key) {
                stray(key, &why)?;
            }
        }
        if coordinates.is_empty() || kind == "constant-angle" {
            stray("rate", &why)?;
        }
        if kind == "prismatic" {
            for key in ["rate_deg", "rest_deg"] {
                stray(key, "is for angles; the coordinate of a prismatic joint is a distance in m")?;
            }
        }
        if kind != "screw" {
            stray("pitch", "belongs to a joint of type \"screw\"")?;
        } else if self.pitch.is_none() {
            return Err(Fault::new(&table.span, format!("{} needs `pitch`", table.name)));
        }
        if kind != "gear" {
            stray("teeth", "belongs to a joint of type \"gear\"")?;
        } else if self.teeth.is_none() {
            return Err(Fault::new(
                &table.span,
                format!("{} needs `teeth`: those of its two wheels", table.name),
            ));
        }
        if kind != "cylindrical" {
            stray("speed", &why)?;
        }
        if coordinates.len() != 1 || kind == "constant-angle" {
            let why = format!(
                "belongs to a joint with one coordinate, revolute, prismatic or a screw, not to one of type \"{kind}\""
            );
            for key in ["stiffness", "damping", "rest", "moment", "force", "drive"] {
                stray(key, &why)?;
            }
        }
        match kind {
            "revolute" => {
                stray("force", "is the motor of a prismatic joint; one of a revolute joint is `moment`")?
            }
            "prismatic" => {
                stray("moment", "is the motor of a revolute joint; one of a prismatic joint is `force`")?
            }
            _ => {}
        }
        for key in ["moment", "force", "angle", "distance", "rate"] {
            table.either("drive", key)?;
        }
        if kind != "distance" {
            stray("length", "belongs to a joint of type \"distance\"")?;
        } else {
            for key in ["at", "axis", "axis2"] {
                stray(
                    key,
                    "does not belong to a distance, which is kept between the points of its two frames",
                )?;
            }
        }
        if !matches!(kind, "universal" | "constant-angle" | "gear") {
            stray("axis2", "belongs to a joint of type \"universal\", \"constant-angle\" or \"gear\"")?;
        }
        if kind == "gear" {
            if self.axis.is_none() {
                stray("axis2", "needs `axis` too: the axle of the first wheel")?;
            }
            return stray(
                "at",
                "does not belong to a gear, whose wheels have their centres in the points of its two frames",
            );
        }
        let axis = !matches!(kind, "spherical" | "fixed" | "distance");
        match (self.at.is_some(), self.axis.is_some()) {
            (true, false) if axis => Err(Fault::new(
                &self.spot.span(),
                format!("{} has `at` and needs `axis` too: its third axis in space", table.name),
            )),
            (false, true) => Err(Fault::new(
                &self.spot.span(),
                format!("{} has `axis` and needs `at` too: its point in space", table.name),
            )),
            (true, true) if matches!(kind, "universal" | "constant-angle") && self.axis2.is_none() => {
                let which = if kind == "universal" { "first" } else { "third" };
                let message = format!(
                    "{} has `at` and needs `axis2` too: the {which} axis of its second frame",
                    table.name
                );
                Err(Fault::new(&self.spot.span(), message))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn build<S: Scalar>(
        &self,
        name: &str,
        between: [&str; 2],
        values: &Values<S>,
        builder: &mut Builder<'_, S>,
    ) -> Result<(), Fault> {
        let wrong = |message: String| Fault::new(&self.spot.span(), message);
        let kind = match &self.choose {
            None => self.types.list().first(),
            Some(number) => {
                let last = self.types.list().len().saturating_sub(1);
                let choice = number.at(values)?.value();
                let word = (choice >= 0.0 && choice.fract() == 0.0)
                    .then(|| self.types.list().get(choice as usize))
                    .flatten();
                if word.is_none() {
                    let words: Vec<String> = (0..=last).map(|k| k.to_string()).collect();
                    let message = format!("it is {}, not {}", words.join(" or "), plain(choice));
                    return Err(values.blamed(number.fault(message), number.parameter()));
                }
                word
            }
        };
        let kind = kind.copied().unwrap_or_default();
        let element = format!("the joint '{name}'");
        let ends = [
            builder.end(between[0], &self.between[0].1.span(), &element)?,
            builder.end(between[1], &self.between[1].1.span(), &element)?,
        ];
        let drawn = match &self.at {
            Some(at) => {
                let (point, axes) = (at.vector(values)?, self.axes(kind, values)?);
                let second = match (kind, &self.axis2) {
                    ("constant-angle", Some(axis)) => upright(&direction(axis, values)?),
                    _ => axes,
                };
                let [first, other] = ends;
                [builder.drawn(first.body, &point, &axes), builder.drawn(other.body, &point, &second)]
            }
            None if kind == "gear" => self.axles(ends, values, builder)?,
            None => ends,
        };
        let library = match kind {
            "spherical" => JointKind::Spherical,
            "revolute" => JointKind::Revolute,
            "universal" => JointKind::Universal,
            "cylindrical" => JointKind::Cylindrical,
            "prismatic" => JointKind::Prismatic,
            "planar" => JointKind::Planar,
            "fixed" => JointKind::Fixed,
            "point-on-line" => JointKind::PointOnLine,
            "point-in-plane" => JointKind::PointInPlane,
            "parallel" => JointKind::Parallel,
            "constant-angle" => {
                let angle = match &self.start[0] {
                    Some(angle) => angle.at(values)?,
                    None => builder.angle(&drawn),
                };
                JointKind::ConstantAngle { angle }
            }
            // With a row for its thread.
            "screw" => JointKind::Cylindrical,
            _ => {
                let length = match &self.length {
                    Some(length) => length.at(values)?,
                    None => builder.distance(&drawn),
                };
                JointKind::Distance { length }
            }
        };
        let added = match (&self.pitch, &self.teeth) {
            (Some(pitch), _) if kind == "screw" => {
                builder.system.screw_with_ends(name, pitch.at(values)?, drawn)
            }
            (_, Some(teeth)) if kind == "gear" => {
                builder.system.gear_with_ends(name, self.whole(teeth, values)?, drawn)
            }
            _ => builder.system.joint_with_ends(name, library, drawn),
        };
        added.map_err(|error| wrong(error.to_string()))?;
        if matches!(kind, "constant-angle" | "gear") {
            return Ok(());
        }
        let given = |number: &Option<Number>| number.as_ref().map(|number| number.at(values)).transpose();
        let [angle, distance, rate, speed] = &self.start;
        let (angle, distance, rate, speed) = (given(angle)?, given(distance)?, given(rate)?, given(speed)?);
        let has_angle = kind != "prismatic";
        let (distance, speed) = match &self.pitch {
            Some(pitch) if kind == "screw" => {
                let per = pitch.at(values)? / S::lift(core::f64::consts::TAU);
                (angle.map(|x| x * per), rate.map(|x| x * per))
            }
            _ => (distance, speed),
        };
        let starts = [
            (Coordinate::Angle, angle, rate.filter(|_| has_angle)),
            (Coordinate::Distance, distance, if has_angle { speed } else { rate }),
        ];
        for (coordinate, value, rate) in starts {
            if value.is_some() || rate.is_some() {
                let started = builder.system.start(name, coordinate, value, rate);
                started.map_err(|error| wrong(error.to_string()))?;
            }
        }
        Ok(())
    }
    /// What acts in the joint, once all bodies and joints are there.
    pub(super) fn build_efforts<S: Scalar>(
        &self,
        name: &str,
        values: &Values<S>,
        scope: &Scope<'_>,
        builder: &mut Builder<'_, S>,
    ) -> Result<(), Fault> {
        let wrong = |message: String| Fault::new(&self.spot.span(), message);
        let Some(j) = builder.system.joint_index(name) else {
            return Ok(());
        };
        let (ends, kind) = (builder.system.joints()[j].ends, &builder.system.joints()[j].kind);
        let Some(coordinate) = kind.coordinates().first().copied() else { return Ok(()) };
        let own = [Signal::Coordinate(j, coordinate), Signal::Rate(j, coordinate)];
        if self.stiffness.is_some() || self.damping.is_some() {
            let number =
                |given: &Option<Number>| given.as_ref().map_or(Ok(S::zero()), |number| number.at(values));
            let numbers = vec![number(&self.stiffness)?, number(&self.damping)?, number(&self.rest)?];
            let spring = JointSpring { coordinate, damped: numbers[1].value() != 0.0 };
            let force = OwnForce::new(spring, numbers).map_err(|error| wrong(error.to_string()))?;
            builder.system.force_with_ends(name, force, ends).map_err(|error| wrong(error.to_string()))?;
            builder.system.let_last_force_see(own.to_vec(), Some(j));
        }
        if let Some(motor) = &self.motor {
            let mut watch = Watch::new(&builder.system, scope);
            watch.local = vec![(coordinate.name(), own[0]), ("rate", own[1])];
            let effort = Seen::new(&[watch.read(motor)?])?;
            let motor = Motor { coordinate, effort, names: watch.names.clone() };
            let (numbers, signals) = (watch.numbers(values), watch.signals);
            let force = OwnForce::new(motor, numbers).map_err(|error| wrong(error.to_string()))?;
            let name = format!("{name}.motor");
            builder.system.force_with_ends(&name, force, ends).map_err(|error| wrong(error.to_string()))?;
            builder.system.let_last_force_see(signals, Some(j));
        }
        if let Some(drive) = &self.drive {
            let (value, names, numbers) = of_time_alone(drive, &builder.system, scope, values)?;
            let formula = Drive { coordinate, value, names };
            let time = Dual::<S, 1>::variable(S::zero(), 0);
            let lifted: Vec<Dual<S, 1>> = numbers.iter().map(|x| Dual::constant(*x)).collect();
            let start = formula.at(&lifted, time);
            if !(start.re.is_finite() && start.eps[0].is_finite()) {
                let message =
                    "the drive or its rate is not finite at t = 0: a division by zero, or a kink there";
                return Err(Fault::new(&drive.span, message));
            }
            let row = OwnJoint::new(formula, numbers).map_err(|error| wrong(error.to_string()))?;
            let driven = builder.system.drive_joint(j, coordinate, row, (start.re, start.eps[0]));
            driven.map_err(|error| wrong(error.to_string()))?;
        }
        Ok(())
    }
    /// Numbers of teeth.
    fn whole<S: Scalar>(&self, teeth: &Numbers, values: &Values<S>) -> Result<[i32; 2], Fault> {
        let mut whole = [0; 2];
        for (whole, given) in whole.iter_mut().zip(teeth.at(values)?) {
            let value = given.value();
            if !(value.fract() == 0.0 && value.abs() < f64::from(i32::MAX)) {
                let message = format!("a number of teeth is an integer, not {}", plain(value));
                return Err(values.blamed(teeth.fault(message), teeth.parameter()));
            }
            *whole = value as i32;
        }
        Ok(whole)
    }
    /// The frames of two wheels with axles that are given in space.
    fn axles<S: Scalar>(
        &self,
        ends: [End<S>; 2],
        values: &Values<S>,
        builder: &Builder<'_, S>,
    ) -> Result<[End<S>; 2], Fault> {
        let Some(axis) = &self.axis else { return Ok(ends) };
        let first = upright(&direction(axis, values)?);
        let second = match &self.axis2 {
            Some(axis) => upright(&direction(axis, values)?),
            None => first,
        };
        let turned = |end: &End<S>, axes: &Matrix3<S>| {
            let drawn = builder.drawn(end.body, &Vector3::zeros(), axes);
            End { point: end.point, ..drawn }
        };
        Ok([turned(&ends[0], &first), turned(&ends[1], &second)])
    }
    /// The axes of the joint in space, columns.
    fn axes<S: Scalar>(&self, kind: &str, values: &Values<S>) -> Result<Matrix3<S>, Fault> {
        let Some(axis) = &self.axis else { return Ok(Matrix3::identity()) };
        let third = direction(axis, values)?;
        let Some(other) = self.axis2.as_ref().filter(|_| kind == "universal") else {
            return Ok(upright(&third));
        };
        let first = direction(other, values)?;
        let cosine = first.dot(&third);
        if cosine.value().abs() > 1e-6 {
            let message = format!(
                "axis2 must be perpendicular to axis; the cosine between them is {}",
                plain(cosine.value())
            );
            return Err(other.fault(message));
        }
        let first = first - third * cosine;
        let first = first / first.dot(&first).sqrt();
        Ok(Matrix3::from_columns(&[first, third.cross(&first), third]))
    }
}

/// Axes whose third is given: those of space, turned the shortest way.
fn upright<S: Scalar>(third: &Vector3<S>) -> Matrix3<S> {
    let (one, zero) = (S::one(), S::zero());
    // From the opposite the way is not unique: by half a turn about x first.
    let flipped = third.z.value() < -0.5;
    let n = if flipped { -third } else { *third };
    let per = (one + n.z).recip();
    let matrix = Matrix3::new(
        one - n.x * n.x * per,
        -n.x * n.y * per,
        n.x,
        -n.x * n.y * per,
        one - n.y * n.y * per,
        n.y,
        -n.x,
        -n.y,
        n.z,
    );
    match flipped {
        true => matrix * Matrix3::from_diagonal(&Vector3::new(one, -one, -one)),
        false => matrix + Matrix3::from_element(zero),
    }
}

impl<S: Scalar> Builder<'_, S> {
    /// The frame with a name, or with that of its body before it.
    pub(super) fn end(&self, name: &str, span: &Span, element: &str) -> Result<End<S>, Fault> {
        match self.system.frame_called(name) {
            Some(end) => Ok(end),
            None => {
                // Each by its name, and with that of its body before it.
                let long = |name: &&str| {
                    let body = self.system.frame_named(name).and_then(|end| end.body);
                    body.map(|b| format!("{}.{name}", self.system.bodies()[b].name))
                };
                let names = self.system.frame_names();
                let longer: Vec<String> = names.iter().filter_map(long).collect();
                let hint = did_you_mean(name, names.iter().copied().chain(longer.iter().map(String::as_str)));
                Err(Fault::new(
                    span,
                    format!("{element} asks for the body or frame '{name}', which is not there{hint}"),
                ))
            }
        }
    }
    /// A point and axes of space as they are drawn on a body.
    fn drawn(&self, body: Option<usize>, point: &Vector3<S>, axes: &Matrix3<S>) -> End<S> {
        match body.and_then(|b| self.system.bodies().get(b)) {
            None => End { body, point: *point, axes: *axes },
            Some(rigid) => End {
                body,
                point: rigid.attitude.unrotate(&(point - rigid.position)),
                axes: rigid.attitude.inverse().matrix() * axes,
            },
        }
    }
    /// The angle between the third axes of two ends.
    fn angle(&self, ends: &[End<S>; 2]) -> S {
        let axis = |end: &End<S>| {
            let axis = end.axes.column(2).into_owned();
            end.body
                .and_then(|b| self.system.bodies().get(b))
                .map_or(axis, |rigid| rigid.attitude.rotate(&axis))
        };
        let (a, b) = (axis(&ends[0]), axis(&ends[1]));
        let across = a.cross(&b);
        across.dot(&across).sqrt().atan2(a.dot(&b))
    }
    /// How far two ends are apart.
    pub(super) fn distance(&self, ends: &[End<S>; 2]) -> S {
        let place = |end: &End<S>| match end.body.and_then(|b| self.system.bodies().get(b)) {
            None => end.point,
            Some(rigid) => rigid.position + rigid.attitude.rotate(&end.point),
        };
        let d = place(&ends[1]) - place(&ends[0]);
        d.dot(&d).sqrt()
    }
}
