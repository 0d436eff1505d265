import Foundation
import Testing

@testable import tern

@Suite("a server's damaged store") struct SalvageTests {
  @Test(
    "what keeps a server from starting is listed, kept in a file and taken out; all else is there")
  func wayOn() async throws {
    try await withFolder { folder in
      let store = ["--path", folder + "/data"]
      let missing = try await run(["salvage"] + store)
      #expect(
        missing.code == 5 && missing.errors.contains("there is no server's store"), "\(missing)")
      let server = try await ServerUnderTest(folder: folder)
      #expect(try await server.tern("set", "a", "1").code == 0)
      #expect(await server.stop() == 0)
      let well = try await run(["salvage"] + store)
      #expect(well.code == 0 && well.output == ["the store is well"], "\(well)")

      try await damageFormat(of: folder + "/data/server/rows.sqlite")
      let refused = try await run(["serve", "--dev", "--port", "0"] + store)
      #expect(refused.code == 1 && refused.errors.contains("tern salvage"), "\(refused)")
      let listed = try await run(["salvage"] + store)
      #expect(listed.code == 0 && listed.output.count == 2, "\(listed)")
      #expect(listed.output.first?.hasPrefix("damaged format 00 ") == true, "\(listed)")
      let file = folder + "/aside.jsonl"
      let taken = try await run(["salvage", "--set-aside", file] + store)
      #expect(taken.output.first?.hasPrefix("set-aside format 00 ") == true, "\(taken)")
      #expect(
        try String(contentsOfFile: file, encoding: .utf8).hasPrefix(#"{"kind":"format","key":"00""#)
      )
      let again = try await ServerUnderTest(folder: folder)
      #expect(try await again.tern("get", "a").output == ["1"])
      #expect(await again.stop() == 0)
      let verified = try await run(["verify"] + store)
      #expect(verified.code == 0 && verified.output.last?.hasSuffix("all well") == true)
      let url = URL(filePath: folder + "/data/server/rows.sqlite")
      var bytes = try Data(contentsOf: url)
      bytes[bytes.count - 100] ^= 6
      try bytes.write(to: url)
      let corrupt = try await run(["verify"] + store)
      #expect(corrupt.code == 1 && corrupt.output.first?.contains("page") == true, "\(corrupt)")
    }
  }

  /// Turns a bit in the record that names the format.
  private func damageFormat(of file: String) async throws {
    let program = """
      import sqlite3, sys
      store = sqlite3.connect(sys.argv[1])
      record = bytearray(store.execute("SELECT record FROM rows WHERE key = x'00'").fetchone()[0])
      record[-1] ^= 3
      store.execute("UPDATE rows SET record = ? WHERE key = x'00'", (bytes(record),))
      store.commit()
      """
    let done = try await run(["-c", program, file], program: "/usr/bin/python3")
    try #require(done.code == 0, "\(done)")
  }
}
