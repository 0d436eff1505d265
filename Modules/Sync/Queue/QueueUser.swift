/// Whose writes are meant: a user's, or nobody's while nobody is signed in.
///
/// Two names are the same when their bytes are: what looks alike may be two people.
package struct QueueUser: Hashable, Sendable {
  /// The user's id; empty for nobody.
  package let id: String

  /// Nobody is signed in.
  package static let nobody = QueueUser("")

  package init(_ id: String) { self.id = id }

  package static func == (left: QueueUser, right: QueueUser) -> Bool {
    left.id.utf8.elementsEqual(right.id.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    for byte in id.utf8 { hasher.combine(byte) }
  }
}
