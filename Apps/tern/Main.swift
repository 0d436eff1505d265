import ArgumentParser
import TernAssembly
import TernStandard

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// `tern`: the server, and a client for people and scripts.
@main
struct Main {
  static func main() async {
    // A file that may not grow is told as a full disk is, and does not end the program.
    _ = signal(SIGXFSZ, SIG_IGN)
    do {
      var command = try TernCommand.parseAsRoot()
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch {
      exit(report(error))
    }
  }

  /// Says what went wrong on standard error, and answers the exit code for it.
  private static func report(_ error: any Error) -> Int32 {
    if let failure = error as? Failure {
      printError("tern: \(failure.message)")
      return failure.code.rawValue
    }
    let code = TernCommand.exitCode(for: error)
    let message = TernCommand.fullMessage(for: error)
    if code.isSuccess {
      if !message.isEmpty { print(message) }
      return 0
    }
    if !message.isEmpty { printError(message) }
    return code == .validationFailure ? Outcome.usage.rawValue : code.rawValue
  }
}

/// The list of commands.
struct TernCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tern",
    abstract: "An offline-first realtime database: its server, and a client for the terminal.",
    discussion: """
      Start with `tern serve --dev`; then, from another terminal,
      `tern set greeting '"hello"'` and `tern watch /`. Values are JSON. Paths are keys joined by slashes: rooms/42/title.

      EXIT CODES
        0  done
        1  failed: a disk, a file, a port
        2  usage: an argument, a value or the configuration is wrong
        3  the server cannot be reached
        4  the server refused it, or the token
        5  there is nothing there
       74  a server's store failed while it ran, as after a failed sync; start it again
      """,
    version: "0.1.0",
    groupedSubcommands: [
      CommandGroup(
        name: "Server",
        subcommands: [
          Serve.self, Rules.self, Auth.self, Verify.self, Salvage.self, Compact.self,
        ]),
      CommandGroup(
        name: "Reading", subcommands: [Get.self, Query.self, Watch.self, Export.self]),
      CommandGroup(
        name: "Writing",
        subcommands: [Set.self, Update.self, Push.self, Remove.self, Import.self]),
      CommandGroup(name: "Documents", subcommands: [DocumentCommands.self]),
      CommandGroup(name: "Offline", subcommands: [Pending.self, Shell.self]),
      CommandGroup(name: "Learning", subcommands: [Tour.self]),
    ])
}
