//! Expressions as programs of the machine. Several expressions make one program: what they have in common is computed once.
//! Every step rounds as the operations of the text do, in every scalar.

use super::graph::{Formula, Graph};
use super::machine::{Near, Register, Step, advance, run};
use crate::scalar::Real;

/// How many registers most programs have.
pub(crate) const REGISTERS: usize = 32;
/// How many quick ones have.
pub(crate) const FEW_REGISTERS: usize = 16;
/// How many there can be: all that a byte can say.
pub(super) const MOST_REGISTERS: usize = 256;
/// The most inputs that are given in registers.
pub(crate) const MOST_INPUTS: usize = 64;
/// With more operations than this equal ones are not looked for, which would take long.
const MOST_SHARED: usize = 1024;

/// Expressions as steps of the machine. The last registers are their values: those of two expressions are in the last but one
/// and in the last.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Program {
    /// The steps of a program that gets by with the registers that most have; none of any other.
    pub(super) small: Vec<Step<Register>>,
    /// Those of any other.
    pub(super) large: Vec<Step<u8>>,
    /// How many of the first registers are inputs; none where steps ask for them.
    pub(super) inputs: usize,
    /// What the next registers hold, by fours: few are put there quickest so.
    pub(super) constants: Vec<[f64; 4]>,
    /// How many expressions there are.
    pub(super) outputs: usize,
    /// True if it gets by with the registers that most programs have.
    pub(super) is_small: bool,
}

impl Program {
    /// Of expressions whose names stand for some of the inputs. Nothing if they are nested too deeply for the machine.
    pub(super) fn of(formulas: &[Formula<'_>], inputs: usize) -> Option<Program> {
        let length: usize = formulas.iter().map(|formula| formula.operations.len()).sum();
        let direct = Graph::of(formulas, length <= MOST_SHARED)?.program(Some(inputs));
        direct.or_else(|| Graph::of(formulas, false)?.program(None))
    }
    /// How many steps it has.
    #[cfg(test)]
    pub(crate) fn steps(&self) -> usize {
        self.small.len() + self.large.len()
    }
    /// True for most programs: they run in few registers.
    #[inline(always)]
    pub(crate) fn is_small(&self) -> bool {
        self.is_small
    }
    /// Runs a small program in registers of which the first are its inputs and the others are zero.
    #[inline(always)]
    pub(crate) fn run<T: Real>(&self, file: &mut [T; REGISTERS]) {
        self.begin(file);
        // With derivatives the steps are long, and the call is little beside them.
        match T::DEPTH {
            0 => advance::<T, _, REGISTERS, true>(&self.small, file, &|_| T::zero()),
            _ => run(&self.small, file, &|_| T::zero()),
        }
    }
    /// Runs any other program; only the values of the expressions are in the registers then.
    #[cold]
    #[inline(never)]
    pub(crate) fn run_large<T: Real>(&self, file: &mut [T; REGISTERS], input: &dyn Fn(usize) -> T) {
        let mut large = [T::zero(); MOST_REGISTERS];
        self.ask(&mut large, input);
        self.begin(&mut large);
        run(&self.large, &mut large, input);
        for (to, from) in file.iter_mut().rev().zip(large.iter().rev()).take(self.outputs) {
            *to = *from;
        }
    }
    /// Where the value of an expression is in the end.
    #[inline(always)]
    pub(crate) fn output(&self, expression: usize) -> usize {
        (REGISTERS - self.outputs + expression) % REGISTERS
    }
    /// The value of the only expression, with the inputs by their numbers.
    pub(super) fn value<T: Real>(&self, input: &dyn Fn(usize) -> T) -> T {
        let mut file = [T::zero(); REGISTERS];
        match self.is_small {
            true => {
                self.ask(&mut file, input);
                self.begin(&mut file);
                run(&self.small, &mut file, input);
            }
            false => self.run_large(&mut file, input),
        }
        file[REGISTERS - 1]
    }
    /// The inputs in their registers.
    #[inline(always)]
    fn ask<T: Real>(&self, file: &mut [T], input: &dyn Fn(usize) -> T) {
        file.iter_mut().take(self.inputs).enumerate().for_each(|(k, to)| *to = input(k));
    }
    /// The constants in theirs.
    #[inline(always)]
    fn begin<T: Real>(&self, file: &mut [T]) {
        let mut put = |four: &[f64; 4], next: usize| {
            if let Some(to) = file.get_mut(next..next + 4) {
                to.copy_from_slice(&four.map(T::lift));
            }
        };
        match self.constants.as_slice() {
            [] => {}
            // Most have no more.
            [four] => put(four, self.inputs),
            more => more.iter().enumerate().for_each(|(k, four)| put(four, self.inputs + 4 * k)),
        }
    }
}

/// A program for what is asked in every step: it runs in few registers, of which an image with numbers and constants in
/// their places is copied. What it sees of the motion lies behind them, and the values of the expressions in the last ones.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Quick {
    pub(super) steps: Vec<Step<Near>>,
    /// What stands behind the numbers.
    pub(super) constants: Vec<f64>,
    /// True if some of the steps are seldom.
    pub(super) has_seldom: bool,
}

impl Quick {
    /// Of expressions whose names stand for some of these numbers and then for what is seen. Nothing if that is too much for so
    /// few registers.
    pub(super) fn of(formulas: &[Formula<'_>], numbers: usize, seen: usize) -> Option<Quick> {
        let length: usize = formulas.iter().map(|formula| formula.operations.len()).sum();
        if length > MOST_SHARED {
            return None;
        }
        Graph::of(formulas, true)?.quick(numbers, seen)
    }
    /// What the registers hold before the steps: these numbers, constants, and zeros.
    pub(crate) fn image<T: Real>(&self, numbers: &[T]) -> Vec<T> {
        let constants = self.constants.iter().map(|x| T::lift(*x));
        let image = numbers.iter().copied().chain(constants).chain(core::iter::repeat(T::zero()));
        image.take(FEW_REGISTERS).collect()
    }
    /// True if some of its steps call functions.
    #[inline(always)]
    pub(crate) fn has_seldom(&self) -> bool {
        self.has_seldom
    }
    /// Runs it in a copy of the image into which what is seen has been put.
    #[inline(always)]
    pub(crate) fn run<T: Real, const SELDOM: bool>(&self, file: &mut [T; FEW_REGISTERS]) {
        advance::<T, _, FEW_REGISTERS, SELDOM>(&self.steps, file, &|_| T::zero());
    }
}
