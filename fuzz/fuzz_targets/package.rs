//! `acp_chain_tests::fuzz::package`, for libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| acp_chain_tests::fuzz::package(data));
