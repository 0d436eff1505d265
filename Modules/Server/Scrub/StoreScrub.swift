package import TernStorage

/// A slow examination of a store that is being served, over and over, in the background.
///
/// It reads a slice, reports its findings, and pauses for as long as the rate asks for. Commits
/// wait for a slice of pages at the most.
package struct StoreScrub: Sendable {
  /// The bytes examined each second unless the configuration says otherwise.
  package static let standardBytesPerSecond = 1 << 20
  /// The bytes of one slice.
  static let sliceBytes = 256 << 10
  /// The pause between two examinations.
  static let rest = Duration.seconds(3_600)

  private let store: any OrderedStore
  private let bytesPerSecond: Int
  private let clock: any Clock<Duration>
  private let report: @Sendable (StoreCorruption) -> Void

  /// A scrub of `store`.
  ///
  /// - Parameters:
  ///   - bytesPerSecond: The rate; 0 examines nothing.
  ///   - report: Called with each finding, once an examination.
  package init(
    _ store: any OrderedStore, bytesPerSecond: Int, clock: any Clock<Duration>,
    report: @escaping @Sendable (StoreCorruption) -> Void
  ) {
    self.store = store
    self.bytesPerSecond = bytesPerSecond
    self.clock = clock
    self.report = report
  }

  /// Examines the store until the task is cancelled or the store is closed.
  package func run() async {
    guard bytesPerSecond > 0 else { return }
    while await pause(.seconds(1)), await examine(), await pause(Self.rest) {}
  }

  /// Examines the store once; `false` when the store does not answer any more.
  private func examine() async -> Bool {
    var inspection = StoreInspection()
    var reported = 0
    while !inspection.isComplete {
      let before = inspection.bytes
      do throws(StorageError) {
        try store.inspect(&inspection, bytes: Self.sliceBytes)
      } catch {
        if error == .closed || error == .failed { return false }
        // Readers may be too many for a moment: the slice is examined again.
      }
      for corruption in inspection.found.dropFirst(reported) { report(corruption) }
      reported = inspection.found.count
      let bytes = max(inspection.bytes - before, 4_096)
      guard await pause(.seconds(Double(bytes) / Double(bytesPerSecond))) else { return false }
    }
    return true
  }

  private func pause(_ duration: Duration) async -> Bool {
    do {
      try await clock.sleep(for: duration)
      return !Task.isCancelled
    } catch { return false }
  }
}
