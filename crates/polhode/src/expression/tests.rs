use super::*;
use crate::scalar::{Dd, Dual, F64x4};
use program::REGISTERS;

fn value(text: &str) -> f64 {
    Expression::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")).evaluate(&[])
}

#[test]
fn operators_bind_as_they_do_on_paper() {
    for (text, expected) in [
        ("1 + 2 * 3", 7.0),
        ("(1 + 2) * 3", 9.0),
        ("8 - 3 - 2", 3.0),
        ("16 / 4 / 2", 2.0),
        ("-2^2", -4.0),
        ("(-2)^2", 4.0),
        ("2^-2", 0.25),
        ("2^3^2", 512.0),
        ("2**10", 1024.0),
        ("-3 - -4", 1.0),
        ("2 * -3", -6.0),
        ("+5", 5.0),
        ("1e-3 * 1E3", 1.0),
        (".5 + 2.", 2.5),
        ("if(1 < 2, 10, 20)", 10.0),
        ("if(not 1 < 2 or 3 >= 3 and 4 != 5, 1, 2)", 1.0),
        ("if(not (1 < 2 or 3 > 3), 1, 2)", 2.0),
        ("if(2 <= 1, 1, if(2 == 2, 3, 4))", 3.0),
        ("min(3, -1) + max(2, 5)", 4.0),
        ("sign(-3) + sign(0) + 2 * sign(7)", 1.0),
        ("abs(-2.5)", 2.5),
        ("9^0.5", 3.0),
        ("0^1.5", 0.0),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn functions_are_those_of_the_standard_library() {
    type Known = (&'static str, fn(f64) -> f64);
    let names: [Known; 14] = [
        ("sin", f64::sin),
        ("cos", f64::cos),
        ("tan", f64::tan),
        ("asin", f64::asin),
        ("acos", f64::acos),
        ("atan", f64::atan),
        ("sinh", f64::sinh),
        ("cosh", f64::cosh),
        ("tanh", f64::tanh),
        ("exp", f64::exp),
        ("log", f64::ln),
        ("sqrt", f64::sqrt),
        ("abs", f64::abs),
        ("sign", f64::signum),
    ];
    for (name, known) in names {
        let call = Expression::parse(&format!("{name}(x)")).unwrap();
        for x in [1e-12, 1e-3, 0.1, 0.29, 0.31, 0.5, 0.9, 0.999] {
            for x in [x, -x].into_iter().filter(|x| *x > 0.0 || !["log", "sqrt"].contains(&name)) {
                let (got, expected) = (call.evaluate(&[x]), known(x));
                assert!((got - expected).abs() <= 4e-15 * expected.abs(), "{name}({x}): {got} {expected}");
                // Derivatives beside differences, the same bits in lanes, and 31 digits.
                let slope = call.evaluate(&[Dual::<f64, 1>::variable(x, 0)]).eps[0];
                let h = 1e-7 * x.abs().max(0.1);
                let difference = (known(x + h) - known(x - h)) / (2.0 * h);
                // Near zero some have no difference.
                let smooth = !["sqrt", "log", "sign", "abs"].contains(&name) || x > 0.05;
                let off = (slope - difference).abs();
                assert!(
                    !smooth || off <= 1e-6 * difference.abs() + 1e-6,
                    "{name}'({x}): {slope} {difference}"
                );
                let lanes = call.evaluate(&[F64x4::new([x, 0.5, x, 0.25])]).to_array();
                assert!(
                    lanes[0].to_bits() == got.to_bits() && lanes[2].to_bits() == got.to_bits(),
                    "{name}({x})"
                );
                let fine = call.evaluate(&[Dd::from(x)]);
                assert!((fine.to_f64() - expected).abs() <= 4e-15 * expected.abs(), "{name}({x})");
            }
        }
    }
    for (y, x) in [(1.0, 2.0), (-1.0, 2.0), (1.0, -2.0), (-1.0, -2.0), (0.0, -1.0), (1.0, 0.0)] {
        assert!((value(&format!("atan2({y}, {x})")) - f64::atan2(y, x)).abs() < 1e-15);
    }
    assert!((value("hypot(3e200, 4e200)") / 5e200 - 1.0).abs() < 1e-15 && value("hypot(0, 0)") == 0.0);
    assert!(value("tanh(800)") == 1.0 && value("tanh(-800)") == -1.0);
    assert!((value("2.5^1.7") - 2.5f64.powf(1.7)).abs() < 1e-14);
    assert!(value("(-2)^0.3").is_nan() && value("0^-0.5").is_nan() && value("1/0").is_infinite());
    assert_eq!(value("pi"), core::f64::consts::PI);
}

#[test]
fn names_are_listed_once_where_they_first_stand() {
    let text = "k * (upper.position_x - l0) + k * rate";
    let expression = Expression::parse(text).unwrap();
    assert_eq!(expression.names(), ["k", "upper.position_x", "l0", "rate"]);
    assert_eq!(expression.place(1).map(|at| &text[at]), Some("upper.position_x"));
    assert_eq!(expression.evaluate(&[2.0, 3.0, 1.0, 0.5]), 5.0);
    assert!(expression.evaluate(&[2.0, 3.0]).is_nan());
    assert_eq!(Expression::parse("2 * 3").unwrap().constant(), Some(6.0));
    assert_eq!(expression.constant(), None);
    // In the branch that is not taken nothing matters.
    let guarded = Expression::parse("if(x > 0, sqrt(x), 0)").unwrap();
    let at = guarded.evaluate(&[Dual::<f64, 1>::variable(-1.0, 0)]);
    assert_eq!((at.re, at.eps[0]), (0.0, 0.0));
}

#[test]
fn mistakes_are_shown_where_they_are() {
    for (text, span, said) in [
        ("", 0..0, "the expression is empty"),
        ("2 +", 3..3, "expected a number, a name or '(', but the expression ends here"),
        ("2 * (3 + 4", 10..10, "expected ')' or an operator, but the expression ends here"),
        ("2 3", 2..3, "expected an operator or the end, found '3'"),
        ("sin", 0..3, "sin is a function: write sin(...)"),
        ("atan2(1)", 0..8, "atan2 takes 2 numbers, got 1"),
        ("sin()", 0..5, "sin takes 1 number, got 0"),
        ("1 < 2", 0..5, "a comparison is not a number; it belongs inside if(condition, a, b)"),
        ("2 * (a > b)", 4..11, "a comparison is not a number; it belongs inside if(condition, a, b)"),
        ("if(a, 1, 2)", 3..4, "expected a comparison, as in if(x > 0, a, b)"),
        ("if(1 < 2 < 3, 1, 2)", 3..8, "a comparison is not a number; it belongs inside if(condition, a, b)"),
        ("a $ b", 2..3, "'$' means nothing in an expression"),
        ("1e999", 0..5, "'1e999' is not a finite number"),
        ("cso(x)", 0..3, "no function is called 'cso'; did you mean cos or cosh?"),
        ("if", 0..2, "if is a function: write if(...)"),
    ] {
        let error = Expression::parse(text).unwrap_err();
        assert_eq!((error.span.clone(), error.to_string().as_str()), (span, said), "{text}");
    }
    let deep = "(".repeat(1000) + "x" + &")".repeat(1000);
    assert_eq!(Expression::parse(&deep).unwrap_err().mistake, Mistake::Deep);
    assert_eq!(Expression::parse(&"-".repeat(60_000)).unwrap_err().mistake, Mistake::Deep);
    assert_eq!(Expression::parse(&"1+".repeat(40_000)).unwrap_err().mistake, Mistake::Long);
    // A long sum is not deep.
    let sum = "x+".repeat(20_000) + "x";
    assert_eq!(Expression::parse(&sum).unwrap().evaluate(&[0.5]), 10_000.5);
}

/// Numbers for tests.
struct Random(u64);

impl Random {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// An expression as text, and its value by another route.
fn made(random: &mut Random, depth: u32, x: f64) -> (String, f64) {
    let leaf = |random: &mut Random| match random.next(2) {
        0 => ("x".to_string(), x),
        _ => {
            let n = random.next(90) as f64 / 10.0;
            (format!("{n}"), n)
        }
    };
    if depth == 0 {
        return leaf(random);
    }
    let (a, va) = made(random, depth - 1, x);
    let (b, vb) = made(random, depth - 1, x);
    match random.next(9) {
        0 => (format!("({a} + {b})"), va + vb),
        1 => (format!("({a} - {b})"), va - vb),
        2 => (format!("({a})*({b})"), va * vb),
        3 => (format!("({a}) / (1 + abs({b}))"), va / (1.0 + vb.abs())),
        4 => (format!("sin({a})"), va.sin()),
        5 => (format!("max({a}, {b})"), va.max(vb)),
        6 => (format!("if({a} <= {b}, {b}, -({a}))"), if va <= vb { vb } else { -va }),
        7 => (format!("atan({a}) * tanh({b})"), va.atan() * vb.tanh()),
        _ => (format!("({a})^2"), va * va),
    }
}

#[test]
fn random_expressions_have_the_value_of_another_route() {
    let mut random = Random(7);
    for case in 0..3000 {
        let x = random.next(1000) as f64 / 250.0 - 2.0;
        let (text, expected) = made(&mut random, 1 + case % 4, x);
        let parsed = Expression::parse(&text).unwrap();
        let got = parsed.evaluate_with(&|_| x);
        assert!((got - expected).abs() <= 1e-11 * expected.abs().max(1.0), "{text} at {x}: {got} {expected}");
    }
}

#[test]
fn no_text_is_too_odd() {
    const PIECES: [&str; 30] = [
        "(", ")", ",", "+", "-", "*", "/", "^", "**", "<", "<=", "==", "!=", "if", "and", "or", "not", "sin",
        "x", "1", "1e", "1e5", ".", "..", "é", "\"", " ", "pi", "atan2", "a.b",
    ];
    let mut random = Random(3);
    let mut good = 0;
    for _ in 0..60_000 {
        let text: String = (0..random.next(12)).map(|_| PIECES[random.next(30) as usize]).collect();
        match Expression::parse(&text) {
            Ok(expression) => {
                expression.evaluate_with(&|_| 0.5);
                good += 1;
            }
            Err(error) => {
                let span = error.span.clone();
                assert!(text.get(span).is_some() && !error.to_string().is_empty(), "{text}: {error:?}");
            }
        }
    }
    assert!(good > 500, "{good}");
}

/// The value by the operations of the text one after the other, each by itself.
fn one_by_one<T: Real>(operations: &[Operation], names: &[T]) -> T {
    fn power<T: Real>(a: T, n: u32) -> T {
        // As repeated squaring multiplies: the lowest bits first.
        let bits = (0..32).filter(|bit| n >> bit & 1 == 1);
        let factors = bits.map(|bit| (0..bit).fold(a, |square, _| square * square));
        factors.reduce(|product, factor| product * factor).unwrap_or(T::one())
    }
    let mut stack: Vec<T> = Vec::new();
    for operation in operations {
        let mut of = [T::zero(); 3];
        for to in of.iter_mut().take(operation.takes()).rev() {
            *to = stack.pop().unwrap();
        }
        stack.push(match operation {
            Operation::Number(x) => T::lift(*x),
            Operation::Name(k) => names[*k],
            Operation::Power(n) if *n < 0 => power(of[0], n.unsigned_abs()).recip(),
            Operation::Power(n) => power(of[0], n.unsigned_abs()),
            other => functions::value(*other, of[0], of[1], of[2]),
        });
    }
    stack.pop().unwrap()
}

/// Any expression of x, y and z as text.
fn any_text(random: &mut Random, depth: u32) -> String {
    const LEAVES: [&str; 12] = ["x", "y", "z", "x", "y", "0", "1", "0.1", "3", "2.5", "1e200", "1e-200"];
    if depth == 0 || random.next(8) == 0 {
        return match random.next(16) {
            leaf @ 0..12 => LEAVES[leaf as usize].to_string(),
            _ => format!("{}.125", random.next(1000)),
        };
    }
    let [a, b, c] = [0; 3].map(|_| any_text(random, depth - 1));
    let operator =
        |random: &mut Random, list: &[&str]| list[random.next(list.len() as u64) as usize].to_string();
    match random.next(12) {
        0..=4 => format!("({a} {} {b})", operator(random, &["+", "-", "*", "/", "*", "-"])),
        5 => format!("(-{a})"),
        6 => format!(
            "({a})^{}",
            operator(random, &["2", "3", "-1", "0", "5", "-2", "1", "0.5", "1.5", "(1/3)"])
        ),
        7 => format!("({a})^({b})"),
        8 => {
            let compare = operator(random, &["<", "<=", ">", ">=", "==", "!="]);
            let join = operator(random, &["and", "or", "and not", "or not"]);
            format!("if({a} {compare} {b} {join} ({c} < 1), {b}, {c} - {a})")
        }
        _ => {
            let function = Function::ALL[random.next(Function::ALL.len() as u64) as usize];
            let arguments = if function.arguments() == 1 { a } else { format!("{a}, {b}") };
            format!("{}({arguments})", function.name())
        }
    }
}

/// The numbers that a scalar consists of, the first of them its value.
trait Parts: Real {
    /// False if zeros have no sign.
    const SIGNED: bool = true;
    fn parts(self) -> Vec<f64>;
    /// Some number of it by a value, with derivatives if it has any.
    fn some(x: f64, which: usize) -> Self;
}
impl Parts for f64 {
    fn parts(self) -> Vec<f64> {
        vec![self]
    }
    fn some(x: f64, _: usize) -> f64 {
        x
    }
}
impl Parts for Dd {
    const SIGNED: bool = false;
    fn parts(self) -> Vec<f64> {
        vec![self.to_f64(), (self - Dd::from(self.to_f64())).to_f64()]
    }
    fn some(x: f64, which: usize) -> Dd {
        Dd::from(x) + Dd::from(x * 1e-17 * which as f64)
    }
}
impl Parts for F64x4 {
    fn parts(self) -> Vec<f64> {
        self.to_array().to_vec()
    }
    fn some(x: f64, which: usize) -> F64x4 {
        F64x4::new([x, 0.5, -x, which as f64])
    }
}
impl<S: Parts, const N: usize> Parts for Dual<S, N> {
    fn parts(self) -> Vec<f64> {
        [self.re].into_iter().chain(self.eps).flat_map(Parts::parts).collect()
    }
    fn some(x: f64, which: usize) -> Self {
        Dual {
            re: S::some(x, which),
            eps: core::array::from_fn(|i| S::some(0.3 + i as f64 - which as f64, i)),
        }
    }
}

/// Each of these by the program, all in one program, in a quick one, and by the operations one after the other; true if there is a
/// quick one.
fn is_the_same<T: Parts>(expressions: &[Expression], names: [f64; 3]) -> bool {
    let names: Vec<T> = names.iter().enumerate().map(|(which, x)| T::some(*x, which)).collect();
    let by_name = |name: &String| ["x", "y", "z"].iter().position(|known| known == name).unwrap();
    let inputs: Vec<Vec<usize>> =
        expressions.iter().map(|one| one.names().iter().map(by_name).collect()).collect();
    let together: Vec<_> = expressions.iter().zip(&inputs).map(|(one, inputs)| (one, &inputs[..])).collect();
    let program = Expression::together(&together, 3).unwrap();
    let mut file = [T::zero(); REGISTERS];
    match program.is_small() {
        true => {
            file[..3].copy_from_slice(&names);
            program.run(&mut file);
        }
        false => program.run_large(&mut file, &|k| names[k]),
    }
    // The first name as a number, the others as what is seen.
    let quick = Expression::quickly(&together, 1, 2);
    let few = quick.as_ref().map(|quick| {
        let mut file: [T; FEW_REGISTERS] = *quick.image(&names[..1]).first_chunk().unwrap();
        let values = FEW_REGISTERS - expressions.len();
        file[values - 2..values].copy_from_slice(&names[1..]);
        quick.run::<T, true>(&mut file);
        (file, values)
    });
    for (k, (expression, inputs)) in together.iter().enumerate() {
        let own: Vec<T> = inputs.iter().map(|input| names[*input]).collect();
        let expected = one_by_one(&expression.operations, &own).parts();
        let quickly = few.as_ref().map_or(file[program.output(k)], |(few, values)| few[values + k]);
        for got in [expression.evaluate(&own), file[program.output(k)], quickly].map(Parts::parts) {
            let same = got.iter().zip(&expected).all(|(a, b)| a == b || (a.is_nan() && b.is_nan()));
            let value = !T::SIGNED || got[0].to_bits() == expected[0].to_bits() || got[0].is_nan();
            assert!(same && value, "{:?} at {names:?}: {got:?}, not {expected:?}", expression.operations);
        }
    }
    quick.is_some()
}

#[test]
fn programs_give_what_the_operations_give_one_by_one() {
    const VALUES: [f64; 12] =
        [0.7, -1.3, 2.5, 0.0, -0.0, 1.0, 1e-160, 1e160, -3e7, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    let mut random = Random(11);
    let (mut small, mut large, mut quick) = (0, 0, 0);
    for case in 0..4000 {
        let expressions: Vec<Expression> = (0..3)
            .map(|k| {
                let parts = if case % 8 == 0 { 12 } else { 1 };
                let parts: Vec<String> =
                    (0..parts).map(|_| any_text(&mut random, 1 + (case + k) % 6)).collect();
                let text = parts.join(" - ");
                Expression::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"))
            })
            .collect();
        let kinds = if case % 3 == 0 { 12 } else { 3 };
        let names = [0; 3].map(|_| VALUES[random.next(kinds) as usize]);
        quick += usize::from(is_the_same::<f64>(&expressions, names));
        is_the_same::<Dual<f64, 1>>(&expressions, names);
        is_the_same::<Dual<f64, 3>>(&expressions, names);
        is_the_same::<Dual<Dual<f64, 1>, 3>>(&expressions, names);
        is_the_same::<Dd>(&expressions, names);
        is_the_same::<F64x4>(&expressions, names);
        match expressions.iter().all(|one| one.program.is_small) {
            true => small += 1,
            false => large += 1,
        }
    }
    assert!(small > 1000 && large > 100 && quick > 500, "{small} {large} {quick}");
}

#[test]
fn programs_are_short() {
    let steps = |text: &str| Expression::parse(text).unwrap().program.steps();
    // Ten operations in five steps; what is equal is computed once, and constants are no steps where that is exact.
    assert_eq!(steps("-c * z * (1 + k * z - 0.3 * x + 0.1 * t * y)"), 5);
    assert_eq!(steps("sin(x * y) * sin(x * y) + sin(x * y)"), 3);
    assert_eq!(steps("-(3 / 2) * x"), 1);
    assert_eq!(steps("x^4 + x^2"), 2);
    assert_eq!(steps("2 * -x - -y"), 1);
    assert_eq!((steps("x"), steps("0")), (1, 0));
    // One third is another number with more digits.
    assert_eq!(steps("1 / 3 * x"), 2);
    // The same of several expressions.
    let [a, b] = ["k * hypot(x, y) * x", "k * hypot(x, y) * y"].map(|text| Expression::parse(text).unwrap());
    let together = Expression::together(&[(&a, &[0, 1, 2]), (&b, &[0, 1, 2])], 3).unwrap();
    assert_eq!(together.steps(), 4);
}

#[test]
fn long_programs_run_too() {
    // More names, and more constants, than there are registers.
    let names: Vec<String> = (0..400).map(|i| format!("name_{i} * {i}.5")).collect();
    let sum = Expression::parse(&names.join(" + ")).unwrap();
    assert_eq!(sum.evaluate(&[2.0; 400]), (0..400).map(|i| 2.0 * (f64::from(i) + 0.5)).sum::<f64>());
    let nested = (0..30).fold("x".to_string(), |inner, i| format!("{i}.25 * y + ({inner})"));
    let nested = Expression::parse(&nested).unwrap();
    assert_eq!(nested.evaluate(&[1.0, 4.0]), 4.0 + (0..30).map(|i| f64::from(i) + 0.25).sum::<f64>());
    // Between: in all registers that there are.
    let some: Vec<String> = (0..40).map(|i| format!("{i}.5 * sin(x + {i})")).collect();
    let some = Expression::parse(&some.join(" + ")).unwrap();
    assert!(
        !some.program.is_small && some.program.inputs == 1 && 4 * some.program.constants.len() > REGISTERS
    );
    is_the_same::<Dual<f64, 3>>(&[some], [0.3, 0.0, 0.0]);
}
