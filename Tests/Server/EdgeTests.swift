import TernCore
import TernDocumentWire
import TernLedger
import TernStorage
import TernTestKit
import TernTreeRows
import TernTreeWire
import Testing

@testable import TernServer

/// Legal requests at the edges of every limit: what is acknowledged is there after the journal has
/// settled many times and after the store was opened again.
@Suite("At the edges of all limits") struct EdgeTests {
  private static let seeds: [UInt64] = [1, 2]
  private static let often = LedgerOptions(journalRows: 8)

  @Test("acknowledged writes of trees stay", arguments: ServerStore.allCases, seeds)
  func trees(kind: ServerStore, seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let folder = ServerStore.Folder()
    var store = try kind.open(in: folder)
    var stored: [String: [TreePath: TreeNode]] = [:]
    let bench = try MachineBench(store: store, ledgerOptions: Self.often)
    let names = ["n", String(repeating: "é", count: 64)]
    for (slot, name) in names.enumerated() {
      try bench.open(slot, namespace: name, stream: UInt128(slot))
    }
    for number in 1...60 {
      let slot = random.roll(2)
      let path = treePath(number, &random)
      let node = random.roll(6) == 0 ? TreeNode.empty : treeNode(&random)
      let mark = WriteHeader(
        WriteIdempotencyKey(sequence: UInt64(number)), acknowledged: UInt64(number - 1))
      let put = TreeRequest.put(path, node, expectedHash: nil, mark)
      let answer = try #require(try bench.response(slot, put), "seed \(seed)")
      if answer.status == .ok { stored[names[slot], default: [:]][path] = node }
    }
    #expect(stored.values.reduce(0) { $0 + $1.count } >= 30, "seed \(seed)")
    try expect(stored, in: bench.ledger, seed)
    if kind != .memory {
      store.close()
      store = try kind.open(in: folder)
    }
    try expect(stored, in: MachineBench(store: store).ledger, seed)
  }

  private func expect(
    _ stored: [String: [TreePath: TreeNode]], in ledger: EmbeddedLedger, _ seed: UInt64
  ) throws {
    try ledger.read { snapshot throws(StorageError) in
      for (name, values) in stored {
        let rows = TreeRows(prefix: StoreLayout.namespace(name))
        for (path, node) in values {
          #expect(try rows.node(at: path, in: snapshot) == node, "seed \(seed), \(path.byteCount)")
        }
      }
    }
  }

  /// A path of its own, of which the segments are short, long, numbers, and as many as there may
  /// be.
  private func treePath(_ number: Int, _ random: inout SeededGenerator) -> TreePath {
    var keys = [TreeKey(unchecked: "a\(number)")]
    var left = TreeLimits.storedPathBytes - 8 - random.roll(3)
    let depth = random.roll(2) == 0 ? TreeLimits.depth : 1 + random.roll(TreeLimits.depth)
    while keys.count < depth - random.roll(2), left > 4 {
      let text =
        switch random.roll(4) {
        case 0: "7"
        case 1: "-" + String(repeating: "0", count: min(left, 1 + random.roll(100)) - 1) + "7"
        case 2: String(repeating: "\u{10FFFF}", count: min(left - 1, 1 + random.roll(768)) / 4 + 1)
        default: String(repeating: "z", count: min(left - 1, random.roll(2) == 0 ? 768 : 9))
        }
      left -= text.utf8.count + 1
      keys.append(TreeKey(unchecked: text))
    }
    return TreePath(keys)
  }

  private func treeNode(_ random: inout SeededGenerator) -> TreeNode {
    switch random.roll(4) {
    case 0: TreeNode(.bool(true))
    case 1: TreeNode(.string(String(repeating: "\u{1}", count: random.roll(100_000))))
    case 2: json(#"{".value": 3, ".priority": "\#(String(repeating: "p", count: 9_000))"}"#)
    default: json(#"{"a": {"0": 1, "007": 2}, "b": 1e300}"#)
    }
  }

  @Test("acknowledged writes of documents stay", arguments: ServerStore.allCases, seeds)
  func documents(kind: ServerStore, seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let folder = ServerStore.Folder()
    var store = try kind.open(in: folder)
    let bench = try DocumentBench(store: store, ledgerOptions: Self.often)
    var stored: [DocumentKey: DocumentFields] = [:]
    let database = try DocumentDatabase(
      projectID: String(repeating: "p", count: DocumentLimits.projectIDBytes - random.roll(2)),
      databaseID: "d" + String(repeating: "-", count: 62))
    bench.databases[1] = database
    try bench.link(1)
    var call: UInt32 = 0
    for number in 1...40 {
      call += 1
      let key = documentKey(number, &random)
      let fields = documentFields(&random)
      let writes = [bench.set(key, fields)]
      switch try bench.ask(1, call, .commit(writes, transaction: [], nil)) {
      case .success: stored[key] = fields
      case .failure(let status): #expect(status.code == .invalidArgument, "seed \(seed)")
      }
      guard random.roll(4) == 0, let old = stored.keys.first else { continue }
      let delete = [DocumentMutation(old, .delete)]
      call += 1
      _ = try bench.ask(1, call, .commit(delete, transaction: [], nil)).get()
      stored[old] = nil
    }
    #expect(stored.count >= 10, "seed \(seed)")
    try expect(stored, in: bench, seed, after: call)
    if kind != .memory {
      store.close()
      store = try kind.open(in: folder)
    }
    let again = try DocumentBench(store: store)
    again.databases[1] = database
    try again.link(1)
    try expect(stored, in: again, seed, after: 0)
  }

  private func expect(
    _ stored: [DocumentKey: DocumentFields], in bench: DocumentBench, _ seed: UInt64,
    after call: UInt32
  ) throws {
    var call = call
    for (key, fields) in stored {
      call += 1
      let answer = try bench.ask(1, call, .get(key, mask: nil, .now)).get().first
      guard case .document(let document)? = answer else {
        Issue.record("seed \(seed): \(key.text.utf8.count) bytes are gone")
        continue
      }
      #expect(document.fields == fields, "seed \(seed)")
    }
  }

  /// A key of its own; ids of zeros take twice their bytes in rows.
  private func documentKey(_ number: Int, _ random: inout SeededGenerator) -> DocumentKey {
    func id(_ limit: Int, _ random: inout SeededGenerator) -> String {
      let letter = ["\u{0}", "x", "\u{10FFFF}"][random.roll(3)]
      let count = [1, 200, 1_500 / letter.utf8.count][random.roll(3)]
      return String(repeating: letter, count: max(1, min(limit / letter.utf8.count, count)))
    }
    var text = "c\(number)/"
    if random.roll(2) == 0 { text += id(1_400, &random) + "/" + id(1_500, &random) + "/" }
    return DocumentKey(unchecked: text + id(1_500, &random))
  }

  private func documentFields(_ random: inout SeededGenerator) -> DocumentFields {
    let zeros = String(repeating: "\u{0}", count: 1_490)
    let text = DocumentValue.string(random.roll(2) == 0 ? zeros : "short")
    let name = random.roll(2) == 0 ? String(repeating: "n", count: 1_490) : zeros
    var map = DocumentMap()
    map[name] = text
    map["list"] = .array([text, .bytes([UInt8](repeating: 0, count: 3_000)), .null])
    return DocumentFields(map)
  }

  @Test("a project's id has a limit, and what exceeds it is rejected by name")
  func projects() {
    let long = String(repeating: "p", count: DocumentLimits.projectIDBytes + 1)
    #expect(throws: DocumentError.invalidProjectID(long)) { try DocumentDatabase(projectID: long) }
  }
}
