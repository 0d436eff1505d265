import ArgumentParser
import TernClient
import TernCore

/// `tern set`: replaces.
struct Set: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Replace what is at a path by a JSON value.",
    discussion: """
      tern set rooms/42 '{"title": "Hi", "open": true}'
      tern set clock '{".sv": "timestamp"}'
      With --cache, a write made without a server is queued: exit code 0, and a line about it.
      """)

  @Argument(help: "Where, such as rooms/42.") var path: String
  @Argument(help: "The value as JSON; - reads standard input.") var value: String
  @OptionGroup var write: WriteFlags
  @OptionGroup var confirmation: ConfirmationFlag
  @OptionGroup var client: ClientFlags

  func run() async throws {
    let node = try write.value(value)
    let path = try tern.path(path)
    if path.isRoot { try confirmation.confirm("replace everything at /", at: path) }
    try await client.withClient { run in
      let place = run.tern.tree[path]
      try await run.finish(try await place.set(node), at: place.path, asJSON: client.json)
    }
  }
}

/// `tern update`: replaces several, all or none.
struct Update: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Replace what is at several paths below a path, all or none.",
    discussion: """
      tern update / '{"rooms/42/title": "Hello", "rooms/41": null}'
      """)

  @Argument(help: "Where the paths start.") var path: String
  @Argument(help: "A JSON object of paths and values, null removes; - reads standard input.")
  var values: String
  @OptionGroup var client: ClientFlags

  func run() async throws {
    let values = try updateValues(try standardInput(or: values))
    try await client.withClient { run in
      let place = try run.reference(path)
      try await run.finish(try await place.update(values), at: place.path, asJSON: client.json)
    }
  }
}

/// `tern push`: adds.
struct Push: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Add a child under a new name that sorts by time, and print its path.")

  @Argument(help: "Below which path.") var path: String
  @Argument(help: "The value as JSON; - reads standard input.") var value: String
  @OptionGroup var write: WriteFlags
  @OptionGroup var client: ClientFlags

  func run() async throws {
    let node = try write.value(value)
    try await client.withClient { run in
      let (place, write) = try await run.reference(path).push(node)
      if !client.json { printLine(place.path.text) }
      try await run.finish(write, at: place.path, asJSON: client.json)
    }
  }
}

/// `tern remove`: removes.
struct Remove: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Remove everything at and below a path.",
    discussion: "Asks first on a terminal; elsewhere / needs --yes.")

  @Argument(help: "Where, such as rooms/42.") var path: String
  @OptionGroup var confirmation: ConfirmationFlag
  @OptionGroup var client: ClientFlags

  func run() async throws {
    let path = try tern.path(path)
    try confirmation.confirm("remove everything at /\(path.text)", at: path)
    try await client.withClient { run in
      let place = run.tern.tree[path]
      try await run.finish(try await place.remove(), at: place.path, asJSON: client.json)
    }
  }
}

/// The flags that decide the form of a value to write.
struct WriteFlags: ParsableArguments {
  @Flag(help: "Take the value as text, not as JSON.")
  var text = false

  func value(_ argument: String) throws(Failure) -> TreeNode {
    let content = try standardInput(or: argument)
    return text ? TreeNode(.string(content)) : try node(content)
  }
}

/// Returns the argument, or for `-` everything on standard input.
///
/// - Throws: ``Failure`` when standard input cannot be read to its end.
func standardInput(or argument: String) throws(Failure) -> String {
  guard argument == "-" else { return argument }
  do throws(SystemError) {
    return String(decoding: try SystemFile.standardInput().readToEnd(), as: UTF8.self)
  } catch {
    throw Failure(.failed, "cannot read standard input: \(systemText(error.number))")
  }
}

extension ClientRun {
  /// Waits for the server's verdict, and says what became of the write.
  func finish(_ write: TreeWriteHandle, at path: TreePath, asJSON: Bool) async throws(Failure) {
    let verdict = try await settle(write)
    if asJSON {
      var writer = JSONWriter()
      writer.beginObject()
      writer.key("path")
      writer.string(path.text)
      writer.key("state")
      writer.string(verdict == .acknowledged ? "acknowledged" : "queued")
      writer.endObject()
      printLine(String(decoding: writer.bytes, as: UTF8.self))
    }
    if verdict == .queued {
      printError("tern: the server cannot be reached; the write is queued")
    }
  }
}
