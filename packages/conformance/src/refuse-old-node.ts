/** Minimum version of Node, as in `engines` of package.json. */
const [majorMin, minorMin] = [20, 19] as const

/** Returns why a version of Node is too old, or undefined if it is not. */
export const tooOld = (version: string): string | undefined => {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > majorMin || (major === majorMin && minor >= minorMin)) return undefined
  return `Node ${majorMin}.${minorMin} or later is needed, this is ${version}.`
}

/**
 * Exits with 1 and prints a sentence if Node is too old. Runs before modules are loaded that an older Node cannot
 * parse, and so imports nothing.
 */
export const refuseOldNode = (): void => {
  const wrong = tooOld(process.versions.node)
  if (wrong === undefined) return
  process.stderr.write(`${wrong}\n`)
  process.exit(1)
}
