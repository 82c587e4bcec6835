//! Draws for many runs: what each of several numbers is in run k, by counters, without those of the runs before it.
//!
//! ```
//! use polhode::draw::{Design, Sampling, Spread};
//! let spreads = vec![Spread::normal(10.0, 0.5)?, Spread::grid(0.0, 1.0, 3)?];
//! let design = Design::new(spreads, Sampling::Random, Some(3000), 7)?;
//! let mut values = Vec::new();
//! design.values(2000, &mut values);
//! // The same in any other order, on any other machine of the same kind, in a larger design.
//! assert_eq!(values[1], 1.0);
//! assert!((values[0] - 10.0).abs() < 3.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod latin;
mod normal;
mod philox;
mod sobol;

use crate::lookup::plain;
use core::fmt;
use philox::{open_unit, philox};

/// Why draws make no sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawError(String);

impl fmt::Display for DrawError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for DrawError {}

fn wrong<T>(text: String) -> Result<T, DrawError> {
    Err(DrawError(text))
}

/// What a number is drawn from.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread(Kind);

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Uniform([f64; 2]),
    Normal([f64; 2]),
    /// Logarithms of the ends, and the ends.
    LogUniform([f64; 2], [f64; 2]),
    Grid([f64; 2], u64),
    List(Vec<f64>),
}

/// The most numbers of a grid.
const LARGEST_GRID: f64 = 1e12;

impl Spread {
    /// The words for kinds of spreads, as model files and commands have them.
    pub const NAMES: [&str; 5] = ["uniform", "normal", "log-uniform", "grid", "list"];

    /// The spread with this name and these numbers.
    pub fn of(name: &str, numbers: &[f64]) -> Result<Spread, DrawError> {
        if let Some(x) = numbers.iter().find(|x| !x.is_finite()) {
            return wrong(format!("{name}: {x} is not a finite number"));
        }
        let two = |what: &str| match numbers {
            [a, b] => Ok([*a, *b]),
            _ => wrong(format!("{name} takes two numbers, {what}; got {}", numbers.len())),
        };
        match name {
            "uniform" => two("the ends of the interval").and_then(|[a, b]| Spread::uniform(a, b)),
            "normal" => two("the mean and the standard deviation")
                .and_then(|[mean, sigma]| Spread::normal(mean, sigma)),
            "log-uniform" => two("the ends of the interval").and_then(|[a, b]| Spread::log_uniform(a, b)),
            "grid" => match numbers {
                [a, b, n] if *n >= 1.0 && n.fract() == 0.0 && *n <= LARGEST_GRID => {
                    Spread::grid(*a, *b, *n as u64)
                }
                [_, _, n] => wrong(format!(
                    "grid takes two ends and how many numbers there are, a whole number of at least 1; got {}",
                    plain(*n)
                )),
                _ => wrong(format!(
                    "grid takes three numbers, two ends and how many there are; got {}",
                    numbers.len()
                )),
            },
            "list" => Spread::list(numbers.to_vec()),
            _ => wrong(format!("'{name}' is not known: it is one of {}", Spread::NAMES.join(", "))),
        }
    }
    /// Evenly between two numbers.
    pub fn uniform(low: f64, high: f64) -> Result<Spread, DrawError> {
        match low < high && (high - low).is_finite() {
            true => Ok(Spread(Kind::Uniform([low, high]))),
            false => wrong(format!(
                "uniform goes from a lower to a higher number, got {} and {}",
                plain(low),
                plain(high)
            )),
        }
    }
    /// By the normal distribution.
    pub fn normal(mean: f64, sigma: f64) -> Result<Spread, DrawError> {
        match mean.is_finite() && sigma > 0.0 && (mean.abs() + 10.0 * sigma).is_finite() {
            true => Ok(Spread(Kind::Normal([mean, sigma]))),
            false => wrong(format!(
                "normal takes a mean and a positive standard deviation, got {} and {}",
                plain(mean),
                plain(sigma)
            )),
        }
    }
    /// With an even logarithm, between two positive numbers.
    pub fn log_uniform(low: f64, high: f64) -> Result<Spread, DrawError> {
        match low > 0.0 && low < high && high.is_finite() {
            true => Ok(Spread(Kind::LogUniform([low.ln(), high.ln()], [low, high]))),
            false => wrong(format!(
                "log-uniform goes from a lower to a higher positive number, got {} and {}",
                plain(low),
                plain(high)
            )),
        }
    }
    /// So many numbers from one to another, both included, all of which are met.
    pub fn grid(from: f64, to: f64, count: u64) -> Result<Spread, DrawError> {
        match count > 0 && (to - from).is_finite() {
            true => Ok(Spread(Kind::Grid([from, to], count))),
            false => wrong(format!(
                "grid takes two ends and how many numbers there are, at least 1; got {}, {} and {count}",
                plain(from),
                plain(to)
            )),
        }
    }
    /// These numbers, all of which are met.
    pub fn list(values: Vec<f64>) -> Result<Spread, DrawError> {
        match values.iter().find(|x| !x.is_finite()) {
            Some(x) => wrong(format!("list: {x} is not a finite number")),
            None if values.is_empty() => wrong("list takes one number at least".into()),
            None => Ok(Spread(Kind::List(values))),
        }
    }
    /// How many numbers there are, of a grid or a list.
    pub fn count(&self) -> Option<u64> {
        match &self.0 {
            Kind::Grid(_, count) => Some(*count),
            Kind::List(values) => Some(values.len() as u64),
            _ => None,
        }
    }
    /// A number of a grid or a list, by its place.
    fn at(&self, i: u64) -> f64 {
        match &self.0 {
            Kind::Grid([from, _], 1) => *from,
            Kind::Grid([_, to], count) if i + 1 == *count => *to,
            Kind::Grid([from, to], count) => from + i as f64 * ((to - from) / (count - 1) as f64),
            Kind::List(values) => values.get(i as usize).copied().unwrap_or(f64::NAN),
            _ => f64::NAN,
        }
    }
    /// The number below which a part `u` of the others lies; of a grid or a list its places count alike.
    pub fn quantile(&self, u: f64) -> f64 {
        match &self.0 {
            Kind::Uniform([low, high]) => (low + u * (high - low)).clamp(*low, *high),
            Kind::Normal([mean, sigma]) => mean + sigma * normal::quantile(u),
            Kind::LogUniform([a, b], [low, high]) => (a + u * (b - a)).exp().clamp(*low, *high),
            Kind::Grid(_, count) => self.at(((u * *count as f64) as u64).min(count - 1)),
            Kind::List(values) => self.at(((u * values.len() as f64) as u64).min(values.len() as u64 - 1)),
        }
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Uniform([a, b]) => write!(f, "uniform from {} to {}", plain(*a), plain(*b)),
            Kind::Normal([mean, sigma]) => write!(f, "normal, {} ± {}", plain(*mean), plain(*sigma)),
            Kind::LogUniform(_, [a, b]) => write!(f, "log-uniform from {} to {}", plain(*a), plain(*b)),
            Kind::Grid([a, b], count) => write!(f, "grid of {count} from {} to {}", plain(*a), plain(*b)),
            Kind::List(values) => write!(f, "list of {}", values.len()),
        }
    }
}

/// How draws are spread over the runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sampling {
    /// Each by itself.
    #[default]
    Random,
    /// Sobol's sequence, shifted by the seed: much evener than chance for some numbers of runs, best for powers of two.
    Sobol,
    /// A Latin hypercube: each of as many equal parts of each spread as there are runs is met once.
    Latin,
}

impl Sampling {
    /// All of them.
    pub const ALL: [Sampling; 3] = [Sampling::Random, Sampling::Sobol, Sampling::Latin];
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Sampling::Random => "random",
            Sampling::Sobol => "sobol",
            Sampling::Latin => "latin",
        }
    }
    /// That with this name.
    pub fn named(name: &str) -> Option<Sampling> {
        Sampling::ALL.into_iter().find(|known| known.name() == name)
    }
}

/// The most runs of a design.
const MOST_RUNS: u64 = 1 << 50;

/// What words of a counter are for.
const DRAWS: u64 = 0;
const SHIFTS: u64 = 1;
const PLACES: u64 = 2;

/// Which values several numbers have in each of many runs.
///
/// Grids and lists meet in every combination, the first of them changing slowest. A draw depends on the seed, the number of the
/// run and that of the spread among those that are drawn, and on nothing else; that of a Latin hypercube on how many runs there
/// are too.
#[derive(Clone, Debug)]
pub struct Design {
    spreads: Vec<Spread>,
    sampling: Sampling,
    seed: u64,
    runs: u64,
    combinations: u64,
    /// Of each spread that is drawn by Sobol's sequence.
    directions: Vec<[u32; sobol::BITS as usize]>,
}

impl Design {
    /// Of so many runs; where there are grids or lists, all of their combinations if nothing is said.
    pub fn new(
        spreads: Vec<Spread>,
        sampling: Sampling,
        runs: Option<u64>,
        seed: u64,
    ) -> Result<Design, DrawError> {
        let counts: Vec<u64> = spreads.iter().filter_map(Spread::count).collect();
        let drawn = spreads.len() - counts.len();
        let combinations = counts.iter().try_fold(1u64, |all, count| all.checked_mul(*count));
        let Some(combinations) = combinations.filter(|all| *all <= MOST_RUNS) else {
            return wrong(format!("the combinations of grids and lists are more than {MOST_RUNS}"));
        };
        let runs = match runs {
            Some(runs) => runs,
            None if !counts.is_empty() => combinations,
            None => return wrong("it is not said how many runs there are".into()),
        };
        if runs == 0 || runs > MOST_RUNS {
            return wrong(format!("the runs must be at least 1 and at most {MOST_RUNS}, got {runs}"));
        }
        if !runs.is_multiple_of(combinations) || (drawn == 0 && !counts.is_empty() && runs != combinations) {
            let text = format!("grids and lists have {combinations} combinations, and the runs are {runs}");
            let below = (runs / combinations).max(1) * combinations;
            return wrong(match drawn {
                0 => format!("{text}; leave the runs out, or let there be {combinations}"),
                _ => {
                    format!("{text}, which is no multiple of that; take {below} or {}", below + combinations)
                }
            });
        }
        if sampling == Sampling::Sobol && drawn > sobol::DIMENSIONS {
            return wrong(format!(
                "sobol draws up to {} parameters, and there are {drawn}; take latin or random",
                sobol::DIMENSIONS
            ));
        }
        if sampling == Sampling::Sobol && drawn > 0 && runs > 1 << sobol::BITS {
            return wrong(format!(
                "sobol has {} points, and the runs are {runs}; take latin or random",
                1u64 << sobol::BITS
            ));
        }
        let directions = match sampling {
            Sampling::Sobol => (0..drawn).map(sobol::directions).collect(),
            _ => Vec::new(),
        };
        Ok(Design { spreads, sampling, seed, runs, combinations, directions })
    }
    /// How many runs.
    pub fn runs(&self) -> u64 {
        self.runs
    }
    /// What each number is drawn from.
    pub fn spreads(&self) -> &[Spread] {
        &self.spreads
    }
    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }
    /// How draws are spread over the runs.
    pub fn sampling(&self) -> Sampling {
        self.sampling
    }
    /// Between zero and one, of spread `j` among those that are drawn, in run `k`.
    fn unit(&self, k: u64, j: usize) -> f64 {
        let (key, number) = ([self.seed, 0], j as u64);
        let random = || open_unit(philox([k, number, DRAWS, 0], key)[0]);
        match self.sampling {
            Sampling::Random => random(),
            Sampling::Sobol => {
                let shift = (philox([0, number, SHIFTS, 0], key)[0] >> 32) as u32;
                let digits = sobol::point(k, &self.directions[j]) ^ shift;
                (f64::from(digits) + 0.5) / (1u64 << sobol::BITS) as f64
            }
            Sampling::Latin => {
                let place = latin::permuted(k, self.runs, key, number, PLACES);
                // Rounding must not lead to one itself.
                ((place as f64 + random()) / self.runs as f64).min(1.0 - f64::EPSILON)
            }
        }
    }
    /// The values of all numbers in run `k`, which replace what was in the list.
    pub fn values(&self, k: u64, values: &mut Vec<f64>) {
        values.clear();
        let (mut j, mut block) = (0, self.combinations);
        for spread in &self.spreads {
            values.push(match spread.count() {
                Some(count) => {
                    block /= count;
                    spread.at(k % self.combinations / block % count)
                }
                None => {
                    j += 1;
                    spread.quantile(self.unit(k, j - 1))
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(sampling: Sampling, spread: Spread, runs: u64) -> Vec<f64> {
        let design = Design::new(vec![spread], sampling, Some(runs), 3).unwrap();
        let mut values = Vec::new();
        let value = |k| {
            design.values(k, &mut values);
            values[0]
        };
        (0..runs).map(value).collect()
    }

    #[test]
    fn moments_are_those_of_the_spread() {
        let spreads = [
            (Spread::uniform(-1.0, 3.0).unwrap(), 1.0, 4.0 / 12f64.sqrt()),
            (Spread::normal(2.0, 0.5).unwrap(), 2.0, 0.5),
            (Spread::log_uniform(1.0, 1f64.exp()).unwrap(), 1f64.exp() - 1.0, 0.49197),
        ];
        for sampling in Sampling::ALL {
            for (spread, mean, sigma) in &spreads {
                let runs = 1 << 14;
                let all = column(sampling, spread.clone(), runs);
                let n = runs as f64;
                let found = all.iter().sum::<f64>() / n;
                let deviation = (all.iter().map(|x| (x - found).powi(2)).sum::<f64>() / n).sqrt();
                let most = if sampling == Sampling::Random { 4.0 / n.sqrt() } else { 1e-3 };
                assert!((found - mean).abs() < most * sigma, "{sampling:?} {spread}: {found}");
                assert!(
                    (deviation - sigma).abs() < most.max(2e-3) * sigma,
                    "{sampling:?} {spread}: {deviation}"
                );
            }
        }
    }

    #[test]
    fn every_part_is_met_once() {
        for sampling in [Sampling::Sobol, Sampling::Latin] {
            let mut all = column(sampling, Spread::uniform(0.0, 1.0).unwrap(), 256);
            all.sort_by(f64::total_cmp);
            assert!(all.iter().enumerate().all(|(i, x)| (256.0 * x) as usize == i), "{sampling:?}");
        }
        // Pairs of Sobol's points too: each of 16 x 16 squares has one.
        let square = vec![Spread::uniform(0.0, 16.0).unwrap(); 2];
        let design = Design::new(square, Sampling::Sobol, Some(256), 9).unwrap();
        let mut cells: Vec<(u64, u64)> = Vec::new();
        let mut values = Vec::new();
        for k in 0..256 {
            design.values(k, &mut values);
            cells.push((values[0] as u64, values[1] as u64));
        }
        cells.sort_unstable();
        cells.dedup();
        assert_eq!(cells.len(), 256);
    }

    #[test]
    fn combinations_are_all_there() {
        let spreads = vec![
            Spread::grid(0.0, 1.0, 3).unwrap(),
            Spread::uniform(0.0, 1.0).unwrap(),
            Spread::list(vec![7.0, 5.0]).unwrap(),
        ];
        let design = Design::new(spreads.clone(), Sampling::Random, None, 0).unwrap();
        assert_eq!(design.runs(), 6);
        let mut values = Vec::new();
        let mut seen = Vec::new();
        for k in 0..6 {
            design.values(k, &mut values);
            seen.push((values[0], values[2]));
        }
        assert_eq!(seen, [(0.0, 7.0), (0.0, 5.0), (0.5, 7.0), (0.5, 5.0), (1.0, 7.0), (1.0, 5.0)]);
        let refused =
            |runs| Design::new(spreads.clone(), Sampling::Random, Some(runs), 0).unwrap_err().to_string();
        assert!(refused(7).contains("take 6 or 12"), "{}", refused(7));
        assert!(Design::new(spreads[..1].to_vec(), Sampling::Random, Some(6), 0).is_err());
        assert!(Design::new(vec![], Sampling::Random, None, 0).is_err());
        assert!(Design::new(vec![spreads[1].clone(); 65], Sampling::Sobol, Some(6), 0).is_err());
    }

    #[test]
    fn spreads_that_are_none_are_refused() {
        for (name, numbers) in [
            ("uniform", &[2.0, 1.0][..]),
            ("uniform", &[1.0]),
            ("uniform", &[-1e308, 1e308]),
            ("normal", &[0.0, 0.0]),
            ("normal", &[0.0, f64::NAN]),
            ("log-uniform", &[0.0, 1.0]),
            ("grid", &[0.0, 1.0, 2.5]),
            ("grid", &[0.0, 1.0, 0.0]),
            ("grid", &[0.0, 1.0]),
            ("list", &[]),
            ("gaussian", &[0.0, 1.0]),
        ] {
            assert!(Spread::of(name, numbers).is_err(), "{name} {numbers:?}");
        }
    }
}
