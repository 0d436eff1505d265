import TernCore

/// Compares what clients said about their writes with what is there.
///
/// Every write left its number at a place of its own; see `Workload` of `tern-torture`.
struct KillReckoning {
  /// The differences, in words.
  private(set) var problems: [String] = []
  private(set) var writeCount = 0
  private(set) var transactionCount = 0
  /// Deferred writes that surely fired.
  private(set) var deferredCount = 0
  private let tree: TreeNode

  init(_ tree: TreeNode, _ clients: [KillClient], _ presence: KillPresence) throws {
    self.tree = tree
    var updates = 0
    for client in clients {
      try check(client)
      updates += try children("updates/\(client.name)").count
    }
    expect(try number("sum/all") == updates, "the sum of all updates is not \(updates)")
    try checkTransactions(clients)
    try check(presence)
  }

  private mutating func expect(_ holds: Bool, _ problem: @autoclosure () -> String) {
    if !holds { problems.append(problem()) }
  }

  private func children(_ path: String) throws -> [(name: String, node: TreeNode)] {
    tree.node(at: try TreePath(path)).children.map { ($0.key.text, $0.node) }
  }

  private func number(_ path: String) throws -> Int {
    tree.node(at: try TreePath(path)).scalar.flatMap(integer) ?? 0
  }

  private func integer(_ scalar: TreeScalar) -> Int? {
    if case .integer(let value) = scalar { Int(value) } else { nil }
  }
}

// MARK: - Writes

extension KillReckoning {
  private mutating func check(_ client: KillClient) throws {
    let applied = try appliedWrites(of: client.name)
    writeCount += applied.count
    for line in client.lines {
      let words = line.split(separator: " ").map(String.init)
      switch words.first {
      case "stored", "acked":
        // Documents have a reckoning of their own.
        guard words[1] != "transaction", !words[1].hasPrefix("document-") else { continue }
        expect(
          Int(words[2]).flatMap { applied[$0] } == words[1], "\(client.name) lost: \(line)")
      case "open", "left", "settled", "met", "tree", "documents", "failed": continue
      default: problems.append("\(client.name) said: \(line)")
      }
    }
    try checkOrder(client, applied)
  }

  /// The numbers of the writes that are there, each with the kind of the write.
  private mutating func appliedWrites(of name: String) throws -> [Int: String] {
    var applied: [Int: String] = [:]
    for kind in ["increment", "update"] {
      for (number, node) in try children("\(kind)s/\(name)") {
        expect(node.scalar == .integer(1), "\(kind) \(number) of \(name) is \(node.json(.value))")
        if let number = Int(number) { applied[number] = kind }
      }
    }
    for (number, node) in try children("sets/\(name)") {
      expect(node.node(at: try TreePath("number")).scalar.flatMap(integer) == Int(number), number)
      if let number = Int(number) { applied[number] = "set" }
    }
    for (_, node) in try children("lists/\(name)") {
      guard let number = node.scalar.flatMap(integer) else { continue }
      expect(applied[number] == nil, "push \(number) of \(name) is there twice")
      applied[number] = "push"
    }
    return applied
  }

  /// A client's writes are applied in their order, and none in the middle is missing.
  private mutating func checkOrder(_ client: KillClient, _ applied: [Int: String]) throws {
    let name = client.name
    var newest: [Int] = []
    for first in client.firstNumbers {
      let run = applied.filter { (first..<first + KillClient.numbersPerRun).contains($0.key) }
      for number in first..<first + run.count {
        expect(run[number] != nil, "\(number) of \(name) is missing before later ones")
      }
      if let last = run.filter({ $0.value == "update" }).keys.max() { newest.append(last) }
    }
    let updates = applied.values.count { $0 == "update" }
    expect(try number("sum/\(name)") == updates, "the sum of \(name) is not \(updates)")
    expect(try number("last/\(name)") == newest.max() ?? 0, "last of \(name) is not \(newest)")
    expect(
      try children("newest/\(name)").compactMap { Int($0.name) }.sorted() == newest.sorted(),
      "newest of \(name) is not \(newest)")
  }
}

// MARK: - Transactions

extension KillReckoning {
  private mutating func checkTransactions(_ clients: [KillClient]) throws {
    var seen: Set<String> = []
    for (room, node) in try children("transactions") {
      let names = node.node(at: try TreePath("seen")).children.map { $0 }
      for (name, count) in names {
        seen.insert(name.text)
        expect(count.scalar == .integer(1), "transaction \(name) ran \(count.json(.value)) times")
      }
      let count = node.node(at: try TreePath("count")).scalar.flatMap(integer)
      expect(count == names.count, "room \(room) counted \(count ?? 0) of \(names.count)")
    }
    transactionCount = seen.count
    for line in clients.flatMap(\.lines) {
      let words = line.split(separator: " ").map(String.init)
      if words.starts(with: ["acked", "transaction"]) {
        expect(seen.contains(words[2]), "lost: \(line)")
      } else if words.starts(with: ["failed", "transaction"]) {
        expect(!seen.contains(words[2]), "applied and said: \(line)")
      }
    }
  }
}

// MARK: - Deferred writes

extension KillReckoning {
  private mutating func check(_ presence: KillPresence) throws {
    deferredCount = presence.fired.count
    for name in presence.all {
      let count = try number("sessions/\(name)")
      expect(count <= 1, "deferred write \(name) fired \(count) times")
    }
    for name in presence.fired {
      expect(try number("sessions/\(name)") == 1, "deferred write \(name) did not fire")
    }
  }
}
