import ArgumentParser
import TernCore
import TernSecurity

extension Rules {
  /// `tern rules get`: the rules that a server applies.
  struct Get: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Print the rules that are in force for a database.",
      discussion: "Of the tree, unless --documents names documents. Asked with the token of an "
        + "administrator.")

    @OptionGroup var target: RulesTarget
    @OptionGroup var admin: AdminFlags

    func run() async throws {
      let answer = try await admin.client().ask(.get, try target.path(admin))
      printText(String(decoding: answer.body, as: UTF8.self) + "\n")
    }
  }

  /// `tern rules deploy`: other rules for a database.
  struct Deploy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Give a database rules of its own, in force at once.",
      discussion: """
        The server checks the file and keeps the old rules when it has a mistake. The rules stay \
        with the data, and count in the place of those of tern serve --rules and --document-rules. \
        Rules for documents count for all databases of a project, or for the one that --documents \
        names. Asked with the token of an administrator.
        """)

    @Argument(help: "A rules file: JSON with comments, or rules for documents.") var file: String
    @OptionGroup var target: RulesTarget
    @Flag(help: "Let the server check the file, and change nothing.") var dryRun = false
    @OptionGroup var admin: AdminFlags
    @OptionGroup var output: JSONFlag

    func run() async throws {
      let text = try fileBytes(at: file)
      let isForDocuments = DocumentRules.recognizes(text)
      guard isForDocuments == (target.documents != nil) else {
        throw Failure(
          .usage,
          isForDocuments
            ? "\(file) has rules for documents; name them: --documents projects/P"
            : "\(file) has rules for a tree; --documents does not go with it")
      }
      let path = try target.path(admin) + (dryRun ? "&dryRun=true" : "")
      _ = try await admin.client().ask(.put, path, body: text)
      output.print(
        dryRun ? "\(file) would be taken" : "deployed \(file)",
        ["file": .string(file), "deployed": .bool(!dryRun)])
    }
  }
}

/// The database whose rules a command is about.
struct RulesTarget: ParsableArguments {
  @Option(help: ArgumentHelp("The database of the tree.", valueName: "name")) var ns: String?

  @Option(
    help: ArgumentHelp(
      "The documents: projects/P, or projects/P/databases/D for one database.", valueName: "name"))
  var documents: String?

  func validate() throws {
    if ns != nil, documents != nil {
      throw ValidationError("--ns is a database of the tree; --documents is another one: give one")
    }
  }

  /// The path of the rules: of a flag, of the variable, of the context, or of the default database.
  func path(_ admin: AdminFlags) throws(Failure) -> String {
    if let documents { return "/-/rules/documents?database=\(documents.percentEncoded)" }
    let place = try ServerContexts.chosen(admin.context)
    let name = ns ?? ClientFlags.variable("TERN_DATABASE") ?? place?.database ?? "default"
    return "/.settings/rules.json?ns=\(name.percentEncoded)"
  }
}
