#if TCP && canImport(Glibc)
  import TernCore
  import TernDocumentJSON
  import TernDocumentWire
  import TernQuery
  import Testing

  @testable import TernClient
  @testable import TernGateway

  extension DocumentOperation {
    /// The token that a stock client makes up for the user.
    var token: String? { user.map(Self.token) }

    static func token(of user: String) -> String {
      let header = Array(#"{"alg":"none","type":"JWT"}"#.utf8).base64URL
      return header + "." + Array(#"{"sub":"\#(user)","user_id":"\#(user)"}"#.utf8).base64URL + "."
    }

    /// The request that a client without a stream sends.
    func request(in database: DocumentDatabase) -> DocumentRequest {
      switch kind {
      case .write(let mutations):
        DocumentRequest(.commit(mutations, transaction: [], nil), in: database)
      case .get(let key): DocumentRequest(.get(key, mask: nil, .now), in: database)
      case .list(let query): DocumentRequest(.query(query, .now), in: database)
      }
    }

    /// The same as JSON.
    func json(in database: DocumentDatabase) throws -> JSONValue {
      let request = request(in: database)
      let text = try DocumentJSON.json(.request(request.method), binary: request.encode())
      return try JSONValue(parsing: text)
    }
  }

  extension DocumentOutcome {
    /// The outcome of a read that found these documents.
    static func found(_ documents: [JSONValue]) -> DocumentOutcome {
      .done(
        documents.map { document in
          let name = document["name"]?.text?.split(separator: "/documents/").last ?? "?"
          return "\(name) \(sorted(document["fields"] ?? .object([])).json)"
        }.sorted())
    }

    private static func sorted(_ json: JSONValue) -> JSONValue {
      switch json {
      case .object(let members):
        .object(
          members.sorted { $0.name < $1.name }.map { .init($0.name, sorted($0.value)) })
      case .array(let elements): .array(elements.map(sorted))
      default: json
      }
    }

    static func failed(number: Int?) -> DocumentOutcome {
      number.flatMap { DocumentStatus.Code(rawValue: $0) }.map { .failed($0) }
        ?? .other("\(number ?? -1)")
    }
  }

  extension [UInt8] {
    fileprivate var base64URL: String {
      let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
      var text: [UInt8] = []
      for start in stride(from: 0, to: count, by: 3) {
        let part = self[start..<Swift.min(start + 3, count)]
        var bits = part.reduce(0) { $0 << 8 | Int($1) }
        bits <<= 8 * (3 - part.count)
        for index in 0...part.count { text.append(alphabet[bits >> (18 - 6 * index) & 63]) }
      }
      return String(decoding: text, as: UTF8.self)
    }
  }

  extension JSONValue {
    fileprivate var elements: [JSONValue] {
      if case .array(let elements) = self { elements } else { [] }
    }
  }

  /// gRPC over one connection.
  struct GRPCDocumentCaller {
    static let database = DocumentDatabase(unchecked: "grpc")
    private let client: HTTP2Peer
    private var stream: UInt32 = 1

    init(_ caller: GatewayUnderTest) throws { client = HTTP2Peer(try caller.connect()) }

    mutating func perform(_ operation: DocumentOperation) throws -> DocumentOutcome {
      let request = operation.request(in: Self.database)
      let headers = operation.token.map { [("authorization", "Bearer \($0)")] } ?? []
      client.call(request.method.rawValue, request.encode(), on: stream, headers)
      let answer = client.answer(on: stream)
      stream += 2
      guard answer.status == 0 else { return .failed(number: answer.status) }
      let messages = try answer.messages.map {
        try JSONValue(
          parsing: try DocumentJSON.json(.response(request.method), binary: $0))
      }
      switch operation.kind {
      case .write: return .done([])
      case .get: return .found(messages)
      case .list: return .found(messages.compactMap { $0["document"] })
      }
    }
  }

  /// REST over one connection.
  struct RESTDocumentCaller {
    static let database = DocumentDatabase(unchecked: "rest")
    private let client: DocumentClient

    init(_ caller: GatewayUnderTest) throws { client = try DocumentClient(caller) }

    func perform(_ operation: DocumentOperation) throws -> DocumentOutcome {
      let root = "/v1/\(Self.database.resourceName)/documents"
      let answer: DocumentClient.Answer
      switch operation.kind {
      case .write:
        let body = try operation.json(in: Self.database).json
        answer = try client.send("POST", root + ":commit", body, token: operation.token)
      case .get(let key):
        answer = try client.send("GET", "\(root)/\(key.text)", token: operation.token)
      case .list:
        let query = try operation.json(in: Self.database)["structuredQuery"] ?? .null
        let body = JSONValue.object([.init("structuredQuery", query)]).json
        // The collections that are asked for may lie below a document.
        let parent = try operation.json(in: Self.database)["parent"]?.text ?? ""
        answer = try client.send("POST", "/v1/\(parent):runQuery", body, token: operation.token)
      }
      let json = try JSONValue(parsing: answer.body)
      if answer.status != 200 {
        let name = (json.elements.first ?? json)["error"]?["status"]?.text
        let code = DocumentStatus.Code.allCases.first { $0.name == name }
        return code.map { .failed($0) } ?? .other(answer.body)
      }
      switch operation.kind {
      case .write: return .done([])
      case .get: return .found([json])
      case .list: return .found(json.elements.compactMap { $0["document"] })
      }
    }
  }

  /// WebChannel: for each user a channel that listens and one that writes.
  struct ChannelDocumentCaller {
    static let database = DocumentDatabase(unchecked: "demo")
    private let port: Int
    private var listeners: [String?: ChannelPeer] = [:]
    private var writers: [String?: (peer: ChannelPeer, token: String)] = [:]
    private var target = 0

    init(_ caller: GatewayUnderTest) { port = caller.port }

    mutating func perform(_ operation: DocumentOperation) throws -> DocumentOutcome {
      switch operation.kind {
      case .write:
        let writes = try operation.json(in: Self.database)["writes"] ?? .array([])
        return try write(writes.json, as: operation)
      case .get(let key):
        let name = "\(ChannelPeer.database)/documents/\(key.text)"
        let found = try listen(#""documents":{"documents":["\#(name)"]}"#, as: operation)
        if case .done([]) = found { return .failed(.notFound) }
        return found
      case .list:
        let json = try operation.json(in: Self.database)
        let query = JSONValue.object([
          .init("parent", json["parent"] ?? .null),
          .init("structuredQuery", json["structuredQuery"] ?? .null),
        ])
        return try listen(#""query":"# + query.json, as: operation)
      }
    }

    private func headers(_ operation: DocumentOperation) -> String {
      operation.token.map { "Authorization:Bearer \($0)\r\n" } ?? ""
    }

    private mutating func write(
      _ writes: String, as operation: DocumentOperation
    ) throws -> DocumentOutcome {
      var (peer, token) = try writers[operation.user] ?? openWriter(operation)
      peer.say(#"{"streamToken":"\#(token)","writes":\#(writes)}"#)
      let told = try peer.hear(through: "{").last ?? ""
      if let next = told.firstMatch(of: /"streamToken":"([^"]+)"/) {
        token = String(next.output.1)
        writers[operation.user] = (peer, token)
        return .done([])
      }
      writers[operation.user] = nil
      let error = try JSONValue(parsing: told).elements.first?["error"]
      return .failed(number: try Self.code(of: error))
    }

    private static func code(of error: JSONValue?) throws -> Int {
      let code = try #require(
        DocumentStatus.Code.allCases.first { $0.name == error?["status"]?.text }, "\(error as Any)")
      return code.rawValue
    }

    private func openWriter(
      _ operation: DocumentOperation
    ) throws -> (peer: ChannelPeer, token: String) {
      let peer = try ChannelPeer(
        port: port, method: "Write", [ChannelPeer.hello], headers: headers(operation))
      let told = try peer.hear(through: "streamToken")
      let found = try #require(told.last?.firstMatch(of: /"streamToken":"([^"]+)"/))
      return (peer, String(found.output.1))
    }

    private mutating func listen(
      _ subject: String, as operation: DocumentOperation
    ) throws -> DocumentOutcome {
      target += 1
      let database = ChannelPeer.database
      let add = #"{"database":"\#(database)","addTarget":{\#(subject),"targetId":\#(target)}}"#
      let peer: ChannelPeer
      if let known = listeners[operation.user] {
        peer = known
        peer.say(add)
      } else {
        peer = try ChannelPeer(port: port, [add], headers: headers(operation))
        listeners[operation.user] = peer
      }
      var documents: [JSONValue] = []
      while true {
        let text = try #require(try peer.hear(through: "{").last)
        let message = try JSONValue(parsing: text).elements.first ?? .null
        if let document = message["documentChange"]?["document"] { documents.append(document) }
        guard let change = message["targetChange"] else { continue }
        switch change["targetChangeType"]?.text {
        case "REMOVE":
          return .failed(number: change["cause"]?["code"]?.integer.map { Int($0) })
        case "CURRENT":
          peer.say(ChannelPeer.remove(target))
          _ = try peer.hear(through: "REMOVE")
          return .found(documents)
        default: break
        }
      }
    }
  }

  /// Our own client, one for each user.
  struct OwnDocumentCaller {
    static let database = DocumentDatabase(unchecked: "own")
    let clients: [String?: TernDatabase]

    func perform(_ operation: DocumentOperation) async throws -> DocumentOutcome {
      let documents = try #require(clients[operation.user]).documents
      do {
        switch operation.kind {
        case .write(let mutations):
          try await documents.write(mutations).acknowledged()
          return .done([])
        case .get(let key):
          let query = DocumentQueryReference(documents: documents, query: .success(.document(key)))
          let found = try Self.found(try await query.get(from: .server))
          return found == .done([]) ? .failed(.notFound) : found
        case .list(let asked):
          let query = DocumentQueryReference(documents: documents, query: .success(asked))
          return try Self.found(try await query.get(from: .server))
        }
      } catch DocumentsError.refused(let status) {
        // What was rejected is kept until the application has seen it.
        for rejected in await documents.rejectedWrites { try await documents.discard(rejected) }
        return .failed(status.code)
      }
    }

    private static func found(_ snapshot: DocumentQuerySnapshot) throws -> DocumentOutcome {
      let names = DocumentNames(database)
      return .found(
        try snapshot.documents.compactMap(\.document).filter(\.isFound).map { document in
          let binary = DocumentResponse.encoded(document, names)
          return try JSONValue(parsing: try DocumentJSON.json(.document, binary: binary))
        })
    }
  }
#endif
