// The core imports nothing of the system, so the two functions that decibels need are here. Both are exact to about
// 10⁻¹⁴, far beyond any loudness.

/// 10 to the power of `exponent`, which is brought into −300…300.
func power10(_ exponent: Double) -> Double {
  let exponent = exponent.clamped(to: -300...300)
  // 10^x = 2^n · e^r with |r| ≤ ln 2 / 2.
  let natural = exponent * 2.302585092994046
  let whole = (natural / 0.6931471805599453).rounded()
  let rest = natural - whole * 0.6931471805599453
  var (sum, term) = (1.0, 1.0)
  for index in 1...18 {
    term *= rest / Double(index)
    sum += term
  }
  return Double(sign: .plus, exponent: Int(whole), significand: sum)
}

/// The decimal logarithm of a positive number; −infinity for 0 and below.
func logarithm10(_ number: Double) -> Double {
  guard number > 0, number.isFinite else { return number > 0 ? .infinity : -.infinity }
  // ln m = 2 · artanh((m − 1) / (m + 1)), with the significand m in 1…2 brought around 1.
  var (exponent, significand) = (Double(number.exponent), number.significand)
  if significand > 1.4142135623730951 { (exponent, significand) = (exponent + 1, significand / 2) }
  let ratio = (significand - 1) / (significand + 1)
  var (sum, power) = (0.0, ratio)
  for index in 0..<16 {
    sum += power / Double(2 * index + 1)
    power *= ratio * ratio
  }
  return (exponent * 0.6931471805599453 + 2 * sum) / 2.302585092994046
}
