#if TCP
  import Foundation

  /// Group commit over the C library with nothing around it: threads hand in rows and wait; one
  /// loop commits whatever is queued, in one transaction, and wakes those it was for.
  ///
  /// `@unchecked Sendable` is sound because the queue is used under its condition and the store by
  /// the loop alone.
  final class BareGroupCommit: @unchecked Sendable {
    private let store: BareSQLite
    private let value = Array(RequestProtocol.value.utf8)
    private let condition = NSCondition()
    private var queue: [(keys: [[UInt8]], done: DispatchSemaphore)] = []
    private var writersLeft = 0
    private var written = 0

    init(path: String) throws { store = try BareSQLite(path: path) }

    /// Lets `writers` threads hand in `depth` rows at a time.
    ///
    /// - Returns: Rows in a second, counted for `seconds` after as many for warming up.
    func run(writers: Int, depth: Int, seconds: Double) throws -> Double {
      let clock = ContinuousClock()
      let middle = clock.now + .seconds(seconds)
      let end = middle + .seconds(seconds)
      writersLeft = writers
      for writer in 0..<writers {
        Thread { self.write(writer, depth, until: end) }.start()
      }
      var before: (rows: Int, time: ContinuousClock.Instant)?
      while try commitQueued() {
        if before == nil, clock.now >= middle { before = (written, clock.now) }
      }
      guard let before else { throw BenchFailure(reason: "nothing was counted") }
      return Double(written - before.rows) / ((clock.now - before.time) / .seconds(1))
    }

    private func write(_ writer: Int, _ depth: Int, until end: ContinuousClock.Instant) {
      let done = DispatchSemaphore(value: 0)
      var number = 0
      while ContinuousClock.now < end {
        let keys = (1...depth).map { Array(RequestProtocol.key(writer, number + $0).utf8) }
        number += depth
        condition.lock()
        queue.append((keys, done))
        condition.signal()
        condition.unlock()
        done.wait()
      }
      condition.lock()
      writersLeft -= 1
      condition.signal()
      condition.unlock()
    }

    /// Commits what is queued; `false` when all writers have left.
    private func commitQueued() throws -> Bool {
      condition.lock()
      while queue.isEmpty, writersLeft > 0 { condition.wait() }
      let batch = exchange(&queue, with: [])
      condition.unlock()
      if batch.isEmpty { return false }
      let keys = batch.flatMap(\.keys)
      try store.put(keys[...], value, batch: keys.count)
      written += keys.count
      for entry in batch { entry.done.signal() }
      return true
    }
  }
#endif
