/// A JSON value (RFC 8259) to be written, for events and answers: one line, members in the order given.
///
/// There is no floating-point case: times are integer microseconds, and what needs a fraction is a decimal.
public enum JSONValue: Sendable {
  case null
  case bool(Bool)
  /// A whole number. Readers that keep numbers as doubles are exact up to ±2^53.
  case int(Int64)
  /// `value` / 10^`places`, written with all its places: `.decimal(85, places: 2)` is `0.85`. Places: 0 … 18, clamped.
  case decimal(Int64, places: Int)
  case string(String)
  case array([JSONValue])
  /// Members in order; a key is to be there once.
  case object([(String, JSONValue)])

  /// A count.
  public static func int(_ value: Int) -> JSONValue { .int(Int64(value)) }

  /// A string, or `null` for none.
  public static func optional(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

  /// A time as whole microseconds, or `null` for an unknown one.
  public static func microseconds(_ time: Duration?) -> JSONValue { time.map { .int($0.microseconds) } ?? .null }

  /// The value as JSON text without line breaks.
  ///
  /// Controls, and what else ``sanitized(_:)`` takes out, are written as `\uXXXX`: the text is whole for a program that
  /// reads it and harmless on a terminal.
  public func text() -> String {
    var result = ""
    write(to: &result)
    return result
  }

  private func write(to result: inout String) {
    switch self {
    case .null: result += "null"
    case .bool(let value): result += value ? "true" : "false"
    case .int(let value): result += String(value)
    case .decimal(let value, let places): result += Self.decimalText(value, places: min(max(0, places), 18))
    case .string(let text): Self.write(text, to: &result)
    case .array(let values):
      result += "["
      for (index, value) in values.enumerated() {
        if index > 0 { result += "," }
        value.write(to: &result)
      }
      result += "]"
    case .object(let members):
      result += "{"
      for (index, (key, value)) in members.enumerated() {
        if index > 0 { result += "," }
        Self.write(key, to: &result)
        result += ":"
        value.write(to: &result)
      }
      result += "}"
    }
  }

  private static func decimalText(_ value: Int64, places: Int) -> String {
    let digits = String(value.magnitude)
    let padded = String(repeating: "0", count: max(0, places + 1 - digits.utf8.count)) + digits
    let sign = value < 0 ? "-" : ""
    return places == 0 ? sign + padded : "\(sign)\(padded.dropLast(places)).\(padded.suffix(places))"
  }

  private static func write(_ text: String, to result: inout String) {
    result += "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where isUnsafeForDisplay(scalar):
        for unit in UTF16.encode(scalar) ?? .init() {
          let digits = String(unit, radix: 16)
          result += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
        }
      default: result.unicodeScalars.append(scalar)
      }
    }
    result += "\""
  }
}
