//! The mechanisms against solutions in minimal coordinates, computed elsewhere to 14 digits and more: Newton-Euler with the
//! joint forces eliminated for the double pendulum, energy quadrature for the linkages, Lagrange's equations for the gimbals.

use core::ops::ControlFlow;
use nalgebra::Vector3;
use polhode::group::Rotation;
use polhode::method::{Method, Row, SYSTEMS};
use polhode::multibody::Simulation;
use polhode::problem::{BodyReference, Problem, Reference};
use polhode::run::Plan;

/// Time, positions, quaternions, reactions of both joints.
type Swing = (f64, [[f64; 3]; 2], [[f64; 4]; 2], [[f64; 3]; 2]);

const DOUBLE_PENDULUM: [Swing; 4] = [
    (
        0.25,
        [
            [0.2889225177811608, -0.11723680598009292, -0.39086994006009323],
            [0.5651724386225393, -0.15234893439468586, -0.3904663918519874],
        ],
        [
            [0.8873182725836156, 0.039859765684072145, 0.43369659338076794, -0.15160721324777396],
            [0.08791518217847853, 0.690239215466491, 0.0575399334889735, 0.7159119374817076],
        ],
        [
            [-24.12114405839519, 9.775228213553685, 35.376684598021946],
            [-12.35451475335378, 5.041857250825572, 16.270586706586982],
        ],
    ),
    (
        0.5,
        [
            [-0.06993806552884478, -0.14859681293031393, -0.4722580377050626],
            [-0.009124586038509942, -0.42759800091781586, -1.299338189209479],
        ],
        [
            [0.6556391054582941, -0.014117289577082474, 0.7248458806477172, -0.21103676181386077],
            [0.11354340894094543, 0.8065651403079876, -0.12226419556446248, -0.5671084862784196],
        ],
        [
            [50.460521873550114, 63.98444313098734, 212.3483249460612],
            [-10.002604065261659, 68.00676292726428, 202.32178227981916],
        ],
    ),
    (
        1.0,
        [
            [-0.4596510809609858, 0.18681027934231503, -0.061828822594672615],
            [-0.6531632039865152, 0.5589383054304773, 0.11049484318109984],
        ],
        [
            [0.06248375611977142, 0.19090494823387666, 0.9796124585483946, -0.0032422241988549873],
            [-0.17111535259758565, -0.8963220590416842, -0.18920571635941513, -0.3626672020980117],
        ],
        [
            [7.316197439912585, -2.7569564793078194, 4.1239051023882],
            [3.1865853411708263, -1.7305977637503596, -0.8380695608808205],
        ],
    ),
    (
        2.0,
        [
            [0.1592450343360261, -0.1842451876264496, -0.4366860770345355],
            [0.3882606892173604, -0.717384319897596, -1.0561427094082336],
        ],
        [
            [0.6979235207202151, 0.41490696976735103, 0.34634902039285215, -0.46989075510897804],
            [-0.7489483233768444, -0.1621409405198114, -0.17096792593017465, 0.6193195399965183],
        ],
        [
            [-23.346044662926417, 22.560645938007706, 67.03275027221935],
            [-14.739058804248643, 26.254852008694556, 39.37365266318793],
        ],
    ),
];

/// Time, positions in the plane and angles of the three bodies.
type Plane = (f64, [[f64; 2]; 3], [f64; 3]);

const FOUR_BAR: [Plane; 4] = [
    (
        0.1,
        [
            [-0.08438594798001207, 0.12401214369373144],
            [0.30927564466641705, 0.39455260854419705],
            [0.8936615926464291, 0.2705404648504656],
        ],
        [2.168291022304588, 0.2974222849282922, 1.9453049362634725],
    ),
    (
        0.25,
        [
            [-0.14952909207981602, -0.011876473457466386],
            [0.14916340971501643, 0.19782639053436482],
            [0.7986925017948324, 0.20970286399183122],
        ],
        [3.2208521026835286, 0.45911918112565614, 2.3357711645140977],
    ),
    (
        0.5,
        [
            [0.07861340218584509, -0.1277494931370241],
            [0.46395013939520247, 0.13936908758360647],
            [0.8853367372093573, 0.2671185807206306],
        ],
        [5.264034478199744, 0.9103787637845226, 1.9762695051140249],
    ),
    (
        1.0,
        [
            [-0.09796417290616762, 0.11359146458607924],
            [0.28084307023265453, 0.37781166760694485],
            [0.8788072431388222, 0.2642202030208656],
        ],
        [8.565645242928358, 0.30601112167624234, 2.000845785330422],
    ),
];
const SLIDER_CRANK: [Plane; 4] = [
    (
        0.1,
        [
            [-0.13262514830157981, 0.07007545959880648],
            [-0.02527231852597015, 0.07007545959880648],
            [0.21470565955121934, 0.0],
        ],
        [2.655505647755633, -0.28410853862647356, 0.0],
    ),
    (
        0.25,
        [
            [-0.016793335371292534, -0.14905698201395096],
            [0.16711713119672225, -0.14905698201395096],
            [0.3678209331360296, 0.0],
        ],
        [4.600198206072795, 0.6387943092045656, 0.0],
    ),
    (
        0.5,
        [
            [0.11523151464712869, 0.09602967266490377],
            [0.4612839598180542, 0.09602967266490377],
            [0.692104890341851, 0.0],
        ],
        [6.977941049957282, -0.39425309486145405, 0.0],
    ),
    (
        1.0,
        [
            [0.11818836244048965, -0.09236617878658539],
            [0.46868791491788764, -0.09236617878658539],
            [0.700999104954796, 0.0],
        ],
        [11.90300202815447, 0.3784329117748417, 0.0],
    ),
];
const HEAVY_FOUR_BAR: [Plane; 4] = [
    (
        0.1,
        [
            [-0.08873726762775092, 0.12093674931120363],
            [0.3002112268514346, 0.389576960600505],
            [0.8889484944791854, 0.2686402112893014],
        ],
        [2.2038156737585597, 0.2998814233213862, 1.962786935675989],
    ),
    (
        0.25,
        [
            [-0.10046993057551142, -0.11138129578233463],
            [0.18949708769537515, 0.08958175202988855],
            [0.7899670182708866, 0.20096304781222318],
        ],
        [3.9784501941627326, 0.6747327970082371, 2.3782590877282774],
    ),
    (
        0.5,
        [
            [0.1276116912817253, 0.07883689649027056],
            [0.714043998197141, 0.356378706532072],
            [1.0864323069154156, 0.27754181004180145],
        ],
        [6.836581221745483, 0.40869247272931164, 1.268894898747291],
    ),
    (
        1.0,
        [
            [0.10193717531911942, -0.11004004856396198],
            [0.518593769344076, 0.16844491814066842],
            [0.9166565940249566, 0.2784849667046304],
        ],
        [11.742765845535034, 0.8899654971208135, 1.8615872497584431],
    ),
];
const HEAVY_SLIDER_CRANK: [Plane; 4] = [
    (
        0.1,
        [
            [-0.1357483078659227, 0.06381533445449195],
            [-0.02977859181045611, 0.06381533445449195],
            [0.2119394321109332, 0.0],
        ],
        [2.7021495312811483, -0.25811798559351606, 0.0],
    ),
    (
        0.25,
        [
            [0.0350103479351234, -0.14585703801140898],
            [0.2730618849490601, -0.14585703801140898],
            [0.47610307402787333, 0.0],
        ],
        [4.94796416223893, 0.6229433286417662, 0.0],
    ),
    (
        0.5,
        [
            [0.03470752920602509, 0.14592939188666865],
            [0.27240425168003446, 0.14592939188666865],
            [0.4753934449480188, 0.0],
        ],
        [7.6204820703762906, -0.6232997249984902, 0.0],
    ),
    (
        1.0,
        [
            [0.06623778927183818, 0.13458289368407694],
            [0.3431588591513706, 0.13458289368407694],
            [0.5538421397590649, 0.0],
        ],
        [13.679802173360025, -0.5684560757244663, 0.0],
    ),
];

/// Time and the three angles.
const GYROSCOPE: [(f64, [f64; 3]); 5] = [
    (0.1, [0.03397465575961584, -0.020128306127253942, 6.000494011609133]),
    (0.2, [0.06675662568964351, -0.0018874410336695434, 12.0009447232154]),
    (0.4, [0.18987315399694, 0.00662728825468066, 24.002668055194615]),
    (1.0, [0.4515534290683824, -0.013780676034274852, 60.00638571082709]),
    (2.0, [0.9379355370521089, 0.0216053732914068, 120.01340588696524]),
];

fn gap(a: &Rotation<f64>, b: &Rotation<f64>) -> f64 {
    a.distance(b)
}

/// The extrapolated solution of a problem, with gravity along y if asked for.
fn solution(id: &str, gravity: Option<&str>, t: f64) -> Reference {
    let mut problem = Problem::named(id).unwrap();
    if let Some(gravity) = gravity {
        problem.set("gravity", gravity).unwrap();
    }
    problem.model().unwrap().reference(t).unwrap()
}

#[test]
fn the_double_pendulum_in_space() {
    for (t, positions, attitudes, _) in DOUBLE_PENDULUM {
        let found = solution("double-pendulum", None, t);
        for (i, BodyReference { position, attitude, .. }) in found.bodies.iter().enumerate() {
            let error = (position.unwrap() - Vector3::from(positions[i])).norm();
            assert!(error < 1e-9, "t = {t}: {error:e}");
            let error = gap(attitude, &Rotation::from_q_wxyz(attitudes[i]));
            assert!(error < 2e-9, "t = {t}: {error:e}");
        }
    }
}

#[test]
fn reactions_of_the_double_pendulum_converge() {
    let model = Problem::named("double-pendulum").unwrap().model().unwrap();
    let (t, _, _, reactions) = DOUBLE_PENDULUM[2];
    for (form, bound) in [("linear-alpha", 2.3), ("geometric-alpha", 2.3)] {
        let error = |steps: u32| {
            let mut run = Simulation::new(model.system(), &Method::parse(form).unwrap()).unwrap();
            for _ in 0..steps {
                run.step(t / f64::from(steps)).unwrap();
            }
            let of = |joint: &str| Vector3::from_column_slice(run.multipliers(joint).unwrap());
            (of("shoulder") - Vector3::from(reactions[0])).norm()
                + (of("elbow") - Vector3::from(reactions[1])).norm()
        };
        let order = (error(1000) / error(2000)).log2();
        assert!((1.7..bound).contains(&order), "{form}: {order}");
    }
}

#[test]
fn linkages_in_the_plane() {
    let down = Some("0,-9.81,0");
    for (id, gravity, known) in [
        ("four-bar", None, FOUR_BAR),
        ("slider-crank", None, SLIDER_CRANK),
        ("four-bar", down, HEAVY_FOUR_BAR),
        ("slider-crank", down, HEAVY_SLIDER_CRANK),
    ] {
        for (t, positions, angles) in known {
            let found = solution(id, gravity, t);
            for (i, BodyReference { position, attitude, .. }) in found.bodies.iter().enumerate() {
                let error = (position.unwrap() - Vector3::new(positions[i][0], positions[i][1], 0.0)).norm();
                assert!(error < 3e-9, "{id}, t = {t}: {error:e}");
                let turn = Rotation::from_rotation_vector(&Vector3::new(0.0, 0.0, angles[i]));
                let error = gap(attitude, &turn);
                assert!(error < 1e-8, "{id}, t = {t}: {error:e}");
            }
        }
    }
}

/// Without gravity they are where they began after one turn of the crank, whose time is known.
#[test]
fn linkages_return_to_their_start() {
    for (id, period) in [("four-bar", 0.8814376465156015), ("slider-crank", 0.6163608158467959)] {
        let model = Problem::named(id).unwrap().model().unwrap();
        let start = model.start();
        for method in ["linear-alpha", "geometric-alpha", "linear-alpha,constraints=stabilized"] {
            let error = |steps: u32| {
                let plan = Plan::new(period / f64::from(steps), period).unwrap();
                let method = Method::parse(method).unwrap();
                let end = model.run(&method, &plan, &mut |_, _| ControlFlow::Continue(())).unwrap();
                let gaps = end.last.bodies.iter().zip(start.bodies.iter()).map(|(now, then)| {
                    (now.position() - then.position()).norm() + now.attitude.distance(&then.attitude)
                });
                gaps.fold(0.0, f64::max)
            };
            let (coarse, fine) = (error(400), error(800));
            assert!(fine < 1e-3, "{id}, {method}: {fine:e}");
            let order = (coarse / fine).log2();
            assert!((1.8..2.3).contains(&order), "{id}, {method}: {order}");
        }
    }
}

#[test]
fn the_gyroscope_in_gimbals() {
    for (t, [outer, inner, rotor]) in GYROSCOPE {
        let found = solution("gyroscope", None, t);
        let about = |axis: Vector3<f64>, angle: f64| Rotation::from_rotation_vector(&(axis * angle));
        let first = about(Vector3::z(), outer);
        let second = first.compose(&about(Vector3::x(), inner));
        let third = second.compose(&about(Vector3::y(), rotor));
        for (BodyReference { attitude, .. }, known) in found.bodies.iter().zip([first, second, third]) {
            let error = gap(attitude, &known);
            assert!(error < 3e-8, "t = {t}: {error:e}");
        }
    }
}

/// The order that each row of the table of methods for systems claims, on the double pendulum and under other weights too.
#[test]
fn every_method_for_systems_has_its_order() {
    let model = Problem::named("double-pendulum").unwrap().model().unwrap();
    let t = 0.5;
    let reference = model.reference(t).unwrap();
    let options = ["", ",rho=0.5", ",alpha_m=0,alpha_f=0.1", ",constraints=stabilized"];
    let alpha = |row: &&Row| row.id.ends_with("alpha");
    let forms = SYSTEMS.iter().filter(alpha).flat_map(|row| options.map(|o| format!("{}{o}", row.id)));
    for id in forms.chain(SYSTEMS.iter().filter(|row| !alpha(row)).map(|row| row.id.into())) {
        let method = Method::parse(&id).unwrap();
        let error = |steps: u32| {
            let plan = Plan::new(t / f64::from(steps), t).unwrap();
            let end = model.run(&method, &plan, &mut |_, _| ControlFlow::Continue(())).unwrap();
            reference.errors(&end.last).position.unwrap()
        };
        let orders: Vec<f64> = [800, 1600].map(|n| (error(n) / error(2 * n)).log2()).to_vec();
        let claimed = f64::from(method.order());
        assert!((orders[1] - claimed).abs() < 0.06, "{id}: {orders:?}");
    }
}
