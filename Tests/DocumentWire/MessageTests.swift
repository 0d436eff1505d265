import SwiftProtobuf
import TernCore
import TernQuery
import Testing

@testable import TernDocumentJSON
@testable import TernDocumentWire

@Suite("Messages about documents")
struct MessageTests {
  @Test("requests come back as they were sent")
  func requests() throws {
    for request in try sampleRequests() {
      let bytes = request.encode()
      #expect(try DocumentRequest.decode(request.method, bytes) == request)
    }
  }

  @Test("responses come back as they were sent")
  func responses() throws {
    for (method, response) in sampleResponses() {
      let bytes = response.encode(sampleNames)
      #expect(try DocumentResponse.decode(method, bytes, sampleNames) == response)
    }
  }

  @Test("another implementation reads and writes the same messages")
  func crossed() throws {
    for request in try sampleRequests() {
      let json = try DocumentJSON.json(.request(request.method), binary: request.encode())
      let back = try DocumentJSON.binary(.request(request.method), json: json)
      #expect(try DocumentRequest.decode(request.method, back) == request)
    }
    for (method, response) in sampleResponses() {
      let bytes = response.encode(sampleNames)
      let json = try DocumentJSON.json(.response(method), binary: bytes)
      let back = try DocumentJSON.binary(.response(method), json: json)
      #expect(try DocumentResponse.decode(method, back, sampleNames) == response)
    }
  }

  @Test("no field of ours is unknown to the schema")
  func known() throws {
    for request in try sampleRequests() {
      let message = try request.method.requestType.init(serializedBytes: request.encode())
      #expect(message.isInitialized)
      #expect(message.unknownFields.data.isEmpty)
    }
    for (method, response) in sampleResponses() {
      let message = try method.responseType.init(serializedBytes: response.encode(sampleNames))
      #expect(message.unknownFields.data.isEmpty)
    }
  }

  @Test("a document that is encoded once makes the same message for many")
  func shared() throws {
    let document = Document("a/b", .found(fields), version: DocumentVersion(microseconds: 9))
    let encoded = DocumentResponse.encoded(document, sampleNames)
    let change = WatchChange.changed(document, targets: [1, 2], removed: [7])
    #expect(
      DocumentResponse.changed(encoded, targets: [1, 2], removed: [7])
        == DocumentResponse.listen(change).encode(sampleNames))
  }

  @Test("names of two databases do not mix")
  func databases() throws {
    let request = DocumentRequest(.commit(sampleWrites, transaction: [], nil), in: sampleDatabase)
    let other = try DocumentDatabase(projectID: "q")
    #expect(throws: DocumentWireError.self) {
      try DocumentRequest.decode(.commit, request.encode(), in: other)
    }
    let answer = DocumentResponse.document(Document("a/b", .found(.empty)))
    #expect(throws: DocumentWireError.self) {
      try DocumentResponse.decode(
        .getDocument, answer.encode(DocumentNames(other)), sampleNames)
    }
  }

  @Test("methods have the paths of the service")
  func paths() {
    for method in DocumentMethod.allCases {
      #expect(DocumentMethod(path: method.path) == method)
    }
    #expect(DocumentMethod(path: "/google.firestore.v1.Firestore/Listen") == .listen)
    #expect(DocumentMethod(path: "/google.firestore.v1.Firestore/Nothing") == nil)
    #expect(DocumentMethod(path: "Listen") == nil)
  }

  @Test("messages beyond their limit are refused unread")
  func limits() {
    let request = [UInt8](repeating: 0, count: DocumentWireLimits.requestBytes + 1)
    #expect(
      throws: DocumentWireError.tooLarge(
        byteCount: request.count, limit: DocumentWireLimits.requestBytes)
    ) { try DocumentRequest.decode(.commit, request) }
    let response = [UInt8](repeating: 0, count: DocumentWireLimits.messageBytes + 1)
    #expect(
      throws: DocumentWireError.tooLarge(
        byteCount: response.count, limit: DocumentWireLimits.messageBytes)
    ) { try DocumentResponse.decode(.listen, response, sampleNames) }
  }
}
