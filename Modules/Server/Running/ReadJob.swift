import Dispatch
import Synchronization
import TernCore
package import TernLedger
package import TernStorage
import TernTreeWire

/// A read that goes on beside the server's executor.
///
/// It needs one state of the store, and nothing of the machine; its result comes back to the
/// machine as an input.
package final class ReadJob: Sendable {
  /// The end of a read.
  enum Outcome: Sendable {
    case value(LongReadValue)
    /// The store failed.
    case failed(StorageError)
    /// There is no result.
    case rejected(ReadRejection)
  }

  /// Reads, given the store and the last commit that it shows.
  typealias Body = @Sendable (any StoreReader, Version) throws(StorageError) -> LongReadValue

  private struct State {
    var outcome: Outcome?
    var rows = 0
    var version: Version = 0
    var isCancelled = false
  }

  /// The connection index of the link whose request it is for; -1 for one without a session.
  let slot: Int
  /// The request without a session that it is for, and its ticket.
  let direct: (ticket: UInt64, request: DirectRequest, read: DirectRead)?
  /// The address of its client, without a port.
  let address: String
  /// True when nothing more of its link is decided before it has ended.
  let holdsLink: Bool
  /// True when what it keeps of its rows is charged while it goes on.
  private let chargesRows: Bool
  /// The memory charged for it and its result.
  let charge: ReadCharge
  private let body: Body
  private let state = Mutex(State())
  /// Signaled when it is its turn again.
  private let turn = DispatchSemaphore(value: 0)

  /// The most bytes of pages that a store keeps for the snapshot of a read.
  static let snapshotBytes = 2 << 20

  /// - Parameters:
  ///   - holdsLink: Whether nothing more of its link is decided before it has ended.
  ///   - chargesRows: Whether what it keeps of its rows is charged while it goes on, for one that
  ///     does not charge that itself.
  init(
    slot: Int, address: String, holdsLink: Bool = false, chargesRows: Bool = false,
    _ charge: ReadCharge, _ body: @escaping Body
  ) {
    self.slot = slot
    direct = nil
    self.address = address
    self.holdsLink = holdsLink
    self.chargesRows = chargesRows
    self.charge = charge
    self.body = body
  }

  /// A read for a request without a session.
  init(
    _ read: DirectRead, for request: DirectRequest, ticket: UInt64, _ charge: ReadCharge
  ) {
    slot = -1
    direct = (ticket, request, read)
    address = request.address
    holdsLink = false
    chargesRows = read.chargesRows
    self.charge = charge
    body = { reader, _ throws(StorageError) in
      let (answer, bytes) = try read.answer(in: reader)
      return LongReadValue(value: answer, bytes: bytes)
    }
  }

  /// The rows it has read.
  var rows: Int { state.withLock { $0.rows } }

  /// The last commit that its result shows; 0 before it has begun.
  var version: Version { state.withLock { $0.version } }

  /// The result; `nil` before its end.
  var outcome: Outcome? { state.withLock { $0.outcome } }

  /// True when its result is no longer wanted.
  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Ends it soon: its result is no longer wanted.
  func cancel() { state.withLock { $0.isCancelled = true } }

  /// Ends it without a result.
  func reject(_ reason: ReadRejection) {
    state.withLock { $0.outcome = $0.outcome ?? .rejected(reason) }
  }

  /// Lets it go on after a pause.
  func resume() { turn.signal() }

  /// Waits for its turn. Blocks.
  func wait() { turn.wait() }

  /// Reads.
  ///
  /// - Parameters:
  ///   - version: The last commit that `reader` shows.
  ///   - slice: The rows between two pauses.
  ///   - pause: Called with the rows since the last pause; `false` ends the read without a result.
  package func run(
    over reader: any StoreReader, at version: Version, slice: Int = .max,
    pause: @escaping (Int) -> Bool = { _ in true }
  ) {
    state.withLock { $0.version = version }
    var last = 0
    var held = Held()
    let refused = { self.reject(ReadRejection($0, self.charge)) }
    let counted = CountingReader(over: reader, charge, stop: slice, refused: refused) {
      counted throws(StorageError) in
      let rows = counted.rows
      let more = rows - last
      last = rows
      self.state.withLock { $0.rows = rows }
      guard self.hold(&held, for: counted), pause(more), !self.isCancelled else {
        throw .abandoned
      }
      return rows + slice
    }
    let outcome = read(counted, at: version) { charge.release(held.pages) }
    state.withLock { state in
      state.rows = counted.rows
      state.outcome = state.outcome ?? outcome
    }
  }

  /// The bytes charged while a read goes on.
  private struct Held {
    /// For the rows that it keeps.
    var rows = 0
    /// For the pages of its snapshot.
    var pages = 0
  }

  /// Charges what is kept of the rows read so far, and the pages that the store keeps of them.
  private func hold(_ held: inout Held, for counted: CountingReader) -> Bool {
    let kept = chargesRows ? counted.keptMemory : 0
    let pages = min(counted.scannedBytes, Self.snapshotBytes)
    let more = max(0, kept - held.rows) + pages - held.pages
    guard more > 0 else { return true }
    guard charge.add(more) else {
      reject(ReadRejection(kept + pages, charge))
      return false
    }
    held = Held(rows: max(kept, held.rows), pages: pages)
    return true
  }

  /// Ends it with an error of the store.
  func fail(_ error: StorageError) {
    state.withLock { $0.outcome = $0.outcome ?? .failed(error) }
  }

  private func read(
    _ reader: any StoreReader, at version: Version, whenRead releasePages: () -> Void
  ) -> Outcome {
    do throws(StorageError) {
      let value = try body(reader, version)
      releasePages()
      // The answer to a request without a session is what was kept; others are made of that.
      let isCharged =
        direct == nil ? charge.add(value.bytes) : charge.replace(with: value.bytes)
      guard isCharged else {
        return .rejected(ReadRejection(value.bytes, charge))
      }
      // What the rows were charged with is no longer kept.
      if chargesRows { charge.reduce(to: value.bytes) }
      return .value(value)
    } catch {
      return .failed(error)
    }
  }
}

/// The reason why a read has no result although the store did not fail.
enum ReadRejection: Sendable {
  /// The result does not fit into what is left of its client's share, or of the budget.
  case memory
  /// The result does not fit into the share of its client, whatever else that holds.
  case size
  /// Too many reads wait.
  case queue
  /// It took longer than ``ReadPool/readMilliseconds``.
  case time

  /// The reason why so many bytes could not be charged.
  init(_ bytes: Int, _ charge: ReadCharge) {
    self = charge.couldHold(bytes) ? .memory : .size
  }

  private var text: String {
    switch self {
    case .memory: "Too much is being read by this address or user. Try again."
    case .size: "The data take more memory to read than one address or user may hold."
    case .queue: "Too many long reads wait. Try again."
    case .time: "The read takes longer than \(ReadPool.readMilliseconds / 1_000) seconds."
    }
  }

  /// The end of a call about documents; `unavailable` when it may be repeated.
  var status: DocumentStatus {
    switch self {
    case .memory, .queue: DocumentStatus(.unavailable, text)
    case .size: DocumentStatus(.resourceExhausted, text)
    case .time: DocumentStatus(.deadlineExceeded, text)
    }
  }

  /// The refusal of a request without a session; ``DirectRefusal/unavailable(_:)`` when it may be
  /// repeated.
  var refusal: DirectRefusal { self == .size ? .invalid(text) : .unavailable(text) }

  /// The response to a request in the dialect of the tree; `unavailable` when it may be repeated.
  var response: TreeResponse {
    TreeResponse(self == .size ? .failed : .unavailable, detail: text)
  }
}
