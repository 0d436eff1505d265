import ArgumentParser
import TernClient
import TernCore

extension DocumentCommands {
  /// `tern doc import`: a file of lines into collections.
  struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "import",
      abstract: "Write the documents of a file, one a line.",
      discussion: """
        Each line is {"path": "cities/SF", "fields": {…}}, as export writes it; empty lines are \
        left out. A document that exists is replaced, with --merge the fields that are not named \
        stay; other documents are not touched. Lines are written 500 at a time, together or not \
        at all. When it ends early, it says from which line to go on; giving lines twice does no \
        harm. The folder of an export that the Firestore emulator made (--export-on-exit, \
        emulators:export) is read like a file with a line for each document.
        """)

    @Argument(help: "The file, or the folder of an emulator's export; - reads standard input.")
    var file: String

    @Flag(help: "Keep the fields that are not named.")
    var merge = false

    @Option(help: ArgumentHelp("Begin with this line.", valueName: "line"))
    var fromLine = 1

    @OptionGroup var form: TypedFlag
    @OptionGroup var client: ClientFlags

    func run() async throws {
      try client.checkDocuments()
      let isFolder = EmulatorExportFolder.isOne(file)
      let source = isFolder ? nil : try ImportFile(file)
      try await client.withClient { run in
        let database = run.tern.documents.database
        let folder = isFolder ? try EmulatorExportFolder(file, for: database) : nil
        let text = DocumentText(database, isTyped: isFolder || form.typed)
        let lines = DocumentLines(text, merging: merge, from: fromLine) {
          try folder?.read() ?? source?.read() ?? []
        }
        var importer = DocumentImporter(lines: lines, run)
        let count = try await importer.run(fileBytes: source?.size)
        printLine(client.json ? #"{"documents":\#(count)}"# : "imported \(count) documents")
      }
    }
  }
}

/// The writes that the lines of a file ask for.
struct DocumentLines {
  private var source: LineSource
  private let text: DocumentText
  private let isMerging: Bool
  private let first: Int

  /// - Parameters:
  ///   - first: The number of the first line that counts, from 1.
  ///   - refill: Answers the next part of the file, empty at the end.
  init(
    _ text: DocumentText, merging isMerging: Bool, from first: Int,
    refill: @escaping () throws -> [UInt8]
  ) {
    source = LineSource(refill: refill)
    self.text = text
    self.isMerging = isMerging
    self.first = first
  }

  /// The number of the line that was read last.
  var number: Int { source.number }
  /// The bytes of the lines that were read.
  var offset: Int { source.offset }

  /// Reads the write of the next line; `nil` behind the last one.
  ///
  /// - Throws: ``Failure`` with ``Outcome/usage``, naming the line.
  mutating func next() throws -> DocumentMutation? {
    while let line = try source.next() {
      if number < first || line.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { continue }
      do {
        return try mutation(line)
      } catch {
        throw Failure(.usage, "line \(number): \(error.message)")
      }
    }
    return nil
  }

  private func mutation(_ line: [UInt8]) throws(Failure) -> DocumentMutation {
    let json: JSONValue
    do throws(JSONError) { json = try JSONValue(parsing: line) } catch {
      let column = TextPosition(ofByte: error.offset, in: line).column
      throw Failure(.usage, "not JSON at column \(column): \(error.reason)")
    }
    guard let path = json["path"]?.text, let fields = json["fields"] else {
      throw Failure(.usage, "a line is {\"path\": \"cities/SF\", \"fields\": {…}}")
    }
    let key = try documentKey(path)
    let map: DocumentMap
    do throws(DocumentJSONError) { map = try text.fields(fields) } catch {
      throw Failure(.usage, error.rule)
    }
    let inputs = map.entries.map { DocumentInput.Field($0.name, .value($0.value)) }
    return try written { () throws(DocumentError) in
      try isMerging ? .merge(key, with: inputs) : .set(key, to: inputs)
    }
  }
}

/// Writes lines in batches, a few at the same time.
struct DocumentImporter {
  /// The writes of a batch.
  static let batchWrites = 500
  /// A batch of fewer writes is full at this many bytes of lines.
  static let batchBytes = 1 << 20
  /// Batches that wait for the server's answer at the same time.
  static let batchesInFlight = 4

  private var lines: DocumentLines
  private let run: ClientRun
  private var inFlight: ArraySlice<(write: DocumentWrite, lines: ClosedRange<Int>)> = []

  init(lines: DocumentLines, _ run: ClientRun) {
    self.lines = lines
    self.run = run
  }

  /// Writes all of them.
  ///
  /// - Parameter fileBytes: The length of the file; `nil` when it is unknown.
  /// - Returns: How many documents there were.
  mutating func run(fileBytes: Int?) async throws -> Int {
    var progress = ProgressLine()
    defer { progress.end() }
    var count = 0
    while true {
      let (batch, problem) = nextBatch()
      if let (mutations, numbers) = batch {
        inFlight.append((try await write(mutations, numbers), numbers))
        count += mutations.count
        if inFlight.count > Self.batchesInFlight { try await settle(inFlight.removeFirst()) }
        progress.show("importing", lines.offset, of: fileBytes, unit: "bytes")
      }
      guard batch == nil || problem != nil else { continue }
      while let oldest = inFlight.popFirst() { try await settle(oldest) }
      guard let problem else { return count }
      throw Failure(
        problem.code, "\(problem.message); correct it, and go on with --from-line \(lines.number)")
    }
  }

  /// The next writes, with the numbers of their lines, and what is wrong with the line behind.
  private mutating func nextBatch() -> (
    batch: (mutations: [DocumentMutation], lines: ClosedRange<Int>)?, problem: Failure?
  ) {
    var mutations: [DocumentMutation] = []
    var numbers: ClosedRange<Int>?
    var problem: Failure?
    let start = lines.offset
    do {
      while mutations.count < Self.batchWrites, lines.offset - start < Self.batchBytes,
        let mutation = try lines.next()
      {
        mutations.append(mutation)
        numbers = (numbers?.lowerBound ?? lines.number)...lines.number
      }
    } catch {
      problem = Failure(about: error)
    }
    return (numbers.map { (mutations, $0) }, problem)
  }

  /// Sends a batch; one that is refused on this device waits for those before it.
  private mutating func write(
    _ mutations: [DocumentMutation], _ lines: ClosedRange<Int>
  ) async throws -> DocumentWrite {
    do throws(DocumentsError) { return try await run.tern.documents.write(mutations) } catch {
      while let oldest = inFlight.popFirst() { try await settle(oldest) }
      throw Self.failure(Failure(about: error), of: lines)
    }
  }

  private static func failure(_ failure: Failure, of lines: ClosedRange<Int>) -> Failure {
    Failure(
      failure.code,
      "lines \(lines.lowerBound) to \(lines.upperBound): \(failure.message); "
        + "then go on with --from-line \(lines.lowerBound)")
  }

  /// Waits for the server's verdict on a batch.
  private func settle(
    _ batch: (write: DocumentWrite, lines: ClosedRange<Int>)
  ) async throws(Failure) {
    do throws(Failure) {
      if try await run.settle(batch.write) == .acknowledged { return }
    } catch {
      throw Self.failure(error, of: batch.lines)
    }
    let last = inFlight.last?.lines.upperBound ?? batch.lines.upperBound
    throw Failure(
      .unreachable,
      "the server is gone; lines up to \(last) are queued: go on with --from-line \(last + 1)")
  }
}
