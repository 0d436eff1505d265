import TernAssembly
import TernClient
import TernCore
import TernStorage
import TernSync
import TernTransport
import Testing

@testable import tern

@Suite("failures") struct FailureTests {
  private static let denied = Rejection(status: "permission_denied", detail: "")

  @Test(
    "every error has the exit code that is documented",
    arguments: [
      (AcknowledgementError.rejected(denied), .refused),
      (AcknowledgementError.notStored(.queueFull(limitWrites: 3)), .failed),
      (ReadError.rejected(denied), .refused), (ReadError.offline, .unreachable),
      (ListenError.rejected(denied), .refused), (ListenError.overflow(limit: 9), .failed),
      (WriteError.invalid(.emptyKey), .usage),
      (AssemblyError.configuration(.missingKey("a", section: "b")), .usage),
      (AssemblyError.transport(.shutDown), .failed),
      (AssemblyError.storage(.diskFull, kind: "sqlite", path: "x"), .failed),
      (ImportError.missingField("id", path: "a/#0"), .usage),
    ] as [(any Error & Sendable, Outcome)])
  func codes(error: any Error & Sendable, outcome: Outcome) {
    #expect(Failure(about: error).code == outcome)
  }

  @Test("messages are plain sentences")
  func words() {
    #expect(
      Failure(about: AssemblyError.storage(.inUse(path: "x"), kind: "sqlite", path: "x")).message
        == "sqlite storage at x: another program has the folder open; end it, or take another folder"
    )
    let error = #expect(throws: Failure.self) { _ = try node("hello") }
    #expect(
      error?.message
        == #"value: not JSON at line 1, column 1: expected a value, found h; a text needs quotes: "#
        + #"'"hello"', or give --text"#)
    #expect(error?.excerpt == "  hello\n  ^")
    let object = #expect(throws: Failure.self) { _ = try node(#"{"a":"#) }
    #expect(
      object?.message == "value: not JSON at line 1, column 6: expected a value, but the text ends")
    let bad = #expect(throws: Failure.self) { _ = try node("{bad") }
    #expect(bad?.message.contains("expected a member's name in double quotes, found b") == true)
    #expect(bad?.excerpt == "  {bad\n   ^")
    let folder = #expect(throws: Failure.self) { _ = try fileBytes(at: "/") }
    #expect(folder?.message == "/ cannot be read: it is a folder")
    #expect(folder?.code == .failed)
  }

  @Test("addresses of this machine")
  func loopback() {
    for host in ["localhost", "127.0.0.1", "127.1.2.3", "::1"] { #expect(Serve.isLoopback(host)) }
    for host in ["0.0.0.0", "127.0.0.1.example.org", "::", "10.0.0.1", ""] {
      #expect(!Serve.isLoopback(host))
    }
  }
}
