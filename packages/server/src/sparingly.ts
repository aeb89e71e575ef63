/**
 * `write`, but at most once in so many milliseconds. Its first argument is how many calls before this one were left out.
 * The others are given on.
 */
export const sparingly = <Told extends readonly unknown[]>(
  everyMs: number,
  write: (unwritten: number, ...told: Told) => void,
) => {
  let silentUntil = -Infinity
  let unwritten = 0
  return (...told: Told): void => {
    const now = performance.now()
    if (now < silentUntil) return void (unwritten += 1)
    write(unwritten, ...told)
    silentUntil = now + everyMs
    unwritten = 0
  }
}
