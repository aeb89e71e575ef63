import { bodyOf, type Recipient, sendOptionNames, type SentRecipient } from '@gateway/core/messages'
import { parseMinute } from '@gateway/core/time'
import { RECIPIENT_ERROR } from '@gateway/wire'
import {
  anotherRequest,
  echoed,
  errorText,
  invalidSender,
  listAnswer,
  overLimit,
  overloaded,
  referenceErrors,
  unusableMessageReference,
  unusableOption,
  unusableReference,
} from '../answer.ts'
import type { Endpoint } from '../endpoint.ts'
import {
  clientRef,
  clientReference,
  first,
  list,
  messageOptions,
  messageReference,
  messageSender,
  reference,
  sender,
  sendOptions,
} from '../parameters.ts'

const numbersMax = 100
// A blank text makes the whole call fail, so 'no-message' never applies to a single recipient.
const { 'no-message': _blank, ...RECIPIENT_WORDS } = RECIPIENT_ERROR

/**
 * Sends one text to 1 to 100 numbers. Returns one result for each number, in request order (spec 4.2, rules 1 and 2;
 * rulings 1.10, 3.5).
 */
export const batchMessage: Endpoint = {
  summary: 'Send',
  takes: [
    { name: 'message', form: 'the text', needed: true },
    { name: 'numbers', form: `1 to ${numbersMax} numbers, separated by ;`, needed: true },
    { name: 'scheduled', form: 'CCYYMMDDHHmm at GMT+2; sent at once if missing or unreadable' },
    reference,
    ...sendOptions,
    sender,
    clientRef,
  ],
  answers: [
    '<number>=<message id>&',
    ...[...new Set(Object.values(RECIPIENT_WORDS))].map((word) => `<number>=${word}&`),
    ...['No message given', 'No numbers supplied', 'Too many numbers supplied'].map(errorText),
    unusableMessageReference,
    ...sendOptionNames.map(unusableOption),
    invalidSender,
    ...referenceErrors,
  ],
  wrongCredentials: 'FAIL&',
  workOf: (parameters) => list(parameters, 'numbers').length,
  run: async ({ gateway, account, parameters }) => {
    const text = first(parameters, 'message')
    const body = text === undefined ? 'no-message' : bodyOf(text)
    if (text === undefined || body === 'no-message') return errorText('No message given')
    const numbers = list(parameters, 'numbers')
    if (numbers.length === 0) return errorText('No numbers supplied')
    if (numbers.length > numbersMax) return errorText('Too many numbers supplied')
    const key = clientReference(parameters)
    if (key === 'unusable') return unusableReference
    const called = messageReference(parameters)
    if (called === 'unusable') return unusableMessageReference
    const options = messageOptions(parameters)
    if ('unusable' in options) return unusableOption(options.unusable)
    // If the time cannot be read, the messages are sent at once (spec 3).
    const scheduled = parseMinute(first(parameters, 'scheduled')?.trim() ?? '')
    const from = messageSender(parameters)
    if (from === 'unusable') return invalidSender
    const recipients: readonly Recipient[] =
      called === undefined ? numbers : numbers.map((number) => ({ number, reference: called }))
    const sent = await gateway.commands.sendMessages(
      account,
      [{ text, body, recipients, scheduled, options, sender: from }],
      key,
    )
    if (sent === 'overloaded') return overloaded
    if (sent === 'another-request') return anotherRequest
    if (sent === 'invalid-sender') return invalidSender
    return 'overLimitSeconds' in sent ? overLimit(sent) : listAnswer(sent.flat().map(resultOf))
  },
}

const resultOf = (recipient: SentRecipient): string =>
  `${echoed(recipient.number)}=${'refused' in recipient ? RECIPIENT_ERROR[recipient.refused] : recipient.id}`
