#if canImport(Glibc)
  import TernCore
  import TernSpecReplay

  /// Carries out one program over a socket, and judges what comes back.
  struct RESTProgramRun {
    private let program: RESTProgram
    private let port: Int
    private let project: String
    /// Lets seconds pass on the server.
    private let wait: (Int) -> Void
    /// The answers so far, by step.
    private var answers: [String: JSONValue] = [:]
    private var entries: [SpecReport.Entry] = []

    private var database: String { "projects/\(project)/databases/(default)" }

    /// Replays a program in a project of its own.
    static func replay(
      _ program: RESTProgram, project: String, port: Int, wait: @escaping (Int) -> Void
    ) throws(SpecError) -> [SpecReport.Entry] {
      var run = RESTProgramRun(program: program, port: port, project: project, wait: wait)
      try run.seed()
      for step in program.steps { try run.perform(step) }
      return run.entries
    }

    private init(
      program: RESTProgram, port: Int, project: String, wait: @escaping (Int) -> Void
    ) {
      self.wait = wait
      self.program = program
      self.port = port
      self.project = project
    }

    private func seed() throws(SpecError) {
      let writes = program.seed.map { document in
        JSONValue.object([
          .init(
            "update",
            .object([
              .init("name", .string("\(database)/documents/\(document.name)")),
              .init("fields", expanded(document.value)),
            ]))
        ])
      }
      if writes.isEmpty { return }
      let body = JSONValue.object([.init("writes", .array(writes))]).bytes
      let answer = try send("POST", "/v1/\(database)/documents:commit", body)
      guard answer.status == 200 else {
        throw SpecError("seed: \(String(decoding: answer.body, as: UTF8.self))")
      }
    }

    /// The steps whose answers follow from locks that transactions hold.
    private static let locked: Set = [
      "out-of-band-write", "commit-after-a-phantom-row", "lock-held-before-idle",
    ]

    private func send(
      _ method: String, _ target: String, _ body: [UInt8]?
    ) throws(SpecError) -> HTTPExchange.Answer {
      try HTTPExchange.send(
        method, target, body: body,
        headers: [("Authorization", "Bearer owner"), ("Content-Type", "application/json")],
        port: port)
    }

    private mutating func perform(_ step: RESTProgram.Step) throws(SpecError) {
      let name = "\(program.name)/\(step.id)"
      let answer: HTTPExchange.Answer
      if let words = step.words {
        answer = try carryOut(words, step)
      } else {
        answer = try send(step.method, target(of: step.path), step.body.map(bytes(of:)))
      }
      let json = try? JSONValue(parsing: answer.body)
      answers[step.id] = json ?? .null
      guard let expectation = step.expectation else { return }
      if Self.locked.contains(step.id) {
        let reason = "documents are not locked: transactions are validated when they commit"
        return entries.append(.init(name: name, verdict: .skipped(reason)))
      }
      let judge = RESTJudge(
        expectation: expectation, documents: "\(database)/documents/",
        expanded: { [self] in expanded($0) })
      if let failure = judge.failure(answer.status, json) {
        let body = String(decoding: answer.body.prefix(600), as: UTF8.self)
        entries.append(
          .init(name: name, verdict: .failed("  \(failure)\n  \(answer.status) \(body)")))
      } else {
        entries.append(.init(name: name, verdict: .passed))
      }
    }
  }

  extension RESTProgramRun {
    private func target(of path: String) -> String {
      let path = substituted(path, isTarget: true)
      // A path that leads out of the database names another one.
      return path.hasPrefix("/documents")
        ? "/v1/\(database)\(path)"
        : path.hasPrefix("/../")
          ? "/v1/projects/\(project)/databases\(path.dropFirst(3))"
          : path.hasPrefix("/") ? path : "/v1/\(path)"
    }

    /// Carries out a step that is recorded in words.
    private func carryOut(
      _ words: String, _ step: RESTProgram.Step
    ) throws(SpecError) -> HTTPExchange.Answer {
      let document = program.seed.first?.name ?? "tx/a"
      var script = RESTWords(document: "\(database)/documents/\(document)", wait: wait) {
        verb, body in
        try send("POST", "/v1/\(database)/documents:\(verb)", body.bytes)
      }
      do { return try script.perform(words) } catch let error as SpecError { throw error } catch {
        throw SpecError("\(error)")
      }
    }
  }

  // MARK: - Placeholders

  extension RESTProgramRun {
    /// The bytes of a body; a text is one that is no JSON.
    private func bytes(of body: JSONValue) -> [UInt8] {
      body.text.map { Array($0.utf8) } ?? expanded(body).bytes
    }

    /// A value with its placeholders and repetitions resolved.
    private func expanded(_ value: JSONValue) -> JSONValue {
      switch value {
      case .string(let text): return .string(substituted(text, isTarget: false))
      case .array(let elements): return .array(elements.map { expanded($0) })
      case .object(let members):
        if members.count == 1, members[0].name == "$repeat",
          case .array(let parts) = members[0].value, parts.count == 2,
          let text = parts[0].text, let count = parts[1].integer
        {
          return .string(String(repeating: text, count: Int(count)))
        }
        return .object(members.map { .init($0.name, expanded($0.value)) })
      case .null, .bool, .integer, .double: return value
      }
    }

    /// A text with its placeholders resolved; those of a target are encoded.
    private func substituted(_ text: String, isTarget: Bool) -> String {
      guard text.contains("{") else { return text }
      var result = ""
      var rest = text[...]
      while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
        result += rest[..<open]
        let name = rest[rest.index(after: open)..<close]
        if let value = placeholder(name) {
          result += isTarget && name.contains(".") ? Self.encoded(value) : value
        } else {
          result += rest[open...close]
        }
        rest = rest[rest.index(after: close)...]
      }
      return result + rest
    }

    private func placeholder(_ name: Substring) -> String? {
      switch name {
      case "documents": return "\(database)/documents"
      case "project": return "projects/\(project)"
      case "projectId": return project
      default:
        let parts = name.split(separator: ".")
        guard parts.count > 1, let step = parts.first, var value = answers[String(step)] else {
          return nil
        }
        for part in parts.dropFirst() {
          if let index = Int(part), case .array(let elements) = value, index < elements.count {
            value = elements[index]
          } else {
            value = value[String(part)] ?? .null
          }
        }
        return value.text
      }
    }

    private static func encoded(_ text: String) -> String {
      text.utf8.reduce(into: "") { result, byte in
        let character = Character(UnicodeScalar(byte))
        let isPlain = byte < 0x80 && (character.isLetter || character.isNumber || character == "-")
        let digits = String(byte, radix: 16, uppercase: true)
        result += isPlain ? String(character) : "%" + (digits.count < 2 ? "0" : "") + digits
      }
    }
  }
#endif
