/**
 * Resolves to true once `store` has resolved, so that what the network delivered may be acknowledged to it (P-7).
 * Resolves to false if `store` rejects or takes longer than `secondsMax`. The network then offers the items again, and
 * the store recognizes items that it has stored after all. Never rejects.
 */
export async function storedInTime(store: () => Promise<unknown> | undefined, secondsMax: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), secondsMax * 1000)))
  // The handler has logged the failure.
  const stored = Promise.resolve(store()).then(
    () => true,
    () => false,
  )
  const isStored = await Promise.race([stored, late])
  clearTimeout(timer)
  return isStored
}
