import Foundation
import Testing

@testable import tern

@Suite("commands with several addresses") struct AddressListTests {
  private func tern(_ arguments: String..., variable: String? = nil) async throws -> Finished {
    var environment = ProcessInfo.processInfo.environment
    environment["TERN_SERVER"] = variable
    return try await run(arguments, environment: environment)
  }

  @Test("each command goes on to an address that answers")
  func deadFirst() async throws {
    try await withServer { server, _ in
      let list = "127.0.0.1:1, 127.0.0.1:\(server.port)"
      #expect(try await tern("set", "rooms/1", "1", "--server", list).code == 0)
      let webSockets = list.replacing("127.", with: "ws://127.")
      #expect(try await tern("get", "rooms/1", "--server", webSockets).output == ["1"])
      #expect(try await tern("get", "rooms/1", variable: list).output == ["1"])
      let count = try await tern("doc", "query", "rooms", "--count", "--server", list)
      #expect(count.code == 0 && count.output == ["count 0"], "\(count)")
      let ping = try await tern("ping", "--server", list)
      #expect(ping.output.first?.hasPrefix("one of 127.0.0.1:1,127.") == true, "\(ping)")
      let status = try await tern("status", "--json", "--server", list)
      #expect(status.code == 0, "\(status)")
      #expect(try await tern("databases", variable: list).code == 0)
    }
  }

  @Test("every address that failed is named, and one that is none")
  func failures() async throws {
    let none = try await tern("get", "a", "--server", "127.0.0.1:1,127.0.0.1:2")
    #expect(none.code == 3, "\(none)")
    #expect(none.errors.contains("127.0.0.1:1") && none.errors.contains("127.0.0.1:2"), "\(none)")
    for (text, words) in [
      ("127.0.0.1:1,b:x", #""b:x" is no address"#), ("127.0.0.1:1,", "is no address"),
      ("127.0.0.1:1,ws://127.0.0.1:1", "another scheme or path"),
      ("127.0.0.1:1,127.0.0.1:1", "127.0.0.1:1 is named twice"),
    ] {
      let refused = try await tern("get", "a", "--server", text)
      #expect(refused.code == 2 && refused.errors.contains(words), "\(refused)")
    }
  }

  @Test("a server does not listen at several addresses")
  func serving() async throws {
    try await withFolder { folder in
      let served = try await tern(
        "serve", "--path", folder, "--insecure", "--host", "127.0.0.1:0,localhost:0")
      #expect(served.code != 0 && served.errors.contains("listens at one address"), "\(served)")
    }
  }
}
