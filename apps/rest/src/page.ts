import type { Page, Paged } from '@gateway/core/messages'
import type { ParsedBody } from '@gateway/server'
import { type TProperties, type TSchema, Type } from 'typebox'
import { type Answer, failure, type Failure, isFailure, LongFields } from './answer.ts'
import { describeValue } from './request.ts'
import { type Call, type Endpoint, get, type Operation } from './operation.ts'

const limitMax = 1000
/** Memory for a page of a thousand scheduled messages, in bytes: the text and its copy in the connection. */
const pageBytes = 256 * 1024

/** Schemas of the parameters of a page. */
export const pageQuery: TProperties = {
  offset: Type.Integer({
    description: 'The number of items to skip.',
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    default: 0,
  }),
  limit: Type.Integer({
    description: 'The maximum number of items to return.',
    minimum: 1,
    maximum: limitMax,
    default: 100,
  }),
}

/**
 * Reads `offset` (default 0) and `limit` (default 100) of a query (spec 4.1). The first value of a repeated parameter
 * counts.
 */
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
    `${name} must be a whole number from ${min} to ${max}, written in digits only; got ${describeValue(text)}.`,
  )

function wholeNumber(text: string): number | undefined {
  const value = /^[0-9]+$/.test(text) ? Number(text) : undefined
  return Number.isSafeInteger(value) ? value : undefined
}

/** Returns the schemas of the fields that `pageFields` renders. */
export const pageAnswer = (name: string, item: TSchema): TProperties => ({
  resultsOffset: Type.Integer({ description: 'The `offset` of the request.' }),
  resultsLimit: Type.Integer({ description: 'The `limit` of the request.' }),
  resultsTotalAvailable: Type.Integer({ description: 'The number of items of all pages.' }),
  [name]: Type.Array(item, { description: 'The items of this page, in the order that the operation names.' }),
})

/** Number of items rendered in one piece. */
const pieceItems = 25

/**
 * Renders the fields of a page: offset, limit, total and the items under `name` (ruling 2.10). It yields between
 * pieces, because a page may take 0.1 s.
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

/** Returns an endpoint for one page of a list. It runs only when the memory budget has room for the page. */
export const getPage = (operation: Operation, answer: (call: Call, page: Page) => Answer | Promise<Answer>): Endpoint =>
  get(operation, readPage, answer, { answerBytes: pageBytes, workOf: itemsOf })
