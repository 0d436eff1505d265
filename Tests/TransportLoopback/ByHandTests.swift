import Synchronization
import TernTransport
import TernTransportLoopback
import Testing

/// Writes down what its link tells it, in words.
private final class Diary: LinkHandler {
  let link: any Link
  private let lines = Mutex<[String]>([])

  init(_ link: any Link) { self.link = link }

  var entries: [String] { lines.withLock { $0 } }

  func linkDidReceive(_ frames: [[UInt8]]) { write("frames \(frames)") }
  func linkDidDrain() { write("drain") }
  func linkDidClose(_ reason: LinkClosure) { write("\(reason)") }

  private func write(_ line: String) { lines.withLock { $0.append(line) } }
}

private struct Network {
  let transport = LoopbackTransport(delivery: .byHand)
  let near: Diary
  let far: Diary

  init() async throws {
    let diaries = Mutex<[Diary]>([])
    let write: LinkOpening = { link in
      let diary = Diary(link)
      diaries.withLock { $0.append(diary) }
      return diary
    }
    _ = try await transport.listen(write)
    try await transport.connect(write)
    (far, near) = diaries.withLock { ($0[0], $0[1]) }
    transport.loop.runUntilIdle()
  }
}

@Suite("loopback driven by hand") struct ByHandTests {
  @Test("nothing moves until the test says so")
  func nothingMoves() async throws {
    let network = try await Network()
    network.near.link.send([1])
    network.near.link.send([2])
    network.near.link.flush()
    #expect(network.far.entries == [])
    #expect(network.near.link.queuedBytes == 2)
    network.transport.loop.runUntilIdle()
    #expect(network.far.entries == ["frames [[1], [2]]"])
    #expect(network.near.link.queuedBytes == 0)
  }

  @Test("a cut loses what is under way, at both ends")
  func cut() async throws {
    let network = try await Network()
    network.near.link.send([1])
    network.near.link.flush()
    network.transport.cut()
    network.transport.loop.runUntilIdle()
    #expect(network.far.entries == ["lost: cut"])
    #expect(network.near.entries == ["lost: cut"])
  }

  @Test("a cut behind a close still says what may be missing")
  func cutBehindClose() async throws {
    let network = try await Network()
    network.near.link.send([1])
    network.near.link.close()
    network.transport.cut()
    network.transport.loop.runUntilIdle()
    #expect(network.far.entries == ["lost: cut"])
    #expect(network.near.entries == ["closed here"])
  }

  @Test("jobs of an actor on the executor run in the same order as deliveries")
  func actorJobs() async throws {
    let network = try await Network()
    let resident = Resident(network.transport.loop)
    let task = Task { await resident.note() }
    while network.transport.loop.runUntilIdle() == 0 { await Task.yield() }
    let reading = Task { await resident.notes }
    while network.transport.loop.runUntilIdle() == 0 { await Task.yield() }
    await task.value
    #expect(await reading.value == 1)
  }
}

private actor Resident {
  private let loop: LoopbackExecutor
  private(set) var notes = 0

  init(_ loop: LoopbackExecutor) { self.loop = loop }

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    unsafe loop.asUnownedSerialExecutor()
  }

  func note() {
    loop.checkIsolated()
    notes += 1
  }
}
