import type { Page, Paged } from '@gateway/core'
import { Type, type TProperties, type TSchema } from 'typebox'
import { failure, LongFields, type Answer, type Failure } from './answer.ts'
import { get, type Call, type Endpoint } from './endpoint.ts'
import { given } from './given.ts'
import type { Operation } from './operation.ts'

const limitMax = 1000
/** A thousand scheduled messages, as text and as the copy in their connection. */
const pageBytes = 256 * 1024

/** The parameters of a page. */
export const pageQuery: TProperties = {
  offset: Type.Integer({
    description: 'Items to skip.',
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    default: 0,
  }),
  limit: Type.Integer({ description: 'Items to return.', minimum: 1, maximum: limitMax, default: 100 }),
}

/** `offset` (0 if left out) and `limit` (100) of a query (spec 4.1). Of a parameter given twice the first counts. */
export function readPage(query: string): Page | Failure {
  const parameters = new URLSearchParams(query)
  const [offsetText, limitText] = [parameters.get('offset') ?? '0', parameters.get('limit') ?? '100']
  const [offset, limit] = [wholeNumber(offsetText), wholeNumber(limitText)]
  if (offset === undefined) return outOfRange('offset', 0, Number.MAX_SAFE_INTEGER, offsetText)
  if (limit === undefined || limit < 1 || limit > limitMax) return outOfRange('limit', 1, limitMax, limitText)
  return { offset, limit }
}

const outOfRange = (name: string, min: number, max: number, text: string): Failure =>
  failure(422, `${name} must be a whole number from ${min} to ${max}, written in digits only; got ${given(text)}.`)

function wholeNumber(text: string): number | undefined {
  const value = /^[0-9]+$/.test(text) ? Number(text) : undefined
  return Number.isSafeInteger(value) ? value : undefined
}

/** The fields of `pageFields`. */
export const pageAnswer = (name: string, item: TSchema): TProperties => ({
  resultsOffset: Type.Integer(),
  resultsLimit: Type.Integer(),
  resultsTotalAvailable: Type.Integer({ description: 'Items in all pages.' }),
  [name]: Type.Array(item),
})

/** What every list says of itself, and its items under this name (ruling 2.10). */
export const pageFields = <Item>(
  { offset, limit }: Page,
  name: string,
  { total, items }: Paged<Item>,
  json: (item: Item) => string,
): LongFields =>
  new LongFields(
    `"resultsOffset":${offset},"resultsLimit":${limit},"resultsTotalAvailable":${total},"${name}":[${items.map(json).join()}]`,
  )

/** A GET of one page of a list: it is read only where there is room for it. */
export const getPage = (operation: Operation, answer: (call: Call, page: Page) => Answer | Promise<Answer>): Endpoint =>
  get(operation, readPage, answer, pageBytes)
