import ArgumentParser
import TernAssembly
import TernCore
import TernServerAssembly
import TernStandard

/// `tern config`: what a server or a client would run with.
struct Config: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Check the configuration, and print what is in force.",
    subcommands: [ConfigShow.self, ConfigCheck.self], defaultSubcommand: ConfigShow.self)
}

/// `tern config check`: whether a server or a client would start with it.
struct ConfigCheck: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Check the configuration, and print nothing but mistakes.",
    discussion: """
      Reads what a server reads of it, and the files of keys and of the cluster's secret that it \
      names; store and ports stay untouched: tern serve --check tries those, with the flags of \
      serve. Exits with 2 when something is wrong.
      """)

  @OptionGroup
  var store: StoreFlags

  func run() async throws {
    let configuration = try Config.checked(store)
    do throws(ServerAssemblyError) {
      try await Assembler(catalog: .serving).authenticator(from: configuration).close()
    } catch {
      throw Failure(about: error)
    }
    if configuration.ledger.members["secretFile"] != nil { _ = try ClusterRelay(configuration) }
  }
}

extension Config {
  /// Reads the configuration, and checks every section as `tern serve` does.
  fileprivate static func checked(_ store: StoreFlags) throws(Failure) -> Configuration {
    do throws(ConfigurationError) {
      let configuration = try Configuration.reading(file: store.config, flags: store.given)
      try Assembler(catalog: .serving).checkServer(configuration)
      _ = try OperatorOptions(of: configuration)
      return configuration
    } catch {
      throw Failure(about: AssemblyError.configuration(error))
    }
  }
}

/// `tern config show`: the configuration that is in force.
struct ConfigShow: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Check the configuration and print what is in force, as a configuration file.",
    discussion: """
      The file comes first, then the environment (TERN_STORAGE_KIND=lmdb sets "kind" of "storage"), \
      then flags. What no source says has its standard value and is not printed, but for storage \
      and transport. Exits with 2 when something is wrong.
      """)

  @OptionGroup
  var store: StoreFlags

  @OptionGroup var output: JSONFlag

  func run() async throws {
    let json = Self.json(try Config.checked(store)).json
    printLine(output.json ? json : indented(json: json))
  }

  private static func json(_ configuration: Configuration) -> JSONValue {
    let sections = [
      ("storage", configuration.storage), ("transport", configuration.transport),
      ("cache", configuration.cache), ("documents", configuration.documents),
      ("auth", configuration.auth), ("limits", configuration.limits),
      ("ledger", configuration.ledger), ("endpoints", configuration.endpoints),
      ("log", configuration.log), ("admin", configuration.admin),
      ("proxy", configuration.proxy), ("shutdown", configuration.shutdown),
    ]
    return .object(
      sections.filter { !$0.1.members.isEmpty }.map { .init($0.0, json($0.1)) })
  }

  /// Texts of the environment and of flags are what they say: numbers, booleans or strings.
  private static func json(_ value: ConfigurationValue) -> JSONValue {
    switch value {
    case .null: .null
    case .bool(let value): .bool(value)
    case .integer(let value): .integer(value)
    case .double(let value): .double(value)
    case .string(let text): .string(text)
    case .text("true"): .bool(true)
    case .text("false"): .bool(false)
    case .text(let text): Int64(text).map { .integer($0) } ?? .string(text)
    case .array(let elements): .array(elements.map { json($0) })
    case .object(let members):
      .object(members.sorted { $0.key < $1.key }.map { .init($0.key, json($0.value)) })
    }
  }
}
