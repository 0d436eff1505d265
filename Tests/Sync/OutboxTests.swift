import TernStorage
import Testing

@testable import TernSync

@Suite("What both outboxes are made of")
struct OutboxTests {
  @Test("a durable write is found by its name and its number until it is taken out")
  func numbers() {
    var writes = NumberedWrites(nextSequence: 4)
    #expect(writes[1] == nil && writes.id(numbered: 4) == nil)
    writes.add(1, row: 10, sequence: 4)
    writes.add(2, row: 11, sequence: 5)
    #expect(writes[1] == .init(row: 10, sequence: 4) && writes.id(numbered: 5) == 2)
    #expect(writes.remove(1) == .init(row: 10, sequence: 4))
    #expect(writes.remove(1) == nil && writes.id(numbered: 4) == nil && writes[1] == nil)
    #expect(writes[2]?.row == 11)
  }

  @Test("the numbers that the server has and this client has no outcome of are a span")
  func span() {
    var writes = NumberedWrites(nextSequence: 1)
    #expect(writes.span(through: 9) == nil && writes.writes(through: 9).isEmpty)
    for id in 1...4 as ClosedRange<UInt64> {
      writes.add(id, row: id, sequence: id + 2)
    }
    _ = writes.remove(2)
    #expect(writes.span(through: 2) == nil)
    #expect(writes.span(through: 5) == 3...5 && writes.span(through: 4) == 3...3)
    #expect(writes.writes(through: 5).map(\.id) == [1, 3])
    #expect(writes.writes(through: 9).map(\.sequence) == [3, 5, 6])
  }

  @Test("the server may forget outcomes up to the last row that is gone")
  func settled() {
    var writes = NumberedWrites(nextSequence: 8)
    #expect(writes.settledThrough == 7)
    writes.restore(1, row: 1, sequence: 5)
    writes.restore(2, row: 2, sequence: 6)
    #expect(writes.settledThrough == 4 && writes[2]?.sequence == 6)
    writes.rowSettled(5, .changed)
    #expect(writes.settledThrough == 5)
    writes.rowSettled(6, .failed(.noSuchWrite(id: 2)))
    #expect(writes.settledThrough == 5)
    writes.rowSettled(7, .changed)
    #expect(writes.settledThrough == 7)
  }

  @Test("answered numbers that the server keeps no outcome of are passed over")
  func unkept() {
    var writes = NumberedWrites(nextSequence: 1)
    writes.serverKnows(through: 0)
    #expect(writes.settledThrough == 0)
    for id in 1...3 as ClosedRange<UInt64> { writes.add(id, row: id, sequence: id) }
    writes.serverKnows(through: 0)
    #expect(writes.settledThrough == 0, "the first is pending")
    _ = writes.remove(1)
    writes.rowSettled(1, .failed(.storage(.closed)))
    writes.serverKnows(through: 1)
    #expect(writes.settledThrough == 0, "the server has the outcome of the first")
    writes.serverKnows(through: 0)
    #expect(writes.settledThrough == 1)
    _ = writes.remove(2)
    writes.rowSettled(2, .changed)
    #expect(writes.settledThrough == 1, "later rows stay needed")
  }

  @Test("a row that the disk would not change keeps its outcome and all later ones needed")
  func unsettled() {
    var writes = NumberedWrites(nextSequence: 1)
    writes.rowSettled(1, .changed)
    writes.rowSettled(2, .failed(.storage(.closed)))
    writes.rowSettled(3, .changed)
    #expect(writes.settledThrough == 1)
    writes.restart()
    #expect(writes.settledThrough == 0)
    writes.rowSettled(1, .changed)
    #expect(writes.settledThrough == 1)
  }

  @Test("the value of a user who is away changes in place and waits for the return")
  func users() {
    let (ann, bob) = (QueueUser("ann"), QueueUser("bob"))
    var values = PerUser(ann, [1])
    values.leave(for: bob)
    #expect(values.user == bob && values.takeOwn() == nil)
    values.present = [2]
    values.update(of: ann) { $0.append(3) }
    values.update(of: bob) { $0.append(4) }
    values.update(of: .nobody) { $0.append(5) }
    #expect(values.present == [2, 4])
    #expect(values.knows(ann) && values.knows(bob) && !values.knows(.nobody))
    values.add([6], of: .nobody)
    values.leave(for: ann)
    #expect(values.takeOwn() == [1, 3] && values.takeOwn() == nil)
    values.leave(for: .nobody)
    #expect(values.takeOwn() == [6])
  }

  @Test("a ticket is redeemed once, with its user")
  func tickets() {
    var tickets = QueueTickets<String>()
    let first = tickets.issue("a", of: .nobody)
    let second = tickets.issue("b", of: QueueUser("ann"))
    #expect(first != second)
    #expect(tickets.redeem(second)?.about == "b" && tickets.redeem(second) == nil)
    #expect(tickets.redeem(first)?.user == .nobody)
  }

  @Test("pauses grow until an attempt succeeds, and an overloaded server gets the longest")
  func pauses() {
    var limits = Backoff.Limits()
    limits.jitter = 0
    var pause = RetryPause(limits)
    #expect(pause.begin(unit: 0) == .zero && pause.isActive)
    #expect(pause.begin(unit: 0) == .seconds(1))
    pause.end()
    #expect(!pause.isActive && pause.begin(unit: 0) == .milliseconds(1_300))
    pause.succeeded()
    #expect(pause.isActive && pause.begin(unit: 0) == .zero)
    pause.exhaust()
    #expect(pause.begin(unit: 0) == .seconds(30))
    pause.reset()
    #expect(!pause.isActive && pause.begin(unit: 0) == .zero)
  }
}
