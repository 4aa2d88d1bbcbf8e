//! A line of values: they come in at its end and leave at its front. It grows and shrinks in pieces, so that nothing is copied and
//! memory is given back; a value is found by its number, which wraps around.

use std::collections::VecDeque;

/// How many values a piece has.
const PIECE: usize = 4096;

#[derive(Debug)]
pub(super) struct Line<T> {
    pieces: VecDeque<Vec<T>>,
    /// The number that the first value of the first piece has, or had.
    base: u32,
    /// How many values of the first piece have left.
    left: usize,
    len: usize,
    /// An empty piece, to be used next.
    spare: Option<Vec<T>>,
}

impl<T> Default for Line<T> {
    fn default() -> Line<T> {
        Line { pieces: VecDeque::new(), base: 0, left: 0, len: 0, spare: None }
    }
}

impl<T: Copy> Line<T> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of the value at the front.
    pub(super) fn first(&self) -> u32 {
        self.base.wrapping_add(self.left as u32)
    }

    /// The number that the next value will have.
    #[inline]
    pub(super) fn next(&self) -> u32 {
        self.first().wrapping_add(self.len as u32)
    }

    #[inline]
    pub(super) fn push(&mut self, value: T) {
        match self.pieces.back_mut() {
            Some(piece) if piece.len() < PIECE => piece.push(value),
            _ => self.push_piece(value),
        }
        self.len += 1;
    }

    fn push_piece(&mut self, value: T) {
        let mut piece = self.spare.take().unwrap_or_else(|| Vec::with_capacity(PIECE));
        piece.push(value);
        self.pieces.push_back(piece);
    }

    /// The value with this number, which is in the line.
    #[inline]
    pub(super) fn get(&self, number: u32) -> &T {
        let at = number.wrapping_sub(self.base) as usize;
        &self.pieces[at / PIECE][at % PIECE]
    }

    pub(super) fn get_mut(&mut self, number: u32) -> &mut T {
        let at = number.wrapping_sub(self.base) as usize;
        &mut self.pieces[at / PIECE][at % PIECE]
    }

    /// The value at the front.
    pub(super) fn front(&self) -> Option<&T> {
        (self.len > 0).then(|| self.get(self.first()))
    }

    /// The value at the end.
    pub(super) fn back_mut(&mut self) -> Option<&mut T> {
        if self.len == 0 { None } else { self.pieces.back_mut().and_then(|piece| piece.last_mut()) }
    }

    /// Takes the value at the front.
    pub(super) fn pop(&mut self) -> Option<T> {
        let value = *self.front()?;
        self.left += 1;
        self.len -= 1;
        if self.left == PIECE {
            self.base = self.base.wrapping_add(PIECE as u32);
            self.left = 0;
            self.spare = self.pieces.pop_front();
            if let Some(spare) = &mut self.spare {
                spare.clear();
            }
        }
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_leave_in_order_and_are_found_by_number_meanwhile() {
        // Numbers wrap around.
        let mut line = Line { base: u32::MAX - 5_000, ..Line::default() };
        let (mut came, mut gone) = (0_u64, 0);
        for round in 0..40 {
            for _ in 0..1_000 {
                let number = line.next();
                line.push(came);
                assert_eq!(*line.get(number), came);
                came += 1;
            }
            // Now and then it is empty.
            for _ in 0..if round % 10 == 9 { line.len() } else { 700 } {
                assert_eq!(line.front(), Some(&gone));
                assert_eq!(*line.get(line.first()), gone);
                assert_eq!(line.pop(), Some(gone));
                gone += 1;
            }
            assert_eq!(line.len() as u64, came - gone);
            assert_eq!(line.back_mut().copied(), (came > gone).then(|| came - 1));
            assert!(line.pieces.len() <= line.len() / PIECE + 2, "memory is given back");
        }
        assert_eq!((line.is_empty(), line.pop()), (true, None));
    }
}
