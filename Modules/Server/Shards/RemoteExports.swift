import Synchronization

/// The readings of other shards' data that are under way. They begin and are reviewed on the
/// server's executor, and end on any thread.
///
/// Each shard has as many places as this node's own exports: a shard whose node is slow takes none
/// of the others. A reader that takes nothing gives its place up as at ``ExportTable``.
final class RemoteExports: Sendable {
  private struct Holder: ExportPlaceHolder {
    let remote: RemoteExport
    let address: String

    var stalledMilliseconds: Int64 { remote.stalledMilliseconds }
  }

  private struct State {
    /// By shard and number.
    var open: [UInt32: [UInt64: Holder]] = [:]
    var last: UInt64 = 0
    var isEnded = false

    var all: [RemoteExport] { open.values.flatMap { $0.values.map(\.remote) } }
  }

  private let state = Mutex(State())

  /// True when nothing is read.
  var isIdle: Bool { state.withLock { $0.open.isEmpty } }

  /// Begins a reading, which keeps its place until it is over.
  ///
  /// - Parameters:
  ///   - request: The frame that asks for the data.
  ///   - address: The address of the reader, without a port.
  ///   - uptime: Milliseconds on a clock that never jumps.
  /// - Returns: `nil` when as many of the shard are under way as may be, or the server has stopped.
  func begin(
    _ request: [UInt8], of shard: UInt32, at address: String, _ limits: ServerLimits,
    uptime: @escaping @Sendable () -> Int64, tell: @escaping @Sendable (TreeExport.Event) -> Void
  ) -> RemoteExport? {
    let (begun, evicted) = state.withLock { state -> (RemoteExport?, RemoteExport?) in
      if state.isEnded { return (nil, nil) }
      var open = state.open[shard] ?? [:]
      var evicted: RemoteExport?
      if open.count >= limits.exports {
        evicted = open.evict(for: address, limits.exportStallMilliseconds)?.holder.remote
        if evicted == nil { return (nil, nil) }
      }
      state.last += 1
      let number = state.last
      let remote = RemoteExport(request, uptime: uptime, tell: tell) { [weak self] in
        self?.leave(shard, number)
      }
      open[number] = Holder(remote: remote, address: address)
      state.open[shard] = open
      return (remote, evicted)
    }
    evicted?.fail("the reader took nothing for too long")
    return begun
  }

  private func leave(_ shard: UInt32, _ number: UInt64) {
    state.withLock { state in
      state.open[shard]?[number] = nil
      if state.open[shard]?.isEmpty == true { state.open[shard] = nil }
    }
  }

  /// Ends the readings from nodes that have sent nothing for too long, and those without a reader.
  func endSilent() {
    for remote in state.withLock(\.all) where remote.isOverdue {
      remote.fail("the other node sent nothing for too long")
    }
  }

  /// Ends all readings, and begins no more.
  func endAll() {
    let all = state.withLock { state in
      state.isEnded = true
      return state.all
    }
    for remote in all { remote.fail("the server stops") }
  }
}
