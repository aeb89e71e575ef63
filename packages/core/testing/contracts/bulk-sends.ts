import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import type { AccountId } from '@gateway/core/accounts'
import type { BulkRow, BulkSendId, EndedCall, NewBulkSend } from '@gateway/core/bulk-sends'
import { credits } from '@gateway/core/credits'
import {
  OUTCOME,
  type Category,
  type MessageId,
  type Msisdn,
  type SenderAddress,
  type ValidityMinutes,
} from '@gateway/core/messages'
import { firstErasureStep, type ErasureStep } from '@gateway/core/personal-data'
import { anAccount, anOrder, aNumber } from '../builders.ts'
import { accepted, concurrentCallers, dispatchDue, farAhead, longAgo, type Contract } from './shared.ts'

const aSend: NewBulkSend = { columns: ['Name'], text: 'Dear {name}', scheduled: undefined, key: 'k' }
const rowsFrom = (first: number, count: number): readonly BulkRow[] =>
  Array.from({ length: count }, (_, i) => ({
    ...{ row: first + i, number: aNumber(String(27820000000 + first + i)), fields: [`Ann "${first + i}", {x}`] },
  }))
const calls = [rowsFrom(1, 2), [...rowsFrom(3, 1), { ...rowsFrom(4, 1)[0], refused: 'repeated' } as BulkRow]]
const ids = (first: number, last: number) => [first as MessageId, last as MessageId] as const
const nothingAccepted: EndedCall = { accepted: [], messages: 0, cost: credits(0), refusedRows: [] }
const listed = async ({ personalData }: StoredPorts, number: Msisdn) =>
  (await personalData.listed(number)).map(({ send, row, isBeingSent }) => [send.id, send.state, row.row, isBeingSent])
const nobody = (2 ** 52) as BulkSendId

async function drafted({ bulkSends }: StoredPorts, by: AccountId, fields: Partial<NewBulkSend> = {}) {
  return bulkSends.add(by, { ...aSend, ...fields }, calls)
}

async function started(ports: StoredPorts, by: AccountId) {
  const id = await drafted(ports, by)
  assert.equal(await ports.bulkSends.start(by, id, 0), true)
  return id
}

export const bulkSendsContract: Contract<StoredPorts> = {
  'a draft is stored with its rows and visible only to its account': async (ports) => {
    const [{ id: by }, { id: other }] = [await anAccount(ports), await anAccount(ports)]
    const id = await drafted(ports, by, { scheduled: farAhead })
    const found = (await ports.bulkSends.find(by, id)) ?? assert.fail('not found')
    assert.deepEqual(
      { ...found, created: 0 },
      {
        ...{ id, account: by, state: 'draft', revision: 0, ...aSend, scheduled: farAhead, created: 0 },
        ...{ sender: undefined, options: undefined, started: undefined },
        ...{ recipients: 3, repeated: 1, calls: 2, callsEnded: 0, accepted: 0, refused: 0, isStopped: false, cost: 0 },
        failedOver: undefined,
      },
    )
    assert.deepEqual([await ports.bulkSends.rows(by, id, 0), await ports.bulkSends.rows(by, id, 1)], calls)
    assert.deepEqual(await ports.bulkSends.rows(by, id, 2), [])
    assert.equal(await ports.bulkSends.find(other, id), undefined)
    assert.equal(await ports.bulkSends.find(by, nobody), undefined)
    assert.deepEqual(await ports.bulkSends.rows(other, id, 0), [])
    const change = { ...aSend, text: 'x' }
    assert.deepEqual(
      [await ports.bulkSends.change(other, id, change), await ports.bulkSends.start(other, id, 0)],
      [false, false],
    )
    assert.equal(await ports.bulkSends.stop(other, id), false)
    assert.equal(await ports.bulkSends.take(60), undefined)
  },

  'drafts of an account are listed in pages, latest first, and none is removed automatically': async (ports) => {
    const [{ id: by }, { id: other }] = [await anAccount(ports), await anAccount(ports)]
    const first = await started(ports, by)
    const drafts: BulkSendId[] = []
    for (let draft = 0; draft < 12; draft++) drafts.push(await drafted(ports, by))
    await drafted(ports, other)
    const page = await ports.bulkSends.listDrafts(by, { limit: 10 })
    const rest = await ports.bulkSends.listDrafts(by, { before: page.at(-1)?.id, limit: 10 })
    assert.deepEqual(
      [...page, ...rest].map(({ id }) => id),
      drafts.toReversed(),
    )
    assert.deepEqual([page[0]?.state, page[0]?.recipients, page[0]?.repeated], ['draft', 3, 1])
    assert.deepEqual(
      (await ports.bulkSends.list(by, { limit: 10 })).map(({ id }) => id),
      [first],
    )
  },

  'a draft is discarded with its rows, once, only by its account and only before it is started': async (ports) => {
    const [{ id: by }, { id: other }] = [await anAccount(ports), await anAccount(ports)]
    const [running, draft] = [await started(ports, by), await drafted(ports, by)]
    assert.deepEqual(
      [await ports.bulkSends.discard(other, draft), await ports.bulkSends.discard(by, running)],
      [false, false],
    )
    assert.equal(await ports.bulkSends.discard(by, draft), true)
    assert.equal(await ports.bulkSends.discard(by, draft), false)
    assert.equal(await ports.bulkSends.find(by, draft), undefined)
    assert.deepEqual(await ports.bulkSends.rows(by, draft, 0), [])
  },

  'a draft can be changed until it is started, and is started once': async (ports) => {
    const { id: by } = await anAccount(ports)
    const id = await drafted(ports, by)
    const change = { ...aSend, text: 'Hello', scheduled: farAhead }
    assert.equal(await ports.bulkSends.change(by, id, change), true)
    assert.equal(await ports.bulkSends.stop(by, id), false)
    const all = await Promise.all(Array.from({ length: concurrentCallers }, () => ports.bulkSends.start(by, id, 1)))
    assert.equal(all.filter(Boolean).length, 1)
    assert.equal(await ports.bulkSends.change(by, id, { ...change, text: 'Later' }), false)
    const found = await ports.bulkSends.find(by, id)
    assert.deepEqual([found?.state, found?.text, found?.scheduled], ['running', 'Hello', farAhead])
  },

  'a draft is started only in the revision that its author has seen': async (ports) => {
    const { id: by } = await anAccount(ports)
    const id = await drafted(ports, by)
    const changes = Array.from({ length: concurrentCallers }, () => ports.bulkSends.change(by, id, aSend))
    const [isStarted] = await Promise.all([ports.bulkSends.start(by, id, 1), ...changes])
    const { revision } = (await ports.bulkSends.find(by, id)) ?? assert.fail('not found')
    assert.ok(isStarted ? revision === 1 : revision === concurrentCallers)
    assert.equal(await ports.bulkSends.start(by, id, 0), false)
    assert.equal(await ports.bulkSends.start(by, id, revision), !isStarted)
    for (const call of [0, 1]) await ports.bulkSends.end(id, call, nothingAccepted)
  },

  'the sender and the options of a draft are stored, changed and claimed with it': async (ports) => {
    const { id: by } = await anAccount(ports)
    const sender = 'ACME' as SenderAddress
    const options = { validity: 60 as ValidityMinutes, flash: true, category: 'Ad "x"' as Category } as const
    const [id, other] = [await drafted(ports, by, { sender, options }), await drafted(ports, by)]
    assert.equal(await ports.bulkSends.change(by, other, { ...aSend, sender, options }), true)
    for (const send of [id, other]) {
      const found = await ports.bulkSends.find(by, send)
      assert.deepEqual([found?.sender, found?.options], [sender, options])
    }
    assert.equal(await ports.bulkSends.start(by, id, 0), true)
    const claimed = await ports.bulkSends.take(600, id)
    assert.deepEqual([claimed?.send.sender, claimed?.send.options], [sender, options])
    assert.equal(await ports.bulkSends.change(by, other, aSend), true)
    const changed = await ports.bulkSends.find(by, other)
    assert.deepEqual([changed?.sender, changed?.options], [undefined, undefined])
    for (const call of [0, 1]) await ports.bulkSends.end(id, call, nothingAccepted)
  },

  'the rows of a draft are replaced as a whole, and not after it is started': async (ports) => {
    const [{ id: by }, { id: other }] = [await anAccount(ports), await anAccount(ports)]
    const id = await drafted(ports, by)
    const rows = rowsFrom(11, 3)
    const draft = { ...aSend, columns: ['Name', 'Sum'] }
    assert.equal(await ports.bulkSends.change(other, id, draft, [rows]), false)
    assert.deepEqual(await ports.bulkSends.rows(by, id, 0), calls[0])
    assert.equal(await ports.bulkSends.change(by, id, draft, [rows]), true)
    const found = await ports.bulkSends.find(by, id)
    assert.deepEqual(
      [found?.columns, found?.recipients, found?.repeated, found?.calls, found?.revision],
      [draft.columns, 3, 0, 1, 1],
    )
    assert.deepEqual([await ports.bulkSends.rows(by, id, 0), await ports.bulkSends.rows(by, id, 1)], [rows, []])
    assert.equal(await ports.bulkSends.start(by, id, 1), true)
    assert.equal(await ports.bulkSends.change(by, id, draft, calls), false)
    assert.deepEqual(await ports.bulkSends.rows(by, id, 0), rows)
    await ports.bulkSends.end(id, 0, nothingAccepted)
  },

  'calls of a send are claimed one after the other, each by one caller, and again after its lease': async (ports) => {
    const { id: by } = await anAccount(ports)
    const id = await started(ports, by)
    const claims = await Promise.all(Array.from({ length: concurrentCallers }, () => ports.bulkSends.take(600)))
    const [first, ...others] = claims.filter((one) => one !== undefined)
    assert.deepEqual([first?.send.id, first?.call, first?.rows, others.length], [id, 0, calls[0], 0])
    assert.ok(first !== undefined && first.ageSeconds >= 0 && first.ageSeconds < 600)
    assert.equal(await ports.bulkSends.take(600), undefined)
    await ports.bulkSends.postpone(id, 0)
    assert.equal((await ports.bulkSends.take(0))?.call, 0)
    const [row] = calls[0] ?? []
    const ended = {
      accepted: [ids(7, 7)],
      messages: 1,
      cost: credits(15),
      refusedRows: [{ ...row, refused: 'opted-out' }],
    }
    await ports.bulkSends.end(id, 0, ended as unknown as EndedCall)
    await ports.bulkSends.end(id, 0, nothingAccepted)
    assert.deepEqual(await ports.bulkSends.accepted(by, id, 0), [[7, 7]])
    assert.deepEqual(await ports.bulkSends.rows(by, id, 0), ended.refusedRows)
    assert.equal((await ports.bulkSends.take(0))?.call, 1)
    assert.deepEqual(await ports.bulkSends.accepted(by, id, 1), [])
    await ports.bulkSends.end(id, 1, { ...nothingAccepted, refusedRows: calls[1] ?? [] })
    assert.equal(await ports.bulkSends.take(0), undefined)
    const { state, accepted, refused, cost, recipients, callsEnded } =
      (await ports.bulkSends.find(by, id)) ?? assert.fail('not found')
    assert.deepEqual([state, accepted, refused, cost, recipients, callsEnded], ['ended', 1, 2, 15, 3, 2])
  },

  'a call of a specified send is claimed before sends that waited longer, but only if it is due': async (ports) => {
    const { id: by } = await anAccount(ports)
    const [first, second] = [await started(ports, by), await started(ports, by)]
    assert.equal(await ports.bulkSends.take(600, await drafted(ports, by)), undefined)
    const claims = await Promise.all(Array.from({ length: concurrentCallers }, () => ports.bulkSends.take(600, second)))
    assert.deepEqual(
      claims.flatMap((one) => one?.send.id ?? []),
      [second],
    )
    assert.equal((await ports.bulkSends.take(600))?.send.id, first)
    for (const id of [first, second])
      await Promise.all([0, 1].map((call) => ports.bulkSends.end(id, call, nothingAccepted)))
  },

  'the messages of a send are counted by outcome': async (ports) => {
    const [{ id: by }, { id: other }] = [await anAccount(ports), await anAccount(ports)]
    const id = await started(ports, by)
    assert.deepEqual(await ports.bulkSends.outcomes(by, id), [])
    const sent = await accepted(ports, anOrder(by, { to: [aNumber(), aNumber('27820000002')], text: 'a' }))
    await dispatchDue(ports, 'single', ({ id: message }) => ({ outcome: 'accepted', reference: `r${message}` }))
    const later = await accepted(ports, anOrder(by, { to: [aNumber()], text: 'b', due: farAhead }))
    const runs = [sent.ids, later.ids].map((of) => ids(Math.min(...of), Math.max(...of)))
    await ports.bulkSends.end(id, 0, { ...nothingAccepted, accepted: runs.slice(0, 1), messages: 2 })
    await ports.bulkSends.end(id, 1, { ...nothingAccepted, accepted: runs.slice(1), messages: 1 })
    const counts = [
      { code: OUTCOME.sent, messages: 2 },
      { code: undefined, messages: 1 },
    ]
    assert.deepEqual(await ports.bulkSends.outcomes(by, id), counts)
    assert.deepEqual(await ports.bulkSends.outcomes(other, id), [])
  },

  'returned credits are summed for each send, whether returned automatically or by an operator, and each once': async (
    ports,
  ) => {
    const [account, { id: other }] = [await anAccount(ports), await anAccount(ports)]
    const by = account.id
    const [id, later] = [await started(ports, by), await started(ports, by)]
    assert.deepEqual(await ports.bulkSends.returned(by, [id, later]), new Map())
    const sent = await accepted(ports, anOrder(by, { to: [aNumber(), aNumber('27820000002')], text: 'a' }))
    await dispatchDue(ports, 'single', ({ id: message }) => ({ outcome: 'accepted', reference: `r${message}` }))
    const waiting = await accepted(ports, anOrder(by, { to: [aNumber(), aNumber()], text: 'b', due: farAhead }))
    const apart = await accepted(ports, anOrder(by, { to: [aNumber()], text: 'c', due: farAhead }))
    const end = async (send: BulkSendId, call: number, messages: readonly MessageId[]) =>
      ports.bulkSends.end(send, call, {
        ...{
          accepted: [ids(Math.min(...messages), Math.max(...messages))],
          messages: messages.length,
          refusedRows: [],
        },
        cost: credits(10 * messages.length),
      })
    await end(id, 0, sent.ids)
    await end(id, 1, waiting.ids)
    await end(later, 0, apart.ids)
    const [first = nobody as never] = sent.ids
    await ports.ledger.refund({ message: first, why: 'a mistake' }, farAhead)
    await ports.ledger.refund({ message: first, why: 'a mistake' }, farAhead)
    await ports.messages.deleteScheduled(by, waiting.ids, longAgo)
    assert.deepEqual(await ports.bulkSends.returned(by, [id, later]), new Map([[id, credits(30)]]))
    await ports.messages.deleteScheduled(by, apart.ids, longAgo)
    assert.deepEqual((await ports.bulkSends.returned(by, [later, id])).get(later), credits(10))
    assert.deepEqual(await ports.bulkSends.returned(other, [id, later]), new Map())
    await ports.bulkSends.end(later, 1, nothingAccepted)
  },

  'a stopped send is claimed as stopping; if its last two calls end concurrently, the send ends': async (ports) => {
    const { id: by } = await anAccount(ports)
    const id = await started(ports, by)
    assert.ok(await ports.bulkSends.take(600))
    assert.equal(await ports.bulkSends.stop(by, id), true)
    assert.equal(await ports.bulkSends.stop(by, id), false)
    assert.equal((await ports.bulkSends.take(600))?.send.state, 'stopping')
    const [first] = calls
    const stopped = {
      ...nothingAccepted,
      refusedRows: (first ?? []).map((row) => ({ ...row, refused: 'stopped' as const })),
    }
    await Promise.all([0, 1, 0, 1].map((call) => ports.bulkSends.end(id, call, call === 0 ? nothingAccepted : stopped)))
    const ended = await ports.bulkSends.find(by, id)
    assert.deepEqual([ended?.state, ended?.isStopped], ['ended', true])
    const whole = await started(ports, by)
    await Promise.all([0, 1].map((call) => ports.bulkSends.end(whole, call, nothingAccepted)))
    assert.equal((await ports.bulkSends.find(by, whole))?.isStopped, false)
  },

  'started sends are listed, latest first, in pages': async (ports) => {
    const [{ id: by }, { id: other }] = [await anAccount(ports), await anAccount(ports)]
    const [a, b] = [await started(ports, by), await started(ports, by)]
    await drafted(ports, by)
    await started(ports, other)
    const list = async (page: Parameters<typeof ports.bulkSends.list>[1]) =>
      (await ports.bulkSends.list(by, page)).map(({ id }) => id)
    assert.deepEqual(await list({ limit: 10 }), [b, a])
    assert.deepEqual([await list({ limit: 1 }), await list({ limit: 1, before: b })], [[b], [a]])
  },

  'rows with a number are listed with their sends, and with whether they are being sent': async (ports) => {
    const { id: by } = await anAccount(ports)
    const [draft, running] = [await drafted(ports, by), await started(ports, by)]
    const number = aNumber('27820000002')
    const [first, ...more] = await ports.personalData.listed(number)
    assert.deepEqual(
      { ...first, send: { ...first?.send, created: 0 } },
      {
        ...{ row: calls[0]?.[1], isBeingSent: false },
        send: { id: draft, account: by, state: 'draft', created: 0, columns: aSend.columns, text: aSend.text },
      },
    )
    assert.equal(more.length, 1)
    assert.deepEqual(await listed(ports, number), [
      [draft, 'draft', 2, false],
      [running, 'running', 2, true],
    ])
    assert.deepEqual(await listed(ports, aNumber('27820000099')), [])
  },

  'a draft that is started while a number is erased either has the number in all calls or in none': async (ports) => {
    const { id: by } = await anAccount(ports)
    const number = aNumber('27820000002')
    for (let turn = 0; turn < 10; turn++) {
      const id = await drafted(ports, by)
      const [rows] = await Promise.all([
        ports.bulkSends.start(by, id, 0).then(() => ports.bulkSends.rows(by, id, 0)),
        ports.personalData.erase(number, { at: 'contacts', after: '' }),
      ])
      assert.deepEqual(await ports.bulkSends.rows(by, id, 0), rows)
      await Promise.all([0, 1].map((call) => ports.bulkSends.end(id, call, nothingAccepted)))
    }
  },

  'an erased number is replaced in fields of other rows in any notation, and no other digits are': async (ports) => {
    const { id: by } = await anAccount(ports)
    const number = aNumber('27825550101')
    const rows: readonly BulkRow[] = [
      { row: 1, number, fields: ['Ann', 'x'] },
      {
        row: 2,
        number: aNumber('27820000002'),
        fields: [`sent by ${number}`, `+27 82 555-0101, 0${number}, ${number}9`],
      },
      { row: 3, number: `+${number} (old)`, fields: ['Bob', 'y'], refused: 'invalid-number' },
    ]
    const id = await ports.bulkSends.add(by, { ...aSend, columns: ['Name', 'Note'] }, [rows])
    await ports.personalData.erase(number, { at: 'contacts', after: '' })
    assert.deepEqual(await ports.bulkSends.rows(by, id, 0), [
      { row: 1, number: '0', fields: [] },
      { row: 2, number: '27820000002', fields: ['sent by 0', `0, 0${number}, ${number}9`] },
      { row: 3, number: '0', fields: [], refused: 'invalid-number' },
    ])
  },

  'the text of an ended send is erased with its last recipient': async (ports) => {
    const { id: by } = await anAccount(ports)
    const numbers = [aNumber(), aNumber('27820000002')] as const
    const rows = numbers.map((number, at) => ({ row: at + 1, number, fields: ['Ann'] }))
    const id = await ports.bulkSends.add(by, aSend, [rows])
    await ports.bulkSends.start(by, id, 0)
    const { ids: sent } = await accepted(ports, anOrder(by, { to: [numbers[0]], text: 'Dear Ann' }))
    await dispatchDue(ports, 'single', () => ({ outcome: 'refused' }))
    const first = sent[0] ?? assert.fail('no id')
    const refusedRows = rows.slice(1).map((row) => ({ ...row, refused: 'invalid-number' as const }))
    await ports.bulkSends.end(id, 0, {
      accepted: [ids(first, first)],
      messages: 1,
      cost: credits(10),
      refusedRows,
    })
    for (const [number, text] of [
      [numbers[0], aSend.text],
      [numbers[1], ''],
    ] as const) {
      for (let step: ErasureStep | undefined = firstErasureStep; step !== undefined;)
        step = (await ports.personalData.erase(number, step)).next
      assert.deepEqual(
        [(await ports.bulkSends.find(by, id))?.state, (await ports.bulkSends.find(by, id))?.text],
        ['ended', text],
      )
    }
  },

  'an erased number is replaced in rows that are not being sent, and old sends are dropped with their rows': async (
    ports,
  ) => {
    const { id: by } = await anAccount(ports)
    const [draft, running] = [await drafted(ports, by), await started(ports, by)]
    const number = aNumber('27820000002')
    await ports.personalData.erase(number, { at: 'contacts', after: '' })
    const [first, second] = await ports.bulkSends.rows(by, draft, 0)
    assert.deepEqual([first, second], [calls[0]?.[0], { row: 2, number: '0', fields: [] }])
    assert.deepEqual(await ports.bulkSends.rows(by, running, 0), calls[0])
    await ports.bulkSends.end(running, 0, { ...nothingAccepted, refusedRows: calls[0] ?? [] })
    assert.deepEqual(await listed(ports, number), [[running, 'running', 2, false]])
    await ports.personalData.erase(number, { at: 'contacts', after: '' })
    assert.deepEqual(await listed(ports, number), [])
    await ports.history.drop(90, 90)
    assert.ok(await ports.bulkSends.find(by, draft))
    for (let rest = 'more'; rest === 'more';) ({ progress: rest } = await ports.history.drop(-1, 90))
    assert.equal(await ports.bulkSends.find(by, running), undefined)
    assert.deepEqual(await ports.bulkSends.rows(by, running, 0), [])
  },
}
