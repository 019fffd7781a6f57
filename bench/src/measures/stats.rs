//! The few statistics that there are.

/// What this part of the samples stays below, which are sorted by it. None of no samples.
pub fn quantile(samples: &mut [f64], part: f64) -> Option<f64> {
    samples.sort_by(f64::total_cmp);
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "there are not so many samples"
    )]
    let at = (samples.len() as f64 * part) as usize;
    samples.get(at.min(samples.len().checked_sub(1)?)).copied()
}

/// The middle one.
pub fn median(samples: &mut [f64]) -> Option<f64> {
    quantile(samples, 0.5)
}

/// By how much the quartiles are apart, relative to the middle sample: how wide the middle half of
/// them is spread. A few that were disturbed do not count, as they do not for a median.
pub fn spread(samples: &mut [f64]) -> f64 {
    let mut part = |part| quantile(samples, part);
    match (part(0.25), part(0.5), part(0.75)) {
        (Some(first), Some(middle), Some(third)) if middle > 0.0 => (third - first) / middle,
        _ => 0.0,
    }
}

/// How much a value grows by each one more, over points of both: the line of least squares.
#[must_use]
pub fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let count = number(points.len());
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let above: f64 = points.iter().map(|at| (at.0 - x) * (at.1 - y)).sum();
    let below: f64 = points.iter().map(|at| (at.0 - x).powi(2)).sum();
    (below > 0.0).then(|| above / below)
}

/// A count to calculate with.
#[must_use]
#[allow(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
pub fn number(count: usize) -> f64 {
    count as f64
}

/// Bytes in MiB.
#[allow(clippy::cast_precision_loss, reason = "no memory is so large")]
#[must_use]
pub fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_samples() {
        let mut samples: Vec<f64> = (1..=1000).rev().map(f64::from).collect();
        assert_eq!(quantile(&mut samples, 0.5), Some(501.0));
        assert_eq!(quantile(&mut samples, 0.99), Some(991.0));
        assert_eq!(quantile(&mut samples, 1.0), Some(1000.0));
        assert_eq!(quantile(&mut [], 0.5), None);
    }

    #[test]
    fn a_line_has_its_slope() {
        let slope = slope(&[(0.0, 10.0), (1.0, 13.0), (20.0, 70.0)]).unwrap();
        assert!((slope - 3.0).abs() < 1e-9);
    }

    #[test]
    fn a_spread_is_that_of_the_middle_half() {
        let mut samples = [100.0, 90.0, 500.0, 110.0, 105.0, 95.0, 1.0, 100.0];
        assert!((spread(&mut samples) - 0.15).abs() < 1e-9);
        assert!(spread(&mut [100.0, 200.0]) > 0.1 && spread(&mut []) == 0.0);
    }
}
