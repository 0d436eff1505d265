import ArgumentParser
import TernClient
import TernCore

/// `tern import`: a JSON file into the tree.
struct Import: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Write a JSON file to a path.",
    discussion: """
      The file is sent in parts of at most 1,000 values; each is one update, the whole is not. \
      What was at the path before is removed first, unless --merge is given; the input is read \
      through before that, and one with a mistake changes nothing. For that, standard input \
      is kept in a temporary file (TMPDIR). Members of arrays \
      are named 0, 1, 2, …; --key-by names them by a field of theirs instead, in every array \
      that does not lie inside another one. In such names . # $ / [ ] % and control characters \
      become % and two hexadecimal digits. Without --merge it asks first on a terminal; elsewhere / \
      needs --yes.
      """)

  @Argument(help: "Where the content of the file goes.") var path: String
  @Argument(help: "The file; - reads standard input.") var file: String

  @Option(help: ArgumentHelp("Name members of arrays by this field.", valueName: "field"))
  var keyBy: String?

  @Flag(help: "Keep what is at the path and not in the file.")
  var merge = false

  @OptionGroup var confirmation: ConfirmationFlag
  @OptionGroup var client: ClientFlags

  /// Parts that wait for the server's answer at the same time.
  private static let partsInFlight = 8

  func run() async throws {
    let place = try tern.path(path)
    var source = try ImportFile(file)
    // A merge removes nothing first, so an input that comes once may go through as it comes.
    if !merge { source = try source.rewindable() }
    if source.isRewindable { try check(source, at: place) }
    if !merge {
      try confirmation.confirm("replace everything at /\(place.text)", at: place)
    }
    try await client.withClient { run in
      let place = try run.reference(path)
      let count = try await send(source, to: place, run)
      printLine(
        client.json
          ? #"{"values":\#(count)}"# : "imported \(count) values to /\(place.path.text)")
    }
  }

  /// Reads the input once before anything is changed.
  private func check(_ source: ImportFile, at place: TreePath) throws(Failure) {
    do {
      var tokens = JSONTokens { try source.read() }
      var batcher = ImportBatcher(keyField: keyBy)
      var progress = ProgressLine()
      defer { progress.end() }
      while let token = try tokens.next() {
        if let batch = try batcher.take(token) { try Self.check(batch, at: place) }
        progress.show("checking", tokens.offset, of: source.size, unit: "bytes")
      }
      if let batch = batcher.finish() { try Self.check(batch, at: place) }
      try source.rewind()
    } catch {
      let failure = Failure(about: error)
      let name = file == "-" ? "standard input" : file
      throw Failure(failure.code, "\(name): \(failure.message); nothing was changed")
    }
  }

  private func send(
    _ source: ImportFile, to place: TreeReference, _ run: ClientRun
  ) async throws -> Int {
    var tokens = JSONTokens { try source.read() }
    var batcher = ImportBatcher(keyField: keyBy)
    var writes: ArraySlice<TreeWriteHandle> = []
    var progress = ProgressLine()
    defer { progress.end() }
    if !merge { writes.append(try await place.remove()) }
    while let token = try tokens.next() {
      guard let batch = try batcher.take(token) else { continue }
      writes += try await write(batch, to: place)
      while writes.count > Self.partsInFlight { try await settle(writes.removeFirst(), run) }
      progress.show("importing", tokens.offset, of: source.size, unit: "bytes")
    }
    if let batch = batcher.finish() { writes += try await write(batch, to: place) }
    for write in writes { try await settle(write, run) }
    return batcher.leafTotal
  }

  private func write(
    _ batch: [TreeMerge.Entry], to place: TreeReference
  ) async throws -> [TreeWriteHandle] {
    if let first = batch.first, first.path.isRoot { return [try await place.set(first.node)] }
    var writes: [TreeWriteHandle] = []
    for values in try Self.updates(batch) { writes.append(try await place.update(values)) }
    return writes
  }

  /// Checks what a client can know to be wrong with a batch at a place.
  ///
  /// - Throws: ``Failure`` with ``Outcome/usage``, naming the path.
  static func check(_ batch: [TreeMerge.Entry], at place: TreePath) throws(Failure) {
    if batch.first?.path.isRoot != true { _ = try updates(batch) }
    for entry in batch {
      do throws(TreeError) {
        try TreeWrite.set(place.appending(entry.path), entry.node).validateForStoring()
      } catch {
        throw Failure(.usage, "\(entry.path.isRoot ? "/" : entry.path.text): \(error.rule)")
      }
    }
  }

  /// The updates of a batch, by the texts of their paths: one, and one more for each path whose
  /// text is another one's in a different form of Unicode.
  static func updates(_ batch: [TreeMerge.Entry]) throws(Failure) -> [[String: TreeNode]] {
    var updates: [[String: TreeNode]] = []
    var known: Swift.Set<TreePath> = []
    // A priority goes with the last update: its node may be made by that one alone.
    let priorities = batch.filter(\.path.namesPriority)
    for entry in batch.filter({ !$0.path.namesPriority }) + priorities {
      guard known.insert(entry.path).inserted else {
        throw Failure(.usage, "\(entry.path) comes twice in the file")
      }
      let text = entry.path.text
      let isFree = { (update: [String: TreeNode]) in update[text] == nil }
      let index =
        entry.path.namesPriority
        ? updates.lastIndex(where: isFree) : updates.firstIndex(where: isFree)
      if let index {
        updates[index][text] = entry.node
      } else {
        updates.append([text: entry.node])
      }
    }
    return updates
  }

  private func settle(_ write: TreeWriteHandle, _ run: ClientRun) async throws {
    do throws(Failure) {
      if try await run.settle(write) == .acknowledged { return }
    } catch {
      throw Failure(
        error.code, "\(error.message); some of it may be imported: give the command again")
    }
    throw Failure(
      .unreachable, "the server is gone; what was read is queued: give the command again")
  }
}

/// A file, or standard input, read part by part.
struct ImportFile {
  private let file: SystemFile
  /// Its length in bytes; `nil` for standard input, and what else can be read only once.
  let size: Int?

  init(_ path: String) throws(Failure) {
    if path == "-" {
      file = .standardInput()
      size = nil
      return
    }
    let status = FileStatus(of: path)
    guard status?.isFolder != true, let file = SystemFile(readingAt: path) else {
      throw unreadable(path)
    }
    self.file = file
    size = status?.isRegular == true ? status?.bytes : nil
  }

  private init(spooled file: SystemFile, size: Int) {
    (self.file, self.size) = (file, size)
  }

  /// True for an input that can be read more than once.
  var isRewindable: Bool { size != nil }

  /// Returns the file itself, or a temporary copy of an input that can be read only once.
  func rewindable() throws(Failure) -> ImportFile {
    if isRewindable { return self }
    do {
      let copy = try SystemFile.temporary()
      var bytes = 0
      while true {
        let part = try file.read(upTo: 64 * 1_024)
        if part.isEmpty { break }
        try copy.write(part)
        bytes += part.count
      }
      try copy.rewind()
      return ImportFile(spooled: copy, size: bytes)
    } catch {
      throw Failure(
        .failed,
        "the input cannot be kept in a temporary file: \(systemText(error.number)); "
          + "nothing was changed")
    }
  }

  /// Begins again.
  func rewind() throws { try file.rewind() }

  /// The next part, empty at the end.
  func read() throws -> [UInt8] {
    try file.read(upTo: 64 * 1_024)
  }
}
