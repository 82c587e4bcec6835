//! Tests of polhode whose programs compile some of its generic code anew: quickly, with little optimisation, which changes no bit
//! of a result. What they step in plain numbers is the optimised code of the library.
