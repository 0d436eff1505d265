/// The writes of a device's users: those of the present user at hand, those of the others set
/// aside until their return.
package struct PerUser<Value: Sendable>: Sendable {
  /// The user of the device.
  package private(set) var user: QueueUser
  /// The value of that user.
  package var present: Value
  private var others: [QueueUser: Value] = [:]

  /// Begins with one user.
  package init(_ user: QueueUser, _ value: Value) {
    self.user = user
    present = value
  }

  /// Sets the present value aside for another user, whose value is to be put in its place.
  package mutating func leave(for user: QueueUser) {
    others[self.user] = present
    self.user = user
  }

  /// Takes out the value that was set aside for the present user.
  package mutating func takeOwn() -> Value? { others.removeValue(forKey: user) }

  /// Returns true when there is a value for a user.
  package func knows(_ user: QueueUser) -> Bool { user == self.user || others[user] != nil }

  /// Sets a value aside for a user who is not the present one.
  package mutating func add(_ value: Value, of user: QueueUser) { others[user] = value }

  /// Changes the value of a user in place; does nothing when there is none.
  package mutating func update(of owner: QueueUser, _ body: (inout Value) -> Void) {
    if owner == user { return body(&present) }
    guard let index = others.index(forKey: owner) else { return }
    body(&others.values[index])
  }
}
