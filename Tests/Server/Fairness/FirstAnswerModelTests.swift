import TernCore
import TernQuery
import TernTestKit
import TernTreeWire
import Testing

@testable import TernServer

/// A client as far as its listens go: the view of each after all pushes.
private struct ModelClient {
  struct Listen {
    let path: TreePath
    let query: TreeQuery
    let tag: Int64?
    /// The number of the request that started it.
    let number: UInt64
    var view: TreeNode
    var isStarted = false
    /// The number of the request that ends it.
    var endNumber: UInt64?
    /// The commit of the last push to its tag.
    var version: UInt64 = 0
  }

  var listens: [Listen] = []
  /// Listens that have ended, with their last views.
  var ended: [Listen] = []
  /// Inputs that wait, in order.
  var waiting: [ServerInput] = []
  /// The read that its link waits for, and whether that is done.
  var read: (job: ReadJob, isDone: Bool)?

  mutating func receive(_ message: TreeServerMessage) throws {
    switch message {
    case .put(let push):
      let entry = TreeMerge.Entry(path: push.path, node: push.content)
      try show([entry], push.tag, push.version, isWhole: true)
    case .merge(let push):
      let entries = push.content.entries.map { entry in
        TreeMerge.Entry(path: push.path.appending(entry.path), node: entry.node)
      }
      try show(entries, push.tag, push.version, isWhole: false)
    case .response(let number, let response):
      if let index = listens.firstIndex(where: { $0.number == number }) {
        #expect(response.status == .ok)
        listens[index].isStarted = true
      } else if let index = listens.firstIndex(where: { $0.endNumber == number }) {
        ended.append(listens.remove(at: index))
      }
    default: Issue.record("unexpected: \(message.brief)")
    }
  }

  private mutating func show(
    _ entries: [TreeMerge.Entry], _ tag: Int64?, _ version: UInt64?, isWhole: Bool
  ) throws {
    var isKnown = false
    for index in listens.indices where listens[index].tag == tag {
      isKnown = true
      if tag != nil {
        let version = try #require(version)
        #expect(!listens[index].isStarted || listens[index].version < version, "told once")
        listens[index].version = version
      }
      for entry in entries {
        if let path = entry.path.relative(to: listens[index].path) {
          listens[index].view.setNode(entry.node, at: path)
        } else if let path = listens[index].path.relative(to: entry.path) {
          listens[index].view = entry.node.node(at: path)
        }
      }
    }
    #expect(isKnown, "nothing is told to a listen that has ended")
  }
}

/// Listens, writes and reads beside the executor in any order: each listen shows the present data
/// at every moment, and is told each change once.
@Suite("First answers of listens, as a model") struct FirstAnswerModelTests {
  private static let slots = 1...3
  private static let writer = 4

  private let bench: MachineBench
  private var random: SeededGenerator
  private var clients: [Int: ModelClient] = [:]
  private var lastNumber: UInt64 = 0
  private var readCount = 0

  init() throws {
    bench = try MachineBench()
    random = SeededGenerator(seed: 0)
    for slot in 1...5 { try bench.open(slot) }
  }

  private static let paths: [TreePath] = ["a", "a/b", "a/b/c", "a/d", "e"]
  private static let queries = [
    TreeQuery.all, TreeQuery(order: .value, limit: TreeLimit(.last, 2)),
    TreeQuery(order: .key, limit: TreeLimit(.first, 2)),
    TreeQuery(order: .priority, limit: TreeLimit(.first, 3)),
  ]

  private mutating func write() throws -> ServerInput {
    let base = Self.paths.randomElement(using: &random) ?? .root
    func child() -> TreeKey { TreeKey(unchecked: "k\(Int.random(in: 0..<6, using: &random))") }
    func leaf() -> TreeNode { TreeNode(.integer(.random(in: 0..<50, using: &random))) }
    switch Int.random(in: 0..<10, using: &random) {
    case 0: return bench.frame(Self.writer, .put(base, .empty, expectedHash: nil, .none))
    case 1: return bench.frame(Self.writer, .put(base, leaf(), expectedHash: nil, .none))
    case 2, 3:
      var node = TreeNode.empty
      for _ in 0..<5 { node.setNode(leaf(), at: TreePath([child()])) }
      return bench.frame(Self.writer, .put(base, node, expectedHash: nil, .none))
    case 4, 5:
      var entries: [TreeKey: TreeNode] = [:]
      for _ in 0..<3 { entries[child()] = leaf() }
      let merge = try TreeMerge(
        entries.sorted { $0.key < $1.key }.map { .init(path: TreePath([$0.key]), node: $0.value) })
      return bench.frame(Self.writer, .merge(base, merge, .none))
    default:
      return bench.frame(
        Self.writer, .put(base.appending(child()), leaf(), expectedHash: nil, .none))
    }
  }

  /// Starts or ends a listen of a client.
  private mutating func change(_ slot: Int) {
    guard var client = clients[slot] else { return }
    defer { clients[slot] = client }
    lastNumber += 1
    let number = lastNumber
    func send(_ request: TreeRequest) {
      client.waiting.append(.frame(slot: slot, TreeClientMessage.request(number, request).encode()))
    }
    let active = client.listens.indices.filter { index in
      client.listens[index].isStarted && client.listens[index].endNumber == nil
    }
    if let index = active.randomElement(using: &random), Bool.random(using: &random) {
      let listen = client.listens[index]
      client.listens[index].endNumber = number
      return send(.unlisten(listen.path, listen.query, tag: listen.tag))
    }
    let path = Self.paths.randomElement(using: &random) ?? .root
    let query = (Self.queries.randomElement(using: &random) ?? .all).normalized
    if client.listens.contains(where: { $0.path == path && $0.query == query }) { return }
    // A client that has listened before may say what it has.
    let known = client.ended.last { $0.path == path && $0.query == query }
    let view = Bool.random(using: &random) ? known?.view ?? .empty : .empty
    let tag = query.loadsAllData ? nil : Int64(number)
    client.listens.append(.init(path: path, query: query, tag: tag, number: number, view: view))
    send(.listen(TreeListen(path: path, query: query, tag: tag, hash: view.hash)))
  }

  /// Decides what waits at links that wait for no read, and ends of reads.
  private mutating func decide() throws {
    var inputs: [ServerInput] = []
    for slot in Self.slots {
      guard var client = clients[slot] else { continue }
      if let read = client.read {
        guard read.isDone, Bool.random(using: &random) else { continue }
        inputs.append(.read(slot: slot, read.job))
        client.read = nil
      }
      inputs += client.waiting
      client.waiting = []
      clients[slot] = client
    }
    let writes = Int.random(in: 0...2, using: &random)
    for _ in 0..<writes {
      let write = try write()
      inputs.insert(write, at: .random(in: 0...inputs.count, using: &random))
    }
    // What one link asks for stays in order.
    try run(inputs)
  }

  private mutating func run(_ inputs: [ServerInput]) throws {
    bench.portion = BatchPortion(linkBytes: .max, totalBytes: .max, rows: 1)
    try bench.run(inputs)
    readCount += bench.lastReads.count
    for job in bench.lastReads { clients[job.slot]?.read = (job, false) }
    for input in bench.deferred {
      if let slot = input.slot { clients[slot]?.waiting.append(input) }
    }
    _ = bench.take(Self.writer)
    for slot in Self.slots {
      for message in bench.take(slot) { try clients[slot]?.receive(message) }
    }
    try check()
  }

  private mutating func perform(_ slot: Int) throws {
    guard let read = clients[slot]?.read, !read.isDone else { return }
    try bench.perform([read.job])
    clients[slot]?.read = (read.job, true)
  }

  /// Compares every listen with a read at present.
  private func check() throws {
    bench.portion = .unlimited
    for (slot, client) in clients.sorted(by: { $0.key < $1.key }) {
      for listen in client.listens where listen.isStarted {
        let present = try bench.response(5, .get(listen.path, listen.query))?.node() ?? .empty
        #expect(
          listen.view == present,
          "\(slot): \(listen.path) \(listen.query) shows \(listen.view.json(.export))")
      }
    }
  }

  @Test("every listen shows the present data, and is told each change once", arguments: 1...8)
  mutating func model(seed: Int) throws {
    random = SeededGenerator(seed: UInt64(seed))
    for slot in Self.slots { clients[slot] = ModelClient() }
    for _ in 0..<400 {
      let slot = Int.random(in: Self.slots, using: &random)
      switch Int.random(in: 0..<4, using: &random) {
      case 0: change(slot)
      case 1: try perform(slot)
      default: try decide()
      }
    }
    var rounds = 0
    while clients.values.contains(where: { $0.read != nil || !$0.waiting.isEmpty }), rounds < 200 {
      rounds += 1
      for slot in Self.slots { try perform(slot) }
      try decide()
    }
    #expect(clients.values.allSatisfy { $0.listens.allSatisfy(\.isStarted) })
    #expect(readCount > 20, "many are read beside")
  }
}
