import type { Page, Paged } from '@gateway/core/messages'
import type { ParsedBody } from '@gateway/server'
import { type TProperties, type TSchema, Type } from 'typebox'
import { type Answer, failure, type Failure, isFailure, LongFields } from './answer.ts'
import { given } from './given.ts'
import { type Call, type Endpoint, get, type Operation } from './operation.ts'

const limitMax = 1000
/** A thousand scheduled messages, as text and as the copy in their connection. */
const pageBytes = 256 * 1024

/** The parameters of a page. */
export const pageQuery: TProperties = {
  offset: Type.Integer({
    description: 'How many items are skipped.',
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    default: 0,
  }),
  limit: Type.Integer({
    description: 'How many items are returned, at most.',
    minimum: 1,
    maximum: limitMax,
    default: 100,
  }),
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
  failure(
    'invalid-parameter',
    `${name} must be a whole number from ${min} to ${max}, written in digits only; got ${given(text)}.`,
  )

function wholeNumber(text: string): number | undefined {
  const value = /^[0-9]+$/.test(text) ? Number(text) : undefined
  return Number.isSafeInteger(value) ? value : undefined
}

/** The fields of `pageFields`. */
export const pageAnswer = (name: string, item: TSchema): TProperties => ({
  resultsOffset: Type.Integer({ description: 'The `offset` of the request.' }),
  resultsLimit: Type.Integer({ description: 'The `limit` of the request.' }),
  resultsTotalAvailable: Type.Integer({ description: 'How many items all pages have together.' }),
  [name]: Type.Array(item, { description: 'The items of this page, in the order that the operation names.' }),
})

/** So many items are written at once. */
const pieceItems = 25

/**
 * What every list says of itself, and its items under this name (ruling 2.10). Written in pieces: a page may take 0.1
 * s.
 */
export async function pageFields<Item>(
  { inTurn }: Pick<Call, 'inTurn'>,
  { offset, limit }: Page,
  name: string,
  { total, items }: Paged<Item>,
  json: (item: Item) => string,
): Promise<LongFields> {
  const pieces: string[] = []
  for (let from = 0; from < items.length; from += pieceItems) {
    pieces.push(
      await inTurn(() =>
        items
          .slice(from, from + pieceItems)
          .map(json)
          .join(),
      ),
    )
  }
  return new LongFields(
    `"resultsOffset":${offset},"resultsLimit":${limit},"resultsTotalAvailable":${total},"${name}":[${pieces.join()}]`,
  )
}

function itemsOf(query: string | ParsedBody): number {
  const page = readPage(typeof query === 'string' ? query : '')
  return isFailure(page) ? 1 : page.limit
}

/** A GET of one page of a list: it is read only where there is room for it. */
export const getPage = (operation: Operation, answer: (call: Call, page: Page) => Answer | Promise<Answer>): Endpoint =>
  get(operation, readPage, answer, { answerBytes: pageBytes, workOf: itemsOf })
