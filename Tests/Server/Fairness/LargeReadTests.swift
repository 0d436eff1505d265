import TernCore
import TernQuery
import TernSecurity
import TernTreeWire
import Testing

@testable import TernServer

/// Tests of reads of a large node, which go on beside the executor.
protocol LargeReadTests {}

extension LargeReadTests {
  /// The children of the large node, more than a read on the executor takes.
  static var children: Int64 { 400 }

  /// A bench with a large node at `a/big`, three sessions, and the rows of a real batch.
  func bench(
    options: ServerOptions = ServerOptions(), authorizer: any Authorizer = AllowAll()
  ) throws -> MachineBench {
    let bench = try MachineBench(options: options, authorizer: authorizer)
    for slot in 1...3 { try bench.open(slot) }
    try bench.ask(3, bench.put("a/big", manyChildren(Self.children)))
    bench.portion = BatchPortion(linkBytes: .max, totalBytes: .max, rows: BatchPortion.readRows)
    return bench
  }

  /// Brings the end of a read to the machine, and returns what its session is told.
  func end(_ job: ReadJob, _ bench: MachineBench) throws -> [TreeServerMessage] {
    try bench.run([.read(slot: job.slot, job)])
    return bench.take(job.slot)
  }

  /// The node as a read on the executor shows it.
  func present(
    _ bench: MachineBench, _ path: String = "a/big", _ query: TreeQuery = .all
  ) throws -> TreeNode? {
    let portion = bench.portion
    defer { bench.portion = portion }
    bench.portion = .unlimited
    return try bench.get(3, path, query)
  }

  func namespace(_ bench: MachineBench) throws -> Namespace {
    try #require(bench.machine.tree.namespaces.values.first)
  }
}
