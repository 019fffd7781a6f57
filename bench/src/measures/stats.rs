//! A few statistics.

/// This quantile of the samples, which are sorted in place. `None` without samples.
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

/// The middle sample.
pub fn median(samples: &mut [f64]) -> Option<f64> {
    quantile(samples, 0.5)
}

/// The width of the median's 95 % confidence interval, relative to the median. By order statistics, so for any
/// distribution: of `n` samples, the true median is between those `0.98 √n` places from the middle one. With too few
/// samples, the interval spans all of them.
pub fn uncertainty(samples: &mut [f64]) -> f64 {
    let reach = 0.98 / number(samples.len().max(1)).sqrt();
    let mut part = |part| quantile(samples, part);
    match (part((0.5 - reach).max(0.0)), part(0.5), part(0.5 + reach)) {
        (Some(low), Some(middle), Some(high)) if middle > 0.0 => (high - low) / middle,
        _ => 0.0,
    }
}

/// The slope of the least-squares line through these points.
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
    fn a_median_is_known_the_better_the_more_samples_there_are() {
        let mut many: Vec<f64> = (1..=100).map(f64::from).collect();
        // Between the 41st and the 60th: 9.8 places from the middle.
        assert!((uncertainty(&mut many) - 19.0 / 51.0).abs() < 1e-9);
        let mut more: Vec<f64> = (1..=10_000).map(|at| f64::from(at) / 100.0).collect();
        assert!(uncertainty(&mut more) < 0.05);
        assert!((uncertainty(&mut [100.0, 300.0]) - 200.0 / 300.0).abs() < 1e-9);
        assert!(uncertainty(&mut []).abs() < 1e-9);
    }
}
