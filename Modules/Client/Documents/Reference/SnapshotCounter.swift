import Synchronization

/// Numbers the snapshots of one listener.
final class SnapshotCounter: Sendable {
  private let last = Mutex<UInt64>(0)

  func next() -> UInt64 {
    last.withLock { number in
      number += 1
      return number
    }
  }
}
