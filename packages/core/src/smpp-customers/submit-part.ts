import type { AccountActivity, OverLimit } from '../accounts/account-rates.ts'
import { may } from '../accounts/account.ts'
import { priceFor } from '../credits/prices.ts'
import { readCodedParts } from '../inbox/coded-text.ts'
import type { AnswerDeadline } from '../messages/answer-deadline.ts'
import type { MessageId } from '../messages/message-id.ts'
import type { Refusal } from '../messages/messages.ts'
import { parseMsisdn, type SenderAddress } from '../messages/msisdn.ts'
import { isPassed, screenTexts } from '../messages/screen-texts.ts'
import { orderedTexts } from '../messages/send-messages.ts'
import { mayName, sendersOf } from '../messages/senders.ts'
import { OUTCOME, type OutcomeCode } from '../messages/status-code.ts'
import type { Ports } from '../ports.ts'
import type { SmppSession } from './smpp-credentials.ts'
import { smppRequest } from './smpp-request.ts'
import { waitingPartsMaxDefault, type NewPart, type PartOptions, type WholeText } from './smpp-parts.ts'

/** Part as the app decodes it from a submission. */
export type SubmittedPart = Omit<NewPart, 'account' | 'number' | 'senders'> & {
  /** Destination as digits; any other text is refused as 'invalid-number'. */
  readonly number: string
  /** user_message_reference (SMPP 3.4, 5.3.2.17). */
  readonly messageReference?: number | undefined
}

export type JoinOutcome = 'joined' | 'refused' | 'over'

export interface AcceptedPart {
  readonly id: MessageId
  /**
   * Join of the text, 'incomplete' if this part did not complete it, or 'repeated' for a repetition. It continues by
   * itself. If it rejects or the process ends, the processing joins the text (`joinParts`).
   */
  readonly joining: Promise<JoinOutcome | 'incomplete' | 'repeated'>
}

export type PartResult =
  AcceptedPart | 'too-many-parts' | 'another-part' | 'overloaded' | 'invalid-sender' | OverLimit | Refusal

type JoinPorts = Pick<Ports, 'accounts' | 'senders' | 'suppressions' | 'prices' | 'smppParts' | 'clock'>

/**
 * Stores a part of a text and returns its id. When the text is whole, the text is joined, screened, priced and accepted
 * as one message (rulings 5.1, 5.2). If the credential is idempotent, a repetition of a part with the same
 * user_message_reference within 24 hours has the first id, also after the text was joined. A locked account, a wrong
 * number and a sender that the account may not use are refused before anything is stored; everything else is decided at
 * the join.
 */
export const submitPart =
  (
    ports: JoinPorts & Pick<Ports, 'accountRates' | 'clientRequests' | 'secrets'>,
    pool: readonly SenderAddress[],
    { waitingPartsMax = waitingPartsMaxDefault, activity }: PartSettings = {},
  ) =>
  async (
    session: SmppSession,
    { number: text, messageReference, ...part }: SubmittedPart,
    deadline?: AnswerDeadline,
  ): Promise<PartResult> => {
    const { account } = session
    if (!may(account, 'send')) return 'account-locked'
    const number = parseMsisdn(text)
    const [own, prices, allowed] = await Promise.all([
      ports.prices.of(account.id),
      ports.prices.table(),
      ports.senders.allowedTo(account.id),
    ])
    if (number === undefined || priceFor(own, prices, number) === undefined) return 'invalid-number'
    if (part.sender !== undefined && !mayName(account, allowed, part.sender)) return 'invalid-sender'
    const { reference, total, part: place, coded } = part
    const request = smppRequest(ports, session, messageReference, [number, reference, total, place, coded])
    const first = request && (await ports.clientRequests.find(request))
    if (typeof first === 'object') return { id: Number(first.text) as MessageId, joining: Promise.resolve('repeated') }
    const { recipientsPerSecond: perSecond } = account
    // The rate limit counts a text as one recipient, when its first part arrives.
    if (perSecond !== undefined && part.part === 1) {
      const limited = await ports.accountRates.take(account.id, 'recipients', 1, perSecond)
      if (limited !== 'taken') return limited
    }
    const stored = { ...part, account: account.id, number, senders: sendersOf(account, pool) }
    const added = await ports.smppParts.add(stored, waitingPartsMax, deadline)
    if (typeof added === 'string') return added
    const { id, whole } = added
    const join = async () => {
      // Stored before the join, so that a repetition of all parts cannot become another message.
      if (request !== undefined) await ports.clientRequests.keep(request, { text: String(id) })
      const parts = await whole
      return parts === undefined ? 'incomplete' : joinText(ports, activity)(parts)
    }
    return { id, joining: join() }
  }

export interface PartSettings {
  /** Maximum number of parts of one account that wait for others. */
  readonly waitingPartsMax?: number | undefined
  readonly activity?: AccountActivity | undefined
}

/**
 * Joins a whole text: screens and prices it and accepts it as one message under the id of its first part, or refuses
 * all its parts at no cost. Several callers may do this at once; the first one decides.
 */
export const joinText =
  (ports: JoinPorts, activity?: AccountActivity) =>
  async (parts: WholeText): Promise<JoinOutcome> => {
    const [first] = parts
    if (first === undefined) throw new Error('a text without parts cannot be joined')
    const ids = parts.map(({ id }) => id)
    const refuse = async (code: OutcomeCode): Promise<JoinOutcome> =>
      (await ports.smppParts.refuse(ids, code)) ? 'refused' : 'over'

    const { account: by, number, sender, senders, scheduled } = first
    const found = await ports.accounts.find(by)
    if (found === undefined) return refuse(OUTCOME.failed)
    const text = readCodedParts(parts.map(({ coded }) => coded)).join('')
    const submitted = { text, recipients: [number], sender, scheduled, options: optionsOf(parts, first.options) }
    const screened = await screenTexts(ports, found.account, [submitted], ports.clock.now())
    const [recipient] = screened.flatMap(({ recipients }) => recipients)
    if (recipient === undefined || !isPassed(recipient)) return refuse(codeOf(recipient?.refused ?? 'no-message'))
    const texts = orderedTexts(screened, await ports.senders.allowedTo(by))
    if (texts === 'invalid-sender') return refuse(OUTCOME.failed)
    const joined = await ports.smppParts.join(ids, { account: by, senders, texts })
    if (joined === 'joined') activity?.accepted(by, 1)
    return joined
  }

/** Returns the options of the first part, with the ids and the requested receipts of all parts. */
const optionsOf = (parts: WholeText, { smpp: { receipts: _, ...smpp }, ...options }: PartOptions): PartOptions => ({
  ...options,
  smpp: {
    ...smpp,
    parts: parts.map(({ id, options: { smpp } }) => ({
      id,
      ...(smpp.receipts !== undefined && { receipts: smpp.receipts }),
    })),
  },
})

const codes = {
  'account-locked': OUTCOME.accountLocked,
  'no-message': OUTCOME.failed,
  'too-long': OUTCOME.tooLong,
  'no-number': OUTCOME.failed,
  'invalid-number': OUTCOME.failed,
  blacklisted: OUTCOME.blacklisted,
  'trial-to-self': OUTCOME.failed,
  'opted-out': OUTCOME.optedOut,
  'do-not-contact': OUTCOME.failed,
  'insufficient-credits': OUTCOME.insufficientCredits,
} as const satisfies Record<Refusal, OutcomeCode>

/** Returns the status code of parts whose text was refused (ruling 5.2). */
const codeOf = (refused: Refusal): OutcomeCode => codes[refused]

/** Maximum number of texts that one call of a chore decides. */
const textsMax = 100

/**
 * Seconds for which a whole text is left to the process that stored its last part before the processing joins it.
 */
const joinAfterSeconds = 3

/**
 * Joins the parts of each text that is complete but that no process has joined yet. Returns 'more' if more may be left.
 */
export const joinParts = (ports: JoinPorts) => async (): Promise<'more' | 'all'> => {
  const texts = await ports.smppParts.unjoined(joinAfterSeconds, textsMax)
  for (const text of texts) await joinText(ports)(text)
  return texts.length < textsMax ? 'all' : 'more'
}
