/** The wait before the next attempt to connect after `failures` in a row: it doubles, and half of it is chance (0 to 1). */
export function reconnectDelay(failures: number, seconds: number, secondsMax: number, chance: number): number {
  const most = Math.min(secondsMax, seconds * 2 ** Math.min(Math.max(failures - 1, 0), 20))
  return (most * (1 + chance)) / 2
}
