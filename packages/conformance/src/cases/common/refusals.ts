import type { Case } from '../../case.ts'
import { expectAsp, expectEqual, expectXml, expectEnvelope, restBody } from '../../expectations.ts'
import type { Keyed, TestedGateway } from '../../tested-gateway.ts'
import { farAhead } from '../../times.ts'
import { balance, fill, price, schedule, send, tenths, untilCode, type Recipient } from '../../verbs.ts'
import { sendQuery } from '../query-string/sending.ts'
import {
  askXml,
  codeXml,
  deleteXml,
  idList,
  message,
  repliesXml,
  sendMessages,
  statusXml,
  words,
} from '../xml/documents.ts'

/** Words for each refusal in REST and the query string, and in XML (spec 4.2, rule 2; spec 7.3). */
const refusals = {
  locked: ['ACCOUNTLOCKED', 'ACCOUNTLOCKED'],
  tooLong: ['TOOLONG', 'FAIL:TOOLONG'],
  badDestination: ['BADDEST', 'FAIL:BADDEST'],
  trial: ['TRIALNOT2SELF', 'FAIL:TRIALNOT2SELF'],
  optedOut: ['OPTEDOUT', 'FAIL:OPTEDOUT'],
  doNotContact: ['WASPADNC', 'FAIL:WASPADNC'],
  noCredits: ['INSUFFICIENT CREDITS', 'NOCREDITS'],
} as const

const tooLongText = 'x'.repeat(919)

/** Asserts that all three interfaces refuse the same send for the same reason, without a cost or an id. */
export async function expectRefused(
  gateway: TestedGateway,
  why: keyof typeof refusals,
  { by = gateway.main, number, text = 'a' }: { by?: Keyed; number: string; text?: string },
): Promise<void> {
  const [word, xmlWord] = refusals[why]
  const [sent] = await send(gateway, { by, numbers: [number], message: text })
  expectEqual(
    [sent?.accepted, sent?.acceptError, sent?.apiMessageId, sent?.creditCost, sent?.mobileNumber],
    [false, word, null, 0, number],
  )
  expectAsp(await sendQuery(gateway, `numbers=${number}&message=${text}`, by), `${number}=${word}&`)
  expectEqual(words(await sendMessages(gateway, message(text, [number]), by)), [xmlWord])
}

const locked = ['locked', 'lockedMain'] as const

export const refusalCases: readonly Case[] = [
  {
    of: ['1.8', 'spec 2', 'spec 4.2, rule 2', 'spec 7.3'],
    title: 'a number with a national trunk prefix after the calling code is refused on every interface',
    run: async (gateway) => {
      // Each number has a length that is possible in its country: Germany, Nigeria, South Africa, Britain, Hungary.
      for (const number of ['4901761234567', '2340803123456', '27082123456', '440770090012', '36062012345'])
        await expectRefused(gateway, 'badDestination', { number })
    },
  },
  {
    of: ['1.12', 'spec 4.2, rule 2', 'spec 7.3', 'spec 7.2'],
    title: 'a blacklisted number is refused on every interface, also for a transactional account',
    run: async (gateway) => {
      const number = gateway.configured(gateway.configuration.numbers.blacklisted, 'numbers.blacklisted')
      await expectRefused(gateway, 'badDestination', { number })
      await expectRefused(gateway, 'badDestination', { by: gateway.account('transactional'), number })
    },
  },
  {
    of: ['1.12', 'spec 4.2, rule 2', 'spec 7.3'],
    title: 'a do-not-contact number is refused on every interface, and a transactional account may write to it',
    run: async (gateway) => {
      const number = gateway.configured(gateway.configuration.numbers.doNotContact, 'numbers.doNotContact')
      await expectRefused(gateway, 'doNotContact', { number })
      await schedule(gateway, { by: gateway.account('transactional'), number })
    },
  },
  {
    of: ['1.12', '1.21', 'spec 4.2, rule 2', 'spec 7.3'],
    title:
      'a number that has opted out of the account is refused on every interface, and accepted for a sub account of it',
    alone: 'sub',
    run: async (gateway) => {
      const number = gateway.configured(gateway.configuration.numbers.optedOutByHand, 'numbers.optedOutByHand')
      await expectRefused(gateway, 'optedOut', { number })
      await fill(gateway, 5)
      await schedule(gateway, { by: gateway.sub, number })
    },
  },
  {
    of: ['spec 4.2, rule 2', 'spec 7.3', '1.10'],
    title: 'a trial account cannot write to its own number, but to others',
    alone: 'trial',
    run: async (gateway) => {
      const trial = gateway.account('trial')
      await expectRefused(gateway, 'trial', { by: trial, number: trial.ownNumber })
      await schedule(gateway, { by: trial })
    },
  },
  {
    of: ['1.10', 'spec 8', 'spec 3', 'spec 7.3', '1.16'],
    title: 'which refusal wins: too long, then an invalid number, then not enough credits',
    alone: 'sub',
    run: async (gateway) => {
      const { sub } = gateway
      await fill(gateway, 0)
      await expectRefused(gateway, 'tooLong', { by: sub, number: '123', text: tooLongText })
      await expectRefused(gateway, 'tooLong', { by: sub, number: gateway.number, text: tooLongText })
      await expectRefused(gateway, 'badDestination', { by: sub, number: '123' })
      await expectRefused(gateway, 'noCredits', { by: sub, number: gateway.number })
      for (const [name, why] of [
        ['blacklisted', 'badDestination'],
        ['doNotContact', 'doNotContact'],
      ] as const) {
        const number = gateway.configuration.numbers[name]
        if (number === undefined) continue
        await expectRefused(gateway, why, { by: sub, number })
        await expectRefused(gateway, 'tooLong', { by: sub, number, text: tooLongText })
      }
    },
  },
  ...locked.map((name): Case => ({
    of: ['1.14', '1.10', 'spec 2', 'spec 5, rule 3', 'spec 7.3'],
    title: `accounts.${name}: sends are refused for each recipient, before any other reason; reading is allowed`,
    run: async (gateway) => {
      const by = gateway.account(name)
      await expectRefused(gateway, 'locked', { by, number: '123', text: tooLongText })
      await expectRefused(gateway, 'locked', { by, number: gateway.number })
      expectEqual(words(await sendMessages(gateway, message('', ['']), by)), ['ACCOUNTLOCKED'])
      expectAsp(await gateway.asp('auth.asp', {}, by), 'Login=ACCOUNTLOCKED')
      expectAsp(await gateway.asp('credits.asp', {}, by), /^Credits=\d+$/)
      expectAsp(
        await gateway.asp('requestbatch.asp', { messageid: '9007199254740991' }, by),
        '9007199254740991=NOTFOUND&',
      )
      expectAsp(
        await gateway.asp('deletescheduled.asp', { messageid: '9007199254740991' }, by),
        '9007199254740991=NOTFOUND&',
      )
      for (const path of ['httpgetreplies.asp', 'httpgetscmessages.asp', 'listoptouts.asp'])
        expectEqual((await gateway.asp(path, {}, by)).text.startsWith('FAIL'), false)
      for (const path of [
        '/credits/balance',
        '/sms/incoming',
        '/sms/scheduled',
        '/sms/incoming/optout',
        '/shortcode/incoming',
        '/subaccounts',
      ])
        expectEnvelope(await gateway.rest(path, { by }), 200)
      for (const endpoint of [repliesXml, codeXml])
        expectXml(await askXml(gateway, endpoint, '', by), `<${endpoint.response}/>`)
      for (const endpoint of [statusXml, deleteXml])
        expectXml(await askXml(gateway, endpoint, idList(['9007199254740991']), by), /<Status>NOTFOUND<\/Status>/)
    },
  })),
  {
    of: ['1.14', 'spec 5, rule 3', 'spec 4.2'],
    title: 'auth.asp answers ACCOUNTLOCKED only for the right pair of a locked account, and FAIL for a wrong one',
    run: async (gateway) => {
      const { user, password } = gateway.account('locked')
      expectAsp(
        await gateway.query('auth.asp', `user=${user}&password=${encodeURIComponent(password)}`),
        'Login=ACCOUNTLOCKED',
      )
      expectAsp(await gateway.query('auth.asp', `user=${user}&password=wrong`), 'Login=FAIL')
    },
  },
  {
    of: ['1.11', '2.6', '1.9'],
    title:
      'credits that run out: recipients are charged in request order, a later cheaper one may fit, the others are refused',
    alone: 'sub',
    run: async (gateway) => {
      const { sub, number } = gateway
      const cost = price(gateway)
      const before = await fill(gateway, Math.ceil((3 * cost) / 10))
      if (before >= 4 * cost) return
      const [long, short] = ['x'.repeat(161), 'x']
      const body = {
        messages: [long, long, short, short].map((text) => ({
          message: text,
          recipients: [{ mobileNumber: number }],
          scheduledTime: farAhead(),
        })),
      }
      const { messages } = restBody<{ messages: { recipients: Recipient[] }[] }>(
        await gateway.rest('/sms/outgoing/sendmulti', { by: sub, body }),
      )
      const results = messages.flatMap(({ recipients }) => recipients)
      gateway.leave(
        sub,
        results.filter((one) => one.accepted).map((one) => one.apiMessageId),
      )
      const no = 'INSUFFICIENT CREDITS'
      expectEqual(
        results.map((one) => one.acceptError),
        ['', no, '', no],
      )
      expectEqual(
        results.map((one) => tenths(one.creditCost)),
        [2 * cost, 0, cost, 0],
      )
      expectEqual(
        results.map((one) => tenths(one.newCreditBalance)),
        [2, 2, 3, 3].map((spent) => before - spent * cost),
      )
      expectEqual(await balance(gateway, sub), before - 3 * cost)
    },
  },
  {
    of: ['1.11', '4.6', '1.10'],
    title: 'XML: credits that run out refuse with NOCREDITS, in request order over all messages',
    alone: 'sub',
    run: async (gateway) => {
      const { sub, number } = gateway
      const cost = price(gateway)
      if ((await fill(gateway, Math.ceil((3 * cost) / 10))) >= 4 * cost) return
      const long = 'x'.repeat(161)
      const answer = await sendMessages(gateway, message(long, [number, number]) + message('x', [number, number]), sub)
      expectEqual(
        words(answer).map((word) => (/^\d+$/.test(word) ? 'id' : word)),
        ['id', 'NOCREDITS', 'id', 'NOCREDITS'],
      )
    },
  },
  {
    of: ['1.16', '1.4', '1.17', '2.7', 'spec 3', 'spec 4.2, rule 3', 'spec 4.3'],
    title:
      'the outcome of a message has its word and code on every interface, and is refunded if no carrier accepted it',
    alone: 'sub',
    parts: 20,
    run: async (gateway) => {
      const { sub } = gateway
      const outcomes = gateway.configured(gateway.configuration.numbers.outcomes, 'numbers.outcomes')
      const before = await fill(gateway, outcomes.length * Math.ceil(price(gateway) / 10))
      const sent = await send(gateway, { by: sub, numbers: outcomes.map(({ number }) => number), scheduledTime: null })
      let charged = 0
      for (const [i, { statusCode, refunded }] of outcomes.entries()) {
        const { apiMessageId: id = 0, creditCost = 0 } = sent[i] ?? {}
        const { status, statusErrorCode, creditCost: netCost } = await untilCode(gateway, id, statusCode, sub)
        expectEqual([status, statusErrorCode], wordsOf(statusCode, refunded))
        expectEqual(netCost, refunded ? 0 : creditCost)
        charged += tenths(netCost)
        expectAsp(
          await gateway.asp('requestbatch.asp', { messageid: String(id) }, sub),
          new RegExp(`^${id}=${status};\\d{4}/\\d\\d/\\d\\d;\\d\\d:\\d\\d:\\d\\d;${statusCode}&$`),
        )
        expectXml(
          await askXml(gateway, statusXml, idList([id]), sub),
          new RegExp(
            `<Status>${status}</Status><StatusDateTime>[^<]+</StatusDateTime><StatusCode>${statusCode}</StatusCode>`,
          ),
        )
      }
      expectEqual(await balance(gateway, sub), before - charged)
    },
  },
]

/** Returns `status` and `statusErrorCode` of a message that has left its queue (ruling 2.7). */
function wordsOf(statusCode: number, refunded: boolean): readonly [status: string, statusErrorCode: string] {
  if (statusCode === 0) return ['DELIVERED', '']
  if ([100, 105, 106].includes(statusCode)) return ['SENT', 'SENT']
  return ['SENDINGFAILED', refunded ? 'SENDINGFAILED' : 'FAILED']
}
