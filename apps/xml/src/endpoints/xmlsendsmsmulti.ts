import { type IdempotencyKey, readIdempotencyKey } from '@gateway/core/client-requests'
import {
  readReference,
  readSender,
  readSendOption,
  readSendOptions,
  type Recipient,
  sendOptionNames,
  type SendOptionName,
  type SendOptions,
  type SendResults,
  type SentRecipient,
} from '@gateway/core/messages'
import { type Instant, parseMinute } from '@gateway/core/time'
import { optionWords, percentDecode, XML_ROOT } from '@gateway/wire'
import { type Answer, type Flaw, overLimit, overloaded, REFUSAL } from '../answer.ts'
import { type Call, endpoint } from '../endpoint.ts'
import { elements, trimmed } from '../reading/read-document.ts'
import { container, leaf } from '../rendered.ts'

const messagesMax = 1000
const numbersMax = 1000

interface SendDraft {
  scheduled: string | undefined
  clientRef: string | undefined
  readonly messages: MessageDraft[]
}

interface MessageDraft {
  /** Text as received, URL-encoded. */
  text: string | undefined
  reference: string | undefined
  readonly options: { [Name in SendOptionName]?: string }
  sender: string | undefined
  readonly numbers: string[]
}

const nothing = { text: undefined, reference: undefined, sender: undefined }

/** Readers of the elements that are options of a send. */
const optionElements = Object.fromEntries(
  sendOptionNames.map((name) => [
    optionWords(name).xml,
    trimmed<SendDraft>((draft, text) => (lastOf(draft).options[name] ??= text)),
  ]),
)

interface Send {
  /** Scheduled time, or undefined to send at once. */
  readonly scheduled: Instant | undefined
  readonly key: IdempotencyKey | undefined
  readonly messages: readonly MessageDraft[]
}

/** Sends one or more texts, each to one or more numbers (spec 4.3; rulings 4.4, 4.6, 4.8). */
export const sendMessages = endpoint<SendDraft, Send>({
  request: '_Multi_Message',
  response: XML_ROOT.xmlsendsmsmulti,
  draft: () => ({ scheduled: undefined, clientRef: undefined, messages: [] }),
  inside: {
    Scheduled: trimmed((draft, text) => (draft.scheduled ??= text)),
    ClientRef: trimmed((draft, text) => (draft.clientRef ??= text)),
    Messages: {
      inside: elements<SendDraft>({
        Message: {
          open: ({ messages }) => messages.push({ ...nothing, options: {}, numbers: [] }),
          inside: elements<SendDraft>({
            MessageText: { text: (draft, text) => (lastOf(draft).text ??= text) },
            Reference: trimmed((draft, text) => (lastOf(draft).reference ??= text)),
            Sender: trimmed((draft, text) => (lastOf(draft).sender ??= text)),
            ...optionElements,
            Numbers: {
              inside: elements<SendDraft>({ Number: trimmed((draft, text) => lastOf(draft).numbers.push(text)) }),
            },
          }),
        },
      }),
    },
  },
  check: checkSend,
  workOf: ({ messages }) => messages.reduce((count, { numbers }) => count + numbers.length, 0),
  answer: send,
})

function lastOf({ messages }: SendDraft): MessageDraft {
  const message = messages.at(-1)
  if (message === undefined) throw new Error('an element of a Message was read outside a Message')
  return message
}

function checkSend({ messages, scheduled = '', clientRef }: SendDraft): Send | Flaw {
  if (messages.length === 0 || messages.length > messagesMax) return 'not-valid'
  if (messages.reduce((count, { numbers }) => count + numbers.length, 0) > numbersMax) return 'too-many-numbers'
  const due = parseMinute(scheduled)
  if (scheduled !== '' && due === undefined) return 'invalid-date'
  const key = readIdempotencyKey(clientRef)
  if (key === 'unusable') return 'unusable-client-ref'
  if (messages.some(({ reference }) => readReference(reference) === 'unusable')) return 'unusable-reference'
  for (const name of sendOptionNames)
    if (messages.some(({ options }) => readSendOption(name, options[name]) === 'unusable')) return `unusable-${name}`
  if (messages.some(({ sender }) => readSender(sender) === 'unusable')) return 'invalid-sender'
  return { messages, scheduled: due, key }
}

async function send({ gateway, account }: Call, { messages, scheduled, key }: Send): Promise<Answer> {
  const texts = messages.map(({ text = '', reference, options, sender, numbers }) => ({
    text: percentDecode(text),
    recipients: withReference(numbers.length === 0 ? [''] : numbers, reference), // a message without a number gets one result, too (ruling 4.8)
    scheduled,
    options: usableOptions(readSendOptions((name) => options[name])),
    sender: usable(readSender(sender)),
  }))
  const results = await gateway.commands.sendMessages(account, texts, key)
  if (results === 'overloaded') return overloaded
  if (results === 'another-request' || results === 'invalid-sender') return { trouble: results }
  return 'overLimitSeconds' in results ? overLimit(results) : { content: writeResults(results) }
}

function withReference(numbers: readonly string[], written: string | undefined): readonly Recipient[] {
  const reference = usable(readReference(written))
  if (reference === undefined) return numbers
  return numbers.map((number) => ({ number, reference }))
}

/** Removes 'unusable' from the type. `checkSend` has already refused unusable values. */
const usable = <T>(read: T | 'unusable'): T | undefined => (read === 'unusable' ? undefined : read)
const usableOptions = (read: ReturnType<typeof readSendOptions>): SendOptions | undefined =>
  'unusable' in read ? undefined : read

const [sendResult, numberId] = [container('SendResult'), container('NumberID')]
const [messageNumber, number, id] = [leaf('MessageNumber'), leaf('Number'), leaf('ID')]

const writeResults = (results: SendResults): string =>
  results.map((recipients, at) => sendResult(messageNumber(at + 1) + recipients.map(writeRecipient).join(''))).join('')

const writeRecipient = (recipient: SentRecipient): string =>
  numberId(number(recipient.number) + id('id' in recipient ? recipient.id : REFUSAL[recipient.refused]))
