import TernCore
import TernQuery
import TernServer
import Testing

@testable import TernGateway

@Suite("REST requests") struct RESTRequestTests {
  private func understand(
    _ method: String, _ target: String, _ body: String = "", headers: HTTPFields = []
  ) throws -> RESTRequest {
    var request = HTTPRequest(
      method: method, target: target, headers: headers, body: Array(body.utf8))
    request.peer = "127.0.0.1:5"
    let parsed = try #require(RequestTarget(target))
    return try RESTRequest(request, parsed, Caller(request, parsed))
  }

  private func refusal(
    _ method: String, _ target: String, _ body: String = "", headers: HTTPFields = []
  ) -> String {
    do {
      let request = try understand(method, target, body, headers: headers)
      return "understood: \(request)"
    } catch let error as RESTError {
      return "\(error.status) \(error.text)"
    } catch {
      return "\(error)"
    }
  }

  private func query(_ parameters: String) throws -> TreeQuery {
    switch try understand("GET", "/a.json?" + parameters).asked.operation {
    case .read(_, let query): return query
    case .readOrExport: return .all
    default: throw RESTError.invalid("no read")
    }
  }

  @Test("paths are decoded, and may end in a priority")
  func paths() throws {
    #expect(try understand("GET", "/.json").path == .root)
    #expect(try understand("GET", "/a%20b/%C3%BC.json").path.text == "a b/ü")
    #expect(try understand("GET", "//a///b/.json").path.text == "a/b")
    #expect(try understand("GET", "/a/.priority.json").path.text == "a/.priority")
    #expect(try understand("GET", "/a+b.json").path.text == "a+b")
    #expect(refusal("GET", "/a.b.json") == "400 Invalid path: Invalid token in path")
    #expect(RequestTarget("/%ff.json") == nil)
    #expect(RequestTarget("/%2.json") == nil)
    #expect(RequestTarget("http://x/") == nil)
  }

  @Test("a tag counts however it is listed: alone, quoted, weak, among others, as any")
  func listedTags() {
    for list in ["abc", "\"abc\"", "W/\"abc\"", "x, abc", "\"x\",W/\"abc\"", "*"] {
      #expect(EntityTag.isListed("abc", in: list), "\(list)")
    }
    for list in ["", "ab", "x, y", "W/\"x\"", EntityTag.none] {
      #expect(!EntityTag.isListed("abc", in: list), "\(list)")
    }
    #expect(EntityTag.isListed(EntityTag.none, in: "x, null_etag"))
    #expect(!EntityTag.isListed(EntityTag.none, in: "*"))
  }

  @Test("queries are those of the clients")
  func queries() throws {
    #expect(try query("orderBy=%22$key%22&limitToLast=3").id == #"{"i":".key","l":3,"vf":"r"}"#)
    #expect(
      try query("orderBy=%22a/b%22&startAt=1&endBefore=2,%22k%22").id
        == #"{"ein":false,"en":"k","ep":2,"i":"a/b","sin":true,"sp":1}"#)
    #expect(try query("orderBy=%22$value%22&equalTo=null").start?.value == nil)
    #expect(try query("orderBy=%22$priority%22").isDefault)
    #expect(try query("").isDefault)
  }

  @Test(
    "queries that make no sense are refused in words",
    arguments: [
      ("limitToFirst=1", "orderBy must be defined when other query parameters are defined"),
      ("startAt=1", "orderBy must be defined when other query parameters are defined"),
      ("orderBy=a", "orderBy must be a valid JSON encoded path"),
      ("orderBy=%22$nothing%22", "orderBy must be a valid JSON encoded path"),
      ("orderBy=%22a%22&limitToFirst=0", "limitToFirst must be a positive integer"),
      ("orderBy=%22a%22&limitToFirst=x", "limitToFirst must be a positive integer"),
      (
        "orderBy=%22a%22&limitToFirst=1&limitToLast=1",
        "Only one of limitToFirst and limitToLast can be defined"
      ),
      ("orderBy=%22$key%22&startAt=1", "Provided key index type is invalid, must be string"),
      (
        "orderBy=%22a%22&startAt=1&equalTo=1",
        "Only one of startAt, startAfter and equalTo can be defined"
      ),
      ("orderBy=%22a%22&startAt={}", "Constraint index field must be a JSON primitive"),
      ("orderBy=%22a%22&startAt=abc", "Constraint index field must be a JSON primitive"),
      ("orderBy=%22a%22&startAt=", "Constraint index field must be a JSON primitive"),
      ("orderBy=%22a%22&startAt=1,%22a.b%22", "Constraint key field must be a valid key name"),
      (
        "orderBy=%22a%22&startAfter=2,%22[MAX_NAME]%22",
        "Constraint key field must be a valid key name"
      ),
      ("timeout=0.0s", "Invalid timeout: it is up to 15min, in ms, s or min."),
      ("timeout=1.s", "Invalid timeout: it is up to 15min, in ms, s or min."),
      ("timeout=.5s", "Invalid timeout: it is up to 15min, in ms, s or min."),
      ("timeout=1.2.3s", "Invalid timeout: it is up to 15min, in ms, s or min."),
      ("timeout=1e2s", "Invalid timeout: it is up to 15min, in ms, s or min."),
      ("timeout=15.1min", "Invalid timeout: it is up to 15min, in ms, s or min."),
      (
        "access_token=t&auth_variable_override=[]",
        "Invalid auth_variable_override: it is an object or null."
      ),
      (
        "access_token=t&auth_variable_override=%22x%22",
        "Invalid auth_variable_override: it is an object or null."
      ),
      ("print=loud", "Invalid print parameter: it is \"pretty\" or \"silent\"."),
      ("format=xml", "Invalid format parameter: it is \"export\"."),
      ("timeout=16min", "Invalid timeout: it is up to 15min, in ms, s or min."),
      ("timeout=3h", "Invalid timeout: it is up to 15min, in ms, s or min."),
      (
        "writeSizeLimit=vast",
        "Invalid writeSizeLimit: it is tiny, small, medium, large or unlimited."
      ),
      ("callback=a%28b%29", "Invalid callback: no function's name."),
      ("shallow=true&orderBy=%22a%22", "Mixing 'shallow' and querying parameters is not supported"),
      ("shallow=true&format=export", "Mixing 'shallow' and querying parameters is not supported"),
    ])
  func badQueries(parameters: String, text: String) {
    #expect(refusal("GET", "/a.json?" + parameters) == "400 " + text)
  }

  @Test("a time may be a decimal number")
  func timeouts() throws {
    func milliseconds(_ text: String) throws -> Int? {
      try understand("GET", "/a.json?timeout=" + text).parameters.timeoutMilliseconds
    }
    #expect(try milliseconds("1.5s") == 1_500)
    #expect(try milliseconds("1.0s") == 1_000)
    #expect(try milliseconds("180.0s") == 180_000)
    #expect(try milliseconds("1.1s") == 1_100)
    #expect(try milliseconds("0.5min") == 30_000)
    #expect(try milliseconds("0.2ms") == 1)
    #expect(try milliseconds("15min") == 900_000)
  }

  @Test("a read by a query that matches nothing is an empty object, a plain one is null")
  func nothingFound() throws {
    func body(_ target: String, _ answer: DirectAnswer) throws -> String {
      let request = try understand("GET", target)
      let response = RESTAnswer.response(to: request, answer, limitBytes: 1_000)
      return String(decoding: response.body, as: UTF8.self)
    }
    let query = "/d.json?orderBy=%22h%22&equalTo=5"
    #expect(try body(query, .node(.empty)) == "{}")
    #expect(try body(query + "&format=export", .node(.empty)) == "{}")
    #expect(try body(query + "&print=pretty", .node(.empty)) == "{ }")
    #expect(try body(query + "&print=silent", .node(.empty)) == "")
    #expect(try body(query, .node(["a": ["h": 5]])) == #"{"a":{"h":5}}"#)
    #expect(try body("/d.json", .node(.empty)) == "null")
    #expect(try body("/d.json?shallow=true", .names([])) == "null")
  }

  @Test("a write is no stream, whatever its client accepts")
  func acceptedStreams() {
    let accept: HTTPFields = [("Accept", "text/event-stream")]
    for method in ["PUT", "POST", "PATCH", "DELETE", "HEAD"] {
      let request = HTTPRequest(method: method, target: "/a.json", headers: accept)
      #expect(!EventStream.isAsked(by: request), "\(method)")
    }
    #expect(EventStream.isAsked(by: HTTPRequest(method: "GET", target: "/a", headers: accept)))
  }

  @Test("bodies become writes")
  func writes() throws {
    func operation(_ method: String, _ body: String, _ headers: HTTPFields = []) throws -> String {
      switch try understand(method, "/a.json", body, headers: headers).asked.operation {
      case .write(.set(let path, let node), let hash):
        return "set \(path) \(node.json(.export)) \(hash ?? "-")"
      case .write(.merge(let path, let merge), _):
        return "merge \(path) "
          + merge.entries.map { "\($0.path)=\($0.node.json(.export))" }.joined(separator: " ")
      case .push(let path, let node): return "push \(path) \(node.json(.export))"
      case .read, .readOrExport, .review, .mayWrite, .mayPush, .names, .readRules, .setRules,
        .setDocumentRules, .removeDocumentRules, .readRuleCoverage, .readSetting, .set,
        .databases, .readRevocations, .revoke, .rules, .administer, .removeDatabase:
        return "other"
      }
    }
    #expect(try operation("PUT", "[1,2]") == #"set a {"0":1,"1":2} -"#)
    #expect(try operation("PUT", "1", [("If-Match", "null_etag")]) == "set a 1 ")
    #expect(try operation("DELETE", "", [("if-match", "\"abc\"")]) == "set a null abc")
    #expect(try operation("POST", "true") == "push a true")
    #expect(try operation("PATCH", #"{"x/y":null,"b":{"c":1}}"#) == #"merge a b={"c":1} x/y=null"#)
    #expect(try operation("PATCH", " null ") == "set a null -")
    #expect(try operation("POST", "{}", [("X-HTTP-Method-Override", "PATCH")]) == "merge a ")
    #expect(try understand("POST", "/a.json?x-http-method-override=DELETE").method == .delete)
  }

  @Test("bodies that are no values are refused")
  func badBodies() {
    let noValue = "400 \(RESTError.noValue.text)"
    for body in ["", "{", "nope", "{\"a.b\":1}", "1 2", "{\"a\":1,}"] {
      #expect(refusal("PUT", "/a.json", body) == noValue, "\(body)")
    }
    #expect(
      refusal("PUT", "/a.json", #"{".sv":"dice"}"#) == "400 Invalid data; unknown server value")
    for body in ["", "[1]", "1", "{\"a\":1} 2", "{\"a.b\":1}"] {
      #expect(refusal("PATCH", "/a.json", body) == "400 \(RESTError.noUpdate.text)", "\(body)")
    }
    #expect(
      refusal("PATCH", "/a.json", #"{"b":1,"b/c":2}"#) == "400 Invalid data; /b and /b/c overlap.")
    #expect(refusal("GET", "/a.json", headers: [("if-match", "x")]).hasPrefix("400 if-match"))
    #expect(
      refusal("PATCH", "/a.json", "{}", headers: [("X-Firebase-ETag", "true")]).hasPrefix("400"))
    let silent = refusal("PUT", "/a.json?print=silent", "1", headers: [("If-Match", "x")])
    #expect(silent == "400 if-match is not supported together with print=silent")
    #expect(refusal("TRACE", "/a.json") == "405 The method TRACE is not supported.")
  }
}

@Suite("callers") struct CallerTests {
  private func caller(
    _ headers: HTTPFields, target: String = "/a.json", peer: String = "127.0.0.1:5"
  ) throws -> Caller {
    var request = HTTPRequest(method: "GET", target: target, headers: headers)
    request.peer = peer
    return Caller(request, try #require(RequestTarget(target)))
  }

  @Test("the database is named by a parameter, or by the host")
  func namespaces() throws {
    #expect(try caller([("Host", "db.example.com")]).namespace == "db")
    #expect(try caller([("Host", "db.localhost:9000")]).namespace == "db")
    #expect(try caller([("Host", "localhost:9000")]).namespace == "default")
    #expect(try caller([("Host", "example.com")]).namespace == "default")
    #expect(try caller([("Host", "127.0.0.1:9000")]).namespace == "default")
    #expect(try caller([("Host", "[::1]:9000")]).namespace == "default")
    #expect(try caller([("Host", "db.example.com")], target: "/a.json?ns=x").namespace == "x")
  }

  @Test("a page of a stranger does not speak for the machine it is read on")
  func strangers() throws {
    #expect(try caller([("Host", "localhost:9000")]).isLocal)
    #expect(try caller([("Host", "localhost"), ("Origin", "http://localhost:4000")]).isLocal)
    #expect(try caller([("Host", "[::1]:1")], peer: "[::1]:7").isLocal)
    #expect(try !caller([("Host", "localhost"), ("Origin", "https://evil.example")]).isLocal)
    #expect(try !caller([("Host", "localhost"), ("Origin", "null")]).isLocal)
    // Scripts, as those of long polling, say where they belong by the page's address.
    let script = ("Sec-Fetch-Site", "cross-site")
    let page = ("Referer", "http://localhost:3000/app/")
    #expect(try caller([("Host", "127.0.0.1:9000"), script, page]).isLocal)
    #expect(try !caller([("Host", "127.0.0.1:9000"), script]).isLocal)
    let stranger = ("Referer", "https://evil.example/localhost/")
    #expect(try !caller([("Host", "localhost"), script, stranger]).isLocal)
    #expect(try !caller([("Host", "localhost"), stranger]).isLocal, "an older browser")
    #expect(
      try !caller([("Host", "127.0.0.1"), ("Origin", "http://127.0.0.1.evil.example")]).isLocal)
    #expect(try !caller([("Host", "evil.example")]).isLocal, "a name led back to this machine")
    for field in [
      "X-Forwarded-For", "Forwarded", "Via", "X-Real-IP", "X-Forwarded-Host", "X-Forwarded-Proto",
    ] {
      #expect(try !caller([("Host", "localhost"), (field, "1.1 edge")]).isLocal, "\(field)")
    }
    #expect(try !caller([("Host", "localhost")], peer: "10.0.0.7:5").isLocal)
    let foreign = try caller([("Host", "localhost"), ("Origin", "https://evil.example")])
    #expect(!foreign.peer.hasPrefix("127."), "a link by that name would count as local")
  }
}
