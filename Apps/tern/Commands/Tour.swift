import ArgumentParser

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `tern tour`: the whole story, played with real processes.
struct Tour: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Play the whole story: sync, a killed server, a killed client, catching up.",
    discussion: """
      Starts a server and two clients with different storage as processes of their own, in a \
      temporary folder, and says what it observes. Exits with 1 when something else happens \
      than it expects.
      """)

  @Option(help: ArgumentHelp("Real data to import.", valueName: "file"))
  var data = "/usr/share/iso-codes/json/iso_3166-2.json"

  @Option(help: ArgumentHelp("How long any step may take.", valueName: "time"))
  var patience = TimeArgument(seconds: 30)

  func run() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "tern-tour-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let stage = TourStage(
      program: ProcessInfo.processInfo.arguments[0], folder: folder.path,
      patience: patience.duration)
    // Children and folder go at every end of the tour, also when the reader of its output goes.
    beforeTheEnd {
      stage.clear()
      try? FileManager.default.removeItem(at: folder)
    }
    let signals = StopSignals()
    let data = data
    try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        try await TourStory(stage: stage, data: data).play()
        return true
      }
      group.addTask {
        await signals.wait()
        return false
      }
      defer { group.cancelAll() }
      guard try await group.next() == true else { endProgram(.failed) }
    }
  }
}
