import TernCore
import TernQuery
import TernTestKit
import Testing

@testable import TernTreeAuthority

@Suite("Candidates of a window") struct CandidateListTests {
  private static func candidate(_ number: Int) -> QueryWindow.Candidate {
    // Several have the same value, and are ordered by their keys.
    .init(key: TreeKey(unchecked: "k\(number)"), value: .scalar(.integer(Int64(number / 3))))
  }

  @Test("a list is what sorting would make", arguments: [false, true], UInt64(1)...3)
  func sorted(countsFromLast: Bool, seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var list = CandidateList(countsFromLast: countsFromLast)
    var expected: [QueryWindow.Candidate] = []
    for step in 0..<6_000 {
      let candidate = Self.candidate(random.roll(4_000))
      if let index = expected.firstIndex(of: candidate) {
        #expect(list.rank(of: candidate) == index)
        list.remove(candidate)
        expected.remove(at: index)
      } else {
        list.insert(candidate)
        expected.insert(candidate, at: expected.count { list.precedes($0, candidate) })
      }
      if step % 500 == 499, !expected.isEmpty {
        #expect(list.removeLast() == expected.removeLast())
        #expect(list.last == expected.last)
      }
    }
    #expect(list.count == expected.count)
    #expect(list.elements(in: 0..<list.count) == expected)
    #expect(list.elements(in: 100..<900) == Array(expected[100..<min(900, expected.count)]))
    #expect(list.elements(in: expected.count..<(expected.count + 5)).isEmpty)
    #expect(list[700] == expected[700])
  }

  @Test("a list that is emptied from either end takes candidates again", arguments: [false, true])
  func emptied(fromLast: Bool) {
    var list = CandidateList(countsFromLast: false)
    let all = (0..<2_000).map(Self.candidate)
    for candidate in all { list.insert(candidate) }
    while list.count > 0 {
      if fromLast { _ = list.removeLast() } else { list.remove(list[0]) }
    }
    #expect(list.last == nil)
    list.insert(all[7])
    #expect(list.elements(in: 0..<1) == [all[7]])
    list.removeAll()
    #expect(list.count == 0)
  }
}
