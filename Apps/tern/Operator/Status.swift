import ArgumentParser
import TernCore

/// `tern status`: the state of a running server.
struct Status: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print the state of a running server: memory, store, sessions, queues.",
    discussion: """
      Asked with the token of an administrator. Exits with 1 when the server is not ready for \
      clients, with 3 when it cannot be reached.
      """)

  @OptionGroup var admin: AdminFlags
  @OptionGroup var output: JSONFlag

  func run() async throws {
    let status = try await admin.client().object("/-/status?connections=0")
    if output.json {
      printLine(status.json)
    } else {
      for line in StatusText(status).lines { printLine(line) }
    }
    guard status["state"]?.text ?? "serving" == "serving", status.list("reasons").isEmpty else {
      throw Failure(.failed, "the server is not ready: \(StatusText(status).state)")
    }
  }
}

/// `tern top`: the state of a running server, again and again.
struct Top: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show what a running server does, every few seconds, until Ctrl-C.",
    discussion: """
      Rates since the last look, and the connections that hold most. Without a terminal, one line a \
      look. Asked with the token of an administrator.
      """)

  @Option(
    help: ArgumentHelp("The time between two looks: 2, 500ms is too short.", valueName: "time"))
  var interval = TimeArgument(seconds: 2)

  @Option(help: ArgumentHelp("End after so many looks; 0 goes on.", valueName: "count"))
  var count = 0

  @OptionGroup var admin: AdminFlags
  @OptionGroup var output: JSONFlag

  func validate() throws {
    guard interval.seconds > 0 else { throw ValidationError("--interval must be at least 1") }
    guard count >= 0 else { throw ValidationError("--count must not be negative") }
  }

  func run() async throws {
    let client = try admin.client()
    var before: JSONValue?
    var looks = 0
    while true {
      let status = try await client.object("/-/status?connections=20")
      show(status, before)
      before = status
      looks += 1
      if count > 0, looks >= count { return }
      try await ContinuousClock().sleep(for: interval.duration)
    }
  }

  private func show(_ status: JSONValue, _ before: JSONValue?) {
    if output.json { return printLine(status.json) }
    let rates = StatusText.rates(status, since: before)
    guard Terminal.isOutput else { return printLine(rates) }
    // Home, and nothing of the last look is left.
    let lines =
      ["\u{1B}[H\u{1B}[2J" + rates] + StatusText(status).lines + [""]
      + ConnectionText.table(status.list("connections"))
    printText(lines.joined(separator: "\n") + "\n")
  }
}

/// The lines about a server's state.
struct StatusText {
  private let status: JSONValue

  init(_ status: JSONValue) { self.status = status }

  /// The state, and the reasons why it is not ready.
  var state: String {
    let reasons = status.list("reasons").compactMap(\.text)
    let state = status["state"]?.text ?? "unknown"
    return reasons.isEmpty ? state : "\(state) (\(reasons.joined(separator: ", ")))"
  }

  /// One line a subject; fields that a server does not tell are left out.
  var lines: [String] {
    var lines = ["state        \(state), version \(status["version"]?.text ?? "unknown")"]
    if let uptime = status["uptimeMilliseconds"]?.integer {
      lines.append("up           \(Self.time(uptime / 1_000))")
    }
    if let process = status["process"] {
      lines.append(
        "process      pid \(process.count("pid")), \(Self.size(process.count("residentBytes"))) "
          + "resident, \(process.count("descriptors")) descriptors")
    }
    if let memory = status["memory"] {
      lines.append(
        "clients hold \(Self.size(memory.count("usedBytes"))) of "
          + Self.size(memory.count("limitBytes")))
    }
    if let store = status["store"] {
      lines.append(
        "store        \(store["kind"]?.text ?? "unknown"), \(Self.size(store.count("bytes"))), "
          + "\(Self.size(store.count("freeBytes"))) free")
    }
    if let ledger = status["ledger"] {
      lines.append(
        "ledger       version \(ledger.count("version")), log from "
          + "\(ledger.count("firstVersion")), \(Self.size(ledger.count("logBytes")))")
    }
    if let sessions = status["sessions"] {
      lines.append(
        "sessions     \(sessions.count("tree")) tree, \(sessions.count("documents")) documents, "
          + "\(sessions.count("listens")) listens on \(sessions.count("queries")) queries")
    }
    if let totals = status["totals"] {
      lines.append(
        "so far       \(totals.count("requests")) requests, \(totals.count("writes")) writes, "
          + "\(totals.count("rejections")) rejected, \(totals.count("denials")) denied, "
          + "\(totals.count("rateLimited")) over a rate")
    }
    let queues = status.list("queues").compactMap { queue in
      queue["name"]?.text.map { "\($0) \(queue.count("length"))" }
    }
    if !queues.isEmpty { lines.append("queues       " + queues.joined(separator: ", ")) }
    return lines
  }

  /// The rates between two looks; without an earlier one, the sums.
  static func rates(_ status: JSONValue, since before: JSONValue?) -> String {
    let names = [
      ("requests", "requests"), ("writes", "writes"), ("commits", "commits"),
      ("events", "events"), ("denials", "denials"), ("bytesOut", "bytes out"),
    ]
    let passed = max(1, status.count("time") - (before?.count("time") ?? 0))
    return names.map { key, words in
      let now = status["totals"]?.count(key) ?? 0
      guard let then = before?["totals"]?.count(key) else { return "\(now) \(words)" }
      return "\((now - then) * 1_000 / passed) \(words)/s"
    }.joined(separator: "   ")
  }

  /// A number of bytes in the unit that suits it.
  static func size(_ bytes: Int64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"]
    var (value, unit) = (bytes, 0)
    while value >= 10_240, unit < units.count - 1 {
      value /= 1_024
      unit += 1
    }
    return "\(value) \(units[unit])"
  }

  /// A number of seconds in words.
  static func time(_ seconds: Int64) -> String {
    let (days, hours) = (seconds / 86_400, seconds / 3_600 % 24)
    let (minutes, rest) = (seconds / 60 % 60, seconds % 60)
    if days > 0 { return "\(days) d \(hours) h" }
    if hours > 0 { return "\(hours) h \(minutes) min" }
    return minutes > 0 ? "\(minutes) min \(rest) s" : "\(rest) s"
  }
}

extension JSONValue {
  /// The elements of the member of that name; none when it is no array.
  func list(_ name: String) -> [JSONValue] {
    if case .array(let elements) = self[name] { return elements }
    return []
  }

  /// The integer under a name; 0 when there is none.
  func count(_ name: String) -> Int64 { self[name]?.integer ?? 0 }
}

extension AdminClient {
  /// Asks for an object.
  ///
  /// - Throws: ``Failure``; for a server that has no such endpoint it says so.
  func object(_ path: String) async throws -> JSONValue {
    let answer: Answer
    do { answer = try await ask(.get, path) } catch let failure as Failure {
      guard failure.code == .notFound else { throw failure }
      throw Failure(
        .notFound, "\(address) has no \(path.prefix { $0 != "?" }); it is of an earlier version")
    }
    do throws(JSONError) { return try JSONValue(parsing: answer.body) } catch {
      throw Failure(.failed, "\(address) answers no JSON: \(error)")
    }
  }
}
