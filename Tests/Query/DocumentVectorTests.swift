import TernCore
import TernTestKit
import Testing

@testable import TernQuery

@Suite("Nearest documents")
struct DocumentVectorTests {
  static let measures: [DocumentVectorSearch.Measure] = [.euclidean, .cosine, .dotProduct]

  private func documents(using random: inout SeededGenerator) -> [Document] {
    (0..<40).map { index in
      let vector = (0..<2).map { _ in Double(random.roll(5)) - 2 }
      let value: DocumentValue =
        switch random.roll(8) {
        case 0: .vector(vector + [1])
        case 1: .array(vector.map { .double($0) })
        default: .vector(vector)
        }
      let name = random.roll(8) == 0 ? "other" : "v"
      let key = DocumentKey(
        unchecked: "c/" + String(repeating: "0", count: index < 10 ? 1 : 0) + "\(index)")
      return Document(key, DocumentFields(DocumentMap([(name, value)])))
    }
  }

  private func distance(_ one: [Double], _ other: [Double], _ measure: DocumentVectorSearch.Measure)
    -> Double?
  {
    let product = zip(one, other).map { $0 * $1 }.reduce(0, +)
    func length(_ vector: [Double]) -> Double {
      vector.map { $0 * $0 }.reduce(0, +).squareRoot()
    }
    switch measure {
    case .euclidean: return length(zip(one, other).map { $0 - $1 })
    case .dotProduct: return product
    case .cosine:
      let lengths = length(one) * length(other)
      return lengths == 0 ? nil : 1 - product / lengths
    }
  }

  @Test("the nearest are the first of all, sorted by distance and key", arguments: measures)
  func nearest(measure: DocumentVectorSearch.Measure) {
    for seed in UInt64(1)...40 {
      var random = SeededGenerator(seed: seed)
      let documents = documents(using: &random)
      let target = [Double(random.roll(5)) - 2, 1]
      let limit = 1 + random.roll(12)
      let threshold: Double? = random.roll(2) == 0 ? nil : Double(random.roll(4)) - 1
      let search = DocumentVectorSearch(
        "v", target, by: measure, limit: limit, distanceField: "m.d", threshold: threshold)
      var nearest = NearestDocuments(search)
      for document in documents.shuffled(using: &random) { nearest.insert(document) }
      let isFar = measure == .dotProduct
      let all = documents.compactMap { document -> (Double, DocumentKey)? in
        guard case .vector(let vector)? = document.fields?["v"], vector.count == 2,
          let distance = distance(target, vector, measure)
        else { return nil }
        if let threshold, isFar ? distance < threshold : distance > threshold { return nil }
        return (distance, document.key)
      }
      let sorted = all.sorted { left, right in
        left.0 != right.0 ? (left.0 > right.0) == isFar : left.1 < right.1
      }
      let found = nearest.found
      #expect(found.map(\.key) == sorted.prefix(limit).map(\.1), "seed \(seed)")
      #expect(
        found.map { distance, key in
          search.telling(distance, in: Document(key, [:])).fields?["m.d" as DocumentFieldPath]?
            .double
        } == sorted.prefix(limit).map { $0.0 })
    }
  }

  @Test("a vector is at no distance from itself, and nothing is near the zero vector")
  func itself() {
    func distance(_ measure: DocumentVectorSearch.Measure, _ vector: [Double]) -> Double? {
      DocumentVectorSearch("v", [3, 4], by: measure, limit: 1)
        .distance(of: Document("c/d", ["v": .vector(vector)]))
    }
    #expect(distance(.euclidean, [3, 4]) == 0)
    #expect(distance(.cosine, [3, 4]) == 0)
    #expect(distance(.cosine, [6, 8]) == 0)
    #expect(distance(.cosine, [-3, -4]) == 2)
    #expect(distance(.dotProduct, [3, 4]) == 25)
    #expect(distance(.euclidean, [0, 0]) == 5)
    #expect(distance(.cosine, [0, 0]) == nil)
    #expect(distance(.dotProduct, [0, 0]) == 0)
    #expect(distance(.euclidean, [3]) == nil)
  }

  @Test("a document without the place for its distance keeps its fields")
  func result() {
    let search = DocumentVectorSearch("v", [1], by: .euclidean, limit: 2)
    let document = Document("c/d", ["v": .vector([2])])
    #expect(search.telling(1, in: document) == document)
  }

  @Test("a distance that is no number is no result, and does not disturb others")
  func noNumbers() {
    for measure in Self.measures {
      let search = DocumentVectorSearch("v", [.infinity, 1], by: measure, limit: 2)
      var nearest = NearestDocuments(search)
      let vectors: [[Double]] = [[.infinity, 1], [.nan, 1], [0, 1], [1, 1], [-.infinity, 1]]
      for (index, vector) in vectors.enumerated() {
        nearest.insert(Document(DocumentKey(unchecked: "c/\(index)"), ["v": .vector(vector)]))
      }
      #expect(!nearest.found.contains { $0.distance.isNaN }, "\(measure)")
      #expect(!nearest.found.contains { $0.key == "c/1" }, "\(measure)")
    }
  }
}
