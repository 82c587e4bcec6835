//! The values that expressions consist of, each with those that it is made of: what is equal is one value, and what can be
//! said in fewer steps is.

use super::machine::{Near, Register, Step, What};
use super::program::{FEW_REGISTERS, MOST_INPUTS, MOST_REGISTERS, Program, Quick, REGISTERS};
use super::{Function, Operation};

/// One value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    Input(usize),
    /// A number by its bits, which tell zeros apart.
    Constant(u64),
    /// An operation on other values, as many as it takes.
    Made(Operation, [usize; 3]),
}

/// Values, each after those that it is made of.
#[derive(Default)]
pub(super) struct Graph {
    values: Vec<Value>,
    outputs: Vec<usize>,
    /// True if equal values are one.
    is_shared: bool,
}

/// The operation on two constants, if it is exact: then it is the same number in scalars with more digits.
fn exactly(operation: Operation, a: f64, b: f64) -> Option<f64> {
    // Errors of numbers this small would be too small for numbers.
    let large = |x: f64| x.abs() > 1e-250;
    let (value, error) = match operation {
        Operation::Add | Operation::Subtract => {
            let b = if operation == Operation::Add { b } else { -b };
            let sum = a + b;
            let part = sum - a;
            (sum, (a - (sum - part)) + (b - part))
        }
        Operation::Multiply if large(a * b) => (a * b, a.mul_add(b, -(a * b))),
        Operation::Divide if large(a) && large(a / b) => (a / b, (a / b).mul_add(b, -a)),
        _ => return None,
    };
    (error == 0.0 && value.is_finite()).then_some(value)
}

impl Graph {
    /// Of operations on a stack, with the inputs that their names stand for.
    pub(super) fn of(expressions: &[Formula<'_>], is_shared: bool) -> Option<Graph> {
        let mut graph = Graph { is_shared, ..Graph::default() };
        for Formula { operations, inputs } in expressions {
            let mut stack: Vec<usize> = Vec::new();
            for operation in *operations {
                let value = match operation {
                    Operation::Number(x) => graph.add(Value::Constant(x.to_bits())),
                    Operation::Name(name) => graph.add(Value::Input(*inputs.get(*name)?)),
                    operation => {
                        let mut of = [0; 3];
                        for to in of.iter_mut().take(operation.takes()).rev() {
                            *to = stack.pop()?;
                        }
                        graph.made(*operation, of)
                    }
                };
                stack.push(value);
            }
            graph.outputs.push(stack.pop()?);
        }
        Some(graph)
    }
    fn add(&mut self, value: Value) -> usize {
        let known = self.is_shared.then(|| self.values.iter().position(|known| *known == value)).flatten();
        known.unwrap_or_else(|| {
            self.values.push(value);
            self.values.len() - 1
        })
    }
    fn is_zero(&self, value: usize) -> bool {
        self.values[value] == Value::Constant(0)
    }
    fn constant(&self, value: usize) -> Option<f64> {
        match self.values[value] {
            Value::Constant(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }
    /// What a value is the negative of.
    fn negated(&self, value: usize) -> Option<usize> {
        match self.values[value] {
            Value::Made(Operation::Negate, [of, ..]) => Some(of),
            _ => None,
        }
    }
    fn number(&mut self, x: f64) -> usize {
        self.add(Value::Constant(x.to_bits()))
    }
    fn negative(&mut self, a: usize) -> usize {
        match (self.constant(a), self.negated(a)) {
            (Some(x), _) => self.number(-x),
            (None, Some(of)) => of,
            (None, None) => self.add(Value::Made(Operation::Negate, [a, a, a])),
        }
    }
    /// An operation on values. Signs go outwards, where roundings do not see them: (-a) b = -(a b), a + (-b) = a - b.
    fn made(&mut self, operation: Operation, of: [usize; 3]) -> usize {
        let [a, b, _] = of;
        if let (2, Some(x), Some(y)) = (operation.takes(), self.constant(a), self.constant(b))
            && let Some(value) = exactly(operation, x, y)
        {
            return self.number(value);
        }
        match (operation, self.negated(a), self.negated(b)) {
            (Operation::Negate, ..) => self.negative(a),
            (Operation::Power(n), ..) => self.power(a, n),
            (Operation::Add, _, Some(b)) => self.made(Operation::Subtract, [a, b, b]),
            (Operation::Add, Some(a), _) => self.made(Operation::Subtract, [b, a, a]),
            (Operation::Subtract, _, Some(b)) => self.made(Operation::Add, [a, b, b]),
            (Operation::Multiply | Operation::Divide, Some(a), _) => self.signed(operation, a, b, b),
            (Operation::Multiply | Operation::Divide, _, Some(b)) => self.signed(operation, a, b, a),
            _ => self.add(Value::Made(operation, of)),
        }
    }
    /// -(a b) or -(a / b), where the sign stood before the one that is not `other`: a constant takes it.
    fn signed(&mut self, operation: Operation, a: usize, b: usize, other: usize) -> usize {
        match self.constant(other) {
            Some(_) => {
                let flipped = self.negative(other);
                let [a, b] = [a, b].map(|value| if value == other { flipped } else { value });
                self.made(operation, [a, b, b])
            }
            None => {
                let value = self.made(operation, [a, b, b]);
                self.negative(value)
            }
        }
    }
    /// A power by repeated squaring, as [`crate::scalar::Real::powi`] has it.
    fn power(&mut self, a: usize, n: i32) -> usize {
        let (mut base, mut left, mut out) = (a, n.unsigned_abs(), None);
        while left > 0 {
            if left & 1 == 1 {
                out = Some(out.map_or(base, |out| self.made(Operation::Multiply, [out, base, base])));
            }
            left >>= 1;
            if left > 0 {
                base = self.made(Operation::Multiply, [base; 3]);
            }
        }
        let one = self.number(1.0);
        match out {
            None => one,
            Some(out) if n < 0 => self.made(Operation::Divide, [one, out, out]),
            Some(out) => out,
        }
    }
}

/// Operations on a stack, and the inputs that their names stand for.
#[derive(Clone, Copy)]
pub(super) struct Formula<'a> {
    pub(super) operations: &'a [Operation],
    pub(super) inputs: &'a [usize],
}

/// A step while it is planned: what it does, with which values.
#[derive(Clone, Copy)]
struct Planned {
    what: What,
    operation: Operation,
    of: [usize; 3],
    takes: usize,
}

impl Planned {
    fn new(operation: Operation, of: [usize; 3]) -> Self {
        let what = match operation {
            Operation::Add => What::Add,
            Operation::Subtract => What::Subtract,
            Operation::Multiply => What::Multiply,
            Operation::Divide => What::Divide,
            Operation::Negate => What::Negate,
            Operation::Function(Function::Abs) => What::Absolute,
            _ => What::Seldom,
        };
        Planned { what, operation, of, takes: operation.takes() }
    }
    fn reads(&self) -> &[usize] {
        &self.of[..self.takes]
    }
}

/// Two steps in one: what the pair is called, where the inner one is the first or the second number of the outer one.
fn pair(outer: What, inner: What, is_first: bool) -> Option<What> {
    Some(match (outer, inner) {
        (What::Add, What::Multiply) => What::AddProduct,
        (What::Add, What::Add) => What::AddTwice,
        (What::Subtract, What::Multiply) if is_first => What::ProductLess,
        (What::Subtract, What::Multiply) => What::LessProduct,
        (What::Multiply, What::Multiply) => What::MultiplyTwice,
        (What::Multiply, What::Add) => What::MultiplySum,
        (What::Multiply, What::Subtract) => What::MultiplyDifference,
        (What::Negate, What::Multiply) => What::NegateProduct,
        (What::NegateProduct, What::Multiply) => What::NegateTwice,
        _ => return None,
    })
}

/// Steps with registers by their numbers, the last ones by how far they are from the end of all numbers.
struct Placed {
    code: Vec<Step<usize>>,
    constants: Vec<f64>,
    /// How many registers they need from the first one on.
    count: usize,
}

impl Graph {
    /// The program, with the inputs in the first registers if it is said how many they are. Nothing if the registers do not
    /// suffice.
    pub(super) fn program(&self, inputs: Option<usize>) -> Option<Program> {
        if inputs.is_some_and(|inputs| inputs > MOST_INPUTS) || self.outputs.len() > REGISTERS {
            return None;
        }
        let Placed { code, constants, count } = self.placed(inputs, 4);
        let (outputs, first) = (self.outputs.len(), inputs.unwrap_or(0));
        let is_small = inputs.is_some() && count + outputs <= REGISTERS;
        if count + outputs > MOST_REGISTERS {
            return None;
        }
        let (small, large) = match is_small {
            true => (named(&code, REGISTERS, |at| Register::ALL.get(at).copied())?, Vec::new()),
            false => (Vec::new(), named(&code, MOST_REGISTERS, |at| u8::try_from(at).ok())?),
        };
        let constants = constants
            .chunks(4)
            .map(|some: &[f64]| core::array::from_fn(|i| some.get(i).copied().unwrap_or(0.0)))
            .collect();
        Some(Program { small, large, inputs: first, constants, outputs, is_small })
    }
    /// The quick one: see there. Equal values must be one, because all registers are used again.
    pub(super) fn quick(&self, numbers: usize, seen: usize) -> Option<Quick> {
        let Placed { code, constants, count } = self.placed(Some(numbers), 1);
        if count + seen + self.outputs.len() > FEW_REGISTERS {
            return None;
        }
        let steps = named(&code, FEW_REGISTERS, |at| Near::ALL.get(at).copied())?;
        let has_seldom = steps.iter().any(|step| step.what == What::Seldom);
        Some(Quick { steps, constants, has_seldom })
    }
    /// The step that makes a value; nothing if it lies in a register from the beginning.
    fn planned(&self, value: Value, inputs: Option<usize>) -> Option<Planned> {
        match (value, inputs) {
            (Value::Made(operation, of), _) => Some(Planned::new(operation, of)),
            (Value::Input(name), None) => Some(Planned::new(Operation::Name(name), [0; 3])),
            (Value::Constant(bits), None) => {
                Some(Planned::new(Operation::Number(f64::from_bits(bits)), [0; 3]))
            }
            (_, Some(_)) => None,
        }
    }
    /// How often each value is used by what is used itself. A zero that an expression consists of is there anyway.
    fn uses(&self, steps: &[Option<Planned>]) -> Vec<usize> {
        let mut uses = vec![0; steps.len()];
        self.outputs.iter().filter(|output| !self.is_zero(**output)).for_each(|output| uses[*output] += 1);
        for at in (0..steps.len()).rev() {
            if let (true, Some(step)) = (uses[at] > 0, &steps[at]) {
                step.reads().iter().for_each(|read| uses[*read] += 1);
            }
        }
        uses
    }
    /// The steps, and how often each value is used.
    fn steps(&self, inputs: Option<usize>) -> (Vec<Option<Planned>>, Vec<usize>) {
        let mut steps: Vec<Option<Planned>> =
            self.values.iter().map(|value| self.planned(*value, inputs)).collect();
        let mut uses = self.uses(&steps);
        // From the last one on, so that what is taken in has not taken in others. Not where registers are rare: the numbers of
        // an inner step wait for the outer one.
        for at in (0..steps.len()).rev().filter(|_| inputs.is_some()) {
            while uses[at] > 0 && take_in(&mut steps, &mut uses, at) {}
        }
        (steps, uses)
    }
    /// The steps with registers for their values. A register is free again after the last step that reads it; those of inputs and
    /// constants only where these are put there one by one, anew for each run. Constants are put there by so many.
    fn placed(&self, inputs: Option<usize>, by: usize) -> Placed {
        let (steps, uses) = self.steps(inputs);
        let mut last = vec![0; steps.len()];
        for (at, step) in steps.iter().enumerate().filter(|(at, _)| uses[*at] > 0) {
            step.iter().flat_map(Planned::reads).for_each(|read| last[*read] = at);
        }
        self.outputs.iter().for_each(|output| last[*output] = steps.len());
        let (mut places, mut constants, first) = (vec![0; steps.len()], Vec::new(), inputs.unwrap_or(0));
        for (at, value) in self.values.iter().enumerate() {
            let (true, None) = (uses[at] > 0, &steps[at]) else { continue };
            places[at] = match value {
                Value::Constant(bits) => {
                    constants.push(f64::from_bits(*bits));
                    first + constants.len() - 1
                }
                Value::Input(input) => *input,
                Value::Made(..) => continue,
            };
        }
        let fixed = first + constants.len().next_multiple_of(by);
        let held = if by > 1 { fixed } else { 0 };
        let (mut free, mut count, mut code) = (Vec::new(), fixed, Vec::new());
        // The values of expressions lie in the last registers: numbered from there backwards they are beyond all others.
        let end = |output: usize| usize::MAX - (self.outputs.len() - 1 - output);
        for (at, step) in steps.iter().enumerate() {
            let (true, Some(step)) = (uses[at] > 0, step) else { continue };
            let mut from = [0; 3];
            for (to, read) in from.iter_mut().zip(step.reads()) {
                *to = places[*read];
                if last[*read] == at && places[*read] >= held && !free.contains(&places[*read]) {
                    free.push(places[*read]);
                }
            }
            places[at] = match self.outputs.iter().position(|output| *output == at) {
                Some(output) => end(output),
                None => free.pop().unwrap_or_else(|| {
                    count += 1;
                    count - 1
                }),
            };
            let ([a, b, c], to) = (from, places[at]);
            code.push(Step { what: step.what, a, b, c, to, operation: step.operation });
        }
        for (output, value) in self.outputs.iter().enumerate() {
            if places[*value] != end(output) && !self.is_zero(*value) {
                let (a, to) = (places[*value], end(output));
                code.push(Step { what: What::Copy, a, b: a, c: a, to, operation: Operation::Negate });
            }
        }
        Placed { code, constants, count }
    }
}

/// Steps with the names of their registers, of which there are so many.
fn named<R>(
    steps: &[Step<usize>],
    registers: usize,
    name: impl Fn(usize) -> Option<R>,
) -> Option<Vec<Step<R>>> {
    let place = |place: usize| {
        let backwards = usize::MAX - place;
        name(if backwards < registers { registers - 1 - backwards } else { place })
    };
    let step = |step: &Step<usize>| {
        let Step { what, a, b, c, to, operation } = *step;
        Some(Step { what, a: place(a)?, b: place(b)?, c: place(c)?, to: place(to)?, operation })
    };
    steps.iter().map(step).collect()
}

/// Makes a step and one that it reads, which nothing else does, into one; false if there is none such.
fn take_in(steps: &mut [Option<Planned>], uses: &mut [usize], at: usize) -> bool {
    let Some(outer) = steps[at] else { return false };
    for i in 0..outer.takes.min(2) {
        let (inner_at, other) = (outer.of[i], outer.of[1 - i]);
        let Some(inner) = steps[inner_at].filter(|_| uses[inner_at] == 1) else { continue };
        let Some(what) = pair(outer.what, inner.what, i == 0) else { continue };
        let takes = if what == What::NegateProduct { 2 } else { 3 };
        steps[at] = Some(Planned { what, of: [inner.of[0], inner.of[1], other], takes, ..outer });
        (steps[inner_at], uses[inner_at]) = (None, 0);
        return true;
    }
    false
}
