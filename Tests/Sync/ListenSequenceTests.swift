import Synchronization
import Testing

@testable import TernSync

struct Overrun: Error, Equatable { var limit: Int }

@Suite("Delivery")
struct DeliveryTests {
  private typealias Box = Mailbox<Int, Overrun>

  private func box(_ policy: DeliveryPolicy) -> Box {
    Box(policy) { Overrun(limit: $0) }
  }

  @Test("a slow reader of values finds only the newest")
  func newest() async throws {
    let box = box(.newest)
    for value in 1...5 { box.post(value) }
    #expect(try await box.take() == [5])
  }

  @Test("a slow reader of events finds them all at once, in order")
  func every() async throws {
    let box = box(.every(limit: 10))
    for value in 1...5 { box.post(value) }
    #expect(try await box.take() == [1, 2, 3, 4, 5])
  }

  @Test("a reader that falls behind the limit gets an error once, then the end")
  func overflow() async throws {
    let box = box(.every(limit: 2))
    #expect(box.post(1) && box.post(2))
    #expect(!box.post(3))
    await #expect(throws: Overrun(limit: 2)) { try await box.take() }
    #expect(try await box.take() == nil)
  }

  @Test("finish lets the reader have what was posted")
  func finish() async throws {
    let box = box(.every(limit: 2))
    box.post(1)
    box.finish()
    #expect(!box.post(2))
    #expect(try await box.take() == [1])
    #expect(try await box.take() == nil)
  }

  @Test("cancelling drops what waits")
  func cancel() async throws {
    let box = box(.every(limit: 2))
    box.post(1)
    box.cancel()
    #expect(try await box.take() == nil)
  }

  @Test("a waiting reader is woken by a post, and by its own cancellation")
  func wakes() async throws {
    let box = box(.newest)
    let reader = Task { try await box.take() }
    box.post(7)
    #expect(try await reader.value == [7])
    let other = Task { try await box.take() }
    other.cancel()
    #expect(try await other.value == nil)
  }

  @Test("every iteration registers once and unregisters when it goes away")
  func registration() async throws {
    let log = Mutex<[String]>([])
    let delivery = ListenSequence<Int, Overrun>(
      .every(limit: 8), overflow: { Overrun(limit: $0) },
      start: { box in
        log.withLock { $0.append("start") }
        box.post(1)
        box.post(2)
        return { log.withLock { $0.append("stop") } }
      })
    #expect(log.withLock { $0 } == [])
    for try await value in delivery where value == 2 { break }
    #expect(log.withLock { $0 } == ["start", "stop"])
  }

  @Test("an iterator that is kept after its end has unregistered")
  func keptIterator() async throws {
    let log = Mutex<[String]>([])
    let boxes = Mutex<[Box]>([])
    let delivery = ListenSequence<Int, Overrun>(
      .every(limit: 8), overflow: { Overrun(limit: $0) },
      start: { box in
        boxes.withLock { $0.append(box) }
        log.withLock { $0.append("start") }
        box.post(1)
        return { log.withLock { $0.append("stop") } }
      })
    var finished = delivery.makeAsyncIterator()
    #expect(try await finished.next() == 1)
    boxes.withLock { $0[0].finish() }
    #expect(try await finished.next() == nil)
    #expect(log.withLock { $0 } == ["start", "stop"])
    #expect(try await finished.next() == nil)
    var failed = delivery.makeAsyncIterator()
    #expect(try await failed.next() == 1)
    boxes.withLock { $0[1].fail(Overrun(limit: 8)) }
    await #expect(throws: Overrun.self) { try await failed.next() }
    #expect(log.withLock { $0 } == ["start", "stop", "start", "stop"])
    #expect(try await failed.next() == nil)
    #expect(log.withLock { $0.count } == 4)
  }

  @Test("a task that is cancelled unregisters its iterator, or never registers it")
  func cancelledIterator() async throws {
    let log = Mutex<[String]>([])
    let delivery = ListenSequence<Int, Overrun>(
      .every(limit: 8), overflow: { Overrun(limit: $0) },
      start: { box in
        log.withLock { $0.append("start") }
        box.post(1)
        return { log.withLock { $0.append("stop") } }
      })
    try await Task { () async throws -> Void in
      var begun = delivery.makeAsyncIterator()
      #expect(try await begun.next() == 1)
      withUnsafeCurrentTask { $0?.cancel() }
      #expect(try await begun.next() == nil)
      #expect(log.withLock { $0 } == ["start", "stop"])
      var late = delivery.makeAsyncIterator()
      #expect(try await late.next() == nil)
      #expect(log.withLock { $0 } == ["start", "stop"])
    }.value
  }

  @Test("a serial work queue works in order and batches what waits")
  func inOrder() async {
    let (stream, continuation) = AsyncStream.makeStream(of: [Int].self)
    let queue = SerialWorkQueue<Int>(.background, label: "test") { continuation.yield($0) }
    for item in 0..<1_000 { queue.submit(item) }
    var seen: [Int] = []
    for await batch in stream {
      seen += batch
      if seen.count == 1_000 { break }
    }
    #expect(seen == Array(0..<1_000))
  }
}
