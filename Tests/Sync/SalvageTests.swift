import TernStorage
import TernTestKit
import Testing

@testable import TernSync

@Suite("Salvaging a queue")
struct SalvageTests {
  private let disk = FaultyDisk()
  private let filler: [UInt8] = [0xFF]

  private func salvage(
    _ store: any OrderedStore, understands: (QueuedWrite) -> Bool = { _ in true }
  ) throws -> QueueSalvage {
    try QueueSalvage(of: store, understands: understands)
  }

  private func setAside(_ store: any OrderedStore) throws {
    _ = try WriteQueue.setDamagedAside(
      in: store, filler: filler, newClient: 88, understands: { _ in true })
  }

  /// The rows of a queue made by `changes`, some of whose records are damaged.
  private func damage(
    _ ids: [UInt64], of changes: [QueueChange], ending: [QueueChange] = []
  ) throws -> FaultyStore {
    let store = disk.open()
    var (queue, _) = try WriteQueue.open(store, newClient: 77)
    _ = queue.apply(changes)
    _ = queue.apply(ending)
    for id in ids { disk.corrupt(QueueKeys().row(id)) }
    return store
  }

  /// The queue as it opens, one text a row.
  private func rows(_ store: any OrderedStore) throws -> [String] {
    try WriteQueue.open(store, newClient: 99).1.map { write in
      switch write.state {
      case .pending(let sequence): "\(write.id) pending \(sequence) \(write.payload)"
      case .rejected(let reason): "\(write.id) \(reason.status) \(write.payload)"
      case .kept: "\(write.id) kept \(write.payload)"
      }
    }
  }

  @Test("looking changes nothing, and finds what is behind the damage")
  func looking() throws {
    let store = try damage([2, 3], of: [.append([1]), .append([2]), .append([3]), .append([4])])
    for _ in 1...2 {
      let found = try salvage(store)
      #expect(found.writes.map(\.payload) == [[1], [4]] && !found.isWell && !found.hasLostClient)
      #expect(found.damaged.map(\.id) == [2, 3] && found.setAside.isEmpty)
      #expect(found.damaged.map(\.bytes.count) == [10, 10])
      #expect(throws: QueueError.damaged(id: 2)) { try rows(store) }
    }
  }

  @Test("the rest goes on in order; a write of nothing has the number of a damaged one")
  func settingAside() throws {
    let store = try damage([2], of: [.append([1]), .append([2]), .append([3])])
    try setAside(store)
    #expect(try rows(store) == ["1 pending 1 [1]", "2 pending 2 [255]", "3 pending 3 [3]"])
    let found = try salvage(store)
    #expect(found.isWell && found.setAside.map(\.id) == [2])
    #expect(found.setAside[0].bytes.suffix(1) == [2])
    try setAside(store)
    #expect(try rows(store).count == 3)
    #expect(try WriteQueue.open(store, newClient: 99).0.client == 77)
  }

  @Test(
    "bookkeeping whose numbers have no successor is corruption that is reported",
    arguments: [(.max, 1), (1, .max)] as [(UInt64, UInt64)])
  func numbersAtTheirEnd(nextID: UInt64, nextSequence: UInt64) throws {
    let store = disk.open()
    let header = QueueCodec.Header(
      client: 7, origin: 7, nextID: nextID, nextSequence: nextSequence)
    try store.write { transaction throws(StorageError) in
      try transaction.put(QueueCodec.encode(header), for: QueueKeys().header)
    }
    #expect(throws: QueueError.damagedHeader) { try rows(store) }
    // A row under the last number is no write either; what follows it still gets numbers.
    try store.write { transaction throws(StorageError) in
      try transaction.put([9], for: QueueKeys().row(.max))
    }
    try setAside(store)
    var (queue, _) = try WriteQueue.open(store, newClient: 99)
    #expect(queue.apply([.append([1])]) == [.stored(id: 1, sequence: 1)])
  }

  @Test("the first and the last writes may be the damaged ones")
  func ends() throws {
    let writes: [QueueChange] = (1...5).map { .append([$0]) }
    let store = try damage([2, 5], of: writes, ending: [.settle(id: 1)])
    try setAside(store)
    #expect(
      try rows(store) == [
        "2 pending 2 [255]", "3 pending 3 [3]", "4 pending 4 [4]", "5 pending 5 [255]",
      ])
    var (queue, _) = try WriteQueue.open(store, newClient: 99)
    #expect(queue.apply([.append([6])]) == [.stored(id: 6, sequence: 6)])
  }

  @Test("when all is damaged, all numbers stay taken")
  func everything() throws {
    let store = try damage([1, 2, 3], of: [.append([1]), .keep([2]), .append([3])])
    try setAside(store)
    // Which of the three had the two numbers cannot be told; the last two places will do.
    #expect(try rows(store) == ["2 pending 1 [255]", "3 pending 2 [255]"])
    #expect(try salvage(store).setAside.map(\.id) == [1, 2, 3])
  }

  @Test("nothing takes the place of work that had no number")
  func kept() throws {
    let store = try damage([2], of: [.append([1]), .keep([2]), .append([3])])
    try setAside(store)
    #expect(try rows(store) == ["1 pending 1 [1]", "3 pending 2 [3]"])
  }

  @Test("of many missing numbers, only the last can be without an answer")
  func settledBetween() throws {
    let writes: [QueueChange] = (1...6).map { .append([$0]) }
    let store = try damage([4], of: writes, ending: [.settle(id: 2), .settle(id: 3)])
    try setAside(store)
    #expect(
      try rows(store) == [
        "1 pending 1 [1]", "4 pending 4 [255]", "5 pending 5 [5]", "6 pending 6 [6]",
      ])
  }

  @Test("a record that can be read but says nothing is damaged too")
  func senseless() throws {
    let store = try damage([], of: [.append([1]), .append([2])])
    let found = try salvage(store) { $0.payload != [1] }
    #expect(found.damaged.map(\.id) == [1] && found.writes.map(\.id) == [2])
    try store.write { transaction throws(StorageError) in
      try transaction.put([9, 9], for: QueueKeys().row(2))
    }
    #expect(try salvage(store).damaged == [DamagedRecord(id: 2, bytes: [9, 9])])
  }

  @Test("without its own record the queue keeps its writes, and sends none by itself")
  func lostClient() throws {
    let reason = Rejection(status: "permission_denied", detail: "")
    let store = try damage(
      [3], of: [.append([1]), .append([2]), .append([3]), .keep([4])],
      ending: [.reject(id: 1, reason)])
    disk.corrupt(QueueKeys().header)
    #expect(throws: QueueError.damagedHeader) { try rows(store) }
    #expect(try salvage(store).hasLostClient)
    try setAside(store)
    #expect(
      try rows(store) == [
        "1 permission_denied [1]", "2 outcome_unknown [2]", "4 kept [4]",
      ])
    var (queue, _) = try WriteQueue.open(store, newClient: 99)
    #expect(queue.client == 88)
    #expect(queue.apply([.append([5])]) == [.stored(id: 5, sequence: 1)])
  }

  @Test("a disk that fails while rows are set aside leaves all as it was")
  func failingDisk() throws {
    let store = try damage([2], of: [.append([1]), .append([2])])
    disk.inject(.diskFull)
    #expect(throws: QueueError.storage(.diskFull)) { try setAside(store) }
    #expect(throws: QueueError.damaged(id: 2)) { try rows(store) }
    #expect(try salvage(store).damaged.map(\.id) == [2])
  }

  @Test("an empty store and a queue that is well are left alone")
  func well() throws {
    let store = disk.open()
    #expect(try salvage(store).isWell)
    try setAside(store)
    #expect(try store.read { view throws(StorageError) in try view.scan() }.isEmpty)
  }
}
