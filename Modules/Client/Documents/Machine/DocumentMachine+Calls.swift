import TernCore
import TernDocumentReplica
package import TernDocumentWire
import TernSync

// Calls with one answer, or a few: reads and commits of transactions, aggregations.

extension DocumentMachine {
  /// Calls the server. Without a connection the call waits for the attempt under way, and fails
  /// with it.
  package mutating func call(_ body: DocumentRequest.Body) -> DocumentCallID {
    let id = calls.nextID()
    guard replica.isNetworkEnabled else {
      let status = DocumentStatus(.unavailable, "the network is switched off")
      emit(.called(id, .failure(status)))
      return id
    }
    if holdsBack {
      let status = DocumentStatus(.unauthenticated, "the user has to sign in again")
      emit(.called(id, .failure(status)))
      return id
    }
    guard calls.count < limits.calls else {
      let text = "\(limits.calls) calls are under way already"
      emit(.called(id, .failure(DocumentStatus(.resourceExhausted, text))))
      return id
    }
    use()
    let request = DocumentRequest(body, in: database)
    if connection.isOnline { begin(id, request) } else { calls.wait(id, request) }
    return id
  }

  mutating func begin(_ id: DocumentCallID, _ request: DocumentRequest) {
    let call = open(request.method, request.encode())
    calls.begin(call, id, request)
  }
}

/// The calls that wait for a connection or for their answer.
struct PendingCalls: Sendable {
  private struct Call: Sendable {
    let id: DocumentCallID
    let request: DocumentRequest
    var answers: [DocumentResponse] = []
    var failure: DocumentStatus?
  }

  private var lastID: UInt64 = 0
  private var waiting: [(id: DocumentCallID, request: DocumentRequest)] = []
  private var active: [UInt32: Call] = [:]

  var count: Int { waiting.count + active.count }

  mutating func nextID() -> DocumentCallID {
    lastID += 1
    return DocumentCallID(number: lastID)
  }

  mutating func wait(_ id: DocumentCallID, _ request: DocumentRequest) {
    waiting.append((id, request))
  }

  mutating func takeWaiting() -> [(id: DocumentCallID, request: DocumentRequest)] {
    defer { waiting = [] }
    return waiting
  }

  mutating func begin(_ call: UInt32, _ id: DocumentCallID, _ request: DocumentRequest) {
    active[call] = Call(id: id, request: request)
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
  mutating func end(
    _ call: UInt32, _ status: DocumentStatus?
  ) -> (DocumentCallID, Result<[DocumentResponse], DocumentStatus>)? {
    guard let ended = active.removeValue(forKey: call) else { return nil }
    if let failure = status ?? ended.failure { return (ended.id, .failure(failure)) }
    return (ended.id, .success(ended.answers))
  }

  /// The link is left for another one: reads wait for it, to be made again from their beginning.
  ///
  /// - Returns: The calls that may have changed something; they are given up.
  mutating func makeReadsAgain() -> [DocumentCallID] {
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
    return lost
  }

  /// Gives all calls up.
  mutating func failAll() -> [DocumentCallID] {
    let ids = waiting.map(\.id) + active.keys.sorted().compactMap { active[$0]?.id }
    waiting = []
    active = [:]
    return ids
  }
}
