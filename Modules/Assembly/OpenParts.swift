import Synchronization

/// The opened parts, to be closed in reverse order.
package final class OpenParts: Sendable {
  private let closers = Mutex<[@Sendable () async -> Void]>([])

  /// Nothing is open.
  package init() {}

  /// Remembers how to close what was just opened.
  package func add(_ close: @escaping @Sendable () async -> Void) {
    closers.withLock { $0.append(close) }
  }

  /// Closes everything, the last first; a second call finds nothing left.
  package func close() async {
    let closers = closers.withLock { closers in
      defer { closers = [] }
      return closers
    }
    for close in closers.reversed() { await close() }
  }
}
