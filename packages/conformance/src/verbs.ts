import { setTimeout as delay } from 'node:timers/promises'
import { afterProgress } from './own-progress.ts'
import { expectRest, restBody } from './expectations.ts'
import type { Keyed, TestedGateway } from './tested-gateway.ts'
import { farAhead } from './times.ts'

/** Operations that most cases need, over REST. */

export interface Recipient {
  readonly mobileNumber: string
  readonly accepted: boolean
  readonly acceptError: string
  readonly apiMessageId: number
  readonly creditCost: number
  readonly newCreditBalance: number
}

export interface Status {
  readonly apiMessageId: number
  readonly statusCode: number
  readonly status: string
  readonly statusErrorCode: string
  readonly statusTime: string
  readonly creditCost: number
}

interface Sending {
  readonly by?: Keyed
  readonly numbers: readonly string[]
  readonly message?: string
  /** Scheduled time, by default so far ahead that it is never reached; null: now. */
  readonly scheduledTime?: string | null
}

/** Sends by REST. Waiting messages are deleted after the case. */
export async function send(
  gateway: TestedGateway,
  { by = gateway.main, numbers, message = 'Conformance', scheduledTime = farAhead() }: Sending,
): Promise<readonly Recipient[]> {
  const body = { message, recipients: numbers.map((mobileNumber) => ({ mobileNumber })), scheduledTime }
  const { recipients } = restBody<{ recipients: Recipient[] }>(await gateway.rest('/sms/outgoing/send', { by, body }))
  if (scheduledTime !== null)
    gateway.leave(
      by,
      recipients.filter(({ accepted }) => accepted).map((one) => one.apiMessageId),
    )
  return recipients
}

/** Schedules one message far ahead and returns its id. */
export async function schedule(gateway: TestedGateway, sending: Omit<Sending, 'numbers'> & { number?: string } = {}) {
  const [sent] = await send(gateway, { ...sending, numbers: [sending.number ?? gateway.number] })
  if (sent?.accepted !== true) throw new Error(`a message was not accepted: ${JSON.stringify(sent)}`)
  return sent.apiMessageId
}

/** Converts credits of JSON to whole tenths. */
export const tenths = (credits: number): number => Math.round(credits * 10)
/** Formats credits as REST does (ruling 1.3). */
export const literal = (inTenths: number): string => `${Math.trunc(inTenths / 10)}.${inTenths % 10}`

/** Returns the balance in tenths. */
export async function balance(gateway: TestedGateway, by: Keyed): Promise<number> {
  return tenths(restBody<{ creditBalance: number }>(await gateway.rest('/credits/balance', { by })).creditBalance)
}

/** Returns the price of one message part to the ordinary numbers, in tenths. */
export const price = (gateway: TestedGateway): number => tenths(gateway.configuration.numbers.price)

export async function transfer(gateway: TestedGateway, from: number, to: number, quantity: number): Promise<void> {
  const body = { sendingAccountNumber: from, receivingAccountNumber: to, transferQuantity: quantity }
  expectRest(await gateway.rest('/credits/transfer', { body }), ',"transferSuccessful":true')
}

/** Sets the balance of the sub account to this many whole credits, or slightly more, and returns it in tenths. */
export async function fill(gateway: TestedGateway, credits: number): Promise<number> {
  const { main, sub } = gateway
  const missing = credits - Math.floor((await balance(gateway, sub)) / 10)
  if (missing > 0) await transfer(gateway, main.id, sub.id, missing)
  if (missing < 0) await transfer(gateway, sub.id, main.id, -missing)
  return balance(gateway, sub)
}

export async function statuses(gateway: TestedGateway, ids: readonly number[], by: Keyed = gateway.main) {
  const answer = await gateway.rest('/sms/outgoing/status', { by, body: ids })
  return restBody<{ messageStatuses: Status[] }>(answer).messageStatuses
}

/** Polls until a value is found. Throws after `seconds` in which this process made progress. */
export async function until<Found>(
  seconds: number,
  description: string,
  look: () => Promise<Found | undefined>,
): Promise<Found> {
  const over = new AbortController()
  const cancel = afterProgress(seconds, () => over.abort())
  try {
    for (;;) {
      const isLast = over.signal.aborted
      const found = await look()
      if (found !== undefined) return found
      if (isLast) throw new Error(`not observed within ${seconds} s: ${description}`)
      await delay(50)
    }
  } finally {
    cancel()
  }
}

/** Waits until a message has this code. */
export const untilCode = (
  gateway: TestedGateway,
  id: number,
  code: number,
  by: Keyed = gateway.main,
): Promise<Status> =>
  until(gateway.configuration.deliverySeconds ?? 30, `message ${id} with the code ${code}`, async () => {
    const [status] = await statuses(gateway, [id], by)
    return status?.statusCode === code ? status : undefined
  })

export interface Incoming {
  readonly incomingApiMessageId: number
  readonly mobileNumber: string
  readonly messageText: string
  readonly receiveTime: string
  readonly outgoingApiMessageId: number | null
}

/** Lists all incoming messages of an account from this number, oldest first. */
export async function incoming(gateway: TestedGateway, from: string, by: Keyed = gateway.main): Promise<Incoming[]> {
  const found: Incoming[] = []
  for (let offset = 0; ; offset += 1000) {
    const page = restBody<{ resultsTotalAvailable: number; incomingMessages: Incoming[] }>(
      await gateway.rest(`/sms/incoming?offset=${offset}&limit=1000`, { by }),
    )
    found.push(...page.incomingMessages.filter(({ mobileNumber }) => mobileNumber === from))
    if (page.resultsTotalAvailable <= offset + 1000) return found
  }
}

/** Sends to a number, then delivers this reply from it. Returns both ids. */
export async function converse(
  gateway: TestedGateway,
  { from, text, by = gateway.main }: { from: string; text: string; by?: Keyed },
) {
  const [sent] = await send(gateway, { by, numbers: [from], scheduledTime: null })
  const sentId = sent?.apiMessageId ?? 0
  await untilCode(gateway, sentId, 0, by)
  return { sentId, reply: await writeBack(gateway, { from, text, by }) }
}

/** Delivers a message from a number to the account that last wrote to it, and waits until it has arrived. */
export async function writeBack(
  gateway: TestedGateway,
  { from, text, by = gateway.main }: { from: string; text: string; by?: Keyed },
): Promise<Incoming> {
  const replies = gateway.configured(gateway.configuration.replies, 'replies')
  const before = (await incoming(gateway, from, by)).length
  await gateway.bringReply({ from, to: replies.to, text })
  return until(
    gateway.configuration.deliverySeconds ?? 30,
    `the reply of ${from}`,
    async () => (await incoming(gateway, from, by))[before],
  )
}
