/** Minimum version of Node, equal to `engines` of package.json. */
const [majorMin, minorMin] = [20, 19] as const

/** Returns an error text if a version of Node is too old. */
export const tooOld = (version: string): string | undefined => {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > majorMin || (major === majorMin && minor >= minorMin)) return undefined
  return `Node ${majorMin}.${minorMin} or later is needed, this is ${version}.`
}

/**
 * Exits with 1 and an error text on an older Node, before modules are loaded that it cannot parse. This file imports
 * nothing for the same reason.
 */
export const refuseOldNode = (): void => {
  const problem = tooOld(process.versions.node)
  if (problem === undefined) return
  process.stderr.write(`${problem}\n`)
  process.exit(1)
}
