import { setTimeout as delay } from 'node:timers/promises'
import type { Case } from '../../case.ts'
import { expectEqual, restBody } from '../../expectations.ts'
import { COMMAND, firstString, tlv, type SmppDelivered, type SmppSession } from '../../smpp-session.ts'
import type { TestedGateway } from '../../tested-gateway.ts'
import { schedule as scheduleByRest, type Status } from '../../verbs.ts'
import { STATUS } from './refusals.ts'
import {
  bound,
  cancel,
  farSchedule,
  payload,
  query,
  sar,
  schedule,
  submit,
  submitData,
  submitMulti,
  type Submitted,
} from './sessions.ts'

const octets = (hex: string): Buffer => Buffer.from(hex, 'hex')

/** Feature of a scheduled submission, its fields, and the number of parts that it costs. */
const accepted: readonly (readonly [what: string, fields: Submitted, parts?: number])[] = [
  ['data_coding 0 in GSM 7-bit', { text: octets('001b65') }],
  ['data_coding 1', { dataCoding: 1, text: 'ASCII' }],
  ['data_coding 3', { dataCoding: 3, text: octets('a3e9') }],
  ['data_coding 8', { dataCoding: 8, text: octets('041f04400438') }],
  ['data_coding 8 with a byte order mark', { dataCoding: 8, text: octets('feff041f') }],
  ['data_coding 0x10', { dataCoding: 0x10, text: 'flash' }],
  ['data_coding 0xF0', { dataCoding: 0xf0, text: 'flash' }],
  ['data_coding 0x18', { dataCoding: 0x18, text: octets('041f') }],
  ['160 septets', { text: 'a'.repeat(160) }],
  ['161 septets in short_message', { text: 'a'.repeat(161) }, 2],
  ['918 septets in message_payload', { text: '', tlvs: [payload(Buffer.alloc(918, 'a'))] }, 6],
  ['priority_flag 3', { priority: 3 }],
  ['a relative validity', { validity: '000700000000000R' }],
  ['registered_delivery 0x11', { registered: 0x11 }],
  ['an unknown optional parameter', { tlvs: [tlv(0x1401, Buffer.from('x'))] }],
  ['user_message_reference', { tlvs: [tlv(0x0204, Buffer.of(0, 7))] }],
  ['a header of the only part', { esmClass: 0x40, text: octets('05000311010141') }],
  ['sar parameters of the only part', { tlvs: sar(7, 1, 1) }],
]

const statusOf = async (gateway: TestedGateway, id: string, by = gateway.main): Promise<Status | undefined> => {
  const answer = await gateway.rest('/sms/outgoing/status', { by, body: `[${id}]` })
  return restBody<{ messageStatuses: Status[] }>(answer).messageStatuses[0]
}

/** Waits until the session has `count` receipts for these ids, and returns them. */
async function receiptsFor(gateway: TestedGateway, session: SmppSession, ids: readonly string[], count = ids.length) {
  const end = Date.now() + (gateway.configuration.deliverySeconds ?? 30) * 1000
  const found = (): readonly SmppDelivered[] =>
    session.delivered.filter(({ text }) => ids.includes(/^id:(\d+) /.exec(text.toString('latin1'))?.[1] ?? ''))
  while (found().length < count && Date.now() < end) await delay(20)
  return found()
}

const receiptText = (id: string): RegExp =>
  new RegExp(`^id:${id} sub:001 dlvrd:001 submit date:\\d{10} done date:\\d{10} stat:DELIVRD err:000 text:$`)

export const smppSubmissionCases: readonly Case[] = [
  ...accepted.map(([feature, fields, parts = 1]): Case => ({
    of: ['5.1'],
    title: `SMPP: a submission with ${feature} is accepted, and costs ${parts} ${parts === 1 ? 'part' : 'parts'}`,
    alone: 'smpp',
    run: async (gateway) => {
      const id = await schedule(gateway, await bound(gateway), fields)
      expectEqual(/^[1-9]\d*$/.test(id), true)
      const status = await statusOf(gateway, id)
      expectEqual(status?.creditCost, parts * gateway.configuration.numbers.price)
    },
  })),
  {
    of: ['5.6'],
    title: 'SMPP: one leading + of a destination is removed',
    alone: 'smpp',
    run: async (gateway) => {
      const id = await schedule(gateway, await bound(gateway), { to: `+${gateway.number}` })
      expectEqual((await statusOf(gateway, id)) !== undefined, true)
    },
  },
  {
    of: ['5.1'],
    title: 'SMPP: query_sm has the state of a message of the account only, by its exact id',
    alone: 'smpp',
    run: async (gateway) => {
      const session = await bound(gateway)
      const id = await schedule(gateway, session, {})
      const answer = await query(session, id)
      expectEqual([answer.status, firstString(answer.body)], [0, id])
      // final_date is empty, then message_state ENROUTE and error_code 0.
      expectEqual([...answer.body.subarray(id.length + 1)], [0, 1, 0])
      const foreign = String(await scheduleByRest(gateway, { by: gateway.stranger }))
      for (const unknown of [foreign, '9007199254740991', '0', 'abc', ''])
        expectEqual((await query(session, unknown)).status, STATUS.RQUERYFAIL)
    },
  },
  {
    of: ['5.1'],
    title: 'SMPP: cancel_sm deletes a scheduled message once, and none of another account',
    alone: 'smpp',
    run: async (gateway) => {
      const session = await bound(gateway)
      const id = await schedule(gateway, session, {})
      expectEqual((await cancel(session, id)).status, 0)
      expectEqual((await cancel(session, id)).status, STATUS.RCANCELFAIL)
      const deleted = await statusOf(gateway, id)
      expectEqual([deleted?.statusCode, deleted?.creditCost], [102, 0])
      const foreign = String(await scheduleByRest(gateway, { by: gateway.stranger }))
      for (const unknown of [foreign, '9007199254740991', 'abc', ''])
        expectEqual((await cancel(session, unknown)).status, STATUS.RCANCELFAIL)
    },
  },
  {
    of: ['5.3'],
    title: 'SMPP: submit_multi gives an id to each accepted number, and names the refused ones',
    alone: 'smpp',
    run: async (gateway) => {
      const session = await bound(gateway)
      const to = [gateway.number, '2782', gateway.number]
      const answer = await submitMulti(session, to, { schedule: farSchedule })
      const id = firstString(answer.body)
      gateway.leave(gateway.main, [Number(id), Number(id) + 1])
      expectEqual(answer.status, 0)
      const rest = answer.body.subarray(id.length + 1)
      // no_unsuccess, then TON, NPI, the number and its command_status.
      expectEqual([rest[0], rest[1], rest[2], firstString(rest.subarray(3))], [1, 1, 1, '2782'])
      expectEqual(rest.readUInt32BE(rest.length - 4), STATUS.RINVDSTADR)
    },
  },
  {
    of: ['5.1'],
    title: 'SMPP: a delivered message has a receipt in the exact form, with its parameters and exchanged addresses',
    alone: 'smpp',
    parts: 1,
    run: async (gateway) => {
      const session = await bound(gateway)
      const to = gateway.ownNumber()
      const id = firstString((await submit(session, { to, registered: 1 })).body)
      const [receipt] = await receiptsFor(gateway, session, [id])
      // The submission names no source, so the receipt goes to the sender of the account.
      expectEqual([receipt?.esmClass, receipt?.sourceAddr], [4, to])
      expectEqual(receipt?.destinationAddr !== '', true)
      expectEqual(receiptText(id).test(receipt?.text.toString('latin1') ?? ''), true)
      expectEqual(receipt?.tlvs.get(0x1e)?.toString('latin1'), `${id}\0`)
      expectEqual(receipt?.tlvs.get(0x427)?.[0], 2)
    },
  },
  {
    of: ['5.1'],
    title: 'SMPP: registered_delivery 0 and 2 ask for no receipt of a delivered message',
    alone: 'smpp',
    parts: 3,
    run: async (gateway) => {
      const session = await bound(gateway)
      const ids: string[] = []
      for (const registered of [0, 2, 3])
        ids.push(firstString((await submit(session, { to: gateway.ownNumber(), registered })).body))
      const last = ids.at(-1) ?? ''
      expectEqual((await receiptsFor(gateway, session, [last])).length, 1)
      expectEqual((await receiptsFor(gateway, session, ids.slice(0, 2), 0)).length, 0)
    },
  },
  {
    of: ['5.1'],
    title: 'SMPP: data_sm is accepted like submit_sm',
    alone: 'smpp',
    parts: 1,
    run: async (gateway) => {
      const answer = await submitData(await bound(gateway), gateway.ownNumber(), 'Conformance')
      expectEqual([answer.id - 0x80000000, answer.status], [COMMAND.data, 0])
      expectEqual(/^[1-9]\d*$/.test(firstString(answer.body)), true)
    },
  },
  ...(['8-bit references', '16-bit references', 'sar parameters'] as const).map((form): Case => ({
    of: ['5.1', '5.2'],
    title: `SMPP: parts with ${form} get an id at once, in any order and over two binds, and a receipt each`,
    alone: 'smpp',
    parts: 2,
    run: async (gateway) => {
      const sessions = [await bound(gateway), await bound(gateway)]
      const to = gateway.ownNumber()
      const reference = Number(to.slice(-2)) + 1
      const ids: string[] = []
      for (const [at, part] of [2, 1].entries()) {
        const session = sessions[at]
        const answer = session && (await submit(session, { to, registered: 1, ...partOf(form, reference, part) }))
        expectEqual(answer?.status, 0)
        ids.push(firstString(answer?.body ?? Buffer.alloc(0)))
      }
      expectEqual(new Set(ids).size, 2)
      const end = Date.now() + (gateway.configuration.deliverySeconds ?? 30) * 1000
      const count = async (): Promise<number> =>
        (await Promise.all(sessions.map((session) => receiptsFor(gateway, session, ids, 0)))).flat().length
      while ((await count()) < 2 && Date.now() < end) await delay(20)
      expectEqual(await count(), 2)
      expectEqual((await statusOf(gateway, ids[0] ?? ''))?.statusCode, 0)
    },
  })),
]

/** Returns the fields of part 1 or 2 of a text of 200 characters. */
function partOf(form: string, reference: number, part: number): Submitted {
  const text = Buffer.alloc(100, String(part))
  if (form === 'sar parameters') return { text, tlvs: sar(reference, 2, part) }
  const head = form === '8-bit references' ? [5, 0, 3, reference, 2, part] : [6, 8, 4, 1, reference, 2, part]
  return { esmClass: 0x40, text: Buffer.concat([Buffer.from(head), text]) }
}
