import Attacca
import Glibc
import POSIXKit

/// `attacca-player probe`: everything from the arguments to the exit status.
enum ProbeCommand {
  /// Reads and prints each file in turn; answers the exit status.
  static func run(_ arguments: [[UInt8]]) async -> Int32 {
    let (operands, json): ([[UInt8]], Bool)
    do throws(UsageError) {
      switch try parseProbeArguments(arguments) {
      case .help: return print(probeHelp) ? 0 : 1
      case .version: return print("attacca-player \(ProductVersion.current)\n") ? 0 : 1
      case .probe(let given, let asJSON): (operands, json) = (given, asJSON)
      }
    } catch {
      complain("attacca: \(error.message)\n")
      return 2
    }

    let expansion = FileExpansion(operands)
    var areAllRead = expansion.problems.isEmpty
    for problem in expansion.problems {
      complain("attacca: \(problem)\n")
      if json, !print(probeJSON(nil, problem).text() + "\n") { return 1 }
    }
    var isFirst = true
    for item in expansion.items {
      do throws(MediaError) {
        let info = try await mediaInfo(of: item)
        let text = json ? probeJSON(item.locator, info).text() + "\n" : probeText(item.locator, info)
        guard print((isFirst || json ? "" : "\n") + text) else { return 1 }
        isFirst = false
      } catch {
        areAllRead = false
        complain("attacca: \(error)\n")
        if json, !print(probeJSON(item.locator, error).text() + "\n") { return 1 }
      }
    }
    return areAllRead ? 0 : 1
  }

  /// Answers whether somebody still reads.
  private static func print(_ text: String) -> Bool { writeAll(text.utf8, to: STDOUT_FILENO) }
  private static func complain(_ text: String) { writeAll(text.utf8, to: STDERR_FILENO) }
}
