import { until } from '@gateway/core/testing'
import { openAccount } from './support/accounts.ts'
import { carriers } from './support/carriers.ts'
import { inTurn } from './support/in-turn.ts'
import { asp, rest, restSend, restStatus, xml, aspSend, xmlSend, type Client } from './support/clients.ts'
import { startAllInOne, startFiveProcesses, type RunningGateway } from './support/gateways.ts'
import { operateJson } from './support/operate.ts'
import { killLeftovers } from './support/process.ts'

interface Holder {
  readonly id: number
  readonly onRest: Client
  readonly onAsp: Client
  readonly onXml: Client
}

interface Incoming {
  readonly incomingApiMessageId: number
  readonly mobileNumber: string
  readonly messageText: string
  readonly outgoingApiMessageId: number | null
}

const incoming = async ({ onRest }: Holder, number: string) =>
  (await rest<{ incomingMessages: readonly Incoming[] }>(onRest, '/sms/incoming')).incomingMessages.filter(
    ({ mobileNumber }) => mobileNumber === number,
  )
const shortCodeMessages = async ({ onRest }: Holder) =>
  (await rest<{ shortcodeMessages: readonly (Incoming & { shortCode: string })[] }>(onRest, '/shortcode/incoming'))
    .shortcodeMessages
const restOptOuts = async ({ onRest }: Holder) =>
  (await rest<{ incomingOptoutMessages: readonly Incoming[] }>(onRest, '/sms/incoming/optout')).incomingOptoutMessages
const aspReplies = ({ onAsp }: Holder, parameters = {}) => asp(onAsp, 'httpgetreplies.asp', parameters)
const xmlReplies = ({ onXml }: Holder) => xml(onXml, 'xmlgetreplies.asp', 'Svc_Replies', '')

/** Returns a pattern that matches one reply in the query-string interface with any time. */
const aReply = (cli: string, text: string, id: number) =>
  new RegExp(`^CLI=${cli};DateReceived=\\d{12};Message=${text};SentMessageID=${id}&$`)

describe.each(
  inTurn(
    carriers.flatMap(([carrier, startCarrier]) => [
      [`the all-in-one over ${carrier}`, startAllInOne, startCarrier] as const,
      [`five processes over ${carrier}`, startFiveProcesses, startCarrier] as const,
    ]),
  ),
)('%s', (_title, start, startCarrier) => {
  const [poolA, poolB] = ['12025550111', '12025550112']
  let gateway: RunningGateway
  let one: Holder
  let two: Holder
  beforeAll(async () => {
    gateway = await start({ SENDERS: `${poolA},${poolB}` }, startCarrier)
    one = await holder('one')
    two = await holder('two')
  }, 180_000)
  afterAll(async () => {
    const codes = await gateway.stop()
    killLeftovers()
    expect(codes.every((code) => code === 0)).toBe(true)
  }, 120_000)

  async function holder(login: string): Promise<Holder> {
    const { id, key } = await openAccount(gateway.environment, login, 100)
    const on = (url: string) => ({ url, key })
    return { id, onRest: on(gateway.restUrl), onAsp: on(gateway.aspUrl), onXml: on(gateway.xmlUrl) }
  }
  const command = <Result>(...args: readonly string[]) => operateJson<Result>(args, gateway.environment)
  const reply = (from: string, to: string, text: string) => gateway.carrier.write(from, to, text)

  async function sent(by: Holder, number: string): Promise<number> {
    const [id] = await restSend(by.onRest, [number])
    if (typeof id !== 'number') throw new Error(`refused: ${String(id)}`)
    await until(async () => (await restStatus(by.onRest, [id]))[0]?.status === 'DELIVERED', 30_000)
    return id
  }
  const submittedTo = async (number: string) =>
    (await gateway.carrier.submitted()).filter((line) => line.number === number)

  test('a recipient who answers STOP is opted out once and everywhere, is notified, and opts in with START', async () => {
    const number = '27821230089'
    const id = await sent(one, number)
    await until(async () => (await incoming(one, number)).length === 1, 30_000)
    expect(await aspReplies(one)).toMatch(aReply(number, 'STOP', id))
    expect(await aspReplies(one)).toBe('')
    expect(await xmlReplies(one)).not.toContain('STOP')
    const [message] = await incoming(one, number)
    expect(message).toMatchObject({ mobileNumber: number, messageText: 'STOP', outgoingApiMessageId: id })
    expect(await restOptOuts(one)).toEqual([message])
    expect(await asp(one.onAsp, 'listoptouts.asp')).toMatch(aReply(number, 'STOP', id))

    await until(async () => (await submittedTo(number)).length === 2, 30_000)
    const [first, confirmation] = await submittedTo(number)
    expect(confirmation?.from).toBe(first?.from)
    expect(await restSend(one.onRest, [number])).toEqual(['OPTEDOUT'])
    expect(await aspSend(one.onAsp, [number])).toEqual(['OPTEDOUT'])
    expect(await xmlSend(one.onXml, [number])).toEqual(['FAIL:OPTEDOUT'])

    await reply(number, first?.from ?? '', ' Start ')
    expect(await restOptOuts(one)).toEqual([])
    expect(await asp(one.onAsp, 'listoptouts.asp')).toBe('')
    expect(typeof (await restSend(one.onRest, [number]))[0]).toBe('number')
    expect(await xmlReplies(one)).toMatch(/<Message> Start <\/Message>/)
    expect(await aspReplies(one)).toBe('')
    const balance = await rest<{ creditBalance: number }>(one.onRest, '/credits/balance')
    expect(balance.creditBalance).toBe(98)
  }, 120_000)

  test('with two addresses two accounts each get their own replies, and never see the other', async () => {
    const number = '27821230188'
    const ofOne = await sent(one, number)
    const ofTwo = await sent(two, number)
    const [toOne, toTwo] = await submittedTo(number)
    expect([toOne?.from, toTwo?.from].sort()).toEqual([poolA, poolB])
    await until(
      async () => (await incoming(one, number)).length > 0 && (await incoming(two, number)).length > 0,
      30_000,
    )
    expect((await incoming(one, number)).map(({ outgoingApiMessageId }) => outgoingApiMessageId)).toEqual([ofOne])
    expect((await incoming(two, number)).map(({ outgoingApiMessageId }) => outgoingApiMessageId)).toEqual([ofTwo])
    expect(await aspReplies(two)).toMatch(aReply(number, 'Yes, thank you', ofTwo))
    expect(await aspReplies(one)).toMatch(aReply(number, 'Yes, thank you', ofOne))
  }, 120_000)

  test('a short code: messages leave from it, and come back in both lists, returned once', async () => {
    const [number, code] = ['27821230201', `4040${one.id}`]
    await command('shortcode', 'assign', code, String(one.id))
    await reply(number, code, 'first word')
    const id = await until(async () => {
      const accepted = await sent(one, number)
      const from = (await submittedTo(number)).at(-1)?.from
      return from === code ? accepted : undefined
    }, 30_000)
    await reply(number, code, 'a;b&c=d%')
    const messages = await shortCodeMessages(one)
    expect(messages.map(({ shortCode, messageText }) => [shortCode, messageText])).toEqual([
      [code, 'first word'],
      [code, 'a;b&c=d%'],
    ])
    expect(await incoming(one, number)).toEqual([])
    expect(await aspReplies(one, { excludesc: 'True' })).toBe('')
    expect(await asp(two.onAsp, 'httpgetscmessages.asp')).toBe('')
    expect(await asp(one.onAsp, 'httpgetscmessages.asp')).toMatch(
      new RegExp(
        `^SC=${code};CLI=${number};DateReceived=\\d{12};Message=first word&SC=${code};CLI=${number};DateReceived=\\d{12};Message=a%3Bb%26c%3Dd%25&$`,
      ),
    )
    await reply(number, code, 'last')
    expect(await xmlReplies(one)).toContain(`<Message>last</Message><SentMessageID>${id}</SentMessageID>`)
    expect(await xml(one.onXml, 'xmlgetscmessages.asp', 'Svc_SCmessages', '')).not.toContain('<SCmessage>')
  }, 120_000)

  test('only the operator sees messages without an account; an account holder edits opt-outs by hand', async () => {
    const number = '27821230301'
    await reply(number, '12025550199', 'who are you?')
    const { rows: nobodys } = await command<{ rows: readonly { from: string; text: string }[] }>('arrivals', 'list')
    expect(nobodys).toEqual([expect.objectContaining({ from: number, text: 'who are you?' })])
    await command('optout', 'add', String(one.id), number)
    expect(await asp(one.onAsp, 'listoptouts.asp')).toMatch(
      new RegExp(`^CLI=${number};DateReceived=\\d{12};Message=\\* MANUALLY ADDED BY USER \\*;SentMessageID=&$`),
    )
    expect((await restOptOuts(one)).map(({ outgoingApiMessageId }) => outgoingApiMessageId)).toEqual([null])
    expect(await restSend(one.onRest, [number])).toEqual(['OPTEDOUT'])
    await command('optout', 'remove', String(one.id), number)
    expect(typeof (await restSend(one.onRest, [number]))[0]).toBe('number')
  }, 120_000)
})

test.each(inTurn(carriers))(
  'over %s: with one address the account that wrote last gets the reply',
  async (_title, startCarrier) => {
    const gateway = await startAllInOne({}, startCarrier)
    const number = '27821230401'
    try {
      const holders = await Promise.all(
        ['one', 'two'].map(async (login) => {
          const { id, key } = await openAccount(gateway.environment, login, 10)
          const client = { url: gateway.restUrl, key }
          return { id, onRest: client, onAsp: client, onXml: client }
        }),
      )
      const [one, two] = holders
      if (one === undefined || two === undefined) throw new Error('no accounts')
      for (const holder of [one, two]) {
        const [id] = await restSend(holder.onRest, [number])
        await until(async () => (await restStatus(holder.onRest, [Number(id)]))[0]?.status === 'DELIVERED', 30_000)
      }
      const from = (await gateway.carrier.submitted())[0]?.from ?? ''
      await gateway.carrier.write(number, from, 'me')
      expect((await incoming(two, number)).map(({ messageText }) => messageText)).toEqual(['me'])
      expect(await incoming(one, number)).toEqual([])
    } finally {
      await gateway.stop()
      killLeftovers()
    }
  },
  120_000,
)
