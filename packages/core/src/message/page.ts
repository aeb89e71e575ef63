/** A piece of a list: `offset` from 0, `limit` from 1. */
export interface Page {
  readonly offset: number
  readonly limit: number
}

export interface Paged<Item> {
  /** How many there are in all. */
  readonly total: number
  readonly items: readonly Item[]
}
