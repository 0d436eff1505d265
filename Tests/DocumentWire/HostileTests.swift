import TernCore
import TernQuery
import TernTestKit
import Testing

@testable import TernDocumentWire

/// Damaged bytes end in a typed error or in another legal message, never in a crash.
@Suite("Damaged bytes")
struct HostileTests {
  private func damaged(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let index = bytes.isEmpty ? 0 : Int.random(in: bytes.indices, using: &random)
      switch Int.random(in: 0..<5, using: &random) {
      case 0: bytes.removeLast(bytes.count - index)
      case 1: bytes.insert(.random(in: 0...255, using: &random), at: index)
      case 2 where !bytes.isEmpty: bytes.remove(at: index)
      case 3 where !bytes.isEmpty: bytes[index] = random.pick([0, 1, 0x7F, 0x80, 0xFF])
      case _ where !bytes.isEmpty: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      default: bytes.append(0xFF)
      }
    }
    return bytes
  }

  @Test("of requests", arguments: UInt64(1)...40)
  func requests(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for request in try sampleRequests() {
      let bytes = damaged(request.encode(), &random)
      for method in [request.method, random.pick(DocumentMethod.allCases)] {
        guard let read = try? DocumentRequest.decode(method, bytes) else { continue }
        // What was read is whole: it can be sent on, and reads the same.
        let again = try DocumentRequest.decode(method, read.encode())
        #expect(again.encode() == read.encode())
      }
    }
  }

  @Test("of responses", arguments: UInt64(1)...40)
  func responses(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for (method, response) in sampleResponses() {
      let bytes = damaged(response.encode(sampleNames), &random)
      guard let read = try? DocumentResponse.decode(method, bytes, sampleNames) else { continue }
      let again = read.encode(sampleNames)
      #expect(try DocumentResponse.decode(method, again, sampleNames).encode(sampleNames) == again)
      if case .document(let document) = read, let fields = document.fields {
        #expect(DocumentFields(validating: fields.bytes) == fields)
      }
    }
  }

  @Test("of frames", arguments: UInt64(1)...200)
  func frames(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for frame in FrameTests.client {
      guard let read = try? DocumentClientFrame.decode(damaged(frame.encode(), &random)) else {
        continue
      }
      #expect(try DocumentClientFrame.decode(read.encode()) == read)
    }
    for frame in FrameTests.server {
      guard let read = try? DocumentServerFrame.decode(damaged(frame.encode(), &random)) else {
        continue
      }
      #expect(try DocumentServerFrame.decode(read.encode()) == read)
    }
  }

  @Test("that name what is wrong")
  func damage() {
    func damage(_ bytes: [UInt8]) -> DocumentWireError? {
      do throws(DocumentWireError) {
        _ = try DocumentRequest.decode(.rollback, bytes)
        return nil
      } catch {
        return error
      }
    }
    #expect(damage([0x0A]) == .malformed(.truncated))
    #expect(damage([0x0A, 5, 1]) == .malformed(.truncated))
    #expect(damage([0x0A, 1, 0xFF]) == .malformed(.invalidText))
    #expect(damage([0x08, 1]) == .malformed(.wrongForm))
    #expect(damage([0x00, 1]) == .malformed(.fieldNumber))
    #expect(damage([0x1B]) == .malformed(.wrongForm))
    #expect(damage([0x1F]) == .malformed(.wrongForm))
    #expect(damage([0x18] + [UInt8](repeating: 0xFF, count: 10)) == .malformed(.overlongNumber))
    #expect(damage([0x19, 1]) == .malformed(.truncated))
    #expect(
      damage([0x12, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1])
        == .malformed(.truncated))
    #expect(damage([])?.status.code == .invalidArgument)
    // Unknown fields are skipped, whatever their form.
    #expect(damage(Array("\n\u{1b}projects/p/databases/(defau".utf8)) != nil)
    let known = DocumentRequest(.rollback(transaction: [1]), in: sampleDatabase).encode()
    #expect(
      damage(known + [0x98, 6, 1, 0x9D, 6, 1, 2, 3, 4, 0x99, 6, 1, 2, 3, 4, 5, 6, 7, 8]) == nil)
  }

  @Test("of filters of names are no filters")
  func filters() throws {
    let change = DocumentResponse.listen(
      .filter(target: 2, count: 3, unchanged: BloomFilter(bitmap: [1], padding: 0, hashCount: 1)))
    var bytes = change.encode(sampleNames)
    bytes[bytes.count - 1] = 0
    guard
      case .listen(.filter(target: _, let count, let filter)) = try DocumentResponse.decode(
        .listen, bytes, sampleNames)
    else {
      Issue.record("a filter stays one")
      return
    }
    #expect(count == 3)
    #expect(filter == nil)
  }
}
