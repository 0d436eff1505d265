import ArgumentParser
import TernCore

/// `tern completions`: what a shell needs to complete command lines.
struct Completions: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print the completion script of a shell.",
    discussion: "tern completions bash > /etc/bash_completion.d/tern")

  @Argument(help: "bash, zsh or fish.") var shell: String

  func run() throws {
    guard let shell = CompletionShell(rawValue: shell) else {
      throw Failure(.usage, "\"\(shell)\" is no shell that is known; they are bash, zsh, fish")
    }
    printText(TernCommand.completionScript(for: shell) + "\n")
  }
}

/// `tern manual`: the manual page of this program.
struct Manual: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print the manual page, for man.",
    discussion: "tern manual > /usr/share/man/man1/tern.1; to read it here: tern manual | man -l -")

  func run() throws {
    do throws(JSONError) {
      let help = try JSONValue(parsing: TernCommand._dumpHelp())
      printText(ManualPage(of: help["command"] ?? .null).text)
    } catch {
      throw Failure(.failed, "the list of commands cannot be read: \(error)")
    }
  }
}

/// A manual page in roff, of the list of commands that the argument parser tells.
struct ManualPage {
  let text: String

  init(of command: JSONValue) {
    var lines = [
      #".TH TERN 1 "" "tern" "User Commands""#, ".SH NAME",
      "tern \\- " + Self.escaped(command["abstract"]?.text ?? ""), ".SH SYNOPSIS",
      #".B tern"#, #"\fIcommand\fR [\fIargument\fR ...]"#, ".SH DESCRIPTION",
    ]
    lines += Self.paragraphs(command["discussion"]?.text)
    lines.append(".SH COMMANDS")
    for child in command.list("subcommands") { lines += Self.section(child, above: "tern") }
    text = lines.joined(separator: "\n") + "\n"
  }

  private static func section(_ command: JSONValue, above: String) -> [String] {
    let name = above + " " + (command["commandName"]?.text ?? "")
    if command["shouldDisplay"] == .bool(false) || name == "tern help" { return [] }
    let arguments = command.list("arguments").filter { $0["shouldDisplay"] != .bool(false) }
    let positional = arguments.filter { $0["kind"]?.text == "positional" }
    let usage = positional.map { argument in
      let word = argument["valueName"]?.text ?? ""
      return argument["isOptional"] == .bool(true) ? "[\(word)]" : word
    }
    var lines = [".SS " + escaped(([name] + usage).joined(separator: " "))]
    lines += paragraphs(command["abstract"]?.text) + paragraphs(command["discussion"]?.text)
    for argument in arguments {
      lines += [".TP", "\\fB" + escaped(words(of: argument)) + "\\fR"]
      lines.append(escaped(argument["abstract"]?.text ?? ""))
    }
    for child in command.list("subcommands") { lines += section(child, above: name) }
    return lines
  }

  /// The spellings of an argument.
  private static func words(of argument: JSONValue) -> String {
    let value = argument["valueName"]?.text ?? ""
    let names = argument.list("names").map { name in
      (name["kind"]?.text == "long" ? "--" : "-") + (name["name"]?.text ?? "")
    }
    if names.isEmpty { return value }
    let isFlag = argument["kind"]?.text == "flag"
    return names.joined(separator: ", ") + (isFlag ? "" : " " + value)
  }

  private static func paragraphs(_ text: String?) -> [String] {
    guard let text, !text.isEmpty else { return [] }
    return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      // Indented lines are tables and commands, which keep their shape.
      line.isEmpty ? ".PP" : (line.hasPrefix(" ") ? ".br\n" : "") + escaped(String(line))
    } + [".PP"]
  }

  /// The same in ASCII, where roff takes nothing for a command of its own.
  static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\e"
      case "-": escaped += "\\-"
      case _ where scalar.isASCII: escaped.unicodeScalars.append(scalar)
      default:
        let digits = String(scalar.value, radix: 16, uppercase: true)
        escaped += "\\[u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "]"
      }
    }
    return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
  }
}
