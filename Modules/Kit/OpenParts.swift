import Synchronization

/// The parts that are open, to be closed in the reverse order.
final class OpenParts: Sendable {
  private let closers = Mutex<[@Sendable () async -> Void]>([])

  /// Remembers how to close a part.
  func add(_ close: @escaping @Sendable () async -> Void) {
    closers.withLock { $0.append(close) }
  }

  /// Closes everything, the last first; a second call finds nothing left.
  func close() async {
    let closers = closers.withLock { closers in
      defer { closers = [] }
      return closers
    }
    for close in closers.reversed() { await close() }
  }
}
