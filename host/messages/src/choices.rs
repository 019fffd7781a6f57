//! The decisions for one generated text, as bytes.
//!
//! Proptest generates and shrinks the bytes, and thereby the texts. Byte 0 always means the simplest alternative, and
//! so does the end of the bytes. So fewer and smaller bytes make a smaller text, and the size of texts is limited.

/// Bytes, consumed one per decision.
pub(super) struct Choices<'a>(std::slice::Iter<'a, u8>);

impl<'a> Choices<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes.iter())
    }

    /// A number under `bound`, which is at least 1 and at most 256.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        usize::from(self.0.next().copied().unwrap_or(0)) % bound
    }

    /// `true` for one of `times` byte values.
    pub(super) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) + 1 == times
    }

    pub(super) fn pick<'t, T>(&mut self, among: &'t [T]) -> &'t T {
        &among[self.below(among.len())]
    }
}
