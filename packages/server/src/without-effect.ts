const withoutEffectThrown = new WeakSet<Error>()

/** Runs `work` that changes nothing. An error that it throws is marked: nothing was done (ruling 1.25). */
export async function withoutEffect<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw markWithoutEffect(error)
  }
}

/** Marks an error of work that changes nothing, and returns it. */
export function markWithoutEffect(error: unknown): unknown {
  if (error instanceof Error) withoutEffectThrown.add(error)
  return error
}

/** Whether the error is marked so, or says so itself: the same request can safely be repeated. */
export const hadNoEffect = (error: unknown): boolean =>
  error instanceof Error && (withoutEffectThrown.has(error) || ('hadNoEffect' in error && error.hadNoEffect === true))
