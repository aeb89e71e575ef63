import { setTimeout as delay } from 'node:timers/promises'
import { until } from '@gateway/core/testing'
import { openAccount } from './support/accounts.ts'
import { asp, minuteOf, rest, restBalance, restSend, restStatus, xml, type Client } from './support/clients.ts'
import { startAllInOne, startFiveProcesses, type RunningGateway } from './support/gateways.ts'
import { inTurn } from './support/in-turn.ts'
import { operateJson, operate } from './support/operate.ts'
import { killLeftovers } from './support/process.ts'
import { submissions } from './support/record.ts'

interface Account {
  readonly id: number
  /** Client with the account's key on each interface. */
  readonly onRest: Client
  readonly onAsp: Client
  readonly onXml: Client
}

interface Scheduled {
  readonly resultsTotalAvailable: number
  readonly scheduledMessages: readonly {
    readonly apiMessageId: number
    readonly mobileNumber: string
    readonly scheduledSendTime: string
    readonly creditCost: number
  }[]
}

interface Deleted {
  readonly deletedMessageStatuses: readonly { readonly deleteError: string; readonly creditCost: number }[]
}

type Transferred = { readonly transferSuccessful: boolean; readonly transferError?: string }

const scheduled = (client: Client, query = '') => rest<Scheduled>(client, `/sms/scheduled${query}`)
const restDelete = async (client: Client, ids: readonly number[]) =>
  (await rest<Deleted>(client, '/sms/scheduled/delete', ids)).deletedMessageStatuses.map(
    ({ deleteError, creditCost }) => [deleteError, creditCost],
  )
const aspDelete = (client: Client, ids: readonly number[]) =>
  asp(client, 'deletescheduled.asp', { messageid: ids.map((id) => `${id};`).join('') })
const xmlDelete = async (client: Client, ids: readonly number[]) => {
  const messages = ids.map((id) => `<MessageID><ID>${id}</ID><CLI>mine-${id}</CLI></MessageID>`).join('')
  const root = 'Svc_DeleteScheduled'
  const text = await xml(client, 'xmldeletescheduled.asp', root, `<MessageIDs>${messages}</MessageIDs>`)
  return [...text.matchAll(/<CLI>mine-(\d+)<\/CLI><Status>(\w+)<\/Status>/g)].map(([, id, word]) => `${id}=${word}`)
}

const idsIn = (text: string, pattern: RegExp) => Array.from(text.matchAll(pattern), ([, id]) => Number(id))
const aspSchedule = async ({ onAsp }: Account, numbers: string, time: string) =>
  idsIn(await asp(onAsp, 'batchmessage.asp', { message: 'x', numbers, scheduled: time }), /=(\d+)&/g)
const xmlSchedule = async ({ onXml }: Account, number: string, time: string) => {
  const message = `<Message><MessageText>x</MessageText><Numbers><Number>${number}</Number></Numbers></Message>`
  const content = `<Scheduled>${time}</Scheduled><Messages>${message}</Messages>`
  return idsIn(await xml(onXml, 'xmlsendsmsmulti.asp', 'Svc_Multi_Message', content), /<ID>(\d+)<\/ID>/g)
}
const restSchedule = async ({ onRest }: Account, numbers: readonly string[], scheduledTime: string) => {
  const recipients = numbers.map((mobileNumber) => ({ mobileNumber }))
  const body = { message: 'x', recipients, scheduledTime }
  const answer = await rest<{ recipients: { apiMessageId: number }[] }>(onRest, '/sms/outgoing/send', body)
  return answer.recipients.map(({ apiMessageId }) => apiMessageId)
}

const starts = { 'the all-in-one': startAllInOne, 'five processes': startFiveProcesses }
type Title = keyof typeof starts
const titles = inTurn(Object.keys(starts) as readonly Title[])

interface Running {
  readonly gateway: RunningGateway
  readonly account: (...options: readonly string[]) => Promise<Account>
  /**
   * Three messages that become due at `due`, within 75 seconds. The second one has been deleted. All other tests run
   * before they are due.
   */
  readonly soon: { readonly holder: Account; readonly ids: readonly number[]; readonly due: number }
}

async function run(title: Title): Promise<Running> {
  const gateway = await starts[title]()
  let opened = 0
  const account = async (...options: readonly string[]): Promise<Account> => {
    const { id, key } = await openAccount(gateway.environment, `user-${++opened}`, 100, ...options)
    const on = (url: string) => ({ url, key })
    return { id, onRest: on(gateway.restUrl), onAsp: on(gateway.aspUrl), onXml: on(gateway.xmlUrl) }
  }
  const holder = await account()
  const due = Math.floor((Date.now() + 75_000) / 60_000) * 60_000
  const ids = await restSchedule(holder, ['27820010101', '27820010201', '27820010301'], minuteOf(due))
  const [, two = 0] = ids
  expect(await aspDelete(holder.onAsp, [two])).toBe(`${two}=DELETED&`)
  return { gateway, account, soon: { holder, ids, due } }
}

let running: ReadonlyMap<Title, Running>
const runningAs = (title: Title): Running => {
  const found = running.get(title)
  if (found === undefined) throw new Error(`${title} was not started`)
  return found
}
beforeAll(async () => {
  running = new Map(await Promise.all(titles.map(async (title) => [title, await run(title)] as const)))
}, 120_000)
afterAll(async () => {
  const codes = await Promise.all([...running.values()].map(({ gateway }) => gateway.stop()))
  killLeftovers()
  expect(codes.flat()).toEqual(codes.flat().map(() => 0))
}, 120_000)

describe.each(titles)('%s', (title) => {
  const account = (...options: readonly string[]) => runningAs(title).account(...options)

  const tomorrow = minuteOf(Date.now() + 24 * 3_600_000)
  const later = minuteOf(Date.now() + 48 * 3_600_000)

  test('each interface schedules, REST lists by due time, each deletes with a refund, and nobody else can', async () => {
    const [holder, stranger] = await Promise.all([account(), account()])
    const byRest = await restSchedule(holder, ['27820000101', '27820000201', '27820000301'], later)
    const byAsp = await aspSchedule(holder, '27820000401;27820000501', tomorrow)
    const byXml = await xmlSchedule(holder, '27820000601', later)
    const [one = 0, two = 0, three = 0, four = 0, five = 0, six = 0] = [...byRest, ...byAsp, ...byXml]
    expect(await restBalance(holder.onRest)).toBe(94)

    const list = await scheduled(holder.onRest)
    expect(list.scheduledMessages.map(({ apiMessageId }) => apiMessageId)).toEqual([four, five, one, two, three, six])
    expect(list.scheduledMessages[0]).toMatchObject({
      mobileNumber: '27820000401',
      scheduledSendTime: tomorrow,
      creditCost: 1,
    })
    const piece = await scheduled(holder.onRest, '?offset=1&limit=2')
    expect(piece.scheduledMessages.map(({ apiMessageId }) => apiMessageId)).toEqual([five, one])
    expect(piece.resultsTotalAvailable).toBe(6)

    expect((await scheduled(stranger.onRest)).resultsTotalAvailable).toBe(0)
    expect(await restDelete(stranger.onRest, [one])).toEqual([['NOTFOUND', 0]])
    expect(await aspDelete(stranger.onAsp, [one])).toBe(`${one}=NOTFOUND&`)
    expect(await xmlDelete(stranger.onXml, [one])).toEqual([`${one}=NOTFOUND`])

    expect(await restDelete(holder.onRest, [two, two, four])).toEqual([
      ['', 1],
      ['NOTFOUND', 0],
      ['', 1],
    ])
    expect(await restBalance(holder.onRest)).toBe(96)
    expect(await aspDelete(holder.onAsp, [six, six, two])).toBe(`${six}=DELETED&${six}=NOTFOUND&${two}=NOTFOUND&`)
    expect(await xmlDelete(holder.onXml, [five, five, four])).toEqual([
      `${five}=DELETED`,
      `${five}=NOTFOUND`,
      `${four}=NOTFOUND`,
    ])
    expect(await asp(holder.onAsp, 'credits.asp')).toBe('Credits=98')
    expect((await scheduled(holder.onRest)).scheduledMessages.map(({ apiMessageId }) => apiMessageId)).toEqual([
      one,
      three,
    ])

    // A locked account may still read its list of scheduled messages and delete messages.
    await operateJson(['account', 'lock', String(holder.id)], runningAs(title).gateway.environment)
    expect((await scheduled(holder.onRest)).resultsTotalAvailable).toBe(2)
    expect(await restDelete(holder.onRest, [one, three])).toEqual([
      ['', 1],
      ['', 1],
    ])
    expect(await restBalance(holder.onRest)).toBe(100)
    expect((await restStatus(holder.onRest, [one])).map(({ statusCode }) => statusCode)).toEqual([102])
  }, 120_000)

  test('a message sent at once cannot be deleted over any interface', async () => {
    const holder = await account()
    const [id = 0] = (await restSend(holder.onRest, ['27820020101'])) as number[]
    expect(await restDelete(holder.onRest, [id])).toEqual([['SENT', 0]])
    expect(await aspDelete(holder.onAsp, [id])).toBe(`${id}=SENT&`)
    expect(await xmlDelete(holder.onXml, [id])).toEqual([`${id}=SENT`])
    expect(await restBalance(holder.onRest)).toBe(99)
  }, 120_000)

  test('credits move main to sub, sub to main and sub to sub, over REST and query string; REST lists the sub accounts', async () => {
    const main = await account()
    const [one, two, stranger] = [
      await account('--parent', String(main.id)),
      await account('--parent', String(main.id)),
      await account(),
    ]
    const restTransfer = ({ onRest }: Account, from: Account, to: Account, transferQuantity: number) => {
      const numbers = { sendingAccountNumber: from.id, receivingAccountNumber: to.id }
      return rest<Transferred>(onRest, '/credits/transfer', { ...numbers, transferQuantity })
    }
    const aspTransfer = ({ onAsp }: Account, from: Account, to: Account, quantity: number) =>
      asp(onAsp, 'creditstransfer.asp', {
        fromAccountId: String(from.id),
        toAccountId: String(to.id),
        transferQuantity: String(quantity),
      })
    const balances = () => Promise.all([main, one, two, stranger].map(({ onRest }) => restBalance(onRest)))

    for (const [from, to] of [
      [main, one],
      [one, main],
      [one, two],
    ] as const) {
      expect(await restTransfer(main, from, to, 10)).toMatchObject({ transferSuccessful: true })
      expect(await aspTransfer(main, from, to, 5)).toBe('Transfer=Success')
    }
    expect(await balances()).toEqual([100, 85, 115, 100])
    expect(await restTransfer(two, two, main, 15)).toMatchObject({ transferSuccessful: true })
    expect(await balances()).toEqual([115, 85, 100, 100])

    expect(await aspTransfer(two, two, main, 15)).toBe('Transfer=invalidUser')
    expect(await restTransfer(two, main, two, 1)).toMatchObject({
      transferSuccessful: false,
      transferError: 'invalidFromAccount',
    })
    expect(await aspTransfer(main, main, stranger, 1)).toBe('Transfer=invalidToAccount')
    expect(await aspTransfer(main, main, one, 116)).toBe('Transfer=insufficientCredits')
    expect(await restTransfer(main, main, main, 1)).toMatchObject({ transferError: 'sameAccount' })
    await operateJson(['account', 'lock', String(two.id)], runningAs(title).gateway.environment)
    expect(await aspTransfer(main, two, one, 1)).toBe('Transfer=lockedFromAccount')
    expect(await restTransfer(main, one, two, 1)).toMatchObject({ transferError: 'lockedToAccount' })
    expect(await balances()).toEqual([115, 85, 100, 100])

    const { subAccounts } = await rest<{ subAccounts: unknown[] }>(main.onRest, '/subaccounts')
    expect(subAccounts).toMatchObject([
      { accountNumber: one.id, creditBalance: 85 },
      { accountNumber: two.id, creditBalance: 100 },
    ])
    expect(await rest(one.onRest, '/subaccounts')).toMatchObject({ subAccounts: [] })
  }, 120_000)

  test('64 transfers at a time, over both interfaces and in both directions: no error, and the sum is what it was', async () => {
    const main = await account()
    const subs = await Promise.all([1, 2, 3, 4].map(() => account('--parent', String(main.id))))
    const family = [main, ...subs]
    const words = await Promise.all(
      Array.from({ length: 64 }, async (_, i) => {
        const [from, to] = [family[i % 5]?.id ?? 0, family[(i + 1 + (i % 4)) % 5]?.id ?? 0]
        if (i % 2 === 0) {
          const query = { fromAccountId: String(from), toAccountId: String(to), transferQuantity: '30' }
          return asp(main.onAsp, 'creditstransfer.asp', query)
        }
        const body = { sendingAccountNumber: from, receivingAccountNumber: to, transferQuantity: 30 }
        const { transferSuccessful, transferError = '' } = await rest<Transferred>(
          main.onRest,
          '/credits/transfer',
          body,
        )
        return `Transfer=${transferSuccessful ? 'Success' : transferError}`
      }),
    )
    for (const word of words) expect(['Transfer=Success', 'Transfer=insufficientCredits']).toContain(word)
    const balances = await Promise.all(family.map(({ onRest }) => restBalance(onRest)))
    expect(balances.reduce((sum, balance) => sum + balance)).toBe(500)
    expect(Math.min(...balances)).toBeGreaterThanOrEqual(0)
    expect((await operate(['credits', 'verify'], runningAs(title).gateway.environment)).code).toBe(0)
  }, 120_000)

  test('several texts go out in one call, each to its own numbers and at its own time', async () => {
    const holder = await account()
    const messages = [
      { message: 'one', recipients: [{ mobileNumber: '27820030101' }, { mobileNumber: '1' }] },
      { message: 'two', recipients: [{ mobileNumber: '27820030201' }], scheduledTime: tomorrow },
    ]
    const answer = await rest<{
      messages: { message: string; recipients: { apiMessageId: number | null; acceptError: string }[] }[]
    }>(holder.onRest, '/sms/outgoing/sendmulti', { messages })
    expect(answer.messages).toMatchObject([
      { message: 'one', recipients: [{ acceptError: '' }, { acceptError: 'BADDEST', apiMessageId: null }] },
      { message: 'two', recipients: [{ acceptError: '', scheduledTime: tomorrow }] },
    ])
    const [now, waiting] = answer.messages.map(({ recipients }) => recipients[0]?.apiMessageId ?? 0)
    const status = async (id = 0) => (await restStatus(holder.onRest, [id]))[0]?.statusCode
    await until(async () => (await status(now)) === 0, 30_000)
    expect(await status(waiting)).toBe(-1)
    expect(await restDelete(holder.onRest, [waiting ?? 0])).toEqual([['', 1]])
    expect(await restBalance(holder.onRest)).toBe(99)
  }, 120_000)
})

test.each(titles)(
  '%s: when a send is due, its remaining messages are sent, and deleted ones are not',
  async (title) => {
    const { gateway, soon } = runningAs(title)
    const { holder, ids, due } = soon
    const [one = 0, two = 0, three = 0] = ids
    const codes = async () => (await restStatus(holder.onRest, ids)).map(({ statusCode }) => statusCode)
    await delay(Math.max(0, due - Date.now()))
    await until(async () => String(await codes()) === '0,102,0', 60_000)
    expect(await restDelete(holder.onRest, [one, two, three])).toEqual([
      ['SENT', 0],
      ['NOTFOUND', 0],
      ['SENT', 0],
    ])
    expect(await restBalance(holder.onRest)).toBe(98)
    const submitted = (await submissions(gateway.folder)).map(({ messageId }) => messageId)
    expect(submitted.filter((id) => ids.includes(id)).sort()).toEqual([one, three].sort())
  },
  180_000,
)
