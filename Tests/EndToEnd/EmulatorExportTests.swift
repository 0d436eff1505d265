import Foundation
import Testing

@testable import tern

/// Writes what an emulator's export holds, as its formats have it.
private enum ExportWriter {
  static func varint(_ number: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = number
    while rest >= 128 {
      bytes.append(UInt8(rest & 127) | 128)
      rest >>= 7
    }
    return bytes + [UInt8(rest)]
  }

  static func number(_ field: Int, _ value: Int64) -> [UInt8] {
    varint(UInt64(field) << 3) + varint(UInt64(bitPattern: value))
  }

  static func bytes(_ field: Int, _ value: [UInt8]) -> [UInt8] {
    varint(UInt64(field) << 3 | 2) + varint(UInt64(value.count)) + value
  }

  static func text(_ field: Int, _ value: String) -> [UInt8] { bytes(field, Array(value.utf8)) }

  static func double(_ field: Int, _ value: Double) -> [UInt8] {
    varint(UInt64(field) << 3 | 1)
      + (0..<8).map { UInt8(truncatingIfNeeded: value.bitPattern >> UInt64(8 * $0)) }
  }

  static func group(_ field: Int, _ value: [UInt8]) -> [UInt8] {
    varint(UInt64(field) << 3 | 3) + value + varint(UInt64(field) << 3 | 4)
  }

  static func property(
    _ name: String, _ value: [UInt8], meaning: Int64 = 0, isElement: Bool = false
  ) -> [UInt8] {
    bytes(
      14,
      (meaning == 0 ? [] : number(1, meaning)) + text(3, name) + number(4, isElement ? 1 : 0)
        + bytes(5, value))
  }

  static func entity(_ path: String, _ properties: [[UInt8]]) -> [UInt8] {
    let names = path.split(separator: "/").map(String.init)
    let elements = stride(from: 0, to: names.count, by: 2).flatMap { index in
      group(1, text(2, names[index]) + text(4, names[index + 1]))
    }
    return bytes(13, text(13, "dev~demo") + bytes(14, elements)) + bytes(16, [])
      + properties.flatMap { $0 }
  }

  /// Records in blocks of 32 KiB.
  static func log(_ records: [[UInt8]]) -> [UInt8] {
    var file: [UInt8] = []
    for record in records {
      var rest = record[...]
      var isFirst = true
      repeat {
        let room = 32_768 - file.count % 32_768
        if room < 7 { file += [UInt8](repeating: 0, count: room) }
        let part = rest.prefix(32_768 - file.count % 32_768 - 7)
        rest = rest.dropFirst(part.count)
        let type: UInt8 = isFirst ? (rest.isEmpty ? 1 : 2) : (rest.isEmpty ? 4 : 3)
        let sum = RecordLog.masked(RecordLog.checksum([type] + part))
        file += (0..<4).map { UInt8(truncatingIfNeeded: sum >> UInt32(8 * $0)) }
        file += [UInt8(part.count & 255), UInt8(part.count >> 8), type] + part
        isFirst = false
      } while !rest.isEmpty
    }
    return file
  }
}

@Suite("import of an emulator's export") struct EmulatorExportTests {
  @Test("the checksum is CRC-32C, masked as LevelDB has it")
  func checksum() {
    #expect(RecordLog.checksum(Array("123456789".utf8)) == 0xE306_9283)
    #expect(RecordLog.masked(0) == 0xA282_EAD8)
  }

  @Test("documents come in with every type of value, in records of any size")
  func types() async throws {
    typealias W = ExportWriter
    let reference = W.group(
      12, W.text(13, "dev~demo") + W.group(14, W.text(15, "c") + W.text(17, "b")))
    let map = W.entity(
      "",
      [
        W.property("n", W.number(1, 5)), W.property("s", W.text(3, "in"), meaning: 15),
      ])
    let long = String(repeating: "é", count: 50_000)
    let records = [
      W.entity(
        "c/a",
        [
          W.property("int", W.number(1, -7)), W.property("float", W.double(4, 1.5)),
          W.property("nan", W.double(4, .nan)), W.property("flag", W.number(2, 1)),
          W.property("text", W.text(3, "hi"), meaning: 15), W.property("none", []),
          W.property("bytes", W.bytes(3, [1, 2, 255]), meaning: 16),
          W.property("time", W.number(1, 1_500_000), meaning: 7),
          W.property("place", W.group(5, W.double(6, 1) + W.double(7, -2)), meaning: 9),
          W.property("ref", reference), W.property("map", W.bytes(3, map), meaning: 19),
          W.property("empty", [], meaning: 24),
          W.property("list", W.number(1, 1), isElement: true),
          W.property("list", W.text(3, "two"), isElement: true),
        ]),
      W.entity("c/b", []), W.entity("c/a/sub/d", [W.property("long", W.text(3, long))]),
    ]
    try await withServer(["--storage", "memory"]) { server, folder in
      let kinds = folder + "/seed/firestore_export/all_namespaces/all_kinds"
      try FileManager.default.createDirectory(
        atPath: kinds, withIntermediateDirectories: true)
      try Data("{}".utf8).write(to: URL(filePath: folder + "/seed/firebase-export-metadata.json"))
      try Data(W.log(records)).write(to: URL(filePath: kinds + "/output-0"))
      let imported = try await server.tern("doc", "import", folder + "/seed")
      #expect(imported.output == ["imported 3 documents"], "\(imported)")
      let told = try await server.tern("doc", "export", "/", "--typed").output.joined(
        separator: "\n")
      for part in [
        #""int":{"integerValue":"-7"}"#, #""float":{"doubleValue":1.5}"#,
        #""nan":{"doubleValue":"NaN"}"#, #""flag":{"booleanValue":true}"#,
        #""text":{"stringValue":"hi"}"#, #""none":{"nullValue":null}"#,
        #""bytes":{"bytesValue":"AQL/"}"#,
        #""time":{"timestampValue":"1970-01-01T00:00:01.500Z"}"#,
        #""place":{"geoPointValue":{"latitude":1.0,"longitude":-2.0}}"#,
        #""ref":{"referenceValue":"projects/tern/databases/(default)/documents/c/b"}"#,
        #""map":{"mapValue":{"fields":{"n":{"integerValue":"5"},"s":{"stringValue":"in"}}}}"#,
        #""list":{"arrayValue":{"values":[{"integerValue":"1"},{"stringValue":"two"}]}}"#,
        #""empty":{"arrayValue":{"values":[]}}"#, #""path":"c/b""#, #""path":"c/a/sub/d""#,
        #""long":{"stringValue":"éé"#,
      ] {
        #expect(told.contains(part), "\(part)\n\(told.prefix(1_500))")
      }
      var damaged = W.log(records)
      damaged[20] ^= 1
      try Data(damaged).write(to: URL(filePath: kinds + "/output-0"))
      let refused = try await server.tern("doc", "import", folder + "/seed")
      #expect(refused.code == 2)
      #expect(refused.errors.contains("the export is damaged"), "\(refused)")
      let empty = try await server.tern("doc", "import", kinds + "/..")
      #expect(empty.code == 2)
    }
  }
}
