import Foundation
import TernClient
import TernCore
import TernServer
import TernSync

/// The memory of a cached node beside its size in the cache on the disk.
enum CachedNode {
  static let command = "load-cached-node"
  private static let children = 100_000

  /// A node comes from a server and is kept in the cache; a new process then listens to it.
  static func run() async throws {
    try await measure("of two leaves each", pairs)
    try await measure("that are leaves", leaves)
  }

  private static func measure(_ name: String, _ node: TreeNode) async throws {
    let parts = try BenchParts("sqlite")
    defer { parts.remove() }
    let server = try await parts.serve()
    let tern = try parts.open()
    try await tern.tree["big"].set(node).acknowledged()
    _ = try await tern.tree["big"].once()
    await tern.close()
    await server.stop()
    parts.close()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
    process.arguments = [command, parts.folder, name]
    try process.run()
    process.waitUntilExit()
  }

  /// The new process: prints what the node costs it.
  static func load(_ name: String, from folder: String) async throws {
    let parts = try BenchParts("sqlite", in: folder)
    let disk = parts.cacheBytes
    let tern = try parts.open()
    await tern.tree.goOffline()
    // What is not about this node is in memory already when counting begins.
    _ = try await tern.tree["small"].set(1)
    _ = try await tern.tree["small"].once()
    let before = residentBytes
    let clock = ContinuousClock()
    let (start, busy) = (clock.now, processorSeconds)
    var iterator = tern.tree["big"].values().makeAsyncIterator()
    let snapshot = try await iterator.next()
    let (loaded, cost) = (clock.now - start, processorSeconds - busy)
    let count = snapshot?.node.childCount ?? 0
    guard count == children else { throw BenchFailure(reason: "\(count) children in the cache") }
    let memory = residentBytes - before
    print(
      "\(children) cached children \(name): \(memory) bytes in memory, \(disk) on the disk, ratio",
      String(format: "%.2f", Double(memory) / Double(disk)) + ", limit 3; first value",
      String(format: "%.0f", loaded / .milliseconds(1)) + " ms, limit 30, processor time",
      String(format: "%.0f", cost * 1_000) + " ms")
    withExtendedLifetime(snapshot) {}
    await tern.close()
    parts.close()
  }

  private static var leaves: TreeNode {
    TreeNode(
      children: ChildMap(
        unsorted: (0..<children).map { number in
          (key: TreeKey(unchecked: "child\(number)"), node: TreeNode(.integer(Int64(number))))
        }))
  }

  private static var pairs: TreeNode {
    TreeNode(
      children: ChildMap(
        unsorted: (0..<children).map { number in
          (
            key: TreeKey(unchecked: "child\(number)"),
            node: [
              "score": TreeNode(.integer(Int64(number * 7919 % 100_003))),
              "name": TreeNode(.string("player number \(number)")),
            ]
          )
        }))
  }

  /// Processor time this process has used.
  private static var processorSeconds: Double { Double(clock()) / Double(CLOCKS_PER_SEC) }

  /// Memory of this process that is resident now; 0 where the system does not say.
  private static var residentBytes: Int {
    let status = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    return (status.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
  }
}
