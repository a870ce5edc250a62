//! The real binary, command by command, as one test program: fixtures that several tests begin with are made once.

mod bad_input;
mod bad_scores;
mod browser;
mod common;
mod compare;
mod compile;
mod completion;
mod data;
mod documents;
mod evaluate;
mod evolving;
mod export;
mod forecast;
mod import;
mod patterns;
mod ranks;
mod record;
mod report;
mod resume;
mod rules;
mod run;
mod scores;
mod split;
mod synth;
mod training;
mod update;
