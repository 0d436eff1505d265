import TernCore
import TernDocumentReplica
import TernSync
import Testing

@testable import TernClient

@Suite("The status of the queue of documents")
struct DocumentQueueStatusTests {
  /// The number of parts that two lists share in memory.
  private func sharedParts<E>(_ left: WriteList<E>, _ right: WriteList<E>) -> Int {
    zip(left.chunks, right.chunks).count { left, right in
      unsafe left.withUnsafeBufferPointer { left in
        unsafe right.withUnsafeBufferPointer { right in
          unsafe left.baseAddress == right.baseAddress
        }
      }
    }
  }

  @Test("a change of a long queue copies one part of its status")
  func shared() throws {
    var bench = try DocumentBench()
    for number in 1...600 { bench.set("\(number)", Int64(number)) }
    let before = bench.machine.queueStatus.pending
    #expect(before.map(\.id) == Array(1...600) && before.allSatisfy(\.isDurable))
    #expect(before.chunks.count == 3)
    #expect(sharedParts(before, bench.machine.queueStatus.pending) == 3)
    bench.set("more", 1)
    let after = bench.machine.queueStatus.pending
    #expect(after.count == 601 && before.count == 600)
    #expect(sharedParts(before, after) == 2)
  }

  @Test("a batch has no row before it is durable")
  func rows() throws {
    var bench = try DocumentBench()
    bench.diskAnswers = false
    bench.set("1", 1)
    #expect(bench.machine.queueStatus.pending.map(\.row) == [nil])
    #expect(bench.machine.replica.cache.hasPendingWrites(to: DocumentKey(unchecked: "a/1")))
  }
}
