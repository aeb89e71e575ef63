/** How the command line calls the prefix of all other numbers, which is empty. */
export const defaultPrefix = 'default'

export const prefixArgument = `the first digits of the numbers, or '${defaultPrefix}' for all numbers without a prefix of their own`

export const prefixWord = (prefix: string): string => (prefix === '' ? defaultPrefix : prefix)

export const whose = (prefix: string): string =>
  prefix === '' ? 'all numbers without a prefix of their own' : `numbers that begin with ${prefix}`
