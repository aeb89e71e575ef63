import type { Msisdn } from '@gateway/core/messages'
import {
  formsOf,
  nextKindOf,
  nothingErased,
  erasedNumber,
  type Erasure,
  type ErasureStep,
  type StoredInbound,
  type PersonalData,
} from '@gateway/core/personal-data'
import type { Context } from '../context.ts'
import { retryOnConnectionLoss } from '../retry-on-connection-loss.ts'
import {
  beginErasure,
  endErasure,
  eraseAnswers,
  eraseBulkTexts,
  eraseContacts,
  eraseInbound,
  eraseMessages,
  eraseWaitingEvents,
  findEvents,
  inboundFrom,
  listContacts,
  listErasures,
  listRowsOf,
  listSuppressionsOf,
  lockErasures,
  textsOfMessages,
  writeEvents,
} from '../sql/personal-data.ts'
import { eraseSmppData, eraseSmppNumbers } from '../sql/smpp-parts.ts'
import { fromRow, type RowOf } from '../sql/statement.ts'
import { suppressionOf } from '../stored-codes.ts'
import { storedEventsOf, type StoredEvents } from '../webhooks/stored-events.ts'

/** Maximum number of rows in one step, so that it stays short. */
const sliceOf = { messages: 200, inbound: 20_000, events: 50 } as const

/** Result of one step, and the position of the next step of its kind, undefined if the kind is done. */
interface Done {
  readonly changed: number
  readonly after: string | undefined
}

export function postgresPersonalData({ pools: { ordinary } }: Context): PersonalData {
  async function* inbound(number: Msisdn): AsyncIterable<StoredInbound> {
    for (let after: number | null = 0; after !== null;) {
      const [row]: readonly RowOf<typeof inboundFrom>[] = await ordinary.run(inboundFrom, {
        forms: formsOf(number),
        after,
        sliceMax: sliceOf.inbound,
      })
      for (const message of row?.found ?? []) yield fromRow(message)
      after = row?.next ?? null
    }
  }

  const erasers: Readonly<Record<ErasureStep['at'], (number: Msisdn, after: string) => Promise<Done>>> = {
    messages: async (number) => {
      const changed = await ordinary.transaction(async (connection) => {
        await connection.run(lockErasures, {})
        const [row] = await connection.run(eraseMessages, { number, messagesMax: sliceOf.messages })
        return row?.erased ?? 0
      })
      return { changed, after: changed === sliceOf.messages ? '' : undefined }
    },
    inbound: async (number, after) => {
      if (after === '') {
        await ordinary.run(eraseSmppData, { number, forms: formsOf(number) })
        await ordinary.run(eraseSmppNumbers, { number })
      }
      const values = { forms: formsOf(number), after: Number(after), sliceMax: sliceOf.inbound }
      const [row] = await ordinary.run(eraseInbound, values)
      return { changed: row?.erased ?? 0, after: row?.next == null ? undefined : String(row.next) }
    },
    contacts: async (number) => {
      const values = { number, forms: formsOf(number), written: writtenForms(number) }
      const [row] = await ordinary.run(eraseContacts, values)
      await ordinary.run(eraseBulkTexts, {})
      return { changed: row?.erased ?? 0, after: undefined }
    },
    events: eraseEvents,
  }

  /**
   * Erases a number from events. It first handles events that are in no list yet, then lists by id, and at the end
   * events in no list again, because a concurrent claim stores the rest of a row anew.
   */
  async function eraseEvents(number: Msisdn, after: string): Promise<Done> {
    if (after === '' || after === 'rest') {
      const [row] = await ordinary.run(eraseWaitingEvents, { number, digits: digitRunsOf(number) })
      return { changed: row?.erased ?? 0, after: after === '' ? '0' : undefined }
    }
    const values = { after: Number(after), sliceMax: sliceOf.events, patterns: patternsOf(number) }
    const [row] = await ordinary.run(findEvents, values)
    let changed = 0
    const found = row?.found ?? []
    for (const { id, events } of found) {
      const written = { id, before: events, after: eventsWithoutNumber(events, number) }
      const rows = await ordinary.run(writeEvents, written)
      // Another erasure has changed the list meanwhile, so the same slice is read again.
      if (rows.length === 0) return { changed, after }
      changed += written.after === events ? 0 : 1
    }
    if (found.length > 0) await ordinary.run(eraseAnswers, { lists: found.map(({ id }) => id) })
    return { changed, after: row?.next == null ? 'rest' : String(row.next) }
  }

  return {
    texts: async (ids) => {
      const rows = await ordinary.run(textsOfMessages, { ids })
      return new Map(rows.map(({ id, text }) => [id, text]))
    },
    inbound,
    contacts: (number) => ordinary.run(listContacts, { number }),
    suppressions: async (number) => {
      const rows = await ordinary.run(listSuppressionsOf, { number })
      return rows.map(({ account, kind, since, text }) => ({
        account: account === 0 ? undefined : account,
        kind: suppressionOf(kind),
        since,
        text: text ?? undefined,
      }))
    },
    listed: async (number) => {
      const found = await ordinary.run(listRowsOf, { number })
      return found.map(({ row, isBeingSent, ...send }) => ({ send, row, isBeingSent }))
    },
    erase: async (number, step) => {
      const { changed, after } = await erasers[step.at](number, step.after)
      const next = after === undefined ? nextKindOf(step) : { at: step.at, after }
      return { erased: { ...nothingErased, [step.at]: changed }, next }
    },
    begin: async ({ digest, by }) => {
      const [row] = await ordinary.run(beginErasure, { digest, doneBy: by })
      if (row === undefined) throw new Error('the record of an erasure got no id')
      return row.id
    },
    end: async (id, { messages, inbound: received, contacts, events }) => {
      await retryOnConnectionLoss(ordinary, endErasure, { id, messages, inbound: received, contacts, events })
    },
    erasures: async () => (await ordinary.run(listErasures, {})).map(erasureOf),
  }
}

const erasureOf = ({ id, digest, by, begun, ended, ...erased }: RowOf<typeof listErasures>): Erasure => ({
  ...{ id, digest, by, begun },
  ended: ended ?? undefined,
  erased,
})

/**
 * Returns LIKE patterns for stored events that may contain the number. They also match events from which a number was
 * erased before, because earlier versions did not erase the responses of their endpoints.
 */
export const patternsOf = (number: Msisdn): readonly string[] =>
  [...formsOf(number), erasedNumber].map((form) => `%"${form}"%`)

/**
 * Returns a PostgreSQL regular expression for the number as people and programs write it: with `+`, `00` or neither,
 * also percent-encoded, and with blanks, dots, dashes, slashes or parentheses between its digits.
 */
export const writtenForms = (number: Msisdn): string =>
  `(?<![0-9])(\\+|00|%2[Bb])?${number.split('').join('([\\s().\u00a0/-]|%20){0,2}')}(?![0-9])`

/** Number of consecutive digits of a number that count as a copy of the number, which may be cut at either end. */
const recognizableDigits = 7

/** Returns a PostgreSQL regular expression for any `recognizableDigits` consecutive digits of the number. */
const digitRunsOf = (number: Msisdn): string =>
  Array.from({ length: number.length - recognizableDigits + 1 }, (_, at) =>
    number.slice(at, at + recognizableDigits),
  ).join('|')

/**
 * Returns the events of a list (JSON) without a number. Erases the text of messages from the number, and the text of a
 * send when its last number is erased. In events that cannot be read, it replaces the number wherever it is a value.
 */
export function eventsWithoutNumber(json: string, number: Msisdn): string {
  const forms = formsOf(number)
  const stored = storedEventsOf(JSON.parse(json))
  const text = stored.length === 0 ? json : JSON.stringify(stored.map((each) => withoutNumber(each, number, forms)))
  return forms.reduce((before, form) => before.replaceAll(`"${form}"`, `"${erasedNumber}"`), text)
}

function withoutNumber(stored: StoredEvents, number: Msisdn, forms: readonly string[]): StoredEvents {
  const { from, numbers, references, text } = stored
  const isFrom = from !== undefined && forms.includes(from)
  if (!isFrom && numbers?.includes(number) !== true) return stored
  const after = numbers?.map((each) => (each === number ? erasedNumber : each))
  const isEmpty = isFrom || after?.every((each) => each === erasedNumber) === true
  return {
    ...stored,
    ...(isFrom && { from: erasedNumber }),
    ...(isEmpty && text !== undefined && { text: '' }),
    ...(after !== undefined && { numbers: after }),
    ...(references && { references: references.map((each, i) => (after?.[i] === erasedNumber ? null : each)) }),
  }
}
