import TernClient
import TernCore
import TernSync
import TernTransactions

/// The executor of the client's commands; prints one line for each event.
actor TortureClient {
  private static let transaction = "count"

  let tree: TreeDatabase
  let documents: Documents
  let auth: ClientAuth
  private var workload: Workload
  var documentWorkload: DocumentWorkload
  /// The number of the next mark.
  var nextMark: Int
  private let isOffline: Bool
  private var watch: Task<Void, Never>?
  var documentWatch: Task<Void, Never>?
  var transactions: [Task<Void, Never>] = []

  init(_ tern: TernDatabase, name: String, first: Int, seed: UInt64, isOffline: Bool) {
    tree = tern.tree
    documents = tern.documents
    auth = tern.auth
    nextMark = first
    workload = Workload(name: name, next: first, seed: seed)
    documentWorkload = DocumentWorkload(name: name, next: first, seed: seed)
    self.isOffline = isOffline
  }

  /// Says what its transactions do, and begins to listen to everything.
  func begin() async {
    await tree.declareTransaction(Self.transaction, Workload.count)
    let tree = tree
    watch = Task {
      var lookout = Lookout()
      do throws(ListenError) {
        for try await snapshot in tree.root.values() where snapshot.isComplete {
          lookout.see(snapshot.node)
        }
      } catch {
        if error != .closed { printLine("broken \(error)") }
      }
    }
    beginDocuments()
  }

  /// Carries out one line.
  func perform(_ line: String) async throws {
    let words = line.split(separator: " ").map(String.init)
    switch words.first {
    case "write": try await write(Int(words[1]) ?? 0, waitingForDisk: true)
    case "burst": try await write(Int(words[1]) ?? 0, waitingForDisk: false)
    case "online":
      await tree.goOnline()
      await documents.goOnline()
    case "leave": try await leave(words[1])
    case "settle": try await settle()
    case "as": try signIn(words.count > 1 ? words[1] : nil)
    case "mark": try await mark(Int(words[1]) ?? 0)
    case "drain": try await drain()
    case "meet": try await meet(Array(words.dropFirst()))
    case "tree":
      printLine("tree " + (try await tree.root.once().node.json(.export)))
      try await printDocuments(isOffline: isOffline)
    default: printLine("broken there is no command \"\(line)\"")
    }
  }
}

// MARK: - Writing

extension TortureClient {
  private func write(_ count: Int, waitingForDisk: Bool) async throws {
    for index in 0..<count {
      let item = try workload.make(pushKey: await tree.session.pushKey())
      let promise = await tree.session.write(item.write)
      let label = "\(item.kind.rawValue) \(item.number)"
      promise.stored.then { result in
        switch result {
        case .success: printLine("stored \(label)")
        case .failure(let error): printLine("refused \(label) \(error)")
        }
      }
      promise.end.then { end in
        if end == .accepted { printLine("acked \(label)") } else { printLine("\(end) \(label)") }
      }
      if waitingForDisk { _ = await promise.stored.value() }
      if index % 2 == 1 { try await writeDocument(waitingForDisk: waitingForDisk) }
      if index % 8 == 3, index < 40 { transact(item.number) }
      if index % 16 == 5, index < 40 { transactDocument(item.number) }
    }
  }

  /// Runs a transaction, declared or not, without waiting for its outcome.
  private func transact(_ number: Int) {
    let room = tree[Workload.rooms[number % Workload.rooms.count]]
    let name = "\(workload.name)-\(number)"
    let arguments = TreeNode(.string(name))
    let isDeclared = number % 2 == 0
    let running = Task {
      do throws(TransactionError) {
        let result =
          if isDeclared {
            try await room.transaction(Self.transaction, arguments: arguments)
          } else {
            try await room.transaction { node in
              node = Workload.count(arguments, node) ?? node
              return true
            }
          }
        if case .committed = result { printLine("acked transaction \(name)") }
      } catch {
        printLine("failed transaction \(name) \(error)")
      }
    }
    transactions.append(running)
  }
}

// MARK: - Deferred writes

extension TortureClient {
  /// Adds 1 to `sessions/NAME` when this connection ends.
  private func leave(_ name: String) async throws {
    try await tree["sessions"][name].onDisconnect.set(.increment(by: 1))
    printLine("left \(name)")
  }
}

// MARK: - The end

extension TortureClient {
  /// Waits until the server has answered every write and transaction, those of earlier runs too.
  private func settle() async throws {
    for transaction in transactions { await transaction.value }
    // Those of earlier runs are decided before a new one at their place.
    let settled = try TreeKey("settled")
    for room in Workload.rooms {
      _ = try await tree[room].transaction { room in
        room.setChild(settled, true)
        return true
      }
    }
    for await status in tree.queue where status.pending.isEmpty { break }
    try await settleDocuments()
    printLine("settled")
  }

  /// Joins a meeting, and waits until it sees all the others there.
  ///
  /// The server sends changes in one order: who sees that another client has come has seen
  /// everything it wrote before.
  private func meet(_ names: [String]) async throws {
    let meeting = tree["meeting"]
    try await meeting[workload.name].set(true).acknowledged()
    for try await snapshot in meeting.values()
    where names.allSatisfy({ snapshot[$0].exists }) {
      break
    }
    try await meetDocuments(names)
    printLine("met")
  }
}

/// Looks out for numbers that go back.
private struct Lookout {
  private var last: [TreeKey: Double] = [:]

  mutating func see(_ tree: TreeNode) {
    guard let place = try? TreeKey("last") else { return }
    for (name, node) in tree.child(place).children {
      guard let number = node.scalar?.number else { continue }
      if let before = last[name], number < before {
        printLine("broken the last update of \(name) went back from \(before) to \(number)")
      }
      last[name] = number
    }
  }
}
