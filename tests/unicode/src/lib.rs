//! What Unicode says of texts, by ICU: another implementation than that of acp-chain, which tests hold against it.

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use icu_properties::CodePointSetData;
use icu_properties::props::DefaultIgnorableCodePoint;

/// A text in the form NFC (Unicode Standard Annex 15).
#[must_use]
pub fn nfc(text: &str) -> String {
    let form = ComposingNormalizerBorrowed::new_nfc();
    form.normalize(text).into_owned()
}

/// A text in the form NFD (Unicode Standard Annex 15).
#[must_use]
pub fn nfd(text: &str) -> String {
    let form = DecomposingNormalizerBorrowed::new_nfd();
    form.normalize(text).into_owned()
}

/// A text in the form NFKC (Unicode Standard Annex 15).
#[must_use]
pub fn nfkc(text: &str) -> String {
    let form = ComposingNormalizerBorrowed::new_nfkc();
    form.normalize(text).into_owned()
}

/// A text in the form NFKD (Unicode Standard Annex 15).
#[must_use]
pub fn nfkd(text: &str) -> String {
    let form = DecomposingNormalizerBorrowed::new_nfkd();
    form.normalize(text).into_owned()
}

/// Whether a character has the property `Default_Ignorable_Code_Point` (Unicode Standard Annex 44).
#[must_use]
pub fn is_default_ignorable(c: char) -> bool {
    CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(c)
}
