import Synchronization
import TernCore
import TernLedger
import TernTransport

/// Large data of another shard on their way through this node, piece by piece. Used from any
/// thread.
///
/// The link to the other node is read from no faster than the reader here takes the pieces, so the
/// data hold ``TreeExport/aheadBytes`` and one read of the link at most.
final class RemoteExport: LinkHandler {
  private struct State {
    /// The reader's end. Its owner is the reader.
    weak var export: TreeExport?
    var link: (any Link)?
    var isOver = false
    /// The uptime since which the reader can take what the other node sends; `nil` while it cannot.
    var awaitedSince: Int64?
  }

  /// The longest time to the first piece and from each piece to the next one, in milliseconds,
  /// beyond the time in which the reader can take none.
  static let deadline = DirectForwarder.deadline.milliseconds

  /// The number of the only request of its link.
  static let number: UInt64 = 1

  private let state: Mutex<State>
  private let request: [UInt8]
  private let uptime: @Sendable () -> Int64
  private let tell: @Sendable (TreeExport.Event) -> Void
  private let whenOver: @Sendable () -> Void

  /// - Parameters:
  ///   - request: The frame that asks for the data.
  ///   - uptime: Milliseconds on a clock that never jumps.
  ///   - tell: Called with what comes, in order, on the executor of the link.
  ///   - whenOver: Called once.
  init(
    _ request: [UInt8], uptime: @escaping @Sendable () -> Int64,
    tell: @escaping @Sendable (TreeExport.Event) -> Void, whenOver: @escaping @Sendable () -> Void
  ) {
    self.request = request
    self.tell = tell
    self.whenOver = whenOver
    self.uptime = uptime
    state = Mutex(State(awaitedSince: uptime()))
  }

  /// Makes the reader's end.
  func reading() -> TreeExport {
    let export = TreeExport(uptime: uptime) { [self] in review() }
    state.withLock { $0.export = export }
    return export
  }

  /// The time for which the reader has taken nothing of what waits for it, in milliseconds; the
  /// longest one when there is no reader any more.
  var stalledMilliseconds: Int64 {
    state.withLock { $0.export }?.stalledMilliseconds ?? .max
  }

  /// True when the other node has sent nothing for longer than ``deadline``, or there is no reader
  /// any more.
  var isOverdue: Bool {
    let now = uptime()
    return state.withLock { state in
      if state.export == nil { return true }
      return state.awaitedSince.map { now - $0 > Self.deadline } ?? false
    }
  }

  /// Asks the node at `address`.
  func open(to address: String, over links: any LeaderLinks, for client: String) {
    Task {
      do throws(TransportError) {
        begin(try await links.connect(to: address, for: client) { _ in self })
      } catch {
        fail(error.textWithoutAddress)
      }
    }
  }

  private func begin(_ link: any Link) {
    let isOver = state.withLock { state in
      if !state.isOver { state.link = link }
      return state.isOver
    }
    if isOver { return link.close() }
    link.send(request)
    link.flush()
  }

  /// Ends the reading before its end.
  func fail(_ reason: String) { end(.failed(.unavailable(reason: reason))) }

  private func end(_ event: TreeExport.Event?) {
    let ended = state.withLock { state -> (link: (any Link)?, isFirst: Bool) in
      defer { (state.isOver, state.link) = (true, nil) }
      return (state.link, !state.isOver)
    }
    guard ended.isFirst else { return }
    ended.link?.close()
    whenOver()
    if let event { tell(event) }
  }

  /// Reads from the link if the reader has taken most of what it was told, and ends it if there is
  /// no reader any more.
  private func review() {
    let now = uptime()
    let (export, link) = state.withLock { state in
      let isAwaited = state.export?.hasCredit == true
      state.awaitedSince = isAwaited ? state.awaitedSince ?? now : nil
      return (state.export, state.link)
    }
    guard let export, !export.isCancelled else { return end(nil) }
    link?.setReading(export.hasCredit)
    // It may have taken more just before the link was stopped.
    if export.hasCredit { link?.setReading(true) }
  }

  func linkDidReceive(_ frames: [[UInt8]]) {
    state.withLock { $0.awaitedSince = nil }
    for frame in frames {
      guard let read = try? DirectFrame(frame, .answer), read.number == Self.number,
        let piece = try? read.piece()
      else { return fail("the other node sent no data") }
      switch piece {
      case .bytes(let bytes):
        guard let export = state.withLock({ $0.isOver ? nil : $0.export }) else { return end(nil) }
        export.spend(bytes.count)
        tell(.piece(bytes))
      case .end: return end(.end)
      case .refused(let refusal): return end(.refused(refusal))
      }
    }
    review()
  }

  func linkDidClose(_ reason: LinkClosure) { fail(reason.description) }
}
