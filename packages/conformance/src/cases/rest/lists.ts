import type { Case } from '../../case.ts'
import { expectEqual, expectRest, expectRestError, restBody } from '../../expectations.ts'
import type { TestedGateway } from '../../tested-gateway.ts'
import { farAhead, minuteFromNow } from '../../times.ts'
import { balance, fill, literal, price, schedule, send } from '../../verbs.ts'

const paged = ['/sms/incoming', '/shortcode/incoming', '/sms/scheduled'] as const
const fieldOf = {
  '/sms/incoming': 'incomingMessages',
  '/shortcode/incoming': 'shortcodeMessages',
  '/sms/scheduled': 'scheduledMessages',
} as const

interface Scheduled {
  readonly apiMessageId: number
  readonly scheduledSendTime: string
}

async function allScheduled(gateway: TestedGateway): Promise<Scheduled[]> {
  const found: Scheduled[] = []
  for (let offset = 0; ; offset += 1000) {
    const answer = await gateway.rest(`/sms/scheduled?offset=${offset}&limit=1000`, { by: gateway.sub })
    const page = restBody<{ resultsTotalAvailable: number; scheduledMessages: Scheduled[] }>(answer)
    found.push(...page.scheduledMessages)
    if (found.length >= page.resultsTotalAvailable) return found
  }
}

export const listCases: readonly Case[] = [
  ...paged.map((path): Case => ({
    of: ['2.10', 'spec 4.1', 'spec 8'],
    title: `${path}: without parameters the first 100, with offset, limit and total`,
    run: async (gateway) => {
      const shape = (offset: number, limit: number) =>
        new RegExp(
          `^,"resultsOffset":${offset},"resultsLimit":${limit},"resultsTotalAvailable":\\d+,"${fieldOf[path]}":\\[.*\\]$`,
          's',
        )
      expectRest(await gateway.rest(path), shape(0, 100))
      expectRest(await gateway.rest(`${path}?offset=2`), shape(2, 100))
      expectRest(await gateway.rest(`${path}?limit=1000&offset=0`), shape(0, 1000))
      expectRest(await gateway.rest(`${path}?limit=1&unknown=x`), shape(0, 1))
      expectRest(await gateway.rest(`${path}?offset=1000000`), new RegExp(`"${fieldOf[path]}":\\[\\]$`))
    },
  })),
  ...paged.map((path): Case => ({
    of: ['2.10', 'spec 7.1', 'spec 8'],
    title: `${path}: an invalid offset, and a limit outside 1 to 1000, are 422 and named`,
    run: async (gateway) => {
      for (const wrong of ['-1', 'x', '1.5', '1e2', '%20', '0x1', '9007199254740993'])
        expectRestError(await gateway.rest(`${path}?offset=${wrong}`), 422, /offset/)
      for (const wrong of ['0', '1001', '-1', 'all', '1.0', '5x'])
        expectRestError(await gateway.rest(`${path}?limit=${wrong}`), 422, /limit/)
    },
  })),
  {
    of: ['2.11', '2.10', 'spec 4.1', '1.1'],
    title: '/sms/scheduled has waiting messages by due time, then id, byte for byte, and in pages',
    alone: 'sub',
    run: async (gateway) => {
      const { sub, number } = gateway
      await fill(gateway, 10)
      const before = (await allScheduled(gateway)).length
      const submitted = minuteFromNow(0)
      const far = farAhead()
      const farther = `${String(Number(far.slice(0, 4)) + 1)}${far.slice(4)}`
      const last = await send(gateway, { by: sub, numbers: [number], scheduledTime: farther })
      const first = await send(gateway, { by: sub, numbers: [number, number], scheduledTime: far })
      const ids = [...first, ...last].map((one) => one.apiMessageId)
      const all = await allScheduled(gateway)
      expectEqual(all.length, before + 3)
      expectEqual(
        all.filter((one) => ids.includes(one.apiMessageId)).map((one) => one.apiMessageId),
        ids,
      )
      const at = all.findIndex((one) => one.apiMessageId === ids[0])
      const answer = await gateway.rest(`/sms/scheduled?limit=2&offset=${at}`, { by: sub })
      const submit = /"submitTime":"(\d{12})"/.exec(answer.text)?.[1] ?? ''
      expectEqual(submit >= submitted && submit <= minuteFromNow(0), true, `submitTime ${submit}`)
      const element = (id = 0) =>
        `{"apiMessageId":${id},"mobileNumber":"${number}","submitTime":"${submit}","scheduledSendTime":"${far}","creditCost":${literal(price(gateway))}}`
      expectRest(
        answer,
        `,"resultsOffset":${at},"resultsLimit":2,"resultsTotalAvailable":${all.length},"scheduledMessages":[${element(ids[0])},${element(ids[1])}]`,
      )
      restBody(await gateway.rest('/sms/scheduled/delete', { by: sub, body: ids }))
      expectEqual((await allScheduled(gateway)).length, before)
    },
  },
  {
    of: ['2.10', 'spec 4.1'],
    title: '/shortcode/incoming of an account without a code is empty',
    run: async (gateway) => {
      expectRest(
        await gateway.rest('/shortcode/incoming', { by: gateway.sub }),
        ',"resultsOffset":0,"resultsLimit":100,"resultsTotalAvailable":0,"shortcodeMessages":[]',
      )
    },
  },
  {
    of: ['2.12', 'spec 4.1', '1.23', 'spec 2'],
    title:
      '/sms/incoming/optout has the entries, manual ones with the marker text and without ids, whatever the query says',
    run: async (gateway) => {
      expectRest(await gateway.rest('/sms/incoming/optout?offset=x&limit=0'), /^,"incomingOptoutMessages":\[.*\]$/s)
      const number = gateway.configured(gateway.configuration.numbers.optedOutByHand, 'numbers.optedOutByHand')
      const { text } = await gateway.rest('/sms/incoming/optout')
      const entry = new RegExp(
        `\\{"incomingApiMessageId":null,"mobileNumber":"${number}","receiveTime":"\\d{12}",` +
          `"messageText":"\\* MANUALLY ADDED BY USER \\*","outgoingApiMessageId":null\\}`,
        'g',
      )
      expectEqual(text.match(entry)?.length, 1, text.slice(0, 500))
    },
  },
  {
    of: ['2.14'],
    title:
      '/subaccounts has the sub accounts of a main account in the order of their numbers, and none for a sub account',
    run: async (gateway) => {
      const { sub, otherSub } = gateway
      const { text } = await gateway.rest('/subaccounts')
      const numbers = Array.from(text.matchAll(/"accountNumber":(\d+),/g), ([, id]) => Number(id))
      expectEqual(
        numbers,
        numbers.toSorted((a, b) => a - b),
      )
      expectEqual(
        [sub.id, otherSub.id].every((id) => numbers.includes(id)),
        true,
        `${numbers.join()} lacks one`,
      )
      const element = new RegExp(
        `\\{"accountNumber":${sub.id},"loginName":"${sub.login}","firstName":"[^"]*","surname":"[^"]*","creditBalance":\\d+\\.\\d\\}`,
      )
      expectRest(await gateway.rest('/subaccounts'), element)
      expectRest(await gateway.rest('/subaccounts', { by: sub }), ',"subAccounts":[]')
    },
  },
  {
    of: ['1.2', '2.10'],
    title: 'no list of an account has a message of another account',
    run: async (gateway) => {
      const id = await schedule(gateway)
      for (const by of [gateway.sub, gateway.stranger])
        expectEqual(
          (await gateway.rest('/sms/scheduled?limit=1000', { by })).text.includes(`"apiMessageId":${id},`),
          false,
        )
    },
  },
  {
    of: ['1.3', 'spec 4.1', 'spec 2', 'spec 4.2'],
    title: 'the balance of REST and that of the query string are equal, the latter rounded half up',
    alone: 'sub',
    run: async (gateway) => {
      await fill(gateway, 4)
      const exact = await balance(gateway, gateway.sub)
      expectEqual((await gateway.asp('credits.asp', {}, gateway.sub)).text, `Credits=${Math.floor((exact + 5) / 10)}`)
      const priced = gateway.configured(gateway.configuration.numbers.priced, 'numbers.priced')
      await schedule(gateway, { by: gateway.sub, number: priced.number })
      const balanceAfter = exact - Math.round(priced.price * 10)
      expectEqual(await balance(gateway, gateway.sub), balanceAfter)
      expectEqual(
        (await gateway.asp('credits.asp', {}, gateway.sub)).text,
        `Credits=${Math.floor((balanceAfter + 5) / 10)}`,
      )
    },
  },
]
