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

/// `tern`: the server, and a client for terminals and scripts.
@main
struct Main {
  static func main() async {
    // A file that may not grow is told as a full disk is, and a reader that has gone as an error of
    // the write: neither ends the program by a signal.
    _ = signal(SIGXFSZ, SIG_IGN)
    _ = signal(SIGPIPE, SIG_IGN)
    do {
      try VerbCheck.check(Array(CommandLine.arguments.dropFirst()))
      var command = try TernCommand.parseAsRoot()
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
      endProgram(.done)
    } catch {
      endProgram(code: report(error))
    }
  }

  /// Says what went wrong on standard error, and answers the exit code for it.
  private static func report(_ error: any Error) -> Int32 {
    if let failure = error as? Failure {
      printError(failure.line)
      return failure.code.rawValue
    }
    let code = TernCommand.exitCode(for: error)
    if code.isSuccess {
      let message = TernCommand.fullMessage(for: error)
      if !message.isEmpty { printLine(message) }
      return 0
    }
    guard code == .validationFailure else {
      // Only a command that has said what is wrong ends with a bare code.
      if !(error is ExitCode) {
        let words = TernCommand.message(for: error)
        printError(Failure(.failed, words.isEmpty ? "\(error)" : words).line)
      }
      return code.rawValue
    }
    let verbs = VerbCheck.verbs(in: Array(CommandLine.arguments.dropFirst()))
    let help = "see: " + (["tern"] + verbs + ["--help"]).joined(separator: " ")
    var words = TernCommand.message(for: error)
    if words.hasSuffix(".") { words.removeLast() }
    words += unitAdvice(words)
    printError(Failure(.usage, "\(words); \(help)").line)
    return Outcome.usage.rawValue
  }
}

/// The list of commands.
struct TernCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tern",
    abstract: "An offline-first realtime database: its server, and a client for the terminal.",
    discussion: """
      Start with `tern serve --dev`; then, from another terminal,
      `tern set greeting '"hello"'` and `tern watch /`. Values are JSON. Paths are keys joined by slashes: rooms/42/title. \
      Commands take --json, which prints one object a line, errors on standard error included.

      ENVIRONMENT
        TERN_SERVER    the server of client commands, for --server
        TERN_TOKEN     the token that they show, for --token, which names a file
        TERN_DATABASE  the database that they use, for --ns
        TERN_CONTEXT   a server by its name in ~/.config/tern/contexts.json, for --context
        TERN_…         every key of the configuration: TERN_STORAGE_KIND=lmdb; see: tern config

      COMPLETION
        tern completions bash > /etc/bash_completion.d/tern     (or zsh, fish)

      EXIT CODES
        0  done
        1  failed: a disk, a file, a port
        2  usage: an argument, a value or the configuration is wrong
        3  the server cannot be reached
        4  the server refused it, or the token
        5  there is nothing there
       74  a server's store failed while it ran, as after a failed sync; start it again
      """,
    version: ProgramVersion.text,
    groupedSubcommands: [
      CommandGroup(
        name: "Server",
        subcommands: [
          Serve.self, Rules.self, Auth.self, Verify.self, Salvage.self, Compact.self, Config.self,
        ]),
      CommandGroup(
        name: "Backup",
        subcommands: [Backup.self, Restore.self, ImportShard.self, ExportShard.self]),
      CommandGroup(
        name: "Operating",
        subcommands: [
          Status.self, Top.self, Bench.self, Connections.self, Databases.self, Logs.self,
          ClusterCommand.self, Completions.self, Manual.self,
        ]),
      CommandGroup(
        name: "Reading", subcommands: [Get.self, Query.self, Watch.self, Export.self, Ping.self]),
      CommandGroup(
        name: "Writing",
        subcommands: [Set.self, Update.self, Push.self, Remove.self, Import.self]),
      CommandGroup(name: "Documents", subcommands: [DocumentCommands.self]),
      CommandGroup(name: "Offline", subcommands: [Pending.self, Shell.self]),
      CommandGroup(name: "Testing", subcommands: [Exec.self]),
      CommandGroup(name: "Learning", subcommands: [Tour.self]),
    ])
}
