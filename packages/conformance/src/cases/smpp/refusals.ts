import type { Case } from '../../case.ts'
import { expectEqual } from '../../expectations.ts'
import { COMMAND, cString, firstString } from '../../smpp-session.ts'
import type { TestedGateway } from '../../tested-gateway.ts'
import { bound, openSession, payload, sar, submit, submitMulti, type Submitted } from './sessions.ts'

/** Names of command_status and their numbers (SMPP 3.4, 5.1.3, and 5.0, 4.7.6). */
export const STATUS = {
  RINVMSGLEN: 0x01,
  RINVCMDLEN: 0x02,
  RINVCMDID: 0x03,
  RINVBNDSTS: 0x04,
  RALYBND: 0x05,
  RINVPRTFLG: 0x06,
  RINVSRCADR: 0x0a,
  RINVDSTADR: 0x0b,
  RINVPASWD: 0x0e,
  RCANCELFAIL: 0x11,
  RREPLACEFAIL: 0x13,
  RINVNUMDESTS: 0x33,
  RINVDLNAME: 0x34,
  RINVSUBREP: 0x42,
  RINVESMCLASS: 0x43,
  RSUBMITFAIL: 0x45,
  RINVEXPIRY: 0x62,
  RINVDFTMSGID: 0x63,
  RQUERYFAIL: 0x67,
  ROPTPARNOTALLWD: 0xc1,
  RINVOPTPARAMVAL: 0xc4,
  RINVDCS: 0x104,
} as const

type StatusName = keyof typeof STATUS
type Fields = Submitted | ((gateway: TestedGateway) => Submitted)

const header = (hex: string): Submitted => ({ esmClass: 0x40, text: Buffer.from(hex, 'hex') })
const coded = (dataCoding: number, hex: string): Submitted => ({ dataCoding, text: Buffer.from(hex, 'hex') })

/** Flaw of a submission, its fields, and the command_status of its response. */
const refused: readonly (readonly [what: string, fields: Fields, status: StatusName])[] = [
  ['an empty text', { text: '' }, 'RINVMSGLEN'],
  ['a blank text', { text: ' \r\n' }, 'RINVMSGLEN'],
  ['a text of 919 characters', { text: '', tlvs: [payload(Buffer.alloc(919, 'a'))] }, 'RINVMSGLEN'],
  ['a sender of another account', { source: 'NotMine' }, 'RINVSRCADR'],
  ['a sender of 20 characters', { source: 'A'.repeat(20) }, 'RINVSRCADR'],
  ['no number', { to: '' }, 'RINVDSTADR'],
  ['a number of letters', { to: 'somebody' }, 'RINVDSTADR'],
  ['a number that is too short', { to: '2782' }, 'RINVDSTADR'],
  ['a number with two leading plus signs', ({ number }) => ({ to: `++${number}` }), 'RINVDSTADR'],
  ['a number of TON national', { to: '0825550101', ton: 2 }, 'RINVDSTADR'],
  [
    'a number on the blacklist',
    (gateway) => ({ to: gateway.configured(gateway.configuration.numbers.blacklisted, 'numbers.blacklisted') }),
    'RINVDSTADR',
  ],
  [
    'a number on the do-not-contact list',
    (gateway) => ({ to: gateway.configured(gateway.configuration.numbers.doNotContact, 'numbers.doNotContact') }),
    'RINVDSTADR',
  ],
  [
    'a number that has opted out',
    (gateway) => ({ to: gateway.configured(gateway.configuration.numbers.optedOutByHand, 'numbers.optedOutByHand') }),
    'RINVDSTADR',
  ],
  ['data_coding 2', coded(2, '41'), 'RSUBMITFAIL'],
  ['data_coding 4', coded(4, '41'), 'RSUBMITFAIL'],
  ['data_coding 0xF4', coded(0xf4, '41'), 'RSUBMITFAIL'],
  ['data_coding 0xF7', coded(0xf7, '41'), 'RSUBMITFAIL'],
  ['data_coding 6', coded(6, '41'), 'RINVDCS'],
  ['data_coding 0x2A', coded(0x2a, '41'), 'RINVDCS'],
  ['an octet above 127 in GSM 7-bit', coded(0, '4180'), 'RINVDCS'],
  ['an escape at the end of a text in GSM 7-bit', coded(0, '411b'), 'RINVDCS'],
  ['an octet above 127 in ASCII', coded(1, '41e9'), 'RINVDCS'],
  ['a control character in Latin-1', coded(3, '4180'), 'RINVDCS'],
  ['an odd number of octets in UCS-2', coded(8, '041f04'), 'RINVDCS'],
  ['a header with ports', header('0605040001000141'), 'RSUBMITFAIL'],
  ['a header with a national language table', header('0324010141'), 'RSUBMITFAIL'],
  ['a header longer than the text', header('0900'), 'RINVESMCLASS'],
  ['a header with part 0', header('05000311020041'), 'RINVESMCLASS'],
  ['a header with a part above the total', header('05000311020341'), 'RINVESMCLASS'],
  ['the esm_class of a receipt', { esmClass: 0x04 }, 'RINVESMCLASS'],
  ['incomplete sar parameters', { tlvs: sar(7, 2, 1).slice(1) }, 'RINVOPTPARAMVAL'],
  ['a sar part above its total', { tlvs: sar(7, 2, 3) }, 'RINVOPTPARAMVAL'],
  ['two texts', { tlvs: [payload(Buffer.from('b'))] }, 'ROPTPARNOTALLWD'],
  ['replace_if_present_flag', { replace: 1 }, 'RINVSUBREP'],
  ['priority_flag 4', { priority: 4 }, 'RINVPRTFLG'],
  ['sm_default_msg_id', { defaultMessage: 1 }, 'RINVDFTMSGID'],
  ['a schedule that is no time', { schedule: 'tomorrow' }, 'RINVEXPIRY'],
  ['a schedule on 30 February', { schedule: '270230120000000+' }, 'RINVEXPIRY'],
  ['a validity that is no time', { validity: '2610181200' }, 'RINVEXPIRY'],
  [
    'a validity that ends before the schedule',
    { schedule: '000002000000000R', validity: '000001000000000R' },
    'RINVEXPIRY',
  ],
]

export const smppRefusalCases: readonly Case[] = [
  ...refused.map(([flaw, fields, status]): Case => ({
    of: ['5.4', '5.6'],
    title: `SMPP: a submission with ${flaw} is answered ${status} without an id`,
    alone: 'smpp',
    run: async (gateway) => {
      const session = await bound(gateway)
      const own = typeof fields === 'function' ? fields(gateway) : fields
      const answer = await submit(session, { to: gateway.number, ...own })
      expectEqual([answer.status, firstString(answer.body)], [STATUS[status], ''])
    },
  })),
  {
    of: ['5.4'],
    title: 'SMPP: replace_sm is answered RREPLACEFAIL',
    alone: 'smpp',
    run: async (gateway) => {
      const session = await bound(gateway)
      const fields = [cString('1'), Buffer.of(0, 0), cString(''), cString(''), cString(''), Buffer.of(0, 0, 1, 65)]
      expectEqual((await session.request(COMMAND.replace, Buffer.concat(fields))).status, STATUS.RREPLACEFAIL)
    },
  },
  {
    of: ['5.3', '5.4'],
    title: 'SMPP: submit_multi to a distribution list, to nobody, or with a part is refused',
    alone: 'smpp',
    run: async (gateway) => {
      const session = await bound(gateway)
      const numbers = [gateway.number, gateway.number]
      expectEqual((await submitMulti(session, { list: 'all' }, {})).status, STATUS.RINVDLNAME)
      expectEqual((await submitMulti(session, [], {})).status, STATUS.RINVNUMDESTS)
      const part = { esmClass: 0x40, text: Buffer.from('05000311020141', 'hex') }
      expectEqual((await submitMulti(session, numbers, part)).status, STATUS.RSUBMITFAIL)
    },
  },
  {
    of: ['5.4'],
    title: 'SMPP: a client below version 3.4 is answered RSUBMITFAIL instead of RINVDCS',
    alone: 'smpp',
    run: async (gateway) => {
      const { systemId, password } = gateway.configured(gateway.configuration.smpp, 'smpp')
      const old = await openSession(gateway)
      expectEqual((await old.bind(COMMAND.bindTransceiver, systemId, password, 0x33)).status, 0)
      const answer = await submit(old, { to: gateway.number, ...coded(0x2a, '41') })
      expectEqual(answer.status, STATUS.RSUBMITFAIL)
    },
  },
]
