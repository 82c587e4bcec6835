//! Tests of polhode that compile its methods anew: in lanes and in double-double numbers. They stand in a package of their own
//! because that is done without any optimisation, which changes no bit of a result: the code is compiled for minutes otherwise,
//! and runs for moments.
