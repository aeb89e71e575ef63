import type { Page, Paged } from '@gateway/core'
import { failure, type Failure } from './answer.ts'

const limitMax = 1000

/** `offset` (0 if left out) and `limit` (100) of a query (spec 4.1). Of a parameter given twice the first counts. */
export function readPage(query: string): Page | Failure {
  const parameters = new URLSearchParams(query)
  const offset = wholeNumber(parameters.get('offset') ?? '0')
  const limit = wholeNumber(parameters.get('limit') ?? '100')
  if (offset === undefined) return failure(422, 'offset must be a whole number of at least 0.')
  if (limit === undefined || limit < 1 || limit > limitMax) {
    return failure(422, `limit must be a whole number from 1 to ${limitMax}.`)
  }
  return { offset, limit }
}

function wholeNumber(text: string): number | undefined {
  const value = /^[0-9]+$/.test(text) ? Number(text) : undefined
  return Number.isSafeInteger(value) ? value : undefined
}

/** What every list says of itself, and its items under this name (ruling 2.10). */
export const pageFields = <Item>(
  { offset, limit }: Page,
  name: string,
  { total, items }: Paged<Item>,
  json: (item: Item) => string,
): string =>
  `"resultsOffset":${offset},"resultsLimit":${limit},"resultsTotalAvailable":${total},"${name}":[${items.map(json).join()}]`
