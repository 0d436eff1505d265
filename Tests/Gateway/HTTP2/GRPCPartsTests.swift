import Testing

@testable import TernGateway

@Suite("Parts of gRPC")
struct GRPCPartsTests {
  private func head(_ count: Int, flag: UInt8 = 0) -> [UInt8] { [flag] + UInt32(count).bytes }

  @Test("messages are the same however their bytes are cut", arguments: [1, 2, 3, 5, 7, 100])
  func cuts(size: Int) throws {
    let messages: [[UInt8]] = [[1, 2, 3], [], Array(repeating: 9, count: 20), [4]]
    let bytes = messages.flatMap { head($0.count) + $0 }
    var reader = GRPCMessageReader(limit: 20)
    var found: [[UInt8]] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
      try reader.read(bytes[start..<min(start + size, bytes.count)]) { found.append($0) }
    }
    #expect(found == messages)
    #expect(reader.heldBytes == 0)
  }

  @Test("a message is read up to its limit, and a longer one is known by its head")
  func limit() throws {
    var reader = GRPCMessageReader(limit: 3)
    var found: [[UInt8]] = []
    try reader.read((head(3) + [1, 2])[...]) { found.append($0) }
    #expect(found.isEmpty)
    #expect(reader.heldBytes == 2)
    try reader.read([3]) { found.append($0) }
    #expect(found == [[1, 2, 3]])
    #expect(throws: GRPCMessageReader.Failure.tooLarge(byteCount: 4, limit: 3)) {
      try reader.read(head(4)[...]) { _ in }
    }
  }

  @Test("flags other than that of a plain message are errors")
  func flags() {
    var reader = GRPCMessageReader(limit: 3)
    #expect(throws: GRPCMessageReader.Failure.compressed) {
      try reader.read(head(1, flag: 1)[...]) { _ in }
    }
    var other = GRPCMessageReader(limit: 3)
    #expect(throws: GRPCMessageReader.Failure.invalidFlag(2)) {
      try other.read(head(1, flag: 2)[...]) { _ in }
    }
  }

  @Test("the text of a status is escaped")
  func statusText() {
    #expect(GRPCStatusText.encode("plain text, ~") == "plain text, ~")
    #expect(GRPCStatusText.encode("\n100% ä") == "%0A100%25 %C3%A4")
  }

  @Test(
    "timeouts have units",
    arguments: [
      ("1H", 3_600_000_000_000), ("2M", 120_000_000_000), ("3S", 3_000_000_000),
      ("40m", 40_000_000), ("50u", 50_000), ("99999999n", 99_999_999), ("0S", 0),
      ("99999999H", Int64.max),
    ] as [(String, Int64)])
  func timeouts(text: String, nanoseconds: Int64) {
    #expect(GRPCTimeout.nanoseconds(text) == nanoseconds)
  }

  @Test("other timeouts are invalid", arguments: ["", "S", "1", "1x", "-1S", "123456789S", "1.5S"])
  func invalidTimeouts(text: String) { #expect(GRPCTimeout.nanoseconds(text) == nil) }
}
