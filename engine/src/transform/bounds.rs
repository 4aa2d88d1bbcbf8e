//! Two bounds that a whole number lies within, or does not: what any comparison with a number or a moment comes down to.

use super::condition::Operator;

/// From `low` to `high`, both included, or (`inside` is false) all but that. None at all if `low` is above `high`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    low: i128,
    high: i128,
    pub inside: bool,
}

impl Bounds {
    /// The whole numbers that compare so with a number of which the largest whole number not above it is known, and whether
    /// it is that number.
    pub(super) fn of_numbers(operator: Operator, (floor, exact): (i128, bool)) -> Bounds {
        let next = floor.saturating_add(1);
        // Between two whole numbers there is no whole number.
        let (first, last) = if exact { (floor, floor) } else { (next, floor) };
        Bounds::of_range(operator, first, last)
    }

    /// The moments, counted in units of so many nanoseconds, that compare so with a span of nanoseconds.
    pub(super) fn of_moments(operator: Operator, (first, last): (i128, i128), unit: i128) -> Bounds {
        // The first unit that does not begin before the span, and the last that begins within it.
        let up = |nanos: i128| -(-nanos).div_euclid(unit);
        let down = |nanos: i128| nanos.div_euclid(unit);
        Bounds::of_range(operator, up(first), down(last))
    }

    /// What is before, behind or within a range; an empty range, of which `last` is the number before `first`, is a gap.
    fn of_range(operator: Operator, first: i128, last: i128) -> Bounds {
        let (low, high, inside) = match operator {
            Operator::Less => (i128::MIN, first.saturating_sub(1), true),
            Operator::LessOrEqual => (i128::MIN, last, true),
            Operator::Greater => (last.saturating_add(1), i128::MAX, true),
            Operator::GreaterOrEqual => (first, i128::MAX, true),
            Operator::Equal => (first, last, true),
            Operator::NotEqual => (first, last, false),
        };
        Bounds { low, high, inside }
    }

    /// The bounds within those of a type; `None` if no number of the type is within them.
    pub(super) fn clip(&self, least: i128, most: i128) -> Option<(i128, i128)> {
        let (low, high) = (self.low.max(least), self.high.min(most));
        (low <= high).then_some((low, high))
    }
}
