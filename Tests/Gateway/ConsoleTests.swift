import Foundation
import TernCore
import TernServer
import Testing

@testable import TernGateway

@Suite("Console")
struct ConsoleTests {
  private func request(
    _ method: String, _ target: String, host: String = "127.0.0.1:9000", _ body: String = ""
  )
    -> HTTPRequest
  {
    var request = HTTPRequest(
      method: method, target: target, headers: [("Host", host)], body: Array(body.utf8))
    request.peer = "127.0.0.1:5"
    return request
  }

  private func page(
    _ target: String, method: String = "GET", host: String = "127.0.0.1:9000",
    _ change: (inout GatewayOptions) -> Void = { _ in }
  ) -> (status: Int, headers: HTTPFields, body: String) {
    var options = GatewayOptions()
    change(&options)
    do throws(RESTError) {
      let response = try ConsolePage.response(
        to: request(method, target, host: host), at: target, options)
      return (response.status, response.headers, String(decoding: response.body, as: UTF8.self))
    } catch {
      return (error.status, [], error.text)
    }
  }

  @Test("the embedded files are those of the sources")
  func sources() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Modules/Gateway/Console/Web")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names.sorted() == ConsoleFiles.all.keys.sorted(), "run Tools/console")
    for name in names {
      let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
      #expect(ConsoleFiles.all[name] == text, "\(name): run Tools/console")
    }
  }

  @Test("every file has its type and forbids what it does not need")
  func headers() {
    for (path, type) in [
      ("/-/console", "text/html"), ("/-/console/", "text/html"),
      ("/-/console/main.js", "text/javascript"), ("/-/console/console.css", "text/css"),
      ("/-/console/icon.svg", "image/svg+xml"),
    ] {
      let answer = page(path)
      #expect(answer.status == 200)
      #expect(answer.headers["Content-Type"] == type + "; charset=utf-8")
      #expect(answer.headers["Content-Security-Policy"]?.contains("default-src 'none'") == true)
      #expect(answer.headers["Content-Security-Policy"]?.contains("unsafe") == false)
      #expect(answer.headers["Cache-Control"] == "no-store")
      #expect(answer.headers["X-Content-Type-Options"] == "nosniff")
      #expect(answer.headers["X-Frame-Options"] == "DENY")
    }
  }

  @Test("nothing but the files is served, and only to be read")
  func refusals() {
    #expect(page("/-/console/../main.js").status == 404)
    #expect(page("/-/console/secret").status == 404)
    #expect(page("/-/console", method: "POST").status == 405)
    #expect(page("/-/console", method: "HEAD").status == 200)
    #expect(page("/-/console", { $0.servesConsole = false }).status == 404)
    #expect(!ConsolePage.serves("/-/consoles"))
  }

  @Test("a server for development shows it under the names of this machine alone")
  func rebinding() {
    let isDevelopment: (inout GatewayOptions) -> Void = { $0.isDevelopment = true }
    #expect(page("/-/console", host: "localhost:9000", isDevelopment).status == 200)
    #expect(page("/-/console", host: "evil.example.com", isDevelopment).status == 403)
    #expect(page("/-/console", host: "db.example.com").status == 200)
  }

  @Test("no source asks for anything elsewhere, or turns text into markup")
  func texts() {
    for (name, text) in ConsoleFiles.all where !name.hasSuffix(".svg") {
      for word in [
        "innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "https://",
      ] {
        #expect(!text.contains(word), "\(name) has \(word)")
      }
    }
  }

  private func asked(_ method: String, _ target: String, _ body: String = "") throws
    -> DirectRequest
  {
    let request = request(method, target, body)
    let parsed = try #require(RequestTarget(target))
    return try RulesEndpoint.request(request, parsed, Caller(request, parsed))
  }

  private func refusal(_ method: String, _ target: String, _ body: String = "") -> Int? {
    do {
      _ = try asked(method, target, body)
      return nil
    } catch { return (error as? RESTError)?.status }
  }

  @Test("questions about rules are understood, or refused in words")
  func questions() throws {
    let explained = try asked(
      "POST", "/-/rules/explain",
      #"{"language":"tree","database":"harbor","operation":"write","path":"a","value":1,"auth":{"uid":"ann"}}"#
    )
    #expect(explained.namespace == "harbor")
    guard case .rules(.explain(let question)) = explained.operation else {
      Issue.record("\(explained.operation)")
      return
    }
    #expect(question.operation == "write")
    #expect(question.value == .integer(1))
    #expect(question.auth["uid"]?.text == "ann")
    #expect(question.rules == nil)
    let read = try asked("GET", "/-/rules/documents?database=projects/p/databases/(default)")
    #expect(read.namespace == "projects/p/databases/(default)")
    #expect(refusal("POST", "/-/rules/check?language=latin") == 400)
    #expect(refusal("POST", "/-/rules/explain", "{") == 400)
    #expect(refusal("POST", "/-/rules/explain", #"{"language":"tree"}"#) == 400)
    #expect(refusal("GET", "/-/rules/documents?database=p") == 400)
    #expect(refusal("GET", "/-/rules/documents?database=projects//databases/x") == 400)
    #expect(refusal("DELETE", "/-/rules/documents?database=projects/p") == 405)
    #expect(refusal("GET", "/-/rules/check?language=tree") == 405)
    #expect(refusal("GET", "/-/rules/other") == 404)
  }
}
