import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { until } from '@gateway/core/testing'
import { openAccount } from './support/accounts.ts'
import { rest, restBalance, restSend, restStatus, type Client } from './support/clients.ts'
import { inTurn } from './support/in-turn.ts'
import { numbersEnding } from './support/numbers.ts'
import { adoptReceipts, operate } from './support/operate.ts'
import { databaseFolder, killLeftovers, startApp, type DataFolder, type Started } from './support/process.ts'
import { smscPassword, startSmscProcess, type RunningSmsc } from './support/smsc.ts'

let data: DataFolder
let folder: string
const outputs: Started[] = []
beforeEach(async () => {
  data = await databaseFolder()
  folder = join(data.path, 'smsc')
  await mkdir(folder)
})
afterEach(async () => {
  killLeftovers()
  await data.remove()
  const written = outputs.splice(0).map((app) => app.output())
  expect(written.join('')).not.toContain(smscPassword)
})

async function gatewayOver(carriers: string): Promise<Started> {
  const gateway = await startApp('all-in-one', environmentOf(carriers))
  outputs.push(gateway)
  return gateway
}

const environmentOf = (carriers: string) => ({
  ...{ DATA_DIR: data.path, CARRIERS: carriers, RETRY_SECONDS: '1', LEASE_SECONDS: '2', LOG_LEVEL: 'debug' },
})

interface Incoming {
  readonly mobileNumber: string
  readonly messageText: string
  readonly outgoingApiMessageId: number | null
}

/** Final code of a message by the last two digits of its number. */
const CODES: Readonly<Record<string, number>> = {
  ...{ '01': 0, '88': 0, '89': 0, '90': 103, '91': 101, '92': 107, '93': 111, '94': 100, '95': 106 },
  ...{ '96': 0, '97': 0, '98': 0 },
}

describe.each(
  inTurn([
    ['the simulated carrier', () => Promise.resolve('simulator:?delayMs=10')],
    ['SMPP', async () => `${(await startSmscProcess(folder, ['receiptDelay=20'])).url}?responseSeconds=1`],
  ] as const),
)('over %s', (_title, carriers) => {
  test('every ending of a number has its outcome, replies are listed, STOP opts out, and a three-part text is delivered', async () => {
    const from = await carriers()
    const gateway = await gatewayOver(from)
    const client: Client = {
      url: gateway.url,
      key: (await openAccount(environmentOf(from), 'endings', 100)).key,
    }
    const endings = Object.keys(CODES)
    const numbers = endings.flatMap((ending) => numbersEnding(1, ending, 7))
    const numberOf = (ending: string): string => numbers[endings.indexOf(ending)] ?? ''
    const ids = (await restSend(client, numbers)).map(Number)
    const [long] = (await restSend(client, numbersEnding(1, '01', 8), 'x'.repeat(400))).map(Number)
    const codes = async () => (await restStatus(client, [...ids, long ?? 0])).map(({ statusCode }) => statusCode)
    const expected = [...Object.values(CODES), 0]
    await until(async () => String(await codes()) === String(expected)).catch(() => undefined)
    expect(Object.fromEntries((await codes()).map((code, at) => [endings[at] ?? 'long', code]))).toEqual({
      ...CODES,
      long: 0,
    })
    const incoming = async () =>
      (await rest<{ incomingMessages: readonly Incoming[] }>(client, '/sms/incoming')).incomingMessages
    await until(async () => (await incoming()).length === 2)
    const replies = (await incoming()).map(({ mobileNumber, messageText, outgoingApiMessageId }) => [
      ...[mobileNumber, messageText, outgoingApiMessageId],
    ])
    expect(replies.toSorted()).toEqual([
      [numberOf('88'), 'Yes, thank you', ids[endings.indexOf('88')]],
      [numberOf('89'), 'STOP', ids[endings.indexOf('89')]],
    ])
    expect(await restSend(client, [numberOf('89')])).toEqual(['OPTEDOUT'])
    // 12 messages have one part, of which the refused one is free, and one message has three parts. Confirmations are
    // free.
    expect(await restBalance(client)).toBe(100 - 11 - 3)
    expect((await operate(['credits', 'verify'], environmentOf(from))).code).toBe(0)
    expect(await gateway.stop()).toBe(0)
  }, 120_000)
})

describe('over SMPP', () => {
  test('the parts of a text have one reference, and a receipt is asked for each', async () => {
    const smsc = await startSmscProcess(folder, ['receiptDelay=20'])
    const gateway = await gatewayOver(smsc.url)
    // Waits for the demo account, because an account that is opened before it would replace it.
    await until(() => gateway.output().includes('messages of this account reach people'))
    const client: Client = { url: gateway.url, key: (await openAccount(environmentOf(smsc.url), 'long', 10)).key }
    const [id = 0] = (await restSend(client, numbersEnding(1), 'x'.repeat(400))).map(Number)
    await until(async () => (await restStatus(client, [id]))[0]?.statusCode === 0)
    const submits = await smsc.submits()
    const headers = submits.map(({ shortMessage = '' }) => [shortMessage.slice(0, 6), shortMessage.slice(8, 12)])
    expect(headers).toEqual([1, 2, 3].map((part) => ['050003', `030${part}`]))
    expect(new Set(submits.map(({ shortMessage = '' }) => shortMessage.slice(6, 8))).size).toBe(1)
    expect(submits.map(({ esmClass, registeredDelivery }) => [esmClass, registeredDelivery])).toEqual(
      submits.map(() => [0x40, 1]),
    )
    const acknowledged = async () => (await smsc.journal()).filter(({ command }) => command === 'deliver_sm_resp')
    await until(async () => (await acknowledged()).length === 3)
    expect(gateway.output()).not.toContain('curl -s')
    expect(await gateway.stop()).toBe(0)
  }, 120_000)

  test('kill -9 with messages in the window: nothing is lost or submitted twice, and late receipts decide messages of code 106', async () => {
    const messages = 300
    const window = 50
    const smsc = await startSmscProcess(folder, ['answerDelay=200', 'receiptDelay=3600000'])
    const killed = await gatewayOver(smsc.url)
    const environment = environmentOf(smsc.url)
    const { key } = await openAccount(environment, 'kill', messages)
    const numbers = numbersEnding(messages)
    const ids = (await restSend({ url: killed.url, key }, numbers)).map(Number)
    await until(async () => (await smsc.submits()).length >= 2 * window)
    await killed.stop('SIGKILL')

    const gateway = await gatewayOver(smsc.url)
    const client: Client = { url: gateway.url, key }
    const withCode = async (...codes: readonly number[]) =>
      (await restStatus(client, ids)).filter(({ statusCode }) => codes.includes(statusCode))
    await until(async () => (await withCode(100, 106)).length === messages)
    const unknown = await withCode(106)
    expect(unknown.length).toBeGreaterThan(0)
    expect(unknown.length).toBeLessThanOrEqual(200)

    const next: RunningSmsc = await restarted(smsc)
    const submitted = (await next.submits()).map(({ destinationAddr = '' }) => destinationAddr)
    expect(new Set(submitted).size).toBe(submitted.length)
    const waiting = async () => submitted.length - (await withCode(0)).length
    await until(async () => (await waiting()) <= unknown.length)
    // Adopts unmatched receipts. A dispatcher does this only once a minute.
    await until(async () => {
      await adoptReceipts(environment)
      return (await waiting()) === 0
    })
    // Messages that stay unknown were marked but never submitted, so they have no receipt.
    const undecided = (await withCode(106)).map(({ apiMessageId }) => numbers[ids.indexOf(apiMessageId)] ?? '')
    expect(undecided.filter((number) => submitted.includes(number))).toEqual([])
    expect(undecided.length + submitted.length).toBe(messages)
    expect(undecided.length).toBeLessThan(unknown.length)
    expect((await next.submits()).length).toBe(submitted.length)
    expect(await restBalance(client)).toBe(0)
    expect((await operate(['credits', 'verify'], environment)).code).toBe(0)
    expect(await gateway.stop()).toBe(0)
  }, 120_000)
})

/**
 * Kills the carrier and restarts it on the same port. The restarted carrier sends all receipts and replies that it
 * owes.
 */
async function restarted(smsc: RunningSmsc): Promise<RunningSmsc> {
  await smsc.stop('SIGKILL')
  return startSmscProcess(folder, ['receiptDelay=0'], smsc.port)
}
