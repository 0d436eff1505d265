import TernCore
import TernDocumentReplica
import TernDocumentWire
import TernSync

/// The calls with one answer, or a few, that wait for a connection or for their answer: reads and
/// commits of transactions, aggregations.
struct PendingCalls: Sendable {
  private struct Call: Sendable {
    let id: DocumentCallID
    let request: DocumentRequest
    var answers: [DocumentResponse] = []
    var failure: DocumentStatus?
  }

  /// The most calls that wait or are under way.
  let limit: Int
  private var lastID: UInt64 = 0
  private var waiting: [(id: DocumentCallID, request: DocumentRequest)] = []
  private var active: [UInt32: Call] = [:]

  init(limit: Int) { self.limit = limit }

  /// True while as many calls wait or are under way as may.
  var isFull: Bool { waiting.count + active.count >= limit }

  mutating func nextID() -> DocumentCallID {
    lastID += 1
    return DocumentCallID(number: lastID)
  }

  /// Makes a call now, or when there is a connection.
  mutating func call(
    _ id: DocumentCallID, _ request: DocumentRequest, _ channel: inout DocumentChannel
  ) {
    if channel.connection.isOnline {
      begin(id, request, &channel)
    } else {
      waiting.append((id, request))
    }
  }

  private mutating func begin(
    _ id: DocumentCallID, _ request: DocumentRequest, _ channel: inout DocumentChannel
  ) {
    let call = channel.open(request.method, request.encode())
    active[call] = Call(id: id, request: request)
  }

  /// Makes the calls that have waited for the connection.
  mutating func sendWaiting(_ channel: inout DocumentChannel) {
    for (id, request) in exchange(&waiting, with: []) { begin(id, request, &channel) }
  }

  mutating func take(_ message: [UInt8], of call: UInt32, _ names: DocumentNames) {
    guard let method = active[call]?.request.method else { return }
    do throws(DocumentWireError) {
      active[call]?.answers.append(try DocumentResponse.decode(method, message, names))
    } catch {
      active[call]?.failure = DocumentStatus(.internalError, error.status.message)
    }
  }

  /// A call has ended.
  mutating func ended(
    _ call: UInt32, _ status: DocumentStatus?, _ channel: inout DocumentChannel
  ) {
    guard let ended = active.removeValue(forKey: call) else { return }
    let failure = status ?? ended.failure
    channel.connection.emit(
      .called(ended.id, failure.map { .failure($0) } ?? .success(ended.answers)))
  }

  /// The link is left for another one: reads wait for it, to be made again from their beginning.
  /// The calls that may have changed something are given up.
  mutating func makeReadsAgain(_ channel: inout DocumentChannel) {
    var lost: [DocumentCallID] = []
    var again: [(id: DocumentCallID, request: DocumentRequest)] = []
    for (_, call) in active.sorted(by: { $0.key < $1.key }) {
      if call.request.method.onlyReads {
        again.append((call.id, call.request))
      } else {
        lost.append(call.id)
      }
    }
    active = [:]
    waiting = again + waiting
    for id in lost { fail(id, .unreachable, &channel) }
  }

  /// Gives all calls up.
  mutating func failAll(_ status: DocumentStatus, _ channel: inout DocumentChannel) {
    let ids = waiting.map(\.id) + active.keys.sorted().compactMap { active[$0]?.id }
    waiting = []
    active = [:]
    for id in ids { fail(id, status, &channel) }
  }

  /// Answers a call that is not made, or not answered by the server.
  func fail(
    _ id: DocumentCallID, _ status: DocumentStatus, _ channel: inout DocumentChannel
  ) {
    channel.connection.emit(.called(id, .failure(status)))
  }
}

extension DocumentStatus {
  /// The status of calls without a connection.
  static let unreachable = DocumentStatus(
    .unavailable, "there is no connection to the server")

  /// The status of calls that a cancelled task no longer waits for.
  static let cancelledWait = DocumentStatus(.cancelled, "the wait was cancelled")

  /// The status of calls whose user is gone.
  static let otherUser = DocumentStatus(.cancelled, "another user has signed in")
}
