import { quantile } from './attempts.ts'

/**
 * Mann–Whitney test on two samples, by the normal approximation with correction for ties (at least 20 values each). `p`
 * is two-sided: the probability that equal sources differ as much. `shift` is the median of the second minus that of
 * the first.
 */
export function mannWhitney(first: readonly number[], second: readonly number[]): { p: number; shift: number } {
  const all = [...first.map((value) => ({ value, first: true })), ...second.map((value) => ({ value, first: false }))]
  all.sort((a, b) => a.value - b.value)
  let [ranks, ties] = [0, 0]
  for (let at = 0; at < all.length;) {
    const same = all.slice(at).findIndex(({ value }) => value !== all[at]?.value)
    const end = same === -1 ? all.length : at + same
    const rank = (at + 1 + end) / 2
    ranks += rank * all.slice(at, end).filter((each) => each.first).length
    ties += (end - at) ** 3 - (end - at)
    at = end
  }
  const [n, m, total] = [first.length, second.length, all.length]
  const u = ranks - (n * (n + 1)) / 2
  const deviation = Math.sqrt(((n * m) / 12) * (total + 1 - ties / (total * (total - 1))))
  const z = deviation === 0 ? 0 : Math.abs(u - (n * m) / 2) / deviation
  return { p: 2 * (1 - normal(z)), shift: quantile(second, 0.5) - quantile(first, 0.5) }
}

/** Returns the standard normal distribution function for z from 0 (Abramowitz and Stegun 26.2.17). */
function normal(z: number): number {
  const t = 1 / (1 + 0.2316419 * z)
  const series = [0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429]
  const sum = series.reduceRight((inner, each) => (inner + each) * t, 0)
  return 1 - (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * sum
}
