import Foundation
import Testing

@testable import tern

@Suite("bad input") struct BadInputTests {
  @Test("a port in use is named, and the first server goes on")
  func portInUse() async throws {
    try await withServer { server, folder in
      let second = try await run(["serve", "--path", folder + "/other", "--port", server.port])
      #expect(second.code == 1)
      #expect(second.errors.contains("\(server.address) is in use"), "\(second)")
      #expect(try await server.tern("set", "a", "1").code == 0)
    }
  }

  @Test("a folder in use is named, and the first server goes on")
  func folderInUse() async throws {
    try await withServer { server, folder in
      let second = try await run(["serve", "--path", folder + "/data", "--port", "0"])
      #expect(second.code == 1)
      #expect(second.errors.contains(folder + "/data"), "\(second)")
      #expect(try await server.tern("set", "a", "1").code == 0)
    }
  }

  @Test("a folder that cannot be made is named")
  func noFolder() async throws {
    let refused = try await run(["serve", "--path", "/proc/tern-data", "--port", "0"])
    #expect(refused.code == 1)
    #expect(refused.errors.contains("/proc/tern-data"), "\(refused)")
  }

  @Test(
    "a wrong configuration names what is known",
    arguments: [
      (#"{"storage": {"kind": "postgres"}}"#, "memory, sqlite, lmdb"),
      (#"{"storage": {"kind": "lmdb", "pth": "x"}}"#, "kind, path, durability, limitBytes"),
      (#"{"stroage": {"kind": "lmdb"}}"#, "storage, transport, cache, documents, auth"),
      (#"{"transport": {"kind": "tcp", "port": "9090"}}"#, "\"port\" must be an integer"),
      (#"{"transport": {"kind": "carrier-pigeon"}}"#, "loopback, tcp"),
      (#"{"transport": {"kind": "tcp", "port": 123456}}"#, "123456"),
      (#"{"storage": }"#, "tern.json:1:13: expected a value, found }"),
    ])
  func configuration(text: String, words: String) async throws {
    try await withFolder { folder in
      let file = folder + "/tern.json"
      try Data(text.utf8).write(to: URL(filePath: file))
      let refused = try await run(["serve", "--config", file], folder: folder)
      #expect(refused.errors.contains(words), "\(refused)")
      #expect(refused.code == (words == "123456" ? refused.code : 2))
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["tern.json"])
    }
  }

  @Test("the environment comes after the file, and flags come last")
  func layers() async throws {
    try await withFolder { folder in
      let file = folder + "/tern.json"
      try Data(#"{"storage": {"kind": "lmdb"}}"#.utf8).write(to: URL(filePath: file))
      let refused = try await run(
        ["serve", "--config", file, "--port", "0", "--storage", "nothing"],
        environment: ["TERN_STORAGE_KIND": "memory"], folder: folder)
      #expect(refused.errors.contains("unknown kind \"nothing\""), "\(refused)")
      let variables = [
        "TERN_STORGE_KIND": "memory", "TERN_PORT": "tcp://10.0.0.1:9000", "TERN_VERSION": "1",
        "TERN_SERVICE_HOST": "10.0.0.1", "TERN_STORAGE_SERVICE_HOST": "10.0.0.2",
        "TERN_LEDGER_LOG_LIMIT": "77",
      ]
      let settled = try await run(["config", "--config", file], environment: variables)
      #expect(settled.code == 0)
      #expect(
        settled.errors
          == "tern: warning: TERN_PORT, TERN_SERVICE_HOST, TERN_STORAGE_SERVICE_HOST, "
          + "TERN_STORGE_KIND, TERN_VERSION: no such setting; ignored, see: tern config")
      let printed = settled.output.joined(separator: "\n")
      #expect(printed.contains(#""logLimit": 77"#) && printed.contains(#""kind": "lmdb""#))
      #expect(!printed.contains("serviceHost"))
      let line = try await run(["config", "--config", file, "--json"])
      #expect(line.output.count == 1 && line.output[0].contains(#""kind":"lmdb""#), "\(line)")
    }
  }

  @Test("a transport that ends in the program is of no use to a command")
  func loopback() async throws {
    try await withFolder { folder in
      let file = folder + "/tern.json"
      try Data(#"{"transport": {"kind": "loopback"}}"#.utf8).write(to: URL(filePath: file))
      for command in [["serve", "--dev"], ["get", "a"]] {
        let refused = try await run(command + ["--config", file], folder: folder)
        #expect(refused.code == 2)
        #expect(refused.errors.contains("has to be tcp"), "\(refused)")
      }
    }
  }

  @Test("a token that no server takes is not made")
  func tokens() async throws {
    try await withFolder { folder in
      let key = folder + "/key"
      try Data(String(repeating: "k", count: 64).utf8).write(to: URL(filePath: key))
      for (arguments, words) in [
        (["ann", "--claims", #"{"sub": "bob"}"#], "\"sub\" comes twice"),
        (["ann", "--claims", #"{"a": 1, "a": 2}"#], "\"a\" comes twice"),
        ([""], "1 to 128 bytes"), (["ann", "--expires", "0"], "at least 1"),
      ] {
        let refused = try await run(["auth", "sign", "--key", key] + arguments)
        #expect(refused.code == 2)
        #expect(refused.errors.contains(words), "\(refused)")
      }
    }
  }

  @Test("an error without a server says where it was looked for, and why it was not there")
  func unreachable() async throws {
    let nobody = try await run(["get", "a", "--server", "127.0.0.1:1"])
    #expect(nobody.code == 3)
    #expect(nobody.errors.contains("no server listens at 127.0.0.1:1"), "\(nobody)")
    let roots = try await run(["get", "a", "--server", "127.0.0.1:1", "--ca", "/no/roots.pem"])
    #expect(roots.code == 2)
    #expect(roots.errors.contains("/no/roots.pem: there is no such file"), "\(roots)")
  }

  @Test("an address other machines can reach needs --insecure")
  func insecure() async throws {
    try await withFolder { folder in
      let refused = try await run(["serve", "--host", "0.0.0.0", "--port", "0"], folder: folder)
      #expect(refused.code == 2)
      #expect(refused.errors.contains("--insecure"), "\(refused)")
    }
  }

  @Test("a client that speaks garbage is dropped, and no other notices")
  func garbage() async throws {
    try await withServer { server, _ in
      let port = try #require(UInt16(server.port))
      for bytes in [
        Array("GET / HTTP/1.1\r\n\r\n".utf8), [UInt8](repeating: 0xFF, count: 4_096),
        Array("TERN".utf8), preamble + [0xFF, 0xFF, 0xFF, 0xFF, 1],
        preamble + [0, 0, 0, 3] + Array("}{}".utf8), preamble + [0, 0, 0, 4] + Array("null".utf8),
      ] {
        try sendBytes(bytes, toPort: port)
      }
      #expect(try await server.tern("set", "a", "1").code == 0)
      #expect(try await server.tern("get", "a").output == ["1"])
      #expect(await server.stop() == 0)
    }
  }
}
