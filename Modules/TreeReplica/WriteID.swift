/// The place of a local write in the order in which this client made its writes.
package struct WriteID: Hashable, Comparable, Sendable, CustomStringConvertible {
  package let number: UInt64

  package init(_ number: UInt64) {
    self.number = number
  }

  package static func < (left: WriteID, right: WriteID) -> Bool { left.number < right.number }

  package var description: String { "\(number)" }
}
