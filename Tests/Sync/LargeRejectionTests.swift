import TernStorage
import TernStorageMemory
import Testing

@testable import TernSync

@Suite("Rejections of the largest writes")
struct LargeRejectionTests {
  private let store = MemoryStore()

  @Test(
    "a rejection that does not fit beside its payload is cut, and others are made",
    arguments: [
      9, 30, 100,
    ])
  func cut(missing: Int) throws {
    let limits = QueueLimits(bytes: .max)
    var (queue, _) = try WriteQueue.open(store, limits: limits, newClient: 7)
    let payload = [UInt8](repeating: 5, count: StorageLimits.valueBytes - missing)
    #expect(queue.apply([.append(payload)]) == [.stored(id: 1, sequence: 1)])
    let reason = Rejection(
      status: "permission_denied", detail: String(repeating: "\u{e9}", count: 100))
    #expect(
      queue.apply([.reject(id: 1, reason), .append([1])]) == [
        .changed, .stored(id: 2, sequence: 2),
      ])
    var (again, rows) = try WriteQueue.open(store, limits: limits, newClient: 8)
    #expect(rows.count == 2 && rows.first?.payload == payload)
    guard case .rejected(let kept) = rows.first?.state else {
      Issue.record("it is not a rejected one")
      return
    }
    #expect(reason.status.hasPrefix(kept.status) && reason.detail.hasPrefix(kept.detail))
    if missing > 26 { #expect(kept.status == reason.status) }
    if missing == 100 { #expect(kept.detail.utf8.count == 74) }
    #expect(again.apply([.discard(id: 1)]) == [.changed])
  }

  @Test("a queue without its own record opens again, however large its writes are")
  func lostHeader() throws {
    let limits = QueueLimits(bytes: .max)
    var (queue, _) = try WriteQueue.open(store, limits: limits, newClient: 7)
    let payload = [UInt8](repeating: 5, count: StorageLimits.valueBytes - 9)
    _ = queue.apply([.append(payload)])
    try store.write { transaction throws(StorageError) in try transaction.remove([1]) }
    _ = try WriteQueue.setDamagedAside(in: store, filler: [0], newClient: 8) { _ in true }
    let (_, rows) = try WriteQueue.open(store, limits: limits, newClient: 9)
    #expect(rows.map(\.payload) == [payload])
  }
}
