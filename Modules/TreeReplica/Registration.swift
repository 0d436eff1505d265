/// Names one listener of a replica.
package struct RegistrationID: Hashable, Comparable, Sendable {
  package let number: UInt64

  package init(_ number: UInt64) {
    self.number = number
  }

  package static func < (left: RegistrationID, right: RegistrationID) -> Bool {
    left.number < right.number
  }
}

/// The kinds of events a listener wants.
package struct EventKinds: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  package static let value = EventKinds(rawValue: 1)
  package static let childAdded = EventKinds(rawValue: 2)
  package static let childRemoved = EventKinds(rawValue: 4)
  package static let childMoved = EventKinds(rawValue: 8)
  package static let childChanged = EventKinds(rawValue: 16)

  /// All four child events.
  package static let children: EventKinds = [
    .childAdded, .childRemoved, .childMoved, .childChanged,
  ]
  package static let all: EventKinds = [.value, .children]
}

/// One listener of one view.
struct Registration: Sendable {
  let id: RegistrationID
  var kinds: EventKinds
  /// `true` if the engine itself holds it, to keep a query in sync; "remove all" leaves it alone.
  let isKeeper: Bool
}
