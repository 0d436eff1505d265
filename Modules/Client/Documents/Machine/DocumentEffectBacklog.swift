import TernDocumentReplica

/// The effects of the replica that are not performed yet. What performing one leads to follows
/// behind the others.
struct DocumentEffectBacklog: Sendable {
  private var effects: [DocumentEffect] = []
  private var position = 0
  private var isRunning = false

  /// Adds effects.
  ///
  /// - Returns: Whether the caller is to perform them; otherwise they are being performed.
  mutating func add(_ more: [DocumentEffect]) -> Bool {
    effects += more
    defer { isRunning = true }
    return !isRunning
  }

  /// Takes the next effect; `nil` when all are performed.
  mutating func next() -> DocumentEffect? {
    guard position < effects.count else {
      effects = []
      position = 0
      isRunning = false
      return nil
    }
    defer { position += 1 }
    return effects[position]
  }
}
