import TernStorage
import TernStorageMemory
import Testing

@testable import TernSync

@Suite("Write queue")
struct WriteQueueTests {
  private let store = MemoryStore()

  private func open(_ limits: QueueLimits = QueueLimits()) throws -> (WriteQueue, [QueuedWrite]) {
    try WriteQueue.open(store, limits: limits, newClient: 77)
  }

  private func payload(_ text: String) -> [UInt8] { Array(text.utf8) }

  @Test("numbers writes from one and finds them in order after reopening")
  func reopens() throws {
    var (queue, writes) = try open()
    #expect(writes.isEmpty)
    #expect(
      queue.apply([.append(payload("a")), .append(payload("b"))]) == [
        .stored(id: 1, sequence: 1), .stored(id: 2, sequence: 2),
      ])
    #expect(queue.apply([.settle(id: 1)]) == [.changed])
    let (again, found) = try WriteQueue.open(store, newClient: 78)
    #expect(again.client == 77 && again.nextSequence == 3)
    #expect(found == [QueuedWrite(id: 2, state: .pending(sequence: 2), payload: payload("b"))])
  }

  @Test("a number is never used twice, even when the queue ran empty")
  func numbersGrow() throws {
    var (queue, _) = try open()
    _ = queue.apply([.append([1]), .settle(id: 1)])
    var (again, _) = try open()
    #expect(again.apply([.append([2])]) == [.stored(id: 2, sequence: 2)])
  }

  @Test("a purge begins a new stream and leaves what names the store")
  func purgeKeepsOrigin() throws {
    var (queue, _) = try open()
    #expect(queue.client == 77 && queue.origin == 77)
    _ = queue.apply([.append([1]), .purge(newClient: 78)])
    _ = queue.apply([.purge(newClient: 79)])
    let (again, _) = try open()
    #expect(again.client == 79 && again.origin == 77)
  }

  @Test("a full queue says so and takes writes again when there is room")
  func full() throws {
    var (queue, _) = try open(QueueLimits(writeCount: 2))
    _ = queue.apply([.append([1]), .append([2])])
    #expect(queue.apply([.append([3])]) == [.failed(.queueFull(limitWrites: 2))])
    #expect(queue.apply([.settle(id: 1), .append([3])]).last == .stored(id: 3, sequence: 3))
    var (small, _) = try WriteQueue.open(
      MemoryStore(), limits: QueueLimits(bytes: 30), newClient: 1)
    let results = small.apply([.append([1, 2, 3]), .append(Array(repeating: 0, count: 20))])
    #expect(results == [.stored(id: 1, sequence: 1), .failed(.queueBytesFull(limitBytes: 30))])
  }

  @Test("a refused write stays with its reason, and can be retried, edited or discarded")
  func rejected() throws {
    var (queue, _) = try open()
    _ = queue.apply([.append([1]), .append([2]), .append([3])])
    let reason = Rejection(status: "permission_denied", detail: "Permission denied")
    _ = queue.apply([.reject(id: 1, reason), .reject(id: 2, reason), .reject(id: 3, reason)])
    let (_, found) = try open()
    #expect(found.allSatisfy { $0.state == .rejected(reason) })
    #expect(queue.apply([.retry(id: 1, payload: nil)]) == [.stored(id: 4, sequence: 4)])
    #expect(queue.apply([.retry(id: 2, payload: [9])]) == [.stored(id: 5, sequence: 5)])
    #expect(queue.apply([.discard(id: 3)]) == [.changed])
    #expect(queue.apply([.discard(id: 4)]) == [.failed(.noSuchWrite(id: 4))])
    #expect(try open().1.map(\.payload) == [[1], [9]])
    #expect(try queue.rejected().isEmpty)
  }

  @Test("a refused write is retried in its own place, however full the queue is")
  func retryWhenFull() throws {
    let reason = Rejection(status: "permission_denied", detail: "")
    var (queue, _) = try open(QueueLimits(writeCount: 2, bytes: 40))
    _ = queue.apply([.append([1]), .append([2]), .reject(id: 1, reason)])
    #expect(queue.apply([.append([3])]) == [.failed(.queueFull(limitWrites: 2))])
    #expect(queue.apply([.retry(id: 1, payload: nil)]) == [.stored(id: 3, sequence: 3)])
    _ = queue.apply([.reject(id: 2, reason)])
    let long: [UInt8] = Array(repeating: 0, count: 50)
    #expect(
      queue.apply([.retry(id: 2, payload: long)]) == [.failed(.queueBytesFull(limitBytes: 40))])
    #expect(try queue.rejected().map(\.id) == [2])
    #expect(queue.apply([.retry(id: 2, payload: nil)]) == [.stored(id: 4, sequence: 4)])
  }

  @Test("purging reports what was dropped, keeps refused writes and begins a new stream")
  func purge() throws {
    var (queue, _) = try open()
    _ = queue.apply([.append([1]), .append([2]), .keep([3])])
    _ = queue.apply([.reject(id: 1, Rejection(status: "failed", detail: ""))])
    let results = queue.apply([.append([4]), .purge(newClient: 99)])
    guard case .purged(let dropped) = results[1] else { return #expect(Bool(false)) }
    #expect(dropped.map(\.payload) == [[2], [3], [4]])
    let (again, found) = try open()
    #expect(found.map(\.id) == [1])
    #expect(again.client == 99 && again.nextSequence == 1)
  }

  @Test("a damaged record is reported and keeps the queue closed")
  func damaged() throws {
    var (queue, _) = try open()
    _ = queue.apply([.append([1])])
    try store.write { transaction throws(StorageError) in
      try transaction.put([9, 9], for: QueueKeys().row(1))
    }
    #expect(throws: QueueError.damaged(id: 1)) { try open() }
  }

  @Test("a header of a later format is rejected, a corrupt or missing one is distinguished")
  func headers() throws {
    try store.write { transaction throws(StorageError) in
      try transaction.put([2], for: QueueKeys().header)
    }
    #expect(throws: QueueError.unreadable(reason: "queue format 2, this library knows 1")) {
      try open()
    }
    try store.write { transaction throws(StorageError) in
      try transaction.put([1, 7], for: QueueKeys().header)
    }
    #expect(throws: QueueError.damagedHeader) { try open() }
    try store.write { transaction throws(StorageError) in
      try transaction.remove(QueueKeys().header)
      try transaction.put([3], for: QueueKeys().row(1))
    }
    #expect(throws: QueueError.damagedHeader) { try open() }
  }

  @Test("a failing store changes nothing")
  func failingStore() throws {
    var (queue, _) = try open()
    _ = queue.apply([.append([1])])
    store.close()
    #expect(
      queue.apply([.append([2]), .settle(id: 1)]) == [
        .failed(.storage(.closed)), .failed(.storage(.closed)),
      ])
    #expect(queue.count == 1 && queue.nextSequence == 2)
  }
}
