//! A proxy that breaks as soon as it starts, without bindings: `rustc` alone builds it, with what tells of
//! its lines. Of all its functions only `init` is ever called.

use std::alloc::{Layout, alloc};

#[unsafe(export_name = "acp-chain:proxy/handler@0.1.2#init")]
extern "C" fn init(_config: i32, _length: i32, _saved: i32, _at: i32, _size: i32) -> i32 {
    breaks()
}

/// The parameters and results of the canonical ABI.
macro_rules! never_called {
    ($($name:literal $function:ident($($param:ty)*);)*) => {$(
        #[unsafe(export_name = concat!("acp-chain:proxy/handler@0.1.2#", $name))]
        extern "C" fn $function($(_: $param),*) -> i32 {
            breaks()
        }
    )*};
}

never_called! {
    "on-request" on_request(i64 i32 i32 i32 i32 i32 i32 i64 i32 i32);
    "on-notification" on_notification(i64 i32 i32 i32 i32 i32 i32 i64 i32 i32);
    "on-response" on_response(i64 i32 i32 i32 i32 i32 i32 i64 i32 i32 i32 i32 i32 i32 i32);
    "on-cancel" on_cancel(i64);
}

#[inline(never)]
fn breaks() -> i32 {
    panic!("told to") // here
}

#[unsafe(export_name = "cabi_realloc")]
unsafe extern "C" fn realloc(_old: *mut u8, _size: usize, align: usize, size: usize) -> *mut u8 {
    unsafe { alloc(Layout::from_size_align_unchecked(size.max(1), align)) }
}
