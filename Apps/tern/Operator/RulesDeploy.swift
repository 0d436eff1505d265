import ArgumentParser
import TernCore

extension Rules {
  /// `tern rules get`: the rules that a server applies.
  struct Get: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Print the rules that are in force for a database of the tree.",
      discussion: "Asked with the token of an administrator.")

    @Option(help: ArgumentHelp("The database.", valueName: "name")) var ns: String?
    @OptionGroup var admin: AdminFlags

    func run() async throws {
      let answer = try await admin.client().ask(.get, try admin.rulesPath(of: ns))
      printText(String(decoding: answer.body, as: UTF8.self) + "\n")
    }
  }

  /// `tern rules deploy`: other rules for a database.
  struct Deploy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Give a database of the tree rules of its own, in force at once.",
      discussion: """
        The server checks the file and keeps the old rules when it has a mistake. The rules stay \
        with the data, and count in the place of those of tern serve --rules. Asked with the token of \
        an administrator.
        """)

    @Argument(help: "A rules file: JSON with comments.") var file: String
    @Option(help: ArgumentHelp("The database.", valueName: "name")) var ns: String?
    @Flag(help: "Let the server check the file, and change nothing.") var dryRun = false
    @OptionGroup var admin: AdminFlags
    @OptionGroup var output: JSONFlag

    func run() async throws {
      let path = try admin.rulesPath(of: ns) + (dryRun ? "&dryRun=true" : "")
      _ = try await admin.client().ask(.put, path, body: try fileBytes(at: file))
      output.print(
        dryRun ? "\(file) would be taken" : "deployed \(file)",
        ["file": .string(file), "deployed": .bool(!dryRun)])
    }
  }
}

extension AdminFlags {
  /// The path of the rules of a database: of the flag, of the variable, of the context, or default.
  func rulesPath(of flag: String?) throws(Failure) -> String {
    let place = try ServerContexts.chosen(context)
    let name =
      flag ?? ClientFlags.variable("TERN_DATABASE") ?? place?.database ?? "default"
    return "/.settings/rules.json?ns=\(name.percentEncoded)"
  }
}
