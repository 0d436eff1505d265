import TernCore

/// Reads the values of an update: a JSON object of paths, each with its new value.
///
/// - Throws: ``Failure`` with ``Outcome/usage``, naming the path whose value is wrong.
func updateValues(_ text: String) throws(Failure) -> [String: TreeNode] {
  let json = try json(Array(text.utf8), "update")
  guard case .object(let members) = json else {
    throw Failure(.usage, "update takes a JSON object of paths and values")
  }
  var values: [String: TreeNode] = [:]
  for member in members {
    let node: TreeNode
    do throws(TreeError) { node = try TreeNode(json: member.value.json) } catch {
      throw Failure(.usage, "update: \(member.name): \(error.rule)")
    }
    guard values.updateValue(node, forKey: member.name) == nil else {
      throw Failure(.usage, "update: \(member.name) comes twice")
    }
  }
  return values
}
