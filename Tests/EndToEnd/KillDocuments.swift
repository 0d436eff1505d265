import TernCore

/// Compares what clients said about their writes to documents with what is there.
///
/// The sister of ``KillReckoning``; see `DocumentWorkload` of `tern-torture`.
struct KillDocuments {
  /// The differences, in words.
  private(set) var problems: [String] = []
  private(set) var writeCount = 0
  private(set) var batchCount = 0
  private(set) var transactionCount = 0
  /// The fields of every document, by its id.
  private let documents: [String: JSONValue]

  /// - Parameter text: All documents, as `tern-torture` prints them.
  init(_ text: String, _ clients: [KillClient]) throws {
    guard case .object(let members) = try JSONValue(parsing: text) else {
      documents = [:]
      problems = ["these are no documents: \(text.prefix(80))"]
      return
    }
    documents = Dictionary(uniqueKeysWithValues: members.map { ($0.name, $0.value) })
    for client in clients { check(client) }
    expect(number("sum-all", "count") == batchCount, "the sum of all batches is not \(batchCount)")
    checkTransactions(clients)
  }

  private mutating func expect(_ holds: Bool, _ problem: String) {
    if !holds { problems.append(problem) }
  }

  private func number(_ document: String, _ field: String) -> Int {
    documents[document]?[field]?.integer.map { Int($0) } ?? 0
  }

  /// The documents whose names begin like this, by the rest of their names.
  private func named(_ beginning: String) -> [Int: JSONValue] {
    var found: [Int: JSONValue] = [:]
    for (id, fields) in documents where id.hasPrefix(beginning) {
      if let number = Int(id.dropFirst(beginning.count)) { found[number] = fields }
    }
    return found
  }
}

// MARK: - Writes

extension KillDocuments {
  private mutating func check(_ client: KillClient) {
    let applied = appliedWrites(of: client.name)
    writeCount += applied.count
    for line in client.lines {
      let words = line.split(separator: " ").map(String.init)
      guard ["stored", "acked"].contains(words.first), words[1].hasPrefix("document-"),
        words[1] != "document-transaction"
      else { continue }
      expect(Int(words[2]).flatMap { applied[$0] } == words[1], "\(client.name) lost: \(line)")
    }
    checkOrder(client, applied)
  }

  /// The numbers of the writes that are there, each with the kind of the write.
  private mutating func appliedWrites(of name: String) -> [Int: String] {
    var applied: [Int: String] = [:]
    for (number, fields) in named("increment-\(name)-") {
      expect(fields["count"]?.integer == 1, "increment \(number) of \(name): \(fields.json)")
      applied[number] = "document-increment"
    }
    for kind in ["set", "batch"] {
      for (number, fields) in named("\(kind)-\(name)-") {
        expect(fields["number"]?.integer == Int64(number), "\(kind) \(number): \(fields.json)")
        applied[number] = "document-\(kind)"
      }
    }
    if case .array(let numbers) = documents["union-\(name)"]?["numbers"] {
      expect(
        number("union-\(name)", "count") == numbers.count,
        "\(numbers.count) unions of \(name) are not counted so often")
      for number in numbers.compactMap(\.integer) { applied[Int(number)] = "document-union" }
    }
    return applied
  }

  /// A client's writes are applied in their order, none in the middle is missing, and its batches
  /// are whole.
  private mutating func checkOrder(_ client: KillClient, _ applied: [Int: String]) {
    let name = client.name
    var newest: [Int] = []
    for first in client.firstNumbers {
      let run = applied.filter { (first..<first + KillClient.numbersPerRun).contains($0.key) }
      for number in first..<first + run.count {
        expect(
          run[number] != nil, "document write \(number) of \(name) is missing before later ones")
      }
      if let last = run.filter({ $0.value == "document-batch" }).keys.max() { newest.append(last) }
    }
    let batches = applied.values.count { $0 == "document-batch" }
    batchCount += batches
    expect(number("sum-\(name)", "count") == batches, "the sum of \(name) is not \(batches)")
    expect(number("sum-\(name)", "last") == newest.max() ?? 0, "last of \(name) is not \(newest)")
    expect(
      named("newest-\(name)-").keys.sorted() == newest.sorted(),
      "newest documents of \(name) are not \(newest)")
  }
}

// MARK: - Transactions

extension KillDocuments {
  private mutating func checkTransactions(_ clients: [KillClient]) {
    var seen: Set<String> = []
    for (id, fields) in documents where id.hasPrefix("room-") {
      guard case .object(let names) = fields["seen"] else { continue }
      for member in names {
        seen.insert(member.name)
        expect(
          member.value == .integer(1), "\(member.name) ran \(member.value.json) times in \(id)")
      }
      expect(
        number(id, "count") == names.count, "\(id) counted \(number(id, "count")) of \(names.count)"
      )
    }
    transactionCount = seen.count
    for line in clients.flatMap(\.lines) {
      let words = line.split(separator: " ").map(String.init)
      if words.starts(with: ["acked", "document-transaction"]) {
        expect(seen.contains(words[2]), "lost: \(line)")
      } else if words.starts(with: ["failed", "document-transaction"]) {
        expect(!seen.contains(words[2]), "applied and said: \(line)")
      }
    }
  }
}
