#if TCP && canImport(Glibc)
  import TernCore
  import TernDocumentWire
  import TernTreeWire
  import Testing

  @testable import TernGateway

  /// A client of one endpoint, which writes to a tree and waits for the answers.
  protocol EdgeClient {
    /// The endpoint.
    var name: String { get }
    /// The most bytes of a string in what it sends.
    var longestString: Int { get }
    func write(_ request: EdgeRequest) -> EndpointOperation.Verdict
    func read(_ path: TreePath) -> EndpointOperation.Verdict
  }

  extension EdgeRequest {
    var operation: EndpointOperation {
      switch self {
      case .set(let path, let node): .set(path.description, node.json(.export))
      case .update(let path, let entries):
        .update(path.description, entries.map { ($0.path.description, $0.node.json(.export)) })
      }
    }
  }

  struct RESTEdgeClient: EdgeClient {
    let gateway: RESTCaller
    var name: String { "REST" }
    var longestString: Int { 90_000 }

    func write(_ request: EdgeRequest) -> EndpointOperation.Verdict { perform(request.operation) }
    func read(_ path: TreePath) -> EndpointOperation.Verdict { perform(.read(path.description)) }

    private func perform(_ operation: EndpointOperation) -> EndpointOperation.Verdict {
      gateway.send(operation)
      return gateway.receive(operation)
    }
  }

  /// A client that speaks the tree's dialect, however its messages are carried.
  final class DialectEdgeClient: EdgeClient {
    let name: String
    let longestString: Int
    private let exchange: (String) -> String
    private var number = 0
    /// The sequence of the last numbered write that was answered; `nil` without numbers.
    private(set) var sequence: Int?
    /// The session's onDisconnect operations.
    private(set) var left: [EdgeRequest] = []

    /// - Parameter last: The last sequence that the server has; `nil` for a client without numbers.
    init(
      _ name: String, longestString: Int, numberedAfter last: Int? = nil,
      _ exchange: @escaping (String) -> String
    ) {
      self.name = name
      self.longestString = longestString
      self.exchange = exchange
      sequence = last
    }

    func read(_ path: TreePath) -> EndpointOperation.Verdict { perform(.read(path.description)) }

    func write(_ request: EdgeRequest) -> EndpointOperation.Verdict {
      let verdict = perform(request.operation)
      guard let last = sequence else { return verdict }
      // A rejection may have its number, too, unless the request could not be read at all.
      let isNumbered =
        verdict == .done("") || perform(.delete("none"), numbered: last + 2) == .done("")
      sequence = isNumbered ? last + (verdict == .done("") ? 1 : 2) : last
      return verdict
    }

    /// Leaves a write for the end of the session.
    func leave(_ request: EdgeRequest) -> EndpointOperation.Verdict {
      let text = Dialect.request(nextNumber(), request.operation)
        .replacing(#""a":"p""#, with: #""a":"o""#).replacing(#""a":"m""#, with: #""a":"om""#)
      let verdict = Dialect.verdict(exchange(text), request.operation)
      if verdict == .done("") { left.append(request) }
      return verdict
    }

    /// Sends a numbered write once more.
    func repeatLast(_ request: EdgeRequest) -> EndpointOperation.Verdict {
      guard let sequence else { return .other("no numbers") }
      return perform(request.operation, numbered: sequence)
    }

    private func perform(
      _ operation: EndpointOperation, numbered wanted: Int? = nil
    ) -> EndpointOperation.Verdict {
      var text = Dialect.request(nextNumber(), operation)
      if case .read = operation {
      } else if let sequence {
        text = String(text.dropLast(3)) + #","w":\#(wanted ?? sequence + 1)}}}"#
      }
      return Dialect.verdict(exchange(text), operation)
    }

    private func nextNumber() -> Int {
      number += 1
      return number
    }
  }

  /// A client for documents over the own framing.
  final class DocumentEdgeClient {
    private let peer: NativePeer
    private let database: DocumentDatabase
    private var call: UInt32 = 0
    /// The open stream of writes, and its last number.
    private var stream: (call: UInt32, sequence: UInt64)?

    /// The last number of the stream of writes.
    var sequence: UInt64 { stream?.sequence ?? 0 }

    init(port: Int, _ database: DocumentDatabase) throws {
      peer = try NativePeer(port: port)
      self.database = database
    }

    /// Makes a call of one message; the messages that answer it, or the status it fails with.
    func ask(_ body: DocumentRequest.Body) throws -> Result<[DocumentResponse], DocumentStatus> {
      call += 1
      let request = DocumentRequest(body, in: database)
      let opening = DocumentCallOpening(
        request.method, metadata: [.init("authorization", "Bearer owner")],
        message: request.encode())
      peer.send(DocumentClientFrame.open(stream: call, opening).encode())
      var responses: [DocumentResponse] = []
      while let bytes = peer.frameBytes() {
        switch try DocumentServerFrame.decode(bytes) {
        case .message(call, let message):
          responses.append(
            try DocumentResponse.decode(request.method, message, DocumentNames(database)))
        case .answer(call, let message):
          let answer = try DocumentResponse.decode(
            request.method, message, DocumentNames(database))
          return .success(responses + [answer])
        case .end(call, let status):
          return status.map { .failure($0) } ?? .success(responses)
        case .message, .answer, .end, .pong: continue
        }
      }
      return .failure(DocumentStatus(.unavailable, "the connection has ended"))
    }

    /// Opens a stream of writes; the last number that the server has.
    func openWrites(stream id: UInt128) throws -> UInt64 {
      call += 1
      peer.send(
        DocumentClientFrame.open(
          stream: call,
          DocumentCallOpening(.write, metadata: [.init("authorization", "Bearer owner")])
        ).encode())
      stream = (call, 0)
      let response = try say(.handshake(stream: id))
      guard case .handshake(_, let last?)? = response?.content else {
        Issue.record("no handshake: \(String(describing: response))")
        return 0
      }
      stream?.sequence = last
      return last
    }

    /// Writes a numbered batch; whether it was committed.
    func write(_ writes: [DocumentMutation]) throws -> Bool {
      let sequence = (stream?.sequence ?? 0) + 1
      let header = DocumentWriteHeader(sequence: sequence, acknowledged: sequence - 1)
      let response = try say(.writes(writes, header), token: [1])
      guard case .outcome(let outcome)? = response?.content else { return false }
      stream?.sequence = sequence
      if case .committed = outcome.verdict { return true }
      return false
    }

    private func say(
      _ content: DocumentWriteRequest.Content, token: [UInt8] = []
    ) throws -> DocumentWriteResponse? {
      guard let stream else { return nil }
      let request = DocumentRequest(
        .write(DocumentWriteRequest(content, token: token)), in: database)
      peer.send(DocumentClientFrame.message(stream: stream.call, request.encode()).encode())
      while let bytes = peer.frameBytes() {
        switch try DocumentServerFrame.decode(bytes) {
        case .message(stream.call, let message):
          let response = try DocumentResponse.decode(.write, message, DocumentNames(database))
          if case .write(let response) = response { return response }
        case .end(stream.call, let status):
          Issue.record("the stream of writes has ended: \(String(describing: status))")
          return nil
        case .message, .answer, .end, .pong: continue
        }
      }
      return nil
    }

    /// Returns the stored documents of some keys.
    func documents(_ keys: [DocumentKey]) throws -> [DocumentKey: DocumentFields] {
      var found: [DocumentKey: DocumentFields] = [:]
      for key in keys {
        for response in try ask(.batchGet([key], mask: nil, .now)).get() {
          guard case .batchGet(let answer) = response,
            case .found(let fields)? = answer.document?.state
          else { continue }
          found[key] = fields
        }
      }
      return found
    }
  }
#endif
