/**
 * Requests of a server since its start. For each endpoint, maps an upper bound of the duration in seconds to the number
 * of requests.
 */
export type RequestCounts = ReadonlyMap<string, ReadonlyMap<number, number>>

export interface EndpointFigures {
  readonly endpoint: string
  readonly perSecond: number
  /**
   * Upper bound of the 95th percentile of durations, in seconds. It is never larger than the largest finite bound of
   * the histogram.
   */
  readonly slowSeconds: number
}

const bucket = /^http_request_duration_seconds_bucket\{(?<labels>[^}]*)\} (?<count>\S+)/gm

/** Reads `http_request_duration_seconds` from the text format of Prometheus. */
export function requestsIn(text: string): RequestCounts {
  const found = new Map<string, Map<number, number>>()
  for (const { groups = {} } of text.matchAll(bucket)) {
    const endpoint = /endpoint="([^"]*)"/.exec(groups['labels'] ?? '')?.[1] ?? 'none'
    // Health checks, metrics and unknown paths have no endpoint.
    if (endpoint === 'none') continue
    const bound = Number(/le="([^"]*)"/.exec(groups['labels'] ?? '')?.[1]?.replace('+Inf', 'Infinity'))
    const bounds = found.get(endpoint) ?? new Map<number, number>()
    found.set(endpoint, bounds.set(bound, (bounds.get(bound) ?? 0) + Number(groups['count'])))
  }
  return found
}

/** Sums the requests of all servers between two readings. A server that was restarted counts from its start. */
export function endpointsBetween(
  before: readonly RequestCounts[],
  after: readonly RequestCounts[],
  seconds: number,
): readonly EndpointFigures[] {
  const sums = new Map<string, Map<number, number>>()
  for (const [server, counts] of after.entries())
    for (const [endpoint, bounds] of counts) {
      const earlier = before[server]?.get(endpoint)
      const isRestarted = (bounds.get(Infinity) ?? 0) < (earlier?.get(Infinity) ?? 0)
      const sum = sums.get(endpoint) ?? new Map<number, number>()
      sums.set(endpoint, sum)
      for (const [bound, count] of bounds)
        sum.set(bound, (sum.get(bound) ?? 0) + count - (isRestarted ? 0 : (earlier?.get(bound) ?? 0)))
    }
  return [...sums].flatMap(([endpoint, bounds]) => {
    const all = bounds.get(Infinity) ?? 0
    if (all === 0) return []
    const ascending = [...bounds].sort(([a], [b]) => a - b)
    const largest = Math.max(...[...bounds.keys()].filter(Number.isFinite))
    const [within = Infinity] = ascending.find(([, count]) => count >= 0.95 * all) ?? []
    return [{ endpoint, perSecond: all / seconds, slowSeconds: Math.min(within, largest) }]
  })
}
