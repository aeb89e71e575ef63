/** Axis that maps values to positions. */
export interface Scale {
  at(value: number): number
  readonly ticks: readonly number[]
}

/** Returns a logarithmic axis. Values outside its range are drawn at the edge. */
export function logScale(
  from: number,
  to: number,
  ticks: readonly number[],
  [low, high]: readonly [number, number],
): Scale {
  const span = Math.log(high / low)
  const at = (value: number): number => {
    const inside = Math.min(high, Math.max(low, value))
    return from + ((to - from) * Math.log(inside / low)) / span
  }
  return { at, ticks: ticks.filter((tick) => tick >= low && tick <= high) }
}

/** Returns a linear axis from 0 to at least `high` with about five round ticks. */
export function linearScale(from: number, to: number, high: number): Scale {
  const rough = Math.max(high, 1e-9) / 5
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = power * ([1, 2, 5, 10].find((nice) => nice * power >= rough) ?? 10)
  const top = Math.ceil(high / step) * step
  const ticks = Array.from({ length: Math.round(top / step) + 1 }, (_, i) => i * step)
  return { at: (value) => from + ((to - from) * value) / top, ticks }
}
