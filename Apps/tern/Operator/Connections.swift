import ArgumentParser
import TernCore

/// `tern connections`: the clients of a running server.
struct Connections: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List the connections of a running server, and close them.",
    subcommands: [List.self, Close.self], defaultSubcommand: List.self)

  /// `tern connections list`.
  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "List connections, those that hold most first.",
      discussion: "Asked with the token of an administrator.")

    @Option(help: ArgumentHelp("The most connections, up to 1000.", valueName: "count"))
    var limit = 100

    @OptionGroup var admin: AdminFlags
    @OptionGroup var output: JSONFlag

    func validate() throws {
      guard (1...1_000).contains(limit) else {
        throw ValidationError("--limit is a number from 1 to 1000")
      }
    }

    func run() async throws {
      let found = try await admin.client().object("/-/connections?connections=\(limit)")
      let connections = Array(found.list("connections").prefix(limit))
      if output.json {
        for one in connections { printLine(one.json) }
        return
      }
      for line in ConnectionText.table(connections) { printLine(line) }
      let omitted = found.count("connectionsOmitted")
      if omitted > 0 { printLine("and \(omitted) more") }
    }
  }

  /// `tern connections close`.
  struct Close: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "End connections; their clients come back if they want to.",
      discussion: "Exits with 5 when there is no such connection.")

    @Argument(help: "The ids of connections, as list prints them.") var ids: [String]
    @OptionGroup var admin: AdminFlags
    @OptionGroup var output: JSONFlag

    func run() async throws {
      let client = try admin.client()
      for id in ids {
        _ = try await client.ask(.delete, "/-/connections/\(id.percentEncoded)")
        output.print("closed \(id)", ["closed": .string(id)])
      }
    }
  }
}

/// Connections as a table.
enum ConnectionText {
  private static let columns = [
    ("ID", "id"), ("PROTOCOL", "protocol"), ("ADDRESS", "address"), ("DATABASE", "database"),
    ("USER", "user"), ("STATE", "state"),
  ]

  static func table(_ connections: [JSONValue]) -> [String] {
    let head = columns.map(\.0) + ["LISTENS", "HOLDS", "AGE"]
    let rows = connections.map { connection -> [String] in
      let held = ["listenBytes", "waitingBytes", "queuedBytes"].reduce(0) {
        $0 + connection.count($1)
      }
      return columns.map { connection[$0.1]?.text ?? "-" } + [
        "\(connection.count("listens"))", StatusText.size(held),
        StatusText.time(connection.count("ageMilliseconds") / 1_000),
      ]
    }
    return TextTable.lines([head] + rows)
  }
}

/// Words in columns.
enum TextTable {
  /// Pads every column but the last to its longest word.
  static func lines(_ rows: [[String]]) -> [String] {
    var widths: [Int] = []
    for row in rows {
      for (index, word) in row.enumerated() {
        if index == widths.count { widths.append(0) }
        widths[index] = max(widths[index], word.count)
      }
    }
    return rows.map { row in
      row.enumerated().map { index, word in
        index == row.count - 1
          ? word : word + String(repeating: " ", count: widths[index] - word.count)
      }.joined(separator: "  ")
    }
  }
}

extension String {
  /// The same as one segment of a URL's path.
  var percentEncoded: String {
    utf8.map { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
        UInt8(ascii: "."), UInt8(ascii: "~"):
        String(UnicodeScalar(byte))
      default:
        "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }.joined()
  }
}
