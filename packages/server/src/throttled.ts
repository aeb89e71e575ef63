/**
 * `write`, at most once every `intervalMs`. Its first argument is the number of calls since the last one that were dropped.
 * The others are passed through.
 */
export const throttled = <Arguments extends readonly unknown[]>(
  intervalMs: number,
  write: (dropped: number, ...values: Arguments) => void,
) => {
  let silentUntil = -Infinity
  let dropped = 0
  return (...values: Arguments): void => {
    const now = performance.now()
    if (now < silentUntil) return void (dropped += 1)
    write(dropped, ...values)
    silentUntil = now + intervalMs
    dropped = 0
  }
}
