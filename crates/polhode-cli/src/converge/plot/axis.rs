//! A logarithmic axis.

/// An axis from one power of ten to another, over a length in the drawing.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    low: f64,
    high: f64,
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
        Axis { low: (low - 0.25).floor().min(high - 2.0), high }
    }
    /// Around the values with a little room.
    pub fn around(values: impl Iterator<Item = f64>) -> Self {
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
            (low.min(x.log10()), high.max(x.log10()))
        });
        let room = if high > low { 0.08 * (high - low) } else { 0.3 };
        Axis { low: low - room, high: high + room }
    }
    /// Where a value is, from 0 to 1.
    pub fn at(&self, x: f64) -> f64 {
        (x.log10() - self.low) / (self.high - self.low)
    }
    /// The value at a place, as a power of ten.
    pub fn log10_at(&self, place: f64) -> f64 {
        self.low + place * (self.high - self.low)
    }
    /// Place of a power of ten.
    pub fn at_log10(&self, x: f64) -> f64 {
        (x - self.low) / (self.high - self.low)
    }

    /// The grid: decades, and where there are few of them the lines between.
    pub fn ticks(&self) -> Vec<Tick> {
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
                    1 if (last - exponent) % every.max(1) == 0 => Some(power(exponent)),
                    _ => None,
                };
                ticks.push(Tick { at, label, major: mantissa == 1 });
            }
        }
        ticks
    }
}

/// 10 to a power, as 10⁻³.
fn power(exponent: i32) -> String {
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
        _ if mantissa == 1 => power(exponent),
        _ => format!("{mantissa}·{}", power(exponent)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_named_as_people_write_them() {
        assert_eq!(power(-13), "10⁻¹³");
        assert_eq!(power(4), "10⁴");
        let labels = |axis: Axis| axis.ticks().into_iter().filter_map(|t| t.label).collect::<Vec<_>>();
        assert_eq!(labels(Axis::around([0.5, 0.1].into_iter())), ["0.1", "0.2", "0.5"]);
        assert_eq!(labels(Axis::decades([2e-3, 0.3].into_iter(), 1e9)), ["10⁻³", "10⁻²", "10⁻¹", "1"]);
        assert_eq!(decimal(2, -7), "2·10⁻⁷");
    }
}
