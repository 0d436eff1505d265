import TernCore
import TernDocumentWire
import Testing

@testable import TernGateway

@Suite("Routes of documents over REST") struct DocumentRouteTests {
  private static let root = "/v1/projects/p/databases/(default)/documents"

  private func route(_ method: String, _ path: String) -> String {
    guard let target = RequestTarget(path) else { return "malformed" }
    switch DocumentRoute.match(method, target, rawPath: path.prefix { $0 != "?" }) {
    case .call(let route): return "\(route.method.rawValue) \(route.resource)"
    case .database(let name): return "database \(name)"
    case .unserved(let verb): return "unserved \(verb)"
    case .none: return "none"
    }
  }

  @Test(
    "a method and a path select a call",
    arguments: [
      ("GET", "/a/b", "GetDocument /a/b"), ("GET", "/a", "ListDocuments /a"),
      ("GET", "/a/b/c", "ListDocuments /a/b/c"), ("GET", "/a/b/c/d", "GetDocument /a/b/c/d"),
      ("HEAD", "/a/b", "GetDocument /a/b"), ("POST", "/a", "CreateDocument /a"),
      ("POST", "/a/b/c", "CreateDocument /a/b/c"), ("POST", "/a/b", "CreateDocument /a/b"),
      ("PATCH", "/a/b", "UpdateDocument /a/b"), ("PATCH", "/a", "UpdateDocument /a"),
      ("DELETE", "/a/b", "DeleteDocument /a/b"), ("POST", ":commit", "Commit "),
      ("POST", ":batchGet", "BatchGetDocuments "), ("POST", ":batchWrite", "BatchWrite "),
      ("POST", ":beginTransaction", "BeginTransaction "), ("POST", ":rollback", "Rollback "),
      ("POST", ":runQuery", "RunQuery "), ("POST", "/a/b:runQuery", "RunQuery /a/b"),
      ("POST", "/a/b:runAggregationQuery", "RunAggregationQuery /a/b"),
      ("POST", ":partitionQuery", "PartitionQuery "),
      ("POST", "/a/b:listCollectionIds", "ListCollectionIds /a/b"),
      // An encoded slash divides, an encoded colon belongs to the name.
      ("GET", "/a%2Fb", "GetDocument /a/b"), ("POST", "/a%3Acommit", "CreateDocument /a:commit"),
      ("GET", "/a/b:c", "GetDocument /a/b:c"), ("GET", "/a/b.json", "GetDocument /a/b.json"),
      ("GET", "/%C3%BC/%20", "GetDocument /ü/ "),
    ])
  func calls(method: String, path: String, expected: String) {
    let parts = expected.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    let name = "\(parts[0]) projects/p/databases/(default)/documents\(parts[1])"
    #expect(route(method, Self.root + path) == name)
  }

  @Test(
    "other methods, verbs and paths are not served",
    arguments: [
      ("PUT", "/a/b"), ("POST", ":nothing"), ("POST", ""), ("GET", ""), ("GET", "/"),
      ("GET", "/a/"), ("DELETE", ""), ("PATCH", ""), ("POST", "/a/b:commit"), ("POST", "/a:"),
      ("GET", ":runQuery/a"),
    ])
  func none(method: String, path: String) {
    #expect(route(method, Self.root + path) == "none")
  }

  @Test("the parameters of a request are limited, and a list of them keeps its order")
  func parameterLimit() throws {
    let limit = DocumentRESTParameters.maxParameters
    let name = "updateMask.fieldPaths"
    let paths = (0..<limit).map { RequestTarget.Parameter(name: name, value: "f\($0)") }
    let parameters = try DocumentRESTParameters(paths)
    var members = DocumentRESTMembers()
    for parameter in parameters.bindings { try members.bind(parameter, of: .updateDocument) }
    let list = try JSONValue(parsing: String(decoding: members.json, as: UTF8.self))["updateMask"]
    let expected = paths.map { JSONValue.string($0.value) }
    #expect(list?["fieldPaths"] == JSONValue.array(expected))
    do throws(DocumentRESTError) {
      _ = try DocumentRESTParameters(paths + [RequestTarget.Parameter(name: "$x", value: "")])
      Issue.record("more parameters than the limit were read")
    } catch {
      #expect(error.status.code == .invalidArgument)
      #expect(error.status.message.contains("the limit is \(limit)"))
    }
  }

  @Test("streams of requests, and pipelines, are known and not served")
  func unserved() {
    #expect(route("POST", Self.root + ":listen") == "unserved listen")
    #expect(route("POST", Self.root + ":write") == "unserved write")
    #expect(route("POST", Self.root + ":executePipeline") == "unserved executePipeline")
  }

  @Test("projects and databases are spelled in several ways")
  func databases() {
    let plain = "GetDocument projects/p/databases/(default)/documents/a/b"
    for version in ["v1", "v1beta1"] {
      let path = "/\(version)/projects/p/databases/%28default%29/documents/a/b"
      #expect(route("GET", path) == plain)
    }
    #expect(
      route("POST", "/v1/projects/example.com:id/databases/d/documents:commit")
        == "Commit projects/example.com:id/databases/d/documents")
    #expect(
      route("GET", "/v1/projects/p/databases/(default)")
        == "database projects/p/databases/(default)")
    #expect(route("GET", "/v1/projects/p/databases/d/operations") == "none")
    #expect(route("GET", "/v2/projects/p/databases/d/documents/a/b") == "none")
    #expect(!DocumentRoute.serves("/v1/projects/p.json"))
    #expect(DocumentRoute.serves("/v1/projects/p/databases/d/documents"))
  }

  // MARK: - Members

  private func reading(
    _ method: String, _ path: String, _ body: String = "", headers: HTTPFields = []
  ) throws -> String {
    let request = HTTPRequest(
      method: method, target: Self.root + path, headers: headers, body: Array(body.utf8))
    let target = try #require(RequestTarget(request.target))
    switch DocumentRESTRequest.read(request, target) {
    case .call(let call):
      do {
        _ = try call.message()
        return String(decoding: call.members, as: UTF8.self)
      } catch {
        return String(decoding: error.json, as: UTF8.self)
      }
    case .answer(let response):
      return "\(response.status) " + String(decoding: response.body, as: UTF8.self)
    }
  }

  @Test("the query binds members, in either spelling")
  func parameters() throws {
    let name = #""name":"projects/p/databases/(default)/documents/a/b""#
    #expect(
      try reading("GET", "/a/b?mask.fieldPaths=x&mask.field_paths=y&key=k&prettyPrint=true")
        == "{\(name)," + #""mask":{"fieldPaths":["x","y"]}}"#)
    #expect(
      try reading("DELETE", "/a/b?currentDocument.exists=true")
        == "{\(name)," + #""currentDocument":{"exists":true}}"#)
    #expect(
      try reading("GET", "/a?pageSize=5&order_by=x%20desc&showMissing=false&$.xgafv=2")
        == #"{"parent":"projects/p/databases/(default)/documents","collectionId":"a","#
        + #""pageSize":"5","orderBy":"x desc","showMissing":false}"#)
    #expect(
      try reading("PATCH", "/a/b?updateMask.fieldPaths=x", "{}")
        == #"{"document":{"# + name + #"},"updateMask":{"fieldPaths":["x"]}}"#)
    #expect(
      try reading(
        "POST", "/a", "pageSize=3&mask.fieldPaths=x+y",
        headers: [
          ("X-HTTP-Method-Override", "GET"), ("Content-Type", "application/x-www-form-urlencoded"),
        ])
        == #"{"parent":"projects/p/databases/(default)/documents","collectionId":"a","#
        + #""pageSize":"3","mask":{"fieldPaths":["x y"]}}"#)
  }

  @Test(
    "parameters that mean nothing are rejected",
    arguments: [
      ("/a/b?nothing=1", #"Unknown name \"nothing\": Cannot bind query parameter."#),
      ("/a/b?pageSize=1", #"Unknown name \"pageSize\""#),
      ("/a/b?transaction=AA==&transaction=AA==", "given more than once"),
      ("/a/b?alt=proto", "Only alt=json is served."), ("/a/b?callback=f", "leave out callback"),
      ("/a/b?transaction=AA==&readTime=2020-01-01T00:00:00Z", "'consistency_selector'"),
      ("/a/b?readTime=yesterday", "Invalid value at 'read_time'"),
      ("/a/b?transaction=***", "Base64 decoding failed"),
      ("/a?pageSize=many", "Invalid value at 'page_size' (TYPE_INT32)"),
      ("/a?showMissing=maybe", "Invalid value at 'show_missing' (TYPE_BOOL)"),
    ])
  func badParameters(path: String, text: String) throws {
    let answer = try reading("GET", path)
    #expect(answer.contains(text), "\(answer)")
    #expect(answer.contains("INVALID_ARGUMENT"))
  }
}
