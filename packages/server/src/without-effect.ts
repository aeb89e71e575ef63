const withoutEffectThrown = new WeakSet<Error>()

/** Runs what only reads, or comes before the work: of what it throws it is certain that nothing was done (ruling 1.25). */
export async function withoutEffect<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Error) withoutEffectThrown.add(error)
    throw error
  }
}

/** Whether this was thrown by `withoutEffect`: the same request may come again. */
export const hadNoEffect = (error: unknown): boolean => error instanceof Error && withoutEffectThrown.has(error)
