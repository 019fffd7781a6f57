//! `acp_chain_tests::fuzz::envelope`, for libFuzzer.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| acp_chain_tests::fuzz::envelope(data));
