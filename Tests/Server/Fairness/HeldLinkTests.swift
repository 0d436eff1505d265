import TernCore
import TernStorage
import TernTransport
import Testing

@testable import TernServer

/// A link is held for unread output and for a read; neither reason ends the other.
@Suite("Held links") struct HeldLinkTests {
  private let budget = MemoryBudget(limitBytes: 1 << 20)

  private func job(_ slot: Int) -> ReadJob {
    let charge = ReadCharge(budget, address: "", user: nil)
    return ReadJob(slot: slot, address: "", holdsLink: true, charge) { _, _ throws(StorageError) in
      LongReadValue(value: 0, bytes: 0)
    }
  }

  private func frames(_ inbox: inout FairQueue) -> [String] {
    inbox.take(100).map { input in
      switch input {
      case .frame(let slot, let frame): "\(slot):\(frame)"
      case .read(let slot, _): "\(slot):read"
      default: "other"
      }
    }
  }

  private func inbox() -> FairQueue {
    var inbox = FairQueue()
    for slot in 0...1 {
      inbox.append(.opened(slot: slot, isLocal: false, address: "a\(slot)"))
    }
    _ = inbox.take(10)
    inbox.append(.frame(slot: 0, [1]))
    return inbox
  }

  @Test("the end of a read goes before what waits behind it")
  func order() {
    var inbox = inbox()
    let job = job(0)
    inbox.hold(for: job)
    inbox.append(.frame(slot: 1, [2]))
    #expect(frames(&inbox) == ["1:[2]"])
    #expect(inbox.isEmpty && inbox.count == 1 && inbox.reading == [0])
    inbox.append(job)
    #expect(inbox.count == 2 && inbox.reading.isEmpty)
    #expect(frames(&inbox) == ["0:read", "0:[1]"])
    #expect(inbox.count == 0)
  }

  @Test("neither reason ends the other", arguments: [true, false])
  func reasons(readEndsFirst: Bool) {
    var inbox = inbox()
    let job = job(0)
    inbox.hold(for: job)
    inbox.hold(0)
    if readEndsFirst { inbox.append(job) } else { inbox.release(0) }
    #expect(frames(&inbox).isEmpty)
    if readEndsFirst { inbox.release(0) } else { inbox.append(job) }
    #expect(frames(&inbox) == ["0:read", "0:[1]"])
  }

  @Test("a link that ends is held by nothing, and the end of its read is dropped")
  func ending() {
    var inbox = inbox()
    let job = job(0)
    inbox.hold(for: job)
    inbox.hold(0)
    inbox.releaseAll(0)
    #expect(frames(&inbox) == ["0:[1]"])
    inbox.append(job)
    #expect(inbox.count == 0 && inbox.isEmpty)
  }

  @Test("the read of a link before it does not hold the next one of its slot, nor free it")
  func nextLink() {
    var inbox = inbox()
    let (old, new) = (job(0), job(0))
    inbox.hold(for: old)
    inbox.append(.opened(slot: 0, isLocal: false, address: "b"))
    #expect(frames(&inbox).count == 2)
    inbox.hold(for: new)
    inbox.append(.frame(slot: 0, [3]))
    inbox.append(old)
    #expect(frames(&inbox).isEmpty)
    inbox.append(new)
    #expect(frames(&inbox) == ["0:read", "0:[3]"])
  }

  @Test("everything is taken, whatever holds it")
  func all() {
    var inbox = inbox()
    inbox.hold(for: job(0))
    inbox.hold(0)
    #expect(inbox.takeAll().count == 1)
    #expect(inbox.reading.isEmpty)
  }
}
