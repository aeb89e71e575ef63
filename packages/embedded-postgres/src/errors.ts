import { setTimeout as delay } from 'node:timers/promises'

/** The `code` of an error: that of the system (`ENOENT`) or of PostgreSQL (`57P03`). */
export const codeOf = (error: unknown): string | undefined => {
  // Not `instanceof Error`: an error of Node's own comes from another realm than this module in some test runners.
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}

export const messageOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error)

/** Awaits `work`; answers `undefined` for an error with one of `codes`. */
export const unless = async <T>(codes: readonly string[], work: Promise<T>): Promise<T | undefined> => {
  try {
    return await work
  } catch (error) {
    if (codes.includes(codeOf(error) ?? '')) return undefined
    throw error
  }
}

/** Asks every 10 ms until `condition` holds; answers whether it did within `milliseconds`. */
export const until = async (condition: () => Promise<boolean>, milliseconds: number): Promise<boolean> => {
  const deadline = performance.now() + milliseconds
  while (!(await condition())) {
    if (performance.now() > deadline) return false
    await delay(10)
  }
  return true
}
