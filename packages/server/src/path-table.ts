export interface PathRules {
  /** Whether the letter case of paths counts. */
  readonly caseSensitive: boolean
  /** Whether one trailing slash is ignored; false if not given. */
  readonly lastSlashIgnored?: boolean | undefined
}

export interface FoundPath<Endpoint> {
  readonly endpoint: Endpoint
  /** As it is in the table. */
  readonly path: string
  /** The digits in the place of `{id}`. */
  readonly parameter: string | undefined
}

/** A whole number below 10^16 as one segment, without leading zeros. */
const numberSegment = /\/([1-9][0-9]{0,15})(?=\/|$)/
const placeholder = '/{id}'

/**
 * Finds what stands in a table of paths, each without trailing slash. Paths match exactly, but for one segment `{id}`, which stands for a positive
 * whole number in digits. Express would compare the path with each route in turn.
 */
export function pathTable<Endpoint>(
  endpoints: ReadonlyMap<string, Endpoint>,
  { caseSensitive, lastSlashIgnored = false }: PathRules,
): (path: string) => FoundPath<Endpoint> | undefined {
  const keyOf = (path: string) => {
    const named = lastSlashIgnored && path.endsWith('/') ? path.slice(0, -1) : path
    return caseSensitive ? named : named.toLowerCase()
  }
  const rows = [...endpoints].map(
    ([path, endpoint]) => [keyOf(path), { endpoint, path, parameter: undefined }] as const,
  )
  const exact = new Map(rows.filter(([key]) => !key.includes(placeholder)))
  const withNumber = new Map(rows.filter(([key]) => key.includes(placeholder)))
  return (path) => {
    const key = keyOf(path)
    const found = exact.get(key)
    if (found !== undefined || withNumber.size === 0) return found
    const parameter = numberSegment.exec(key)?.[1]
    const general = parameter === undefined ? undefined : withNumber.get(key.replace(numberSegment, placeholder))
    return general && { ...general, parameter }
  }
}
