import TernTestKit
import Testing

@testable import TernCore

@Suite("Maps and masks against plain models")
struct DocumentMapModelTests {
  static let names = ["", "a", "b", "ab", "\u{E9}", "e\u{301}", "\u{FFFF}", "\u{10000}"]

  private func path(_ most: Int, using random: inout SeededGenerator) -> DocumentFieldPath {
    DocumentFieldPath(
      unchecked: (0...random.roll(most)).map { _ in ["a", "b", "c", "\u{E9}"][random.roll(4)] })
  }

  private func map(depth: Int, using random: inout SeededGenerator) -> DocumentMap {
    DocumentMap(
      (0..<random.roll(4)).map { _ in
        let isMap = depth > 0 && random.roll(2) == 0
        let value: DocumentValue =
          isMap ? .map(map(depth: depth - 1, using: &random)) : .integer(Int64(random.roll(3)))
        return (["a", "b", "c", "\u{E9}"][random.roll(4)], value)
      })
  }

  @Test("a map is a dictionary whose keys are bytes", arguments: UInt64(1)...20)
  func dictionary(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var map = DocumentMap()
    var model: [[UInt8]: Int64] = [:]
    for step in 0..<120 {
      let name = Self.names[random.roll(Self.names.count)]
      let value = random.roll(3) == 0 ? nil : Int64(step)
      map[name] = value.map { .integer($0) }
      model[Array(name.utf8)] = value
      #expect(map.count == model.count && map.isEmpty == model.isEmpty)
      for name in Self.names { #expect(map[name]?.integer == model[Array(name.utf8)]) }
      let given = map.entries.map { Array($0.name.utf8) }
      #expect(given == model.keys.sorted { $0.lexicographicallyPrecedes($1) })
      let shuffled = map.entries.shuffled(using: &random).map { ($0.name, $0.value) }
      #expect(DocumentMap(shuffled) == map)
    }
  }

  @Test("a field that is set is there, and no other changed", arguments: UInt64(1)...60)
  func paths(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<40 {
      let before = map(depth: 2, using: &random)
      let place = path(2, using: &random)
      var after = before
      after[place] = "new"
      #expect(after[place] == "new")
      let other = path(2, using: &random)
      if !place.contains(other), !other.contains(place), before[other] != nil {
        #expect(after[other] == before[other], "\(other) after \(place)")
      }
      // Packed fields are read as the map is.
      let packed = DocumentFields(after)
      #expect(packed.map == after)
      #expect(packed[other] == after[other])
      #expect(packed[other.names[0]] == after[other.names[0]])
      after[place] = nil
      #expect(after[place] == nil)
      let removed = after
      after[place] = nil
      #expect(after == removed, "what is gone can go again")
    }
  }

  @Test("a projection keeps what the mask covers", arguments: UInt64(1)...60)
  func projections(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<30 {
      let whole = map(depth: 2, using: &random)
      let mask = DocumentFieldMask((0..<random.roll(4)).map { _ in path(2, using: &random) })
      let kept = mask.projection(of: whole)
      for path in mask.paths { #expect(kept[path] == whole[path]) }
      for path in leaves(kept, []) { #expect(mask.covers(path), "\(path) of \(mask.paths)") }
      for path in leaves(whole, []) where mask.covers(path) { #expect(kept[path] == whole[path]) }
      #expect(mask.projection(of: kept) == kept)
    }
  }

  /// The paths to everything that is no map, or an empty one.
  private func leaves(_ map: DocumentMap, _ names: [String]) -> [DocumentFieldPath] {
    map.entries.flatMap { entry -> [DocumentFieldPath] in
      let path = names + [entry.name]
      if case .map(let inner) = entry.value, !inner.isEmpty { return leaves(inner, path) }
      return [DocumentFieldPath(unchecked: path)]
    }
  }

  @Test("masks are sets of paths", arguments: UInt64(1)...40)
  func masks(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let one = (0..<random.roll(6)).map { _ in path(2, using: &random) }
    let other = (0..<random.roll(6)).map { _ in path(2, using: &random) }
    let union = DocumentFieldMask(one).union(other)
    #expect(Set(union.paths) == Set(one).union(other))
    #expect(union == DocumentFieldMask(other).union(one))
    #expect(union.paths == union.paths.sorted() && Set(union.paths).count == union.paths.count)
    #expect(DocumentFieldMask.empty.union(one) == DocumentFieldMask(one.reversed()))
    for place in one + other {
      #expect(union.covers(place) && union.covers(place.appending("x")))
    }
  }

  @Test("paths overlap exactly when one contains the other", arguments: UInt64(1)...60)
  func disjoint(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<40 {
      let paths = (0..<random.roll(5)).map { _ in path(2, using: &random) }
      let overlaps = paths.indices.contains { left in
        paths.indices.contains { left != $0 && paths[left].contains(paths[$0]) }
      }
      let isDisjoint = (try? DocumentFieldMask.checkDisjoint(paths)) != nil
      #expect(isDisjoint == !overlaps, "\(paths)")
    }
  }

  @Test("of fields with one name the last one counts, whatever it is")
  func repeatedInput() throws {
    let key: DocumentKey = "c/d"
    func result(_ fields: [DocumentInput.Field]) throws -> DocumentMap? {
      let old = Document(key, .found(["a": 100]), version: .init(microseconds: 1))
      let write = try DocumentMutation.set(key, to: fields)
      return try write.commit(over: old, at: .init(microseconds: 2)).document.fields?.map
    }
    #expect(try result([.init("a", 1), .init("a", 2)]) == ["a": 2])
    #expect(try result([.init("a", .increment(1)), .init("a", 2)]) == ["a": 2])
    #expect(try result([.init("a", 5), .init("a", .increment(1))]) == ["a": 1])
    #expect(try result([.init("a", .increment(1)), .init("a", .increment(2))]) == ["a": 2])
    let inner: [DocumentInput.Field] = [.init("x", 5), .init("x", .increment(1)), .init("y", 0)]
    #expect(try result([.init("m", .map(inner))]) == ["m": ["x": 1, "y": 0]])
    let merged = try DocumentMutation.merge(key, with: [.init("a", 5), .init("a", .delete)])
    #expect(merged == (try DocumentMutation.merge(key, with: [.init("a", .delete)])))
    // Names are alike when their bytes are.
    #expect(try result([.init("\u{E9}", 1), .init("e\u{301}", 2)])?.count == 2)
  }
}
