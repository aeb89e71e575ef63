import type { AccountId } from '@gateway/core/accounts'
import {
  bulkSendLimits,
  type BulkDraft,
  type BulkRow,
  type BulkSend,
  type BulkSendId,
  type BulkSends,
} from '@gateway/core/bulk-sends'
import { credits, plus } from '@gateway/core/credits'
import { failedOverSendDays, type FailedOverSend } from '@gateway/core/dispatch'
import { isAcceptedByCarrier, type MessageId, type Msisdn, type OutcomeCode } from '@gateway/core/messages'
import { erasedNumber, type StoredListRow } from '@gateway/core/personal-data'
import { daysBefore, secondsAfter, type Instant } from '@gateway/core/time'
import { atomic } from './atomic.ts'
import { outcomeOf } from './decide.ts'
import type { BulkSendRow, MessageRow } from './rows.ts'
import type { MemoryStore } from './store.ts'

const isWorkedOn = ({ send: { state } }: BulkSendRow): boolean => state === 'running' || state === 'stopping'
const isReturned = ({ decision, refund }: MessageRow): boolean =>
  refund !== undefined || (decision !== undefined && !isAcceptedByCarrier(outcomeOf(decision)))
const isRepeated = ({ refused }: BulkRow): boolean => refused === 'repeated'

export function memoryBulkSends(store: MemoryStore): BulkSends {
  const { bulkSends, clock } = store
  const own = (by: AccountId, id: BulkSendId): BulkSendRow | undefined => {
    const row = bulkSends.get(id)
    return row?.send.account === by ? row : undefined
  }

  function move(by: AccountId, id: BulkSendId, from: BulkSend['state'], change: Partial<BulkSendRow['send']>): boolean {
    const row = own(by, id)
    if (row?.send.state !== from) return false
    row.send = { ...row.send, ...change }
    return true
  }

  return {
    add: atomic((by, { key, ...draft }, calls) => {
      const id = store.next('bulk-send') as BulkSendId
      const times = { created: clock.now(), started: undefined, failedOver: undefined }
      const send = { id, account: by, state: 'draft' as const, revision: 0, ...contentsOf(draft), key, ...times }
      bulkSends.set(id, { send, due: clock.now(), calls: notEnded(calls) })
      return id
    }),
    find: atomic((by, id) => {
      const row = own(by, id)
      return row && shown(row)
    }),
    list: atomic((by, { before = Infinity as BulkSendId, limit }) =>
      [...bulkSends.values()]
        .filter(({ send }) => send.account === by && send.state !== 'draft' && send.id < before)
        .sort((a, b) => b.send.id - a.send.id)
        .slice(0, limit)
        .map(shown),
    ),
    listDrafts: atomic((by, { before = Infinity as BulkSendId, limit }) =>
      [...bulkSends.values()]
        .filter(({ send }) => send.account === by && send.state === 'draft' && send.id < before)
        .sort((a, b) => b.send.id - a.send.id)
        .slice(0, limit)
        .map(shown),
    ),
    discard: atomic((by, id) => own(by, id)?.send.state === 'draft' && bulkSends.delete(id)),
    change: atomic((by, id, draft, calls) => {
      const row = own(by, id)
      const isChanged = move(by, id, 'draft', { ...contentsOf(draft), revision: (row?.send.revision ?? 0) + 1 })
      if (isChanged && row !== undefined && calls !== undefined) row.calls = notEnded(calls)
      return isChanged
    }),
    rows: atomic((by, id, call) => own(by, id)?.calls[call]?.rows ?? []),
    accepted: atomic((by, id, call) => own(by, id)?.calls[call]?.ended?.accepted ?? []),
    outcomes: atomic((by, id) => {
      const runs = (own(by, id)?.calls ?? []).flatMap(({ ended }) => ended?.accepted ?? [])
      const counts = new Map<OutcomeCode | undefined, number>()
      for (const [first, last] of runs)
        for (let message = first; message <= last; message = (message + 1) as MessageId) {
          const code = store.messages.get(message)?.decision?.code
          counts.set(code, (counts.get(code) ?? 0) + 1)
        }
      return [...counts]
        .map(([code, messages]) => ({ code, messages }))
        .sort((a, b) => (a.code ?? Infinity) - (b.code ?? Infinity))
    }),
    returned: atomic((by, ids) => {
      const sums = ids.map((id) => {
        const runs = (own(by, id)?.calls ?? []).flatMap(({ ended }) => ended?.accepted ?? [])
        const messages = [...store.messages.values()].filter((message) =>
          runs.some(([first, last]) => message.id >= first && message.id <= last),
        )
        return [
          id,
          messages
            .filter(isReturned)
            .map(({ cost }) => cost)
            .reduce(plus, credits(0)),
        ] as const
      })
      return new Map(sums.filter(([, sum]) => sum > 0))
    }),
    start: atomic((by, id, revision) => {
      const row = own(by, id)
      if (row?.send.revision !== revision) return false
      row.due = clock.now()
      return move(by, id, 'draft', { state: 'running', started: clock.now() })
    }),
    stop: atomic((by, id) => {
      const isStopped = move(by, id, 'running', { state: 'stopping' })
      const row = own(by, id)
      if (isStopped && row !== undefined) row.due = clock.now()
      return isStopped
    }),
    take: atomic((seconds, only) => {
      const now = clock.now()
      const [row] = [...bulkSends.values()]
        .filter((one) => isWorkedOn(one) && one.due <= now && (only === undefined || one.send.id === only))
        .sort((a, b) => a.due - b.due || a.send.id - b.send.id)
      if (row === undefined) return undefined
      const call = row.calls.findIndex(({ ended }) => ended === undefined)
      row.due = secondsAfter(now, seconds)
      const ageSeconds = (now - (row.send.started ?? now)) / 1000
      return { send: shown(row), call, rows: row.calls[call]?.rows ?? [], ageSeconds }
    }),
    postpone: atomic((id, seconds) => {
      const row = bulkSends.get(id)
      if (row !== undefined) row.due = secondsAfter(clock.now(), seconds)
    }),
    end: atomic((id, call, { refusedRows, ...ended }) => {
      const row = bulkSends.get(id)
      const found = row?.calls[call]
      if (row === undefined || found === undefined || found.ended !== undefined) return
      Object.assign(found, { rows: refusedRows, ended })
      row.due = clock.now()
      if (row.calls.every((one) => one.ended !== undefined)) row.send = { ...row.send, state: 'ended' }
    }),
  }
}

const contentsOf = ({ columns, text, scheduled, sender, options }: BulkDraft): BulkDraft => ({
  ...{ columns, text, scheduled, sender, options },
})

const notEnded = (calls: readonly (readonly BulkRow[])[]): BulkSendRow['calls'] =>
  calls.map((rows) => ({ rows, ended: undefined }))

function shown({ send, calls }: BulkSendRow): BulkSend {
  const rows = calls.flatMap((call) => call.rows)
  const ended = calls.flatMap((call) => call.ended ?? [])
  const accepted = ended.reduce((sum, { messages }) => sum + messages, 0)
  const repeated = rows.filter(isRepeated).length
  const refusedOf = (call: BulkSendRow['calls'][number]): number =>
    call.ended === undefined ? 0 : call.rows.filter((row) => !isRepeated(row)).length
  return {
    ...send,
    recipients: rows.length - repeated + accepted,
    ...{ repeated, calls: calls.length, callsEnded: ended.length, accepted },
    refused: calls.reduce((sum, call) => sum + refusedOf(call), 0),
    isStopped: send.state === 'ended' && rows.some(({ refused }) => refused === 'stopped' || refused === 'failed-over'),
    cost: ended.map(({ cost }) => cost).reduce(plus, credits(0)),
  }
}

const isBeingSent = (row: BulkSendRow, { ended }: BulkSendRow['calls'][number]): boolean =>
  isWorkedOn(row) && ended === undefined

/** Changes bulk sends in progress to `stopping`, as the promotion of a standby does. */
export function failOverSends({ bulkSends, clock }: MemoryStore): void {
  const now = clock.now()
  for (const row of bulkSends.values())
    if (isWorkedOn(row)) Object.assign(row, { due: now, send: { ...row.send, state: 'stopping', failedOver: now } })
}

export const failedOverSends = ({ bulkSends, clock }: MemoryStore): readonly FailedOverSend[] =>
  [...bulkSends.values()]
    .flatMap((row): FailedOverSend[] => {
      const { id, account, failedOver } = row.send
      if (failedOver === undefined || failedOver < daysBefore(clock.now(), failedOverSendDays)) return []
      const open = row.calls.flatMap(({ rows, ended }) =>
        rows.filter(({ refused }) => (ended === undefined ? refused !== 'repeated' : refused === 'failed-over')),
      )
      return [{ id, account, failedOver, rows: open.length }]
    })
    .sort((a, b) => b.id - a.id)

export const listedRows = ({ bulkSends }: MemoryStore, number: Msisdn): readonly StoredListRow[] =>
  [...bulkSends.values()].flatMap((of) =>
    of.calls.flatMap((call) =>
      call.rows
        .filter((row) => row.number === number)
        .map((row) => ({ send: listedSend(of), row, isBeingSent: isBeingSent(of, call) })),
    ),
  )

const listedSend = ({ send: { id, account, state, created, columns, text } }: BulkSendRow): StoredListRow['send'] => ({
  ...{ id, account, state, created, columns, text },
})

export function forgetRowsOf(store: MemoryStore, number: Msisdn): void {
  const written = new RegExp(`(?<!\\d)(\\+|00)?${number.split('').join('[\\s().-]{0,2}')}(?!\\d)`, 'g')
  const withoutNumber = (one: BulkRow): BulkRow =>
    one.number === number || one.number.replace(written, '') !== one.number
      ? { ...one, number: erasedNumber, fields: [] }
      : { ...one, fields: one.fields.map((field) => field.replace(written, erasedNumber)) }
  for (const row of store.bulkSends.values()) {
    for (const call of row.calls) if (!isBeingSent(row, call)) call.rows = call.rows.map(withoutNumber)
    if (row.send.state === 'ended' && isEveryoneErased(store, row)) row.send = { ...row.send, text: '' }
  }
}

/** Returns true if every recipient's number was erased, in the sent message or in the row that is not sent yet. */
function isEveryoneErased({ messages }: MemoryStore, { calls }: BulkSendRow): boolean {
  const runs = calls.flatMap(({ ended }) => ended?.accepted ?? [])
  const sent = [...messages.values()].filter(({ id }) => runs.some(([first, last]) => id >= first && id <= last))
  const all = [...sent, ...calls.flatMap(({ rows }) => rows)]
  return all.length > 0 && all.every((one) => one.number === erasedNumber)
}

export function dropBulkSends({ bulkSends, clock }: MemoryStore, since: Instant): void {
  const draftsSince = daysBefore(clock.now(), bulkSendLimits.draftDays)
  for (const [id, { send }] of bulkSends)
    if (send.created < since || (send.state === 'draft' && send.created < draftsSince)) bulkSends.delete(id)
}
