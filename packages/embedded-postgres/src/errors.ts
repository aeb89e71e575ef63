import { setTimeout as delay } from 'node:timers/promises'

/** Returns the `code` of an error of the system (`ENOENT`) or of PostgreSQL (`57P03`). */
export const codeOf = (error: unknown): string | undefined => {
  // `instanceof Error` is not used, because in some test runners Node's own errors belong to another realm than this
  // module.
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}

export const messageOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error)

/** Awaits `work`. Returns `undefined` for an error with one of the codes. */
export const unless = async <T>(codes: readonly string[], work: Promise<T>): Promise<T | undefined> => {
  try {
    return await work
  } catch (error) {
    if (codes.includes(codeOf(error) ?? '')) return undefined
    throw error
  }
}

/** Checks every 10 ms whether `condition` is true. Returns whether it became true within `milliseconds`. */
export const until = async (condition: () => Promise<boolean>, milliseconds: number): Promise<boolean> => {
  const deadline = performance.now() + milliseconds
  while (!(await condition())) {
    if (performance.now() > deadline) return false
    await delay(10)
  }
  return true
}
