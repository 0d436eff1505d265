import TernClient
import TernCore
import TernFirebaseCompat
import TernSync
import Testing

@Suite struct DeclaredTransactionTests {
  /// Adds its argument to the number that is there.
  private static let add: DeclaredUpdate = { arguments, current in
    let sum = (current.scalar?.number ?? 0) + (arguments.scalar?.number ?? 0)
    return TreeNode(.integer(Int64(sum)))
  }

  @Test("D01 a declared transaction survives a restart and happens once", arguments: Setting.all)
  func declared(setting: Setting) async throws {
    let house = try await House(setting)
    let tern = try await house.open("a").native()
    try await tern.tree["count"].set(5).acknowledged()
    house.unplug("a")
    await tern.tree.declareTransaction("add", Self.add)
    let waiting = Task {
      try await tern.tree["count"].transaction("add", arguments: TreeNode(.integer(2)))
    }
    for await status in tern.tree.queue where status.pending.allSatisfy(\.isDurable) { break }
    let values = Trace()
    let watching = Task {
      for try await snapshot in tern.tree["count"].snapshots() {
        values.add(snapshot.node.json(.value))
      }
    }
    try await values.wait(for: "7")
    watching.cancel()
    let again = try await house.restart("a").native()
    await #expect(throws: (any Error).self) { try await waiting.value }
    await again.tree.declareTransaction("add", Self.add)
    house.plug("a")
    let settled = Trace()
    let following = Task {
      for try await snapshot in again.tree["count"].snapshots() {
        settled.add("\(snapshot.node.json(.value)) \(snapshot.isFromCache)")
      }
    }
    try await settled.wait(for: "7 false")
    following.cancel()
    #expect(try await house.serverValue("count") == "7")
    try await house.close()
  }

  @Test(
    "D01 a transaction given as a closure ends with the program, and is reported lost",
    arguments: Setting.storages)
  func closure(setting: Setting) async throws {
    let house = try await House(setting)
    let tern = try await house.open("a").native()
    try await tern.tree["count"].set(5).acknowledged()
    house.unplug("a")
    let began = Trace()
    let waiting = Task {
      try await tern.tree["count"].transaction { node in
        began.add("ran")
        node = TreeNode(.integer(6))
        return true
      }
    }
    try await began.wait(for: "ran")
    try await tern.tree["fence"].set(1)
    let again = try await house.restart("a").native()
    await #expect(throws: (any Error).self) { try await waiting.value }
    #expect(again.tree.lostTransactions.map(\.text) == ["count"])
    house.plug("a")
    try await again.tree["fence"].set(2).acknowledged()
    #expect(try await house.serverValue("count") == "5")
    try await house.close()
  }

  @Test(
    "D07 a native write returns when it is durable here, and again when the server has it",
    arguments: Setting.all)
  func twoStages(setting: Setting) async throws {
    let house = try await House(setting)
    let tern = try await house.open("a").native()
    house.unplug("a")
    let write = try await tern.tree["x"].set(1)
    #expect(await tern.tree.pendingWrites.map(\.isDurable) == [true])
    house.plug("a")
    try await write.acknowledged()
    #expect(await tern.tree.pendingWrites.isEmpty)
    #expect(try await house.serverValue("x") == "1")
    try await house.close()
  }
}
