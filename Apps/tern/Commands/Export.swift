import ArgumentParser
import TernClient
import TernCore

/// `tern export`: part of the tree into a JSON file.
struct Export: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Write what is at a path to a JSON file that import reads.",
    discussion: """
      The file is written aside and renamed when it is complete; a device or a pipe is written in \
      place, links are followed, and a file keeps its mode. Children are read 1,000 at a \
      time, each time as they are together; writes made meanwhile may be in a later part and \
      not in an earlier one. --page-size 0 reads everything at once.
      """)

  @Argument(help: "What to export.") var path: String
  @Argument(help: "The file; - writes to standard output.") var file: String = "-"

  @Option(help: ArgumentHelp("Children to read at a time; 0 is all.", valueName: "children"))
  var pageSize = 1_000

  @OptionGroup var client: ClientFlags

  func validate() throws {
    guard pageSize >= 0 else { throw ValidationError("--page-size must not be negative") }
  }

  func run() async throws {
    try await client.withClient { run in
      let place = try run.reference(path)
      let target = try ExportFile(file)
      do {
        let count = try await write(place, run, to: target)
        try target.finish()
        if target.isFile {
          printLine(
            client.json
              ? #"{"children":\#(count)}"# : "exported \(count) children to \(file)")
        }
      } catch {
        target.abandon()
        throw error
      }
    }
  }

  private func write(
    _ place: TreeReference, _ run: ClientRun, to target: ExportFile
  ) async throws -> Int {
    var progress = ProgressLine()
    defer { progress.end() }
    var count = 0
    var after: TreeKey?
    while true {
      let page = try await page(of: place, after: after, run)
      guard let last = page.last?.key else { break }
      if count == 0 {
        try target.write("{\n")
        if let priority = try await priority(of: place, run) {
          try target.write("\".priority\": \(TreeNode(priority).json(.export)),\n")
        }
      }
      for child in page {
        try target.write(line(child, isFirst: count == 0))
        count += 1
      }
      progress.show("exporting", count, of: nil, unit: "children")
      after = last
      if pageSize == 0 || page.count < pageSize { break }
    }
    if count == 0 { return try await writeLeaf(place, run, to: target) }
    try target.write("\n}\n")
    return count
  }

  private func page(
    of place: TreeReference, after: TreeKey?, _ run: ClientRun
  ) async throws -> [TreeSnapshot] {
    var query = place.orderByKey()
    if pageSize > 0 { query = query.first(pageSize) }
    if let after { query = query.start(after: .string(after.text)) }
    return try await run.read(query).children
  }

  /// Reads the priority of a node with children, which no result of a query has.
  ///
  /// Rules may allow queries alone, and a cache may hold the children alone: it is left out then.
  private func priority(
    of place: TreeReference, _ run: ClientRun
  ) async throws(Failure) -> TreeScalar? {
    do throws(Failure) {
      return try await run.read(run.tern.tree[place.path.appending(.priority)]).node.scalar
    } catch {
      guard error.code == .refused || error.code == .unreachable else { throw error }
      printError("tern: warning: a priority of /\(place.path.text) is left out: \(error.message)")
      return nil
    }
  }

  private func line(_ child: TreeSnapshot, isFirst: Bool) -> String {
    var writer = JSONWriter()
    writer.string(child.key?.text ?? "")
    let name = String(decoding: writer.bytes, as: UTF8.self)
    return (isFirst ? "" : ",\n") + name + ": " + child.node.json(.export)
  }

  /// Writes a node without children: a single value, or nothing.
  private func writeLeaf(
    _ place: TreeReference, _ run: ClientRun, to target: ExportFile
  ) async throws -> Int {
    let snapshot = try await run.read(place)
    guard snapshot.exists else {
      throw Failure(.notFound, "nothing is at /\(place.path.text)")
    }
    try target.write(snapshot.node.json(.export) + "\n")
    return 0
  }
}
