import TernStorage
import TernStorageMemory
import TernTestKit
import Testing

@testable import TernSync

@Suite("The write queue against a plain model")
struct QueueModelTests {
  /// The promises of the queue, in arrays.
  private struct Model {
    var client: UInt128 = 77
    var writes: [QueuedWrite] = []
    var nextID: UInt64 = 1
    var nextSequence: UInt64 = 1

    mutating func apply(_ change: QueueChange) -> QueueResult {
      switch change {
      case .append(let payload): return add(.pending(sequence: nextSequence), payload)
      case .keep(let payload): return add(.kept, payload)
      case .settle(let id):
        guard let index = index(id, { if case .rejected = $0 { false } else { true } }) else {
          return .failed(.noSuchWrite(id: id))
        }
        writes.remove(at: index)
        return .changed
      case .reject(let id, let rejection):
        guard let index = index(id, { if case .pending = $0 { true } else { false } }) else {
          return .failed(.noSuchWrite(id: id))
        }
        writes[index].state = .rejected(rejection)
        return .changed
      case .discard(let id):
        guard let index = rejected(id) else { return .failed(.noSuchWrite(id: id)) }
        writes.remove(at: index)
        return .changed
      case .retry(let id, let payload):
        guard let index = rejected(id) else { return .failed(.noSuchWrite(id: id)) }
        let old = writes.remove(at: index)
        return add(.pending(sequence: nextSequence), payload ?? old.payload)
      case .purge(let newClient):
        let gone = writes.filter { if case .rejected = $0.state { false } else { true } }
        writes.removeAll { write in gone.contains { $0.id == write.id } }
        (client, nextSequence) = (newClient, 1)
        return .purged(gone)
      }
    }

    private func index(_ id: UInt64, _ matches: (QueuedWrite.State) -> Bool) -> Int? {
      writes.firstIndex { $0.id == id && matches($0.state) }
    }

    private func rejected(_ id: UInt64) -> Int? {
      index(id) { if case .rejected = $0 { true } else { false } }
    }

    private mutating func add(_ state: QueuedWrite.State, _ payload: [UInt8]) -> QueueResult {
      let id = nextID
      nextID += 1
      writes.append(QueuedWrite(id: id, state: state, payload: payload))
      guard case .pending(let sequence) = state else { return .stored(id: id, sequence: 0) }
      nextSequence += 1
      return .stored(id: id, sequence: sequence)
    }
  }

  private func change(_ last: UInt64, _ random: inout SeededGenerator) -> QueueChange {
    let id = UInt64(random.roll(Int(last) + 2))
    let payload = (0..<random.roll(4)).map { _ in UInt8(random.roll(256)) }
    switch random.roll(16) {
    case 0...5: return .append(payload)
    case 6, 7: return .keep(payload)
    case 8, 9: return .settle(id: id)
    case 10, 11:
      return .reject(id: id, Rejection(status: "no", detail: random.roll(2) == 0 ? "é" : ""))
    case 12: return .discard(id: id)
    case 13, 14: return .retry(id: id, payload: random.roll(2) == 0 ? payload : nil)
    default:
      return random.roll(4) == 0 ? .purge(newClient: UInt128(random.next())) : .append(payload)
    }
  }

  @Test(
    "changes, alone and together, give what the model has, also after reopening",
    arguments: UInt64(1)...25)
  func changes(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let store = MemoryStore()
    let user = random.roll(2) == 0 ? "" : "u\0é"
    var (queue, _) = try WriteQueue.open(store, of: user, newClient: 77)
    var model = Model()
    for step in 0..<60 {
      let changes = (0..<1 + random.roll(4)).map { _ in change(model.nextID, &random) }
      let expected = changes.map { model.apply($0) }
      #expect(queue.apply(changes) == expected, "seed \(seed), step \(step): \(changes)")
      #expect(queue.count == model.writes.count)
      if random.roll(5) == 0 {
        let (again, writes) = try WriteQueue.open(store, of: user, newClient: 1)
        #expect(writes == model.writes, "seed \(seed), step \(step)")
        #expect(again.client == model.client && again.nextSequence == model.nextSequence)
        #expect(again.origin == 77)
        queue = again
      }
      let rejected = model.writes.filter { if case .rejected = $0.state { true } else { false } }
      #expect(try queue.rejected() == rejected)
    }
  }

  @Test("limits of writes and of bytes hold at their borders", arguments: [1, 2, 5])
  func limits(count: Int) throws {
    // A pending record has nine bytes before its payload.
    let limits = QueueLimits(writeCount: count, bytes: count * 19)
    var (queue, _) = try WriteQueue.open(MemoryStore(), limits: limits, newClient: 1)
    let payload = [UInt8](repeating: 1, count: 10)
    for _ in 0..<count {
      #expect(queue.apply([.append(payload)]) != [.failed(.queueFull(limitWrites: count))])
    }
    #expect(queue.apply([.append([])]) == [.failed(.queueFull(limitWrites: count))])
    #expect(queue.apply([.settle(id: 1)]) == [.changed])
    let tooMany = [UInt8](repeating: 1, count: 11)
    #expect(queue.apply([.append(tooMany)]) == [.failed(.queueBytesFull(limitBytes: count * 19))])
    #expect(
      queue.apply([.append(payload)]) == [
        .stored(id: UInt64(count + 1), sequence: UInt64(count + 1))
      ])
    // What is refused takes neither an id nor a number.
    #expect(queue.nextSequence == UInt64(count + 2))
  }

  @Test("a record is as large as a row may be", arguments: [-1, 0, 1])
  func largest(excess: Int) throws {
    var (queue, _) = try WriteQueue.open(MemoryStore(), newClient: 1)
    let count = StorageLimits.valueBytes - 9 + excess
    let results = queue.apply([.append([UInt8](repeating: 0, count: count))])
    let error = QueueError.writeTooLarge(bytes: count, limitBytes: StorageLimits.valueBytes - 9)
    #expect(results == (excess > 0 ? [.failed(error)] : [.stored(id: 1, sequence: 1)]))
  }

  static let states: [QueuedWrite.State] = [
    .pending(sequence: 1), .pending(sequence: .max), .kept,
    .rejected(Rejection(status: "", detail: "")), .rejected(Rejection(status: "é", detail: "\0")),
  ]

  @Test("records read back, and no beginning of one is taken for another", arguments: states)
  func records(state: QueuedWrite.State) throws {
    for payload: [UInt8] in [[], [0], [1, 2, 3, 0xFF]] {
      let bytes = QueueCodec.encode(state, payload: payload)
      let write = QueuedWrite(id: 7, state: state, payload: payload)
      #expect(try QueueCodec.decode(bytes, id: 7) == write)
      for count in 0..<bytes.count - payload.count {
        #expect(throws: QueueError.damaged(id: 7)) {
          try QueueCodec.decode(Array(bytes[..<count]), id: 7)
        }
      }
    }
    for kind: UInt8 in [0, 4, 255] {
      #expect(throws: QueueError.damaged(id: 1)) { try QueueCodec.decode([kind, 0, 0], id: 1) }
    }
  }

  @Test("headers read back, of one length each; others are damage, or of a later version")
  func headers() throws {
    for origin: UInt128 in [5, 6] {
      let header = QueueCodec.Header(
        client: 5, origin: origin, nextID: .max - 1, nextSequence: .max - 1)
      let bytes = QueueCodec.encode(header)
      #expect(try QueueCodec.decodeHeader(bytes) == header)
      for count in 0..<bytes.count where count != 33 {
        #expect(throws: QueueError.damagedHeader) {
          try QueueCodec.decodeHeader(Array(bytes[..<count]))
        }
      }
      #expect(throws: QueueError.damagedHeader) { try QueueCodec.decodeHeader(bytes + [0]) }
      #expect(throws: QueueError.damagedHeader) {
        try QueueCodec.decodeHeader([0] + bytes.dropFirst())
      }
      let later = #expect(throws: QueueError.self) {
        try QueueCodec.decodeHeader([QueueCodec.version + 1] + bytes.dropFirst())
      }
      if case .unreadable? = later { continue }
      Issue.record("\(String(describing: later))")
    }
    for (id, sequence): (UInt64, UInt64) in [(.max, 1), (1, .max)] {
      let header = QueueCodec.Header(client: 1, origin: 1, nextID: id, nextSequence: sequence)
      #expect(throws: QueueError.damagedHeader) {
        try QueueCodec.decodeHeader(QueueCodec.encode(header))
      }
    }
  }
}
