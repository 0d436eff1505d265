import Foundation
import Testing

@testable import tern

@Suite("commands that could harm what is there") struct OperatorSafetyTests {
  @Test("a measurement needs a place of its own, and leaves nothing there")
  func bench() async throws {
    try await withServer { server, _ in
      _ = try await server.tern("update", "/", #"{"kept/a": 1, "leaf": "x"}"#)
      let before = try await server.tern("get", "/").output
      for place in ["/", "", "kept", "leaf", "kept/a"] {
        let refused = try await server.tern(
          "bench", "writes", "--duration", "1", "--clients", "1", "--at", place)
        #expect(refused.code == 2, "\(place): \(refused)")
        #expect(try await server.tern("get", "/").output == before, "\(place)")
      }
      let measured = try await server.tern(
        "bench", "writes", "--duration", "1", "--clients", "1", "--at", "own/place")
      #expect(measured.code == 0, "\(measured)")
      #expect(try await server.tern("get", "/").output == before)
    }
  }
}
