import TernCore
import TernQuery
import Testing

@testable import TernDocumentReplica

/// The documents of a view that the server has to resolve.
@Suite("Documents in doubt")
struct ViewDoubtTests {
  private func key(_ number: Int) -> DocumentKey { DocumentKey(unchecked: "a/d\(number)") }

  private func document(_ number: Int, _ writes: Document.LocalWrites, at version: Int64 = 0)
    -> Document
  {
    Document(
      key(number), .found(["n": 1]), version: DocumentVersion(microseconds: version),
      localWrites: writes)
  }

  /// A view of an empty collection that is current, with documents that wait for the server.
  private func view(pending count: Int) -> DocumentView {
    var view = DocumentView(
      query: .collection(CollectionPath(unchecked: "a")), target: 2, serverKeys: [])
    _ = view.begin(isCurrent: true, hasToken: true)
    for number in 0..<count {
      var changes = view.beginChanges()
      _ = view.update([document(number, .pending)], &changes)
      _ = view.finish(changes)
    }
    return view
  }

  @Test("a round looks at the documents that changed, not at all that the server lacks")
  func fewExamined() {
    var view = view(pending: 100)
    #expect(view.toExamine.isEmpty)
    var changes = view.beginChanges()
    _ = view.update([document(100, .pending)], &changes)
    #expect(view.toExamine == [key(100)])
    _ = view.finish(changes)

    // An accepted write is looked at until the server has told up to its commit.
    changes = view.beginChanges()
    _ = view.update([document(7, .committed, at: 5)], &changes)
    #expect(view.toExamine == [key(7)])
    #expect(view.finish(changes, asOf: DocumentVersion(microseconds: 4)).limboAdded.isEmpty)
    #expect(view.toExamine == [key(7)])
    let told = view.finish(view.beginChanges(), asOf: DocumentVersion(microseconds: 5))
    #expect(told.limboAdded == [key(7)] && view.limbo == [key(7)])

    // It comes into the result, and another one that was told leaves it.
    var delta = DocumentServerEvent.TargetDelta(added: [key(7), key(8)], isCurrent: true)
    changes = view.beginChanges()
    _ = view.update([document(7, .none, at: 6), document(8, .none, at: 6)], &changes)
    let came = view.finish(changes, delta: delta, asOf: DocumentVersion(microseconds: 6))
    #expect(came.limboRemoved == [key(7)] && view.limbo.isEmpty && view.toExamine.isEmpty)
    delta = DocumentServerEvent.TargetDelta(removed: [key(8)], isCurrent: true)
    let left = view.finish(
      view.beginChanges(), delta: delta, asOf: DocumentVersion(microseconds: 7))
    #expect(left.limboAdded == [key(8)] && view.limbo == [key(8)])
    changes = view.beginChanges()
    _ = view.update([Document(key(8), .missing)], &changes)
    #expect(view.finish(changes).limboRemoved == [key(8)])
  }

  @Test("all are looked at again when the target becomes current again")
  func currentAgain() {
    var view = view(pending: 10)
    _ = view.goOffline()
    var changes = view.beginChanges()
    _ = view.update([document(3, .none, at: 5)], &changes)
    #expect(view.finish(changes).limboAdded.isEmpty && view.limbo.isEmpty)
    let delta = DocumentServerEvent.TargetDelta(isCurrent: true)
    let again = view.finish(
      view.beginChanges(), delta: delta, asOf: DocumentVersion(microseconds: 9))
    #expect(again.limboAdded == [key(3)])
  }
}
