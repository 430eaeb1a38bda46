//! Memory over time, as a bounded number of points that include every peak.

/// The memory of a device at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Point {
    pub(crate) at_ns: u64,
    pub(crate) live: u64,
    pub(crate) pool: u64,
}

/// The most points. If there are more, pairs of neighbors are merged.
const MOST: usize = 4096;

/// Points in the order of time. Each point stands for `width` successive changes and has their largest values, so the peak
/// of the whole course is exact.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    points: Vec<Point>,
    width: usize,
    /// The number of changes in the last point.
    n_in_last: usize,
}

impl Default for Course {
    fn default() -> Self {
        Self { points: Vec::new(), width: 1, n_in_last: 0 }
    }
}

fn larger(a: Point, b: Point) -> Point {
    Point { at_ns: a.at_ns, live: a.live.max(b.live), pool: a.pool.max(b.pool) }
}

impl Course {
    pub(crate) fn add(&mut self, point: Point) {
        if let Some(last) = self.points.last_mut()
            && self.n_in_last < self.width
        {
            *last = larger(*last, point);
            self.n_in_last += 1;
            return;
        }
        if self.points.len() == MOST {
            self.points =
                self.points.chunks(2).map(|pair| pair.iter().copied().reduce(larger).unwrap_or_default()).collect();
            self.width *= 2;
            self.n_in_last = self.width;
        }
        self.points.push(point);
        self.n_in_last = 1;
    }

    pub(crate) fn points(&self) -> &[Point] {
        &self.points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_changes_stay_few_points_with_the_same_peak() {
        let mut course = Course::default();
        for at_ns in 0..100_000_u64 {
            let live = if at_ns == 54_321 { 9999 } else { at_ns % 100 };
            course.add(Point { at_ns, live, pool: at_ns / 1000 });
        }
        let points = course.points();
        assert!((MOST / 2..=MOST).contains(&points.len()), "{}", points.len());
        assert!(points.is_sorted_by(|a, b| a.at_ns < b.at_ns));
        assert_eq!(points.iter().map(|p| p.live).max(), Some(9999));
        assert_eq!(points.last().map(|p| p.pool), Some(99));
        let peak = points.iter().find(|p| p.live == 9999).unwrap();
        assert!((54_321 - 64..=54_321).contains(&peak.at_ns), "{}", peak.at_ns);
    }
}
