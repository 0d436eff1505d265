/// The levels of nesting that expressions reach when they are evaluated, those of the functions
/// that they call and of the bindings that they use included.
///
/// The depth of an expression as written says little about the stack that it needs: each call adds
/// the depth of a function. The sum is computed when the file is loaded, so that evaluation needs
/// no check of its own.
struct DocumentRuleHeights {
  /// The levels of each function added so far, by its number.
  private var functions: [Int: Int] = [:]
  /// The levels of the parameters and bindings of the function that is being added.
  private var locals: [Int] = []

  /// Adds a function behind all those that it calls, and returns its levels.
  ///
  /// - Parameters:
  ///   - function: The function; its bindings may refer to its parameters and to earlier bindings.
  ///   - number: Its number, by which later calls find its levels.
  mutating func add(_ function: DocumentRuleFunction, number: Int) -> Int {
    locals = [Int](repeating: 1, count: function.parameterCount)
    for binding in function.bindings { locals.append(height(of: binding) + 1) }
    let height = height(of: function.body)
    functions[number] = height
    return height
  }

  /// Returns the levels of an expression.
  ///
  /// A use of a binding counts the levels of the binding's value, because the value is evaluated at
  /// its first use, on the stack of that use.
  func height(of node: DocumentRuleExpression) -> Int {
    var height = node.operands.reduce(0) { max($0, self.height(of: $1)) }
    switch node.kind {
    case .local(let index): height = locals[index]
    case .function(let number, _): height = max(height, functions[number] ?? 0)
    default: break
    }
    return height + 1
  }
}
