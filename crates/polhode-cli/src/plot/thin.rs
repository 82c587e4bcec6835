//! Curves of any length in a few thousand points, with their extremes.

/// A point of a curve, and its number.
#[derive(Clone, Copy, Debug)]
struct Point {
    n: u64,
    x: f64,
    y: f64,
}

/// A stretch of a curve: where it is furthest to the left, to the right, down and up.
#[derive(Clone, Copy, Debug)]
struct Stretch([Point; 4]);

impl Stretch {
    fn take(&mut self, point: Point) {
        let [left, right, low, high] = &mut self.0;
        if point.x < left.x {
            *left = point;
        }
        if point.x >= right.x {
            *right = point;
        }
        if point.y < low.y {
            *low = point;
        }
        if point.y > high.y {
            *high = point;
        }
    }
}

/// A curve while it is drawn. Where there are too many stretches, two become one.
#[derive(Clone, Debug)]
pub struct Thin {
    stretches: Vec<Stretch>,
    /// Stretches that are left when two become one.
    least: usize,
    /// Points of a stretch.
    length: u64,
    points: u64,
}

impl Thin {
    /// In between so many stretches and twice as many, of up to four points each.
    pub fn new(least: usize) -> Self {
        Thin { stretches: Vec::new(), least, length: 1, points: 0 }
    }
    /// Takes the next point; one that is nowhere is left out.
    pub fn take(&mut self, x: f64, y: f64) {
        if !(x.is_finite() && y.is_finite()) {
            return;
        }
        let point = Point { n: self.points, x, y };
        if self.points.is_multiple_of(self.length) {
            if self.stretches.len() == 2 * self.least {
                for i in 0..self.least {
                    let [mut one, other] = [self.stretches[2 * i], self.stretches[2 * i + 1]];
                    other.0.into_iter().for_each(|point| one.take(point));
                    self.stretches[i] = one;
                }
                self.stretches.truncate(self.least);
                self.length *= 2;
            }
            self.stretches.push(Stretch([point; 4]));
        } else if let Some(last) = self.stretches.last_mut() {
            last.take(point);
        }
        self.points += 1;
    }
    /// The points that are left, in their order.
    pub fn points(&self) -> Vec<(f64, f64)> {
        let mut points: Vec<Point> = self.stretches.iter().flat_map(|stretch| stretch.0).collect();
        points.sort_by_key(|point| point.n);
        points.dedup_by_key(|point| point.n);
        points.into_iter().map(|point| (point.x, point.y)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Thin;

    #[test]
    fn long_curves_keep_their_ends_and_extremes() {
        let mut thin = Thin::new(800);
        let value = |i: u32| match i {
            123_457 => 5.0,
            654_321 => -7.0,
            _ => (f64::from(i) * 0.1).sin(),
        };
        let count = 1_000_001;
        (0..count).for_each(|i| thin.take(f64::from(i), value(i)));
        let points = thin.points();
        assert!(points.len() <= 6400 && points.len() > 1000, "{}", points.len());
        assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(points.contains(&(123_457.0, 5.0)) && points.contains(&(654_321.0, -7.0)));
        assert_eq!((points[0].0, points[points.len() - 1].0), (0.0, 1e6));
        // Short ones stay as they are.
        let mut short = Thin::new(800);
        (0..100).for_each(|i| short.take(f64::from(i), value(i)));
        assert_eq!(short.points().len(), 100);
    }
}
