import TernTestKit
import Testing

@testable import TernCore

@Suite("Replays of writes to one document")
struct DocumentReplayTests {
  private let key: DocumentKey = "cities/SF"

  private func write(_ random: inout SeededGenerator) -> DocumentMutation {
    let fields: DocumentFields = ["n": .integer(Int64.random(in: 0...3, using: &random))]
    let transforms: [DocumentFieldTransform] =
      switch Int.random(in: 0...3, using: &random) {
      case 0: [DocumentFieldTransform("n", .increment(.integer(1)))]
      case 1: [DocumentFieldTransform("t", .serverTimestamp)]
      case 2: [DocumentFieldTransform("l.m", .arrayUnion([.integer(1), .integer(2)]))]
      default: []
      }
    let condition: DocumentPrecondition =
      switch Int.random(in: 0...5, using: &random) {
      case 0: .exists(true)
      case 1: .exists(false)
      case 2: .version(DocumentVersion(microseconds: 5))
      default: .none
      }
    let change: DocumentMutation.Change =
      switch Int.random(in: 0...7, using: &random) {
      case 0: .delete
      case 1: .verify
      case 2, 3: .set(fields)
      case 4: .patch(.empty, mask: DocumentFieldMask(["n"]))
      default: .patch(fields, mask: DocumentFieldMask(["n"]))
      }
    return DocumentMutation(key, change, precondition: condition, transforms: transforms)
  }

  @Test(
    "one replay of many writes shows what one after the other shows",
    arguments: 1...300 as ClosedRange<UInt64>)
  func model(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let version = DocumentVersion(microseconds: 5)
    let bases = [
      Document(key, .found(["n": 1, "l": ["m": [1]]]), version: version, created: version),
      Document(key, .missing, version: version), .invalid(key),
    ]
    var single = bases[Int(seed % 3)]
    var replay = DocumentReplay(over: single)
    var touched = (DocumentMutation.Touched.fields(.empty), DocumentMutation.Touched.fields(.empty))
    for step in 1...12 {
      let time = DocumentTimestamp(uncheckedMicroseconds: Int64(step))
      let write = write(&random)
      write.applyLocally(to: &single, touched: &touched.0, at: time)
      replay.apply(write, touched: &touched.1, at: time)
      // Looking at it in between changes nothing.
      if Int.random(in: 0...3, using: &random) == 0 { #expect(replay.finished() == single) }
    }
    #expect(replay.finished() == single, "seed \(seed)")
    #expect(touched.0 == touched.1)
  }

  @Test("the document is unpacked once and packed once, however many writes there are")
  func conversions() {
    var replay = DocumentReplay(over: Document(key, .found(["n": 0, "text": "long"])))
    let add = DocumentMutation(
      key, .patch(.empty, mask: .empty),
      transforms: [DocumentFieldTransform("n", .increment(.integer(1)))])
    var touched = DocumentMutation.Touched.everything
    let time = DocumentTimestamp(uncheckedMicroseconds: 1)
    for _ in 1...100 { replay.apply(add, touched: &touched, at: time) }
    #expect(replay.finished().fields == ["n": 100, "text": "long"])
    #expect(replay.conversionCount == 2)
  }
}
