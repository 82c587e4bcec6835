//! Systems of bodies and joints.

#[path = "../shared/probe.rs"]
mod probe;
#[path = "../shared/systems.rs"]
mod systems;

mod bruls_top;
mod events;
mod gears;
mod guards;
mod joint_coordinates;
mod model_mutations;
mod multibody_forces;
mod multibody_invariance;
mod multibody_joints;
mod multibody_mechanisms;
mod multibody_motion;
mod multibody_problems;
mod multibody_refusals;
mod multibody_rotations;
mod multibody_statics;
mod own_frames;
mod redundant;
mod structure;
