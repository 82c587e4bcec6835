//! Maps and motions to the last bit: chosen at run time beside static ones, in lanes beside single numbers.

use super::group_motion::{READINGS, angles, parameters, parts, pose, vector};
use crate::probe::Random;
use polhode::body::Dynamics;
use polhode::group::*;
use polhode::scalar::{F64x4, Real};

/// Numbers compared to the last bit, with the sign of zero.
pub(super) trait Bits: Real {
    fn bits(self) -> [u64; 4];
}
impl Bits for f64 {
    fn bits(self) -> [u64; 4] {
        [self.to_bits(); 4]
    }
}
impl Bits for F64x4 {
    fn bits(self) -> [u64; 4] {
        core::array::from_fn(|i| self.lane(i).to_bits())
    }
}
pub(super) type Image = Vec<[u64; 4]>;

fn list<S: Real, V: Coordinates<S>>(v: &V) -> impl Iterator<Item = S> {
    (0..V::LEN).map(|i| v.at(i))
}
/// All that a map does at these parameters, in bits.
pub(super) fn image<G: Dynamics, M: Map, S: Bits>(map: M, psi: &G::Vector<S>, v: &G::Vector<S>) -> Image {
    let step = G::increment(map, psi);
    let end = pose::<G, S>(&step);
    let (attitude, position) = parts::<G, S>(&end);
    let mut all: Vec<S> = attitude.q_wxyz().into_iter().chain(list(&position)).collect();
    for x in [
        G::parameters(map, &end),
        G::tangent(map, psi, v),
        G::tangent_inverse(map, psi, v),
        G::pull(&step, v),
        G::push(&step, v),
        G::pull_velocity(&step, v),
        G::push_velocity(&step, v),
        G::push_velocity(&G::half(map, psi, &step), v),
    ] {
        all.extend(list(&x));
    }
    all.into_iter().map(Bits::bits).collect()
}
/// The functions of the map at s, in bits.
fn coefficients<M: Map, S: Bits>(map: M, s: S) -> Image {
    let (c, inverse) = (map.coefficients(s), map.inverse_coefficients(s));
    [c.w, c.k, c.c, inverse.0, inverse.1].map(Bits::bits).to_vec()
}
/// Four arguments as one.
fn wide<G: Dynamics>(x: &[G::Vector<f64>; 4]) -> G::Vector<F64x4> {
    G::Vector::<F64x4>::generate(|i| F64x4::new(x.map(|x| x.at(i))))
}
/// Parameters of four rotations, often on different sides of a switch.
fn four<G: Dynamics>(kind: MapKind, random: &mut Random) -> [G::Vector<f64>; 4] {
    let angles = angles(kind);
    core::array::from_fn(|_| parameters::<G>(kind, angles[random.bits() as usize % angles.len()], random))
}

fn a_chosen_map_is_the_static_one<G: Dynamics, M: Map>(kind: MapKind, fixed: M) {
    let chosen = Vectorial::from(kind);
    assert_eq!((chosen.name(), chosen.limit()), (fixed.name(), fixed.limit()));
    let mut random = Random(1);
    for _ in 0..500 {
        let psi = four::<G>(kind, &mut random);
        let v: [G::Vector<f64>; 4] = core::array::from_fn(|_| vector::<G>(&mut random));
        for (psi, v) in psi.iter().zip(&v) {
            let s = G::angular(psi).norm_squared();
            assert_eq!(coefficients(chosen, s), coefficients(fixed, s), "{kind:?} at {s}");
            assert_eq!(
                image::<G, _, f64>(chosen, psi, v),
                image::<G, _, f64>(fixed, psi, v),
                "{kind:?} {psi:?}"
            );
        }
        let (psi, v) = (wide::<G>(&psi), wide::<G>(&v));
        let s = psi.inner(&psi);
        assert_eq!(coefficients(chosen, s), coefficients(fixed, s), "{kind:?} at {s:?}");
        assert_eq!(
            image::<G, _, F64x4>(chosen, &psi, &v),
            image::<G, _, F64x4>(fixed, &psi, &v),
            "{kind:?} {psi:?}"
        );
    }
}

#[test]
fn maps_chosen_at_run_time_give_the_bits_of_the_static_ones() {
    fn both<M: Map>(kind: MapKind, fixed: M) {
        a_chosen_map_is_the_static_one::<So3, M>(kind, fixed);
        a_chosen_map_is_the_static_one::<Se3, M>(kind, fixed);
    }
    both(MapKind::Exponential, Exponential);
    both(MapKind::EulerRodrigues, EulerRodrigues);
    both(MapKind::Cayley, Cayley);
    both(MapKind::WienerMilenkovic, WienerMilenkovic);
    assert_eq!(Vectorial::default(), Vectorial::from(MapKind::Exponential));
}

fn lanes_give_the_bits_of_their_own_runs<G: Dynamics>() {
    let mut random = Random(2);
    for kind in MapKind::ALL {
        for reading in READINGS {
            let map = Vectorial { kind, reading };
            for _ in 0..300 {
                let psi = four::<G>(kind, &mut random);
                let v: [G::Vector<f64>; 4] = core::array::from_fn(|_| vector::<G>(&mut random));
                let together = image::<G, _, F64x4>(map, &wide::<G>(&psi), &wide::<G>(&v));
                for lane in 0..4 {
                    let alone = image::<G, _, f64>(map, &psi[lane], &v[lane]);
                    assert!(together.iter().zip(&alone).all(|(a, b)| a[lane] == b[lane]), "{map:?} {psi:?}");
                }
            }
        }
    }
}

#[test]
fn lanes_give_the_bits_of_their_own_runs_under_every_reading() {
    lanes_give_the_bits_of_their_own_runs::<So3>();
    lanes_give_the_bits_of_their_own_runs::<Se3>();
}
