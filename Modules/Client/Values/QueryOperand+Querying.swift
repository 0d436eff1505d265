public import TernCore
public import TernQuery

extension DocumentQuerying {
  /// Keeps those whose field compares with a value, such as the one of a variable.
  public func `where`(
    _ field: String, _ comparison: DocumentOperator, _ operand: some QueryOperand
  ) -> DocumentQueryReference {
    self.where(field, comparison, operand.documentOperand)
  }

  /// Keeps those whose field compares with a list of values: `.in`, `.notIn`, `.arrayContainsAny`.
  public func `where`(
    _ field: String, _ comparison: DocumentOperator, _ operands: [some QueryOperand]
  ) -> DocumentQueryReference {
    self.where(field, comparison, .array(operands.map(\.documentOperand)))
  }
}

extension TreeQuerying {
  /// Begins at a value, such as the one of a variable.
  public func start(at value: some QueryOperand, key: TreeKey? = nil) -> TreeQueryReference {
    start(at: value.treeOperand, key: key)
  }

  /// Begins behind a value.
  public func start(after value: some QueryOperand, key: TreeKey? = nil) -> TreeQueryReference {
    start(after: value.treeOperand, key: key)
  }

  /// Ends at a value.
  public func end(at value: some QueryOperand, key: TreeKey? = nil) -> TreeQueryReference {
    end(at: value.treeOperand, key: key)
  }

  /// Ends before a value.
  public func end(before value: some QueryOperand, key: TreeKey? = nil) -> TreeQueryReference {
    end(before: value.treeOperand, key: key)
  }

  /// Keeps children of exactly this value, and of this key when one is given.
  public func equal(to value: some QueryOperand, key: TreeKey? = nil) -> TreeQueryReference {
    equal(to: value.treeOperand, key: key)
  }
}
