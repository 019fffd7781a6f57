//! `acp_chain_tests::fuzz::lines`, for libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| acp_chain_tests::fuzz::lines(data));
