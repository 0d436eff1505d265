#if TCP && os(Linux)
  import Foundation

  /// A file of documents of ten fields, written by `tern doc import` into a server on SQLite.
  ///
  /// The program is the one beside this program, or what `TERN_PROGRAM` names. The baseline is the
  /// aim.
  enum ImportSection {
    private static let documentsPerSecond = 25_000.0

    static func run(documents: Int, rounds: Int) async throws -> [BenchLine] {
      guard let program = ChildServer.ternProgram else { return [] }
      let folder = try BenchFolder()
      defer { folder.remove() }
      let file = folder.path + "/documents.jsonl"
      try Data(lines(documents).utf8).write(to: URL(fileURLWithPath: file))
      var rates: [Double] = []
      for round in 0..<rounds {
        let server = try ChildServer.tree(in: folder.path + "/\(round)")
        defer { server.stop() }
        let seconds = try `import`(file, with: program, into: server)
        print(
          "\(documents) documents imported in \(BenchLine.tenths(seconds)) s,",
          "processor \(BenchLine.tenths(server.processorSeconds)) s of the server")
        rates.append(Double(documents) / seconds)
      }
      return [
        BenchLine(
          name: "tern doc import, documents/s: 25,000", rate: BenchLine.median(rates),
          baseline: documentsPerSecond, target: 1)
      ]
    }

    private static func `import`(
      _ file: String, with program: String, into server: ChildServer
    ) throws -> Double {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: program)
      process.arguments = ["doc", "import", file, "--server", "127.0.0.1:\(server.port)"]
      process.standardOutput = FileHandle.nullDevice
      let start = ContinuousClock.now
      try process.run()
      process.waitUntilExit()
      guard process.terminationStatus == 0 else {
        throw BenchFailure(reason: "the import ended with \(process.terminationStatus)")
      }
      return (ContinuousClock.now - start) / .seconds(1)
    }

    private static func lines(_ count: Int) -> String {
      var text = ""
      for number in 0..<count {
        let fields = (0..<10).map { field in
          field % 2 == 0
            ? #""field\#(field)":\#(number * 10 + field)"#
            : #""field\#(field)":"text \#(number) of field \#(field)""#
        }
        text +=
          #"{"path":"rooms/d\#(number)","fields":{\#(fields.joined(separator: ","))}}"# + "\n"
      }
      return text
    }
  }
#endif
