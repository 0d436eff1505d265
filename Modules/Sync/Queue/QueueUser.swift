/// The user whose writes are meant; empty while no user is signed in.
///
/// Two names are the same when their bytes are: names that look alike may belong to two users.
package struct QueueUser: Hashable, Sendable {
  /// The user's id; empty while no user is signed in.
  package let id: String

  /// The absence of a user.
  package static let nobody = QueueUser("")

  package init(_ id: String) { self.id = id }

  package static func == (left: QueueUser, right: QueueUser) -> Bool {
    left.id.utf8.elementsEqual(right.id.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    for byte in id.utf8 { hasher.combine(byte) }
  }
}
