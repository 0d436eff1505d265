import Synchronization
import TernCommitLog
import TernLedger
import TernLogMemory
import TernStorage
import TernTestKit
import Testing

@testable import TernSharedLedger

/// A log that goes on at a standby that lacks the newest batches: an asynchronous one that was
/// promoted.
@Suite("Shared ledgers whose log has lost its newest batches")
struct LostBatchesTests {
  let cluster = TestCluster()

  @Test("a running node whose copy was ahead begins again when the log has other batches there")
  func otherBatches() async throws {
    let (leader, ahead, other) = (cluster.node(), cluster.node(), cluster.node())
    try await leader.lead()
    for value in UInt8(1)...3 { try await leader.commit([put("a", value)]) }
    await ahead.follow()
    #expect(try await ahead.value(of: "a") == [3])
    // The standby has two of three batches, and the nodes that know the third do not reach it.
    leader.faults.isCut = true
    ahead.faults.isCut = true
    cluster.memory.dropNewest(1, of: ShardID(0))
    try await other.lead()
    try await other.commit([put("b", 1)])
    try await other.commit([put("c", 1)])
    ahead.faults.isCut = false
    await ahead.follow()
    #expect(try await ahead.version == 4)
    #expect(try await ahead.value(of: "a") == [2])
    #expect(try await ahead.value(of: "b") == [1])
    #expect(try await ahead.value(of: "c") == [1])
  }

  @Test("a node whose copy has another newest batch than the log does not lead with it")
  func otherNewestBatch() async throws {
    let (leader, ahead, other) = (cluster.node(), cluster.node(), cluster.node())
    try await leader.lead()
    for value in UInt8(1)...3 { try await leader.commit([put("a", value)]) }
    await ahead.follow()
    leader.faults.isCut = true
    ahead.faults.isCut = true
    cluster.memory.dropNewest(1, of: ShardID(0))
    try await other.lead()
    try await other.commit([put("b", 1)])
    await other.ledger.close()
    ahead.faults.isCut = false
    try await ahead.lead()
    #expect(try await ahead.value(of: "a") == [2])
    #expect(try await ahead.value(of: "b") == [1])
    #expect(try await ahead.commit([put("c", 1)]) == [.committed(4)])
  }

  @Test("a node that is ahead of the log with its copy begins again")
  func shorterLog() async throws {
    let (leader, ahead) = (cluster.node(), cluster.node())
    try await leader.lead()
    for value in UInt8(1)...3 { try await leader.commit([put("a", value)]) }
    await ahead.follow()
    leader.faults.isCut = true
    cluster.memory.dropNewest(1, of: ShardID(0))
    await ahead.follow()
    #expect(try await ahead.value(of: "a") == [2])
  }
}
