#if canImport(Glibc)
  import TernCore
  import TernSpecReplay

  /// Carries out the steps that are recorded in words: transactions on one document.
  struct RESTWords {
    /// Sends a request below the root: a verb, and its body.
    let send: (_ verb: String, _ body: JSONValue) throws -> HTTPExchange.Answer
    /// Lets time pass on the server.
    let wait: (_ seconds: Int) -> Void
    /// The name of the document.
    let document: String
    private var transaction: JSONValue = .null
    private var answer: HTTPExchange.Answer?

    init(
      document: String, wait: @escaping (Int) -> Void,
      send: @escaping (String, JSONValue) throws -> HTTPExchange.Answer
    ) {
      self.document = document
      self.wait = wait
      self.send = send
    }

    /// Returns the answer to the last of the phrases, which are divided by semicolons.
    mutating func perform(_ words: String) throws -> HTTPExchange.Answer {
      for phrase in words.split(separator: ";") {
        try perform(phrase: phrase.drop { $0 == " " })
      }
      guard let answer else { throw SpecError("nothing is asked: \(words)") }
      return answer
    }

    private mutating func perform(phrase: Substring) throws {
      switch phrase {
      case "begin": try begin(.object([]))
      case "read":
        try ask(
          "batchGet",
          [.init("documents", .array([.string(document)])), .init("transaction", transaction)])
      case "commit": try ask("commit", [.init("transaction", transaction)])
      case "commit a write":
        try ask("commit", [.init("transaction", transaction), .init("writes", .array([write]))])
      case "rollback": try ask("rollback", [.init("transaction", transaction)])
      case let phrase where phrase.contains("another client commits a write"):
        try ask("commit", [.init("writes", .array([write]))])
      case let phrase where phrase.hasPrefix("wait ") && phrase.hasSuffix(" s"):
        guard let seconds = Int(phrase.dropFirst(5).dropLast(2)) else {
          throw SpecError("no time: \(phrase)")
        }
        wait(seconds)
      case let phrase where phrase.hasPrefix("begin with retry_transaction = "):
        try retry(phrase.dropFirst("begin with retry_transaction = ".count))
      default: throw SpecError("not understood: \(phrase)")
      }
    }

    private mutating func retry(_ previous: Substring) throws {
      switch previous {
      case "a committed transaction":
        try begin(.object([]))
        try ask("commit", [.init("transaction", transaction)])
      case "a rolled back transaction":
        try begin(.object([]))
        try ask("rollback", [.init("transaction", transaction)])
      case "a read-only transaction": try begin(.object([.init("readOnly", .object([]))]))
      case "bytes never issued": transaction = .string("AQIDBAUGBwg=")
      default: transaction = .string(String(previous.filter { $0 != "\"" }))
      }
      let options = JSONValue.object([.init("retryTransaction", transaction)])
      try begin(.object([.init("readWrite", options)]))
    }

    private mutating func begin(_ options: JSONValue) throws {
      try ask("beginTransaction", [.init("options", options)])
      let json = try JSONValue(parsing: answer?.body ?? [])
      transaction = json["transaction"] ?? .null
    }

    private mutating func ask(_ verb: String, _ members: [JSONValue.Member]) throws {
      answer = try send(verb, .object(members))
    }

    private var write: JSONValue {
      let fields = JSONValue.object([
        .init("value", .object([.init("integerValue", .string("1"))]))
      ])
      return .object([
        .init("update", .object([.init("name", .string(document)), .init("fields", fields)]))
      ])
    }
  }
#endif
