import TernCore
import TernStorage
import Testing

@testable import TernDocumentAuthority

/// Records of a server that have the right shape and numbers out of range.
struct AbsurdRecordTests {
  @Test("a database's state with numbers that have no successor is none")
  func state() {
    var state = DatabaseState()
    state.last = DocumentVersion(microseconds: 7)
    #expect(DatabaseState(state.encode()) == state)
    for last in [Int64.min, .max] {
      state.last = DocumentVersion(microseconds: last)
      #expect(DatabaseState(state.encode()) == nil)
    }
    state.last = .none
    state.nextScope = .max
    #expect(DatabaseState(state.encode()) == nil)
  }

  @Test("an index over no fields, or over a field without a name, is none")
  func index() {
    let path = DocumentFieldPath(unchecked: ["a"])
    let segment = CompositeIndex.Segment(path: path, isDescending: true)
    let index = CompositeIndex(number: 1, scope: 2, segments: [segment])
    #expect(CompositeIndex(index.encode()) == index)
    var head = ByteWriter()
    head.append(1)
    head.append(bigEndian: ScopeNumber(1))
    head.append(bigEndian: ScopeNumber(2))
    #expect(CompositeIndex(head.bytes + [0, 0]) == nil)
    #expect(CompositeIndex(head.bytes + [1, 0, 0, 0]) == nil)
  }
}
