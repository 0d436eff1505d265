public import TernCore

extension DocumentKey: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) { self.init(unchecked: text) }
}

extension DocumentFieldPath: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) {
    self.init(unchecked: text.split(separator: ".").map(String.init))
  }
}

/// A value of any type, for tests that want all of them.
func randomDocumentValue(
  depth: Int = 2, using random: inout some RandomNumberGenerator
) -> DocumentValue {
  let texts = ["", "a", "b", "ab", "\u{FFFF}", "\u{10000}", "é", "e\u{301}", "\0"]
  let doubles: [Double] = [
    0, -0.0, 1, 1.5, .nan, .infinity, -.infinity, 0x1p53, 0x1p63, -0x1p63, 0x1.8p62,
  ]
  let integers: [Int64] = [0, 1, -1, 127, 128, -129, 1 << 53, 1 << 53 + 1, .max, .min]
  switch Int.random(in: 0..<(depth > 0 ? 13 : 10), using: &random) {
  case 0: return .null
  case 1: return .boolean(.random(using: &random))
  case 2: return .integer(integers.randomElement(using: &random) ?? 0)
  case 3: return .double(doubles.randomElement(using: &random) ?? 0)
  case 4:
    return .timestamp(.init(uncheckedMicroseconds: .random(in: -3...3, using: &random)))
  case 5: return .string(texts.randomElement(using: &random) ?? "")
  case 6: return .bytes((0..<Int.random(in: 0...2, using: &random)).map { UInt8($0 * 255) })
  case 7:
    let keys: [DocumentKey] = ["a/b", "a/__id7__", "a/__id10__", "a/b/c/d", "a-/b"]
    let database = try? DocumentDatabase(projectID: "p")
    guard let database, let key = keys.randomElement(using: &random) else { return .null }
    return .reference(DocumentName(key, in: database))
  case 8:
    let degrees = Double.random(in: -90...90, using: &random).rounded()
    return .geoPoint(DocumentGeoPoint(uncheckedLatitude: degrees, longitude: 1))
  case 9: return .vector((0..<Int.random(in: 0...2, using: &random)).map(Double.init))
  case 10:
    let time = DocumentTimestamp(uncheckedMicroseconds: .random(in: 0...3, using: &random))
    let previous = randomDocumentValue(depth: 0, using: &random)
    return .pendingTimestamp(.init(localWriteTime: time, replacing: previous))
  case 11:
    return .array(
      (0..<Int.random(in: 0...3, using: &random)).map { _ in
        randomDocumentValue(depth: depth - 1, using: &random)
      })
  default:
    return .map(
      DocumentMap(
        (0..<Int.random(in: 0...3, using: &random)).map { _ in
          let name = texts.randomElement(using: &random) ?? ""
          return (name, randomDocumentValue(depth: depth - 1, using: &random))
        }))
  }
}
