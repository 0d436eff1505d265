import TernCore
import Testing

@testable import TernDocumentWire

@Suite("Limits of the results of writes")
struct ResultLimitTests {
  private func write(_ id: String, transforms: Int) throws -> DocumentMutation {
    let transform = DocumentFieldTransform(
      DocumentFieldPath(unchecked: ["a"]), .serverTimestamp)
    return DocumentMutation(
      DocumentKey(unchecked: "c/\(id)"), .set([:]),
      transforms: Array(repeating: transform, count: transforms))
  }

  @Test("writes whose answer could be too large are refused, and none below it")
  func limit() throws {
    let writes = try (0..<1_500).map { try write("\($0)", transforms: 500) }
    #expect(throws: DocumentStatus.self) {
      try DocumentWireLimits.checkResults(of: writes)
    }
    try DocumentWireLimits.checkResults(of: Array(writes.prefix(1_450)))
  }

  @Test(
    "answers take no more than what is counted for their writes",
    arguments: [0, 1, 40, 500])
  func counted(transforms: Int) throws {
    let version = DocumentVersion(microseconds: 253_402_300_799_999_999)
    let values: [DocumentValue] = [
      .timestamp(try DocumentTimestamp(seconds: 253_402_300_799, nanoseconds: 999_999_999)),
      .integer(.min), .double(0.1), .null,
    ]
    for value in values {
      let results = (0..<20).map { _ in
        DocumentWriteResult(
          version: version, transformResults: Array(repeating: value, count: transforms))
      }
      let counted = 20 * (28 + 17 * transforms)
      let commit = DocumentResponse.commit(results, version)
      #expect(commit.encode(DocumentNames()).count <= counted + 64)
      let failure = DocumentStatus(.failedPrecondition, "")
      let batch = DocumentResponse.batchWrite(
        results, (0..<20).map { $0.isMultiple(of: 2) ? nil : failure })
      #expect(batch.encode(DocumentNames()).count <= counted + 64)
      let write = DocumentResponse.write(
        DocumentWriteResponse(.committed(version, results), token: [1, 2, 3, 4, 5, 6, 7, 8]))
      #expect(write.encode(DocumentNames()).count <= counted + 64)
    }
  }
}
