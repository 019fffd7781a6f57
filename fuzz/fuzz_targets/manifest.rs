//! `acp_chain_tests::fuzz::manifest`, for libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| acp_chain_tests::fuzz::manifest(data));
