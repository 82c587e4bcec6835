//! Tests of polhode that step bodies in lanes, dual and double-double numbers. They stand in a package of their own because
//! that generic code is compiled here: quickly, with little optimisation, which changes no bit of a result. What they step in
//! plain numbers is the optimised code of the library.
