import type { ServerResponse } from 'node:http'

const place = Symbol('place')
type Placed = ServerResponse & { [place]?: number }

/**
 * The responses of a server that are not closed, in no order. An array: the tables that a `Set` replaces every few dozen requests stay in
 * V8's old generation and keep all that was ever in them (docs/decisions/0061-no-sets-of-what-comes-and-goes.md).
 */
export class OpenResponses implements Iterable<ServerResponse> {
  private readonly responses: Placed[] = []

  get size(): number {
    return this.responses.length
  }

  /** Each response once. */
  add(response: ServerResponse): void {
    ;(response as Placed)[place] = this.responses.push(response) - 1
  }

  /** Does nothing for one that is not here. */
  delete(response: ServerResponse): void {
    const at = (response as Placed)[place] ?? -1
    if (this.responses[at] !== response) return
    const last = this.responses.pop()
    if (last === undefined || last === response) return
    this.responses[at] = last
    last[place] = at
  }

  [Symbol.iterator](): IterableIterator<ServerResponse> {
    return this.responses.values()
  }
}
