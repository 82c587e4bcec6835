//! The program, from outside: what it prints, writes and refuses, and how it ends.

mod common;

mod campaign;
mod checkpoints;
mod compare;
mod converge;
mod ending;
mod error;
mod events;
mod examples;
mod files;
mod fit;
mod integrate;
mod intrinsic;
mod joints;
mod limits;
mod model_mistakes;
mod models;
mod outputs;
mod pictures;
mod readme;
mod real_data;
mod refusals;
mod results;
mod robot_mistakes;
mod robot_numbers;
mod robots;
mod screens;
mod sensitivity;
mod structure;
mod sweep;
mod sweep_lanes;
mod sweep_mistakes;
mod sweep_page;
mod systems;
mod talk;
