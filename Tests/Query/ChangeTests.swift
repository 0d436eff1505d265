import TernCore
import TernTestKit
import Testing

@testable import TernQuery

@Suite("What listeners hear")
struct ChangeTests {
  /// Spells changes as in the reference's traces: kind, key, ‹previous key›.
  private func spell(_ query: TreeQuery, _ old: String, _ new: String) throws -> [String] {
    let before = query.window(of: try TreeNode(json: old))
    let after = query.window(of: try TreeNode(json: new))
    return changes(from: before, to: after, query: query).map {
      "\($0.kind) \($0.key?.text ?? "")‹\($0.previousKey?.text ?? "null")›"
    }
  }

  @Test("a filtered view, trace A2")
  func filtered() throws {
    let query = try TreeQuery.all.ordered(byChild: "eta").ending(at: 900).first(2)
    let start = #"{"a":{"eta":100},"b":{"eta":200}}"#
    #expect(try spell(query, "null", start) == ["added a‹null›", "added b‹a›"])
    let withC = #"{"a":{"eta":100},"b":{"eta":200},"c":{"eta":50}}"#
    #expect(try spell(query, start, withC) == ["removed b‹null›", "added c‹null›"])
    #expect(try spell(query, withC, start) == ["removed c‹null›", "added b‹a›"])
    let later = #"{"a":{"eta":150},"b":{"eta":200}}"#
    #expect(try spell(query, start, later) == ["moved a‹null›", "changed a‹null›"])
  }

  @Test("priorities, trace A17")
  func priorities() throws {
    let first = #"{"a":{".value":1,".priority":10},"b":{".value":2,".priority":5},"c":3}"#
    #expect(try spell(.all, "null", first) == ["added c‹null›", "added b‹c›", "added a‹b›"])
    let second = #"{"a":{".value":1,".priority":0},"b":{".value":2,".priority":5},"c":3}"#
    #expect(try spell(.all, first, second) == ["moved a‹c›", "changed a‹c›"])
    let third =
      #"{"a":{".value":1,".priority":0},"b":{".value":2,".priority":5},"c":3,"d":{"x":1,".priority":"hi"}}"#
    #expect(try spell(.all, second, third) == ["added d‹b›"])
    let fourth = #"{"a":{".value":1,".priority":0},"b":2,"c":3,"d":{"x":1,".priority":"hi"}}"#
    #expect(try spell(.all, third, fourth) == ["moved b‹null›", "changed b‹null›"])
  }

  @Test("removed, added, moved, changed; each group in query order")
  func groups() throws {
    let query = try TreeQuery.all.ordered(byChild: "n")
    let old = #"{"a":{"n":5},"b":{"n":1},"c":{"n":3},"d":{"n":4},"e":{"n":9,"x":1}}"#
    let new = #"{"c":{"n":0},"d":{"n":2},"e":{"n":9,"x":2},"f":{"n":7},"g":{"n":6}}"#
    #expect(
      try spell(query, old, new) == [
        "removed b‹null›", "removed a‹null›", "added g‹d›", "added f‹g›", "moved c‹null›",
        "moved d‹c›", "changed c‹null›", "changed d‹c›", "changed e‹f›",
      ])
  }

  @Test("a key never moves, and a removed child tells its old value")
  func keys() throws {
    let query = try TreeQuery.all.ordered(by: .key)
    #expect(try spell(query, #"{"a":1}"#, #"{"a":2}"#) == ["changed a‹null›"])
    let removal = changes(from: ["a": 1], to: .empty, query: query)
    #expect(removal == [TreeChange(.removed, key: TreeKey(unchecked: "a"), node: 1)])
  }

  @Test("by value a changed child has moved")
  func values() throws {
    let query = try TreeQuery.all.ordered(by: .value)
    #expect(
      try spell(query, #"{"a":1,"b":5}"#, #"{"a":2,"b":5}"#) == [
        "moved a‹null›", "changed a‹null›",
      ])
  }

  @Test("nothing happened, nothing is heard")
  func nothing() throws {
    #expect(try spell(.all, #"{"a":1}"#, #"{"a":1}"#).isEmpty)
    #expect(!hasValueChange(from: ["a": 1], to: ["a": 1]))
    #expect(hasValueChange(from: 1, to: 2))
  }

  @Test("replaying the changes rebuilds the final order", arguments: 1...40)
  func replay(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let query = try TreeQuery.all.ordered(by: .value).first(1 + Int(random.next() % 8))
    var source = TreeNode.empty
    var window = query.window(of: source)
    var heard: [TreeKey] = []
    for _ in 0..<60 {
      for _ in 0..<(1 + random.next() % 4) {
        let key = TreeKey(unchecked: "k\(random.next() % 12)")
        source.setChild(
          key, random.next() % 3 == 0 ? .empty : TreeNode(.integer(Int64(random.next() % 9))))
      }
      let next = query.window(of: source)
      let steps = changes(from: window, to: next, query: query)
      for change in steps where change.kind == .removed || change.kind == .moved {
        heard.removeAll { $0 == change.key }
      }
      let placed = steps.filter { $0.kind == .added || $0.kind == .moved }.map {
        ($0.key, $0.previousKey)
      }
      var open = placed
      while !open.isEmpty {
        let before = open.count
        open.removeAll { key, previous in
          guard let key else { return true }
          if let previous {
            guard let index = heard.firstIndex(of: previous) else { return false }
            heard.insert(key, at: index + 1)
          } else {
            heard.insert(key, at: 0)
          }
          return true
        }
        if open.count == before { break }
      }
      window = next
      #expect(Set(heard) == Set(query.ordered(window).map(\.key)), "seed \(seed)")
    }
  }
}
