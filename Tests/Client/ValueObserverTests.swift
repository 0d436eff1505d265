import TernCore
import TernQuery
import TernSync
import TernTreeReplica
import Testing

@testable import TernClient

@Suite("The listeners for values that a write concerns")
struct ValueObserverTests {
  private func id(_ number: UInt64) -> ListenerID {
    ListenerID(tree: .shared, registration: RegistrationID(number))
  }

  private func snapshot(_ path: TreePath, isComplete: Bool = true) -> TreeSnapshot {
    TreeSnapshot(path: path, node: 1, query: .all, isComplete: isComplete)
  }

  /// A thousand listeners at `list/n…`, one above them and one below the fifth; all were told.
  private func observers() -> ValueObservers {
    var observers = ValueObservers()
    func add(_ number: UInt64, at path: TreePath) {
      let box = Mailbox<TreeSnapshot, ListenError>(.newest) { .overflow(limit: $0) }
      observers.add(ValueObserver(path: path, query: .all, box: box), as: id(number))
      observers.told(snapshot(path), to: id(number))
    }
    for number in 1...1_000 as ClosedRange<UInt64> {
      add(number, at: TreePath(unchecked: ["list", TreeKey(unchecked: "n\(number)")]))
    }
    add(2_000, at: "list")
    add(2_001, at: "list/n5/text")
    return observers
  }

  @Test("are those at, above and below its places, once")
  func concerned() {
    var observers = observers()
    #expect(observers.takeConcerned().isEmpty)
    observers.writesChanged(at: ["list/n5"])
    #expect(observers.takeConcerned() == [id(5), id(2_000), id(2_001)])
    #expect(observers.takeConcerned().isEmpty)
    observers.writesChanged(at: ["list/n7/x/y", "other"])
    #expect(observers.takeConcerned() == [id(7), id(2_000)])
    observers.writesChanged(at: ["list"])
    #expect(observers.takeConcerned().count == 1_002)
  }

  @Test("and those with an incomplete snapshot; none that has gone")
  func unsettled() {
    var observers = observers()
    observers.told(snapshot("list/n9", isComplete: false), to: id(9))
    observers.writesChanged(at: ["list/n5"])
    observers.remove(id(5))
    #expect(observers.takeConcerned() == [id(9), id(2_000), id(2_001)])
    #expect(observers.takeConcerned() == [id(9)])
    observers.told(snapshot("list/n9"), to: id(9))
    #expect(observers.takeConcerned().isEmpty)
    observers.remove(id(2_001))
    observers.writesChanged(at: ["list/n5"])
    #expect(observers.takeConcerned() == [id(2_000)])
  }
}
