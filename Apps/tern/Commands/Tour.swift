import ArgumentParser
import Foundation

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

  @Option(help: ArgumentHelp("How long any step may take.", valueName: "seconds"))
  var patience = 30

  func run() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "tern-tour-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let stage = TourStage(
      program: ProcessInfo.processInfo.arguments[0], folder: folder.path,
      patience: .seconds(patience))
    do {
      try await TourStory(stage: stage, data: data).play()
    } catch {
      stage.clear()
      throw error
    }
    stage.clear()
  }
}
