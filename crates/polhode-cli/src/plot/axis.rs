//! Axes: even ones, and logarithmic ones.

/// An axis over a length in the drawing.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// The ends; of a logarithmic one their powers of ten.
    low: f64,
    high: f64,
    even: bool,
}

/// A grid line.
#[derive(Clone, Debug)]
pub struct Tick {
    /// Where, from 0 to 1.
    pub at: f64,
    /// What stands there; nothing at a minor line.
    pub label: Option<String>,
    /// False for lines within a decade.
    pub major: bool,
}

impl Axis {
    /// Whole decades around the values, at most up to `most`.
    pub fn decades(values: impl Iterator<Item = f64>, most: f64) -> Self {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for x in values.filter(|x| *x <= most) {
            low = low.min(x.log10());
            high = high.max(x.log10());
        }
        if low > high {
            (low, high) = (-1.0, 0.0);
        }
        // Room below for a guide, and two decades at least to judge a slope by.
        let high = (high + 0.1).ceil();
        Axis { low: (low - 0.25).floor().min(high - 2.0), high, even: false }
    }
    /// Around the values with a little room, logarithmic.
    pub fn around(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
            (low.min(x.log10()), high.max(x.log10()))
        });
        let room = if high > low { 0.08 * (high - low) } else { 0.3 };
        Axis { low: low - room, high: high + room, even: false }
    }
    /// Around the values, even, with a part of their range left free at both ends.
    pub fn even(values: impl Iterator<Item = f64>, room: f64) -> Self {
        let (low, high) = values
            // Differences of larger ones might be infinite.
            .filter(|x| x.abs() < 1e300)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        if low > high {
            return Axis { low: 0.0, high: 1.0, even: true };
        }
        // A value that does not change lies in the middle, and so does one that only rounding changes.
        let size = low.abs().max(high.abs());
        let least = match size {
            0.0 => 1.0,
            _ if low == high => 0.1 * size,
            _ => 16.0 * f64::EPSILON * size,
        };
        let missing = 0.5 * (least - (high - low)).max(0.0);
        let (low, high) = (low - missing, high + missing);
        let room = room * (high - low);
        Axis { low: low - room, high: high + room, even: true }
    }
    /// The same, over at least so long a range.
    pub fn widened(self, length: f64) -> Self {
        let missing = (length - self.length()).max(0.0) / 2.0;
        Axis { low: self.low - missing, high: self.high + missing, ..self }
    }
    /// How long its range is.
    pub fn length(&self) -> f64 {
        self.high - self.low
    }
    /// Where a value is, from 0 to 1.
    pub fn at(&self, x: f64) -> f64 {
        self.place(if self.even { x } else { x.log10() })
    }
    /// The value at a place, as a power of ten.
    pub fn log10_at(&self, place: f64) -> f64 {
        self.low + place * (self.high - self.low)
    }
    /// Place of a power of ten.
    pub fn at_log10(&self, x: f64) -> f64 {
        self.place(x)
    }
    fn place(&self, x: f64) -> f64 {
        (x - self.low) / (self.high - self.low)
    }

    /// The grid, about so many lines on an even axis; and what all labels are multiplied by and added to, if anything.
    pub fn grid(&self, about: f64) -> (Vec<Tick>, Option<String>) {
        if self.even { self.even_ticks(about) } else { (self.ticks(), None) }
    }

    fn even_ticks(&self, about: f64) -> (Vec<Tick>, Option<String>) {
        let raw = self.length() / about;
        if !(raw.is_finite() && raw > 0.0) {
            return (Vec::new(), None);
        }
        let power = 10f64.powf(raw.log10().floor());
        let steps = [0.2, 0.5, 1.0, 2.0, 5.0, 10.0].map(|m| m * power);
        let lines = |step: f64| (self.high / step + 1e-6).floor() - (self.low / step - 1e-6).ceil() + 1.0;
        // Fewer than three lines do not show a scale.
        let next = steps.iter().position(|step| *step >= raw).unwrap_or(steps.len() - 1);
        let step = steps[..=next].iter().rev().copied().find(|step| lines(*step) >= 3.0).unwrap_or(steps[0]);
        // Digits that all labels would share are told once.
        let size = self.low.abs().max(self.high.abs());
        let middle = 0.5 * (self.low + self.high);
        let offset = if step < 1e-4 * size { rounded(middle, 10.0 * step) } else { 0.0 };
        let (low, high) = (self.low - offset, self.high - offset);
        let (first, last) = ((low / step - 1e-6).ceil() as i64, (high / step + 1e-6).floor() as i64);
        let largest = low.abs().max(high.abs());
        let scale = match largest {
            x if !(1e-3..1e5).contains(&x) => x.log10().floor() as i32,
            _ => 0,
        };
        let unit = 10f64.powi(scale);
        let digits = (-(step / unit).log10() - 1e-9).ceil().clamp(0.0, 15.0) as usize;
        let tick = |k: i64| {
            let x = k as f64 * step;
            let label = format!("{:.digits$}", x / unit + 0.0);
            let label = if label.trim_start_matches(['-', '0', '.']).is_empty() { "0".into() } else { label };
            Tick { at: (x - low) / (high - low), label: Some(label.replace('-', "−")), major: true }
        };
        let ticks = (first..=last).map(tick).collect();
        let shift = (offset != 0.0).then(|| {
            let places = (-(10.0 * step).log10() - 1e-9).ceil().clamp(0.0, 16.0) as usize;
            let sign = if offset < 0.0 { "−" } else { "+" };
            let size = offset.abs();
            match size {
                1e-4..1e6 => format!("{sign} {size:.places$}"),
                _ => format!("{sign} {size:e}"),
            }
        });
        let both = match (scale, shift) {
            (0, shift) => shift,
            (scale, None) => Some(format!("× {}", power_of_ten(scale))),
            (scale, Some(shift)) => Some(format!("× {} {shift}", power_of_ten(scale))),
        };
        (ticks, both)
    }

    /// The grid: decades, and where there are few of them the lines between.
    fn ticks(&self) -> Vec<Tick> {
        let (first, last) = ((self.low - 1e-9).ceil() as i32, (self.high + 1e-9).floor() as i32);
        let whole = (last - first + 1).max(0);
        let every = (whole + 8) / 9;
        let fine = self.high - self.low <= 4.0;
        let mut ticks = Vec::new();
        for exponent in first - 1..=last {
            let mantissas = if fine { 1..=9 } else { 1..=1 };
            for mantissa in mantissas {
                let at = self.at_log10(f64::from(exponent) + f64::from(mantissa).log10());
                if !(-1e-9..=1.0 + 1e-9).contains(&at) {
                    continue;
                }
                // With hardly more than a decade to see, 1, 2 and 5 are named, in full.
                let label = match mantissa {
                    1 | 2 | 5 if whole < 2 || self.high - self.low < 1.6 => Some(decimal(mantissa, exponent)),
                    1 if (last - exponent) % every.max(1) == 0 => Some(power_of_ten(exponent)),
                    _ => None,
                };
                ticks.push(Tick { at, label, major: mantissa == 1 });
            }
        }
        ticks
    }
}

/// A number rounded to a multiple of a step.
fn rounded(x: f64, step: f64) -> f64 {
    // Twelve digits keep 0.3 from being 0.30000000000000004.
    let raw = (x / step).round() * step;
    format!("{raw:.15e}").parse().unwrap_or(raw)
}

/// 10 to a power, as 10⁻³.
fn power_of_ten(exponent: i32) -> String {
    let raised = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32('⁰' as u32 + digit.to_digit(10).unwrap_or(0)).unwrap_or(digit),
    };
    match exponent {
        0 => "1".into(),
        1 => "10".into(),
        _ => format!("10{}", exponent.to_string().chars().map(raised).collect::<String>()),
    }
}

fn decimal(mantissa: i32, exponent: i32) -> String {
    match exponent {
        -4..0 => {
            format!("{:.*}", exponent.unsigned_abs() as usize, f64::from(mantissa) * 10f64.powi(exponent))
        }
        0..5 => format!("{}", f64::from(mantissa) * 10f64.powi(exponent)),
        _ if mantissa == 1 => power_of_ten(exponent),
        _ => format!("{mantissa}·{}", power_of_ten(exponent)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: Axis) -> Vec<String> {
        axis.grid(5.0).0.into_iter().filter_map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_named_as_people_write_them() {
        assert_eq!(power_of_ten(-13), "10⁻¹³");
        assert_eq!(power_of_ten(4), "10⁴");
        assert_eq!(labels(Axis::around([0.5, 0.1].into_iter())), ["0.1", "0.2", "0.5"]);
        assert_eq!(labels(Axis::decades([2e-3, 0.3].into_iter(), 1e9)), ["10⁻³", "10⁻²", "10⁻¹", "1"]);
        assert_eq!(decimal(2, -7), "2·10⁻⁷");
    }

    #[test]
    fn even_ticks_are_round_and_short() {
        let even = |a: f64, b: f64| Axis::even([a, b].into_iter(), 0.0);
        assert_eq!(labels(even(0.0, 1.0)), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(even(-3.0, 3.0)), ["−2", "0", "2"]);
        assert_eq!(labels(even(-1.7, 0.85)), ["−1.5", "−1.0", "−0.5", "0", "0.5"]);
        let small = even(0.0, 3e-12);
        assert_eq!(labels(small), ["0", "1", "2", "3"]);
        assert_eq!(small.grid(5.0).1.as_deref(), Some("× 10⁻¹²"));
        let close = even(20.0, 20.0 + 3e-9);
        assert_eq!(close.grid(5.0).1.as_deref(), Some("× 10⁻⁹ + 20.00000000"));
        // What does not change has ticks too.
        assert!(labels(even(7.0, 7.0)).len() > 1 && labels(even(0.0, 0.0)).len() > 1);
    }
}
