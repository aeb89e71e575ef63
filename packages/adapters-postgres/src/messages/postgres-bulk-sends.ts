import type { AccountId } from '@gateway/core/accounts'
import type { BulkRow, BulkSend, BulkSendId, BulkSends, IdRun, OutcomeCount } from '@gateway/core/bulk-sends'
import { credits } from '@gateway/core/credits'
import { instant } from '@gateway/core/time'
import type { Context } from '../context.ts'
import { fromRow } from '../sql/statement.ts'
import {
  addBulkCall,
  addBulkSend,
  changeBulkSend,
  countBulkOutcomes,
  discardBulkSend,
  endBulkCall,
  findBulkSend,
  listBulkDrafts,
  listBulkSends,
  lockBulkSend,
  moveBulkSend,
  postponeBulkSend,
  readBulkCall,
  sumReturned,
  takeBulkCall,
  type BulkSendRow,
} from '../sql/bulk-sends.ts'

export function postgresBulkSends({ pools: { ordinary } }: Context): BulkSends {
  const move = async (account: AccountId, id: BulkSendId, from: string, to: string): Promise<boolean> =>
    (await ordinary.run(moveBulkSend, { account, id, from, to })).length > 0
  const read = async (account: AccountId, id: BulkSendId, call: number) =>
    (await ordinary.run(readBulkCall, { account, id, call }))[0]

  return {
    add: (account, { columns, text, scheduled, key }, calls) =>
      ordinary.transaction(async (connection) => {
        const [added] = await connection.run(addBulkSend, { account, columns, text, scheduled, key })
        if (added === undefined) throw new Error('storing a bulk send returned no row')
        // One statement for each call, because together their texts may have 20 MB.
        for (const [call, rows] of calls.entries()) {
          const repeated = rows.filter(({ refused }) => refused === 'repeated').length
          const count = rows.length - repeated
          await connection.run(addBulkCall, {
            ...{ send: added.id, call, recipients: JSON.stringify(rows), count, repeated },
          })
        }
        return added.id as BulkSendId
      }),
    find: async (account, id) => {
      const [row] = await ordinary.run(findBulkSend, { account, id })
      return row && sendOf(row)
    },
    list: async (account, { before, limit }) =>
      (await ordinary.run(listBulkSends, { account, before, limit })).map(sendOf),
    listDrafts: async (account, { before, limit }) =>
      (await ordinary.run(listBulkDrafts, { account, before, limit })).map(sendOf),
    discard: async (account, id) => (await ordinary.run(discardBulkSend, { account, id })).length > 0,
    change: async (account, id, { text, scheduled }) =>
      (await ordinary.run(changeBulkSend, { account, id, text, scheduled })).length > 0,
    rows: async (account, id, call) => ((await read(account, id, call))?.recipients ?? []) as readonly BulkRow[],
    accepted: async (account, id, call) => ((await read(account, id, call))?.accepted ?? []) as readonly IdRun[],
    outcomes: async (account, id) =>
      (await ordinary.run(countBulkOutcomes, { account, id })).map((row) => fromRow<OutcomeCount>(row)),
    returned: async (account, ids) => {
      if (ids.length === 0) return new Map()
      const rows = await ordinary.run(sumReturned, { account, ids })
      return new Map(rows.map(({ id, returned }) => [id as BulkSendId, credits(returned)]))
    },
    start: (account, id) => move(account, id, 'draft', 'running'),
    stop: (account, id) => move(account, id, 'running', 'stopping'),
    take: async (seconds, only) => {
      const [row] = await ordinary.run(takeBulkCall, { seconds, only })
      if (row === undefined) return undefined
      const { call, ageSeconds } = row
      return { send: sendOf(row), call, rows: row.rows as readonly BulkRow[], ageSeconds }
    },
    postpone: async (id, seconds) => {
      await ordinary.run(postponeBulkSend, { id, seconds })
    },
    end: (id, call, { accepted, messages, cost, left: recipients }) =>
      ordinary.transaction(async (connection) => {
        await connection.run(lockBulkSend, { id })
        await connection.run(endBulkCall, {
          ...{ id, call, recipients: JSON.stringify(recipients), accepted: JSON.stringify(accepted), messages, cost },
        })
      }),
  }
}

const sendOf = ({ id, account, scheduled, created, started, failedOver, cost, ...row }: BulkSendRow): BulkSend => ({
  failedOver: failedOver === null ? undefined : instant(failedOver),
  id: id as BulkSendId,
  account: account as AccountId,
  ...{ state: row.state, columns: row.columns, text: row.text, key: row.key },
  scheduled: scheduled === null ? undefined : instant(scheduled),
  created: instant(created),
  started: started === null ? undefined : instant(started),
  ...{ recipients: row.recipients, repeated: row.repeated, calls: row.calls, callsEnded: row.callsEnded },
  ...{ accepted: row.accepted, refused: row.refused, isStopped: row.isStopped, cost: credits(cost) },
})
