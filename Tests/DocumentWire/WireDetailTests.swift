import TernCore
import TernQuery
import TernTestKit
import Testing

@testable import TernDocumentJSON
@testable import TernDocumentWire

@Suite("Details of messages")
struct WireDetailTests {
  @Test("every status is a number on the wire, and others are unknown", arguments: -1...18)
  func statuses(code: Int) throws {
    let status = DocumentStatus(wireCode: code, "text")
    let expected = code == 0 ? nil : DocumentStatus.Code(rawValue: code) ?? .unknown
    #expect(status?.code == expected)
    guard let status, code > 0 else { return }
    let frame = DocumentServerFrame.end(stream: 3, status)
    #expect(try DocumentServerFrame.decode(frame.encode()) == frame)
    let change = WatchChange.target(.init(.removed(status), targets: [1, -1, .max, .min]))
    let response = DocumentResponse.listen(change)
    #expect(
      try DocumentResponse.decode(.listen, response.encode(sampleNames), sampleNames) == response)
  }

  @Test("a code's permanence decides whether its write is retried")
  func permanence() {
    let codes = DocumentStatus.Code.allCases
    #expect(codes.count == 16)
    for code in codes where code.rejectsWrite { #expect(code.isPermanent, "\(code)") }
    #expect(codes.filter { $0.isPermanent && !$0.rejectsWrite } == [.aborted])
    for code in [DocumentStatus.Code.unavailable, .resourceExhausted, .unauthenticated, .cancelled]
    {
      #expect(!code.rejectsWrite, "\(code)")
    }
    for code in [DocumentStatus.Code.permissionDenied, .invalidArgument, .failedPrecondition] {
      #expect(code.rejectsWrite, "\(code)")
    }
  }

  @Test("a numbered batch that cannot be read has the hash of its bytes", arguments: UInt64(1)...20)
  func unread(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let writes = (0..<1 + random.roll(3)).map { _ in sampleWrites[random.roll(sampleWrites.count)] }
    let stream = UInt128(random.next()) << 64 | 5
    let header = DocumentWriteHeader(
      stream: stream, sequence: 1 + random.next() >> 1, acknowledged: 3)
    func bytes(_ writes: [DocumentMutation], _ header: DocumentWriteHeader?) -> [UInt8] {
      DocumentRequest(
        .write(DocumentWriteRequest(.writes(writes, header), token: [1])), in: sampleDatabase
      ).encode()
    }
    let unread = try #require(DocumentRequest.unreadWrite(in: bytes(writes, header)))
    #expect(unread.mark == header)
    let again = DocumentRequest.unreadWrite(in: bytes(writes, header))
    #expect(again == unread)
    let other = DocumentRequest.unreadWrite(in: bytes(writes + [.delete("other/one")], header))
    #expect(other?.payloadHash != unread.payloadHash)
    #expect(DocumentRequest.unreadWrite(in: bytes(writes, nil)) == nil)
    for count in 1..<bytes(writes, header).count {
      let cut = Array(bytes(writes, header)[..<count])
      if let early = DocumentRequest.unreadWrite(in: cut) { #expect(early.mark == header) }
    }
  }

  @Test(
    "targets that cannot be told",
    arguments: [
      ([], nil), ([0x12, 0], nil), ([0x12, 2, 0x28, 7], 7), ([0x12, 2, 0x28, 0], nil),
      ([0x12, 11, 0x28, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1], nil),
      ([0x12, 5, 0x28], nil),
      ([0x18, 7], nil), ([0x0A, 1, 0x61, 0x12, 2, 0x28, 9, 0x0A, 1, 0x62], 9),
    ] as [([UInt8], Int32?)])
  func added(bytes: [UInt8], target: Int32?) {
    #expect(DocumentRequest.addedTarget(in: bytes) == target)
  }

  @Test("a name of a database is read from the front of every request")
  func names() throws {
    for query in try sampleQueries() {
      for body in [
        DocumentRequest.Body.query(query, .now),
        .aggregate(query, [.init("n", .count(upTo: nil))], .now),
      ] {
        let request = DocumentRequest(body, in: sampleDatabase)
        let name = DocumentRequest.databaseName(in: request.encode(), of: request.method)
        #expect(name == sampleDatabase.resourceName)
      }
    }
    for write in sampleWrites where write.change != .verify {
      let body: DocumentRequest.Body =
        write.change == .delete ? .delete(write) : .update(write, mask: nil)
      let request = DocumentRequest(body, in: sampleDatabase)
      let name = DocumentRequest.databaseName(in: request.encode(), of: request.method)
      #expect(name == sampleDatabase.resourceName)
    }
  }

  @Test("values survive JSON and back, whatever they are", arguments: UInt64(1)...20)
  func json(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<10 {
      let write = DocumentMutation("a/b", .set(DocumentFields(random.map())))
      let request = DocumentRequest(.commit([write], transaction: [], nil), in: sampleDatabase)
      let json = try DocumentJSON.json(.request(.commit), binary: request.encode())
      let binary = try DocumentJSON.binary(.request(.commit), json: json)
      #expect(try DocumentRequest.decode(.commit, binary) == request)
    }
  }

  @Test(
    "times that are none are none in JSON either",
    arguments: [
      "2023-02-29T00:00:00Z", "2024-04-31T00:00:00Z", "2024-01-01T24:00:00Z",
      "2024-01-01T00:00:60Z",
      "0000-01-01T00:00:00Z", "10000-01-01T00:00:00Z", "2024-01-01", "2024-01-01T00:00:00",
      "2024-01-01T00:00:00+24:00",
    ])
  func times(text: String) {
    let json = #"{"fields":{"t":{"timestampValue":"\#(text)"}}}"#
    #expect(throws: MessageJSONError.self) {
      try DocumentJSON.binary(.document, json: Array(json.utf8))
    }
  }

  @Test("vectors come as maps with their fields in any order, and more than once")
  func vectors() throws {
    func entry(_ name: String, _ value: DocumentValue) -> [UInt8] {
      var writer = ProtoWriter()
      let mark = writer.begin(1)
      writer.put(1, name)
      writer.value(2, value)
      writer.end(mark)
      return writer.bytes
    }
    let (type, numbers) = (entry("__type__", "__vector__"), entry("value", [1.5, -2.0]))
    for entries in [
      type + numbers, numbers + type, entry("value", 1) + type + numbers,
      type + entry("__type__", 7) + numbers + type,
    ] {
      var writer = ProtoWriter()
      writer.put(6, entries.span)
      var reader = ProtoReader(writer.bytes)
      #expect(try reader.value() == .vector([1.5, -2]))
    }
  }
}
