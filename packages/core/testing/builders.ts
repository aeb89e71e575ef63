import { strict as assert } from 'node:assert'
import type { StoredPorts } from '@gateway/core'
import {
  accountId,
  type Account,
  type AccountId,
  type KeyId,
  type NewAccount,
  type LaterSettings,
} from '@gateway/core/accounts'
import { credits, type Credits } from '@gateway/core/credits'
import { carrierId, type CarrierId, type ClaimedBatchId, type DispatcherId } from '@gateway/core/dispatch'
import {
  bodyOf,
  defaultSenders,
  messageId,
  parseMsisdn,
  parseSenderAddress,
  readReference,
  readSender,
  readSendOption,
  type AnswerDraft,
  type Category,
  type Body,
  type MessageId,
  type MessageReference,
  type Msisdn,
  type Order,
  type SenderAddress,
  type SendOptions,
  type ValidityMinutes,
} from '@gateway/core/messages'
import type { CarrierReport, FleetState, ReportingProcess } from '@gateway/core/fleet'
import type { PasswordHash } from '@gateway/core/people'
import type { Instant } from '@gateway/core/time'
import { realClock } from './memory/clock.ts'

export interface AccountOptions extends Partial<NewAccount> {
  /** Balance in tenths of a credit, by default 1000 (100.0 credits). */
  readonly credits?: number
  readonly password?: PasswordHash
  readonly locked?: boolean
}

let opened = 0

/** Opens an account that can send unless `options` say otherwise, with a login of its own. */
export async function anAccount(ports: Pick<StoredPorts, 'accounts'>, options: AccountOptions = {}): Promise<Account> {
  const { credits: granted = 1000, password, locked = false, ...account } = options
  const id = await ports.accounts.open(
    { account: { ...aNewAccount(), ...account }, password, credits: credits(granted) },
    realClock().now(),
  )
  if (typeof id === 'string') throw new Error(`the account was not opened: ${id}`)
  if (locked) await ports.accounts.setLocked(id, true)
  const found = await ports.accounts.find(id)
  if (found === undefined) throw new Error(`account ${id} was opened and is not there`)
  return found.account
}

/** Reports the carriers of a process, as its heartbeat does. */
export const reportCarriers = (
  { fleet }: Pick<StoredPorts, 'fleet'>,
  process: ReportingProcess,
  reports: readonly CarrierReport[],
): Promise<FleetState> =>
  fleet.beat({ user: { process, version: 0, simulated: undefined }, seconds: 60, reports, counts: [] })

/** Returns a main account with a login of its own. */
export const aNewAccount = (): NewAccount => ({
  parent: undefined,
  login: `user-${++opened}`,
  firstName: 'Ada',
  surname: 'Lovelace',
  trial: undefined,
  transactional: false,
})

/** Returns the text as a body; throws if it cannot be sent. */
export function aBody(text = 'hello'): Body {
  const body = bodyOf(text)
  if (typeof body === 'string') throw new Error(`${body}: ${text}`)
  return body
}

/** Returns `count` different mobile numbers, at most 100 000, all with this ending of two digits. */
export const numbers = (count: number, ending = '00'): readonly Msisdn[] =>
  Array.from({ length: count }, (_, i) => aNumber(`2782${String(i).padStart(5, '0')}${ending}`))

/** Returns a mobile number; throws if the text is not one. */
export function aNumber(text = '27820000000'): Msisdn {
  const number = parseMsisdn(text)
  if (number === undefined) throw new Error(`no mobile number: ${text}`)
  return number
}

/** Returns a sender address; throws if nothing can be sent from it. */
export function anAddress(text: string = defaultSenders[0] ?? ''): SenderAddress {
  const address = parseSenderAddress(text)
  if (address === undefined) throw new Error(`not a valid sender address: ${text}`)
  return address
}

/** Options of a send; a validity may be below 1, which no request can ask for. */
export type AnySendOptions = Omit<SendOptions, 'validity'> & { readonly validity?: number }

export interface TextOptions extends AnySendOptions {
  readonly to: readonly Msisdn[]
  readonly text?: string
  /**
   * Costs of the numbers in tenths of a credit, in order; the last one applies to all that follow. Default 10 (1.0
   * credit).
   */
  readonly costs?: readonly number[]
  readonly due?: Instant
  /** References of the messages, in order. Undefined for a message without a reference. */
  readonly references?: readonly (MessageReference | undefined)[]
  /** Senders of the order, taken from its first text. By default the pool for accounts that name no sender. */
  readonly senders?: readonly SenderAddress[]
}

/** Returns an order of one or more texts. */
export const anOrder = (account: AccountId, ...texts: readonly TextOptions[]): Order => ({
  account,
  senders: texts[0]?.senders ?? defaultSenders,
  texts: texts.map(({ to, text, costs = [10], due, references, senders: _, validity, priority, ...others }) => ({
    body: aBody(text),
    due,
    options: {
      ...others,
      ...(validity !== undefined && { validity: aValidity(validity) }),
      ...(priority && { priority }),
    },
    to: to.map((number, i) => ({ number, cost: costAt(costs, i), reference: references?.[i] })),
  })),
})

/** Returns the draft of the answer to an order without refused recipients. */
export const anAnswerDraft = ({ texts }: Order): AnswerDraft =>
  texts.map(({ due, to }) => ({ due, recipients: to.map(({ cost }) => cost) }))

const costAt = (costs: readonly number[], i: number): Credits => credits(costs[i] ?? costs.at(-1) ?? 10)

export const withoutSettings: LaterSettings = {
  ...{ from: [], requestsPerSecond: undefined, recipientsPerSecond: undefined, callingCode: undefined },
}

/** Returns the id of a message; throws if the number cannot be one. */
export const aMessageId = (id: number): MessageId => messageId(id) ?? assert.fail(`no id of a message: ${id}`)

/** Returns a client reference; throws if no message can have it. */
export function aReference(text = 'order 7'): MessageReference {
  const reference = readReference(text)
  return reference === undefined || reference === 'unusable' ? assert.fail(`no reference: ${text}`) : reference
}

/** Returns a category; throws if no send can have it. */
export function aCategory(text = 'invoices'): Category {
  const category = readSendOption('category', text)
  return category === undefined || category === 'unusable' ? assert.fail(`not a valid category: ${text}`) : category
}

/** Returns a sender; throws if no send can name it. */
export function aSender(text = 'Acme'): SenderAddress {
  const sender = readSender(text)
  return sender === undefined || sender === 'unusable' ? assert.fail(`no sender: ${text}`) : sender
}

/**
 * Returns a validity in minutes. A validity below 1, which no request can set, has already ended, so that a test need
 * not wait.
 */
export const aValidity = (minutes: number): ValidityMinutes => minutes as ValidityMinutes

/** Returns the id of an account; throws if the number cannot be one. */
export const anAccountId = (id: number): AccountId => accountId(id) ?? assert.fail(`no id of an account: ${id}`)

/** Returns the id of a carrier; throws if no carrier can have this name. */
export const aCarrierId = (name = 'sim'): CarrierId => carrierId(name) ?? assert.fail(`no name of a carrier: ${name}`)

export const aKeyId = (id: number): KeyId => id as KeyId
export const aDispatcherId = (id: number): DispatcherId => id as DispatcherId
export const aClaimedBatchId = (id: number): ClaimedBatchId => id as ClaimedBatchId

/** A hash that matches no password. */
export const aPasswordHash = (text: string): PasswordHash => text as PasswordHash
