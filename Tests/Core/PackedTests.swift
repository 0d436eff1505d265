import TernTestKit
import Testing

@testable import TernCore

@Suite("Packed values")
struct PackedTests {
  /// Packs a value piece by piece, the fields of its maps in any order and some of them twice.
  private func pack(
    _ value: DocumentValue, _ builder: inout PackedBuilder, using random: inout SeededGenerator
  ) {
    switch value {
    case .null, .pendingTimestamp: builder.appendNull()
    case .boolean(let flag): builder.append(flag)
    case .integer(let number): builder.append(number)
    case .double(let number): builder.append(number)
    case .timestamp(let time): builder.append(time)
    case .geoPoint(let point): builder.append(point)
    case .string(let text): text.withSpan { builder.append(text: $0) }
    case .bytes(let bytes): builder.append(bytes: bytes.span)
    case .reference(let name): name.resourceName.withSpan { builder.append(reference: $0) }
    case .array(let elements):
      let mark = builder.begin()
      for element in elements { pack(element, &builder, using: &random) }
      builder.endArray(mark)
    case .vector(let numbers):
      let numbers = DocumentValue.array(numbers.map { .double($0) })
      pack(["__type__": "__vector__", "value": numbers], &builder, using: &random)
    case .map(let map):
      let repeated = map.entries.filter { _ in random.roll(4) == 0 }.map {
        ($0.name, DocumentValue.null)
      }
      let fields = repeated + map.entries.shuffled(using: &random).map { ($0.name, $0.value) }
      let mark = builder.begin()
      var places: [PackedBuilder.Field] = []
      for (name, value) in fields {
        var place = name.withSpan { builder.beginField($0) }
        pack(value, &builder, using: &random)
        builder.endField(&place)
        places.append(place)
      }
      builder.endMap(mark, places)
    }
  }

  private func settled(_ value: DocumentValue) -> DocumentValue {
    switch value {
    case .pendingTimestamp: .null
    case .array(let elements): .array(elements.map(settled))
    case .map(let map): .map(DocumentMap(map.entries.map { ($0.name, settled($0.value)) }))
    default: value
    }
  }

  @Test("fields that come in any order are packed as the value is", arguments: UInt64(1)...40)
  func builder(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<20 {
      let value = settled(randomDocumentValue(depth: 3, using: &random))
      var builder = PackedBuilder()
      pack(value, &builder, using: &random)
      #expect(builder.bytes == PackedValue(value).bytes, "\(value)")
      #expect(builder.value == value)
    }
  }

  @Test(
    "lengths of contents at the borders of their count",
    arguments: [0, 1, 127, 128, 129, 16_383, 16_384, 16_385])
  func counts(count: Int) {
    var builder = PackedBuilder()
    let mark = builder.begin()
    for _ in 0..<count { builder.appendNull() }
    builder.endArray(mark)
    let value = DocumentValue.array([DocumentValue](repeating: .null, count: count))
    #expect(builder.bytes == PackedValue(value).bytes)
    let fields = DocumentFields(["f": value, "s": .string(String(repeating: "x", count: count))])
    #expect(DocumentFields(validating: fields.bytes) == fields)
    #expect(fields["s"]?.string?.utf8.count == count)
  }

  @Test(
    "only a map of a mark and of doubles is a vector",
    arguments: [
      (["__type__": "__vector__", "value": [1.0, 2.0]], true),
      (["__type__": "__vector__", "value": []], true),
      (["__type__": "__vector__", "value": [1.0, 2]], false),
      (["__type__": "__vector__", "value": [1.0, "x"]], false),
      (["__type__": "__vector__", "value": 1.0], false),
      (["__type__": "__vector__"], false),
      (["__type__": "vector", "value": [1.0]], false),
      (["__type__": "__vector__", "value": [1.0], "x": 1], false),
      (["__type__": "__vector__", "values": [1.0]], false),
    ] as [(DocumentValue, Bool)])
  func vectors(map: DocumentValue, isVector: Bool) {
    var random = SeededGenerator(seed: 5)
    var builder = PackedBuilder()
    pack(map, &builder, using: &random)
    guard isVector else {
      #expect(builder.value == map)
      return
    }
    guard case .vector = builder.value else {
      Issue.record("\(builder.value) is no vector")
      return
    }
  }

  @Test("an item tells its kind and where it ends", arguments: UInt64(1)...30)
  func items(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<20 {
      let value = randomDocumentValue(depth: 2, using: &random)
      let bytes = PackedValue(value).bytes
      var (read, skipped, walked) = (0, 0, 0)
      #expect(Packed.value(bytes.span, &read) == value)
      Packed.skip(bytes.span, &skipped)
      #expect(read == bytes.count && skipped == bytes.count)
      let item = Packed.item(bytes.span, &walked)
      #expect(walked == bytes.count)
      #expect(isLike(item, value, bytes), "\(value)")
    }
  }

  private func isLike(_ item: PackedItem, _ value: DocumentValue, _ bytes: [UInt8]) -> Bool {
    switch (item, value) {
    case (.null, .null), (.pending, .pendingTimestamp): true
    case (.boolean(let a), .boolean(let b)): a == b
    case (.integer(let a), .integer(let b)): a == b
    case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern || a.isNaN && b.isNaN
    case (.timestamp(let a), .timestamp(let b)): a == b
    case (.geoPoint(let a), .geoPoint(let b)): a == b
    case (.string(let range), .string(let text)): Array(text.utf8) == Array(bytes[range])
    case (.bytes(let range), .bytes(let content)): content == Array(bytes[range])
    case (.reference(let range), .reference(let name)):
      Array(name.resourceName.utf8) == Array(bytes[range])
    case (.vector(let range), .vector(let numbers)): range.count == 8 * numbers.count
    case (.array(let range), .array(let elements)): range.isEmpty == elements.isEmpty
    case (.map(let range), .map(let map)): range.isEmpty == map.isEmpty
    default: false
    }
  }

  @Test("bytes that are not exactly one map are refused", arguments: UInt64(1)...30)
  func validation(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let map = DocumentMap((0..<4).map { ("f\($0)", randomDocumentValue(depth: 2, using: &random)) })
    let bytes = DocumentFields(map).bytes
    #expect(DocumentFields(validating: bytes)?.map == map)
    #expect(DocumentFields(validating: bytes + [0]) == nil, "something follows")
    for count in 0..<bytes.count {
      #expect(DocumentFields(validating: Array(bytes[..<count])) == nil, "cut after \(count)")
    }
    for _ in 0..<300 {
      var damaged = bytes
      damaged[random.roll(bytes.count)] ^= UInt8(1 << random.roll(8))
      guard let fields = DocumentFields(validating: damaged) else { continue }
      // Whatever passes the check can be read, measured and packed again.
      #expect(DocumentFields(fields.map).map == fields.map)
      #expect(fields.byteCount == DocumentFields(fields.map).byteCount)
    }
  }

  @Test("nesting from disk or wire has a limit", arguments: [99, 100, 101])
  func depth(levels: Int) {
    var value: DocumentValue = 1
    for _ in 0..<levels - 1 { value = ["m": value] }
    let fields = DocumentFields(["m": value])
    #expect((DocumentFields(validating: fields.bytes) != nil) == (levels <= 100))
  }
}

@Suite("Ordered bytes of names and paths")
struct OrderedNameTests {
  static let keys: [DocumentKey] = [
    "a/b", "a/b/c/d", "a/__id7__", "a/__id-3__/b/__id07__", "\u{E9}/\u{0}x", "a/\u{10000}/_/__",
  ]

  @Test("a path is read back from its bytes", arguments: Self.keys)
  func paths(key: DocumentKey) {
    var bytes: [UInt8] = [7, 7]
    OrderedBytes.append(key, to: &bytes)
    #expect(OrderedBytes.path(bytes.span, from: 2) == key.text)
    bytes += [0x50, 1, 2]
    #expect(OrderedBytes.path(bytes.span, from: 2) == key.text, "something follows")
    var open: [UInt8] = []
    key.text.withSpan { OrderedBytes.appendSegments(of: $0, to: &open) }
    #expect(OrderedBytes.path(open.span, from: 0) == key.text, "without an end")
    for count in 1..<open.count {
      let cut = OrderedBytes.path(Array(open[..<count]).span, from: 0)
      #expect(cut == nil || key.text.hasPrefix(cut ?? "?"), "cut after \(count)")
    }
    #expect(OrderedBytes.path([0x50, 0x61, 0, 1].span, from: 0) == nil, "a value is no path")
  }

  @Test("what lies below a path begins with its bytes", arguments: Self.keys)
  func prefixes(key: DocumentKey) {
    var open: [UInt8] = []
    key.text.withSpan { OrderedBytes.appendSegments(of: $0, to: &open) }
    for other in Self.keys + [DocumentKey(unchecked: key.text + "/x/y")] {
      var bytes: [UInt8] = []
      OrderedBytes.append(other, to: &bytes)
      let isBelow = other == key || other.text.utf8.starts(with: (key.text + "/").utf8)
      #expect(bytes.starts(with: open) == isBelow, "\(other) below \(key)")
    }
  }

  @Test("the beginning of a long text begins its encoding", arguments: [0, 1, 5, 9])
  func beginnings(limit: Int) {
    let values: [DocumentValue] = [
      "", "a", "abcdefghij", "\0\0\0\0\0\0", .bytes([0, 255, 0, 1, 2, 3]), .bytes([]), 1, .null,
    ]
    for value in values {
      var (whole, part): ([UInt8], [UInt8]) = ([], [])
      OrderedBytes.append(value, to: &whole)
      let bytes = PackedValue(value).bytes
      let isLonger = (value.string?.utf8.count ?? value.bytes?.count ?? -1) > limit
      #expect(
        OrderedBytes.appendBeginning(of: bytes.span, at: 0, limit: limit, to: &part) == isLonger)
      #expect(isLonger ? whole.starts(with: part) && part.count > limit : part.isEmpty, "\(value)")
    }
  }

  @Test("long bytes are cut and told apart by their hash", arguments: [21, 22, 40, 64])
  func abbreviations(limit: Int) {
    let exact = [UInt8](repeating: 7, count: limit)
    #expect(OrderedBytes.abbreviated(exact, to: limit) == exact)
    let long = exact + [1]
    let short = OrderedBytes.abbreviated(long, to: limit)
    #expect(short.count == limit && short.starts(with: exact.prefix(limit - 20)))
    #expect(short != OrderedBytes.abbreviated(exact + [2], to: limit))
    #expect(short == OrderedBytes.abbreviated(long, to: limit))
  }

  @Test("first bytes part the kinds of values")
  func ranks() {
    let kinds: [DocumentValue] = [
      .null, true, 1, .timestamp(.earliest), "", .bytes([]), [], .vector([]), ["a": 1],
    ]
    for value in kinds {
      var bytes: [UInt8] = []
      OrderedBytes.append(value, to: &bytes)
      let rank = PackedValue(value).rank
      #expect(bytes[0] >= OrderedBytes.firstByte(ofRank: rank))
      #expect(bytes[0] < OrderedBytes.firstByte(ofRank: rank + 1))
    }
  }
}
