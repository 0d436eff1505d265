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
  }

  /// The number of the only request of its link.
  static let number: UInt64 = 1

  private let state = Mutex(State())
  private let request: [UInt8]
  private let tell: @Sendable (TreeExport.Event) -> Void
  private let whenOver: @Sendable () -> Void

  /// - Parameters:
  ///   - request: The frame that asks for the data.
  ///   - tell: Called with what comes, in order, on the executor of the link.
  ///   - whenOver: Called once.
  init(
    _ request: [UInt8], tell: @escaping @Sendable (TreeExport.Event) -> Void,
    whenOver: @escaping @Sendable () -> Void
  ) {
    self.request = request
    self.tell = tell
    self.whenOver = whenOver
  }

  /// Makes the reader's end.
  ///
  /// - Parameter uptime: Milliseconds on a clock that never jumps.
  func reading(uptime: @escaping @Sendable () -> Int64) -> TreeExport {
    let export = TreeExport(uptime: uptime) { [self] in review() }
    state.withLock { $0.export = export }
    return export
  }

  /// Asks the node at `address`.
  func open(to address: String, over links: any LeaderLinks, for client: String) {
    Task {
      do throws(TransportError) {
        begin(try await links.connect(to: address, for: client) { _ in self })
      } catch {
        fail("\(error)")
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
    let (export, link) = state.withLock { ($0.export, $0.link) }
    guard let export, !export.isCancelled else { return end(nil) }
    link?.setReading(export.hasCredit)
    // It may have taken more just before the link was stopped.
    if export.hasCredit { link?.setReading(true) }
  }

  func linkDidReceive(_ frames: [[UInt8]]) {
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
      case .refused: return fail("the other node has ended the data")
      }
    }
    review()
  }

  func linkDidClose(_ reason: LinkClosure) { fail(reason.description) }
}
