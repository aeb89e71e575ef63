import type { Figures } from './figures.ts'

/**
 * Result of a request. `lost`: the client does not know whether it was executed. `unavailable`: 503. `unreachable`: it
 * was never sent.
 */
export type Outcome<Answer> =
  { readonly kind: 'answered'; readonly answer: Answer } | { readonly kind: 'lost' | 'unavailable' | 'unreachable' }

export interface Access {
  readonly url: string
  readonly key: string
}

export interface SendOrder {
  readonly numbers: readonly string[]
  readonly text: string
  /** Time as CCYYMMDDHHmm at +02:00. */
  readonly scheduled: string | undefined
  /** Milliseconds after which the client disconnects. */
  readonly patience: number
  /** Idempotency key, if the request may be repeated. */
  readonly key: string | undefined
}

export interface TransferOrder {
  readonly from: number
  readonly to: number
  readonly quantity: number
  readonly key: string | undefined
}

/** Calls of one interface. A result is an id or a refusal. */
export interface Interface {
  readonly sendMax: number
  send(access: Access, order: SendOrder): Promise<Outcome<readonly (number | string)[]>>
  /** Status codes in the order of the ids. The code of a waiting message is -1. */
  status(access: Access, ids: readonly number[]): Promise<Outcome<readonly number[]>>
  /** Results in the order of the ids. */
  remove(access: Access, ids: readonly number[]): Promise<Outcome<readonly string[]>>
}

/** Inbound message, in a form that all interfaces have in common. */
export interface WrittenBack {
  readonly from: string
  readonly text: string
}

/** Return-once calls, by interface. */
export type PollCall = 'replies' | 'replies without short codes' | 'short code messages'

const patienceDefault = 20_000

/**
 * Repeats a safe request once if its answer is lost, because the server may close an idle connection at the moment when
 * the next request is sent over it.
 */
export async function askAgainIfLost<Answer>(ask: () => Promise<Outcome<Answer>>): Promise<Outcome<Answer>> {
  const outcome = await ask()
  return outcome.kind === 'lost' ? ask() : outcome
}

/** Creates clients. They report responses that must never occur. */
export function createClients(figures: Figures) {
  async function call<Answer>(
    action: string,
    url: string,
    init: RequestInit,
    read: (text: string) => Answer,
    patience = patienceDefault,
  ): Promise<Outcome<Answer>> {
    let status: number
    let text: string
    try {
      const response = await fetch(url, { ...init, signal: AbortSignal.timeout(patience) })
      status = response.status
      text = await response.text()
    } catch (error) {
      const cause = (error as { cause?: { code?: string } }).cause?.code
      const kind = cause === 'ECONNREFUSED' ? 'unreachable' : 'lost'
      figures.count(`requests ${kind}`)
      return { kind }
    }
    figures.count(`requests answered ${status}`)
    if (status === 503) return { kind: 'unavailable' }
    if (status !== 200) {
      figures.broken('P-14', `${action} answered ${status}: ${text.slice(0, 200)}`)
      return { kind: 'lost' }
    }
    try {
      return { kind: 'answered', answer: read(text) }
    } catch (error) {
      figures.broken('P-14', `${action} answered ${text.slice(0, 200)} (${String(error)})`)
      return { kind: 'lost' }
    }
  }

  const rest = <Answer>(
    { url, key }: Access,
    path: string,
    body: unknown,
    read: (answer: never) => Answer,
    { patience, key: idempotencyKey }: { patience?: number; key?: string | undefined } = {},
  ) =>
    call(
      `rest ${path}`,
      `${url}/api/rest/v1${path}`,
      {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          Authorization: key,
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      },
      (text) => read(JSON.parse(text) as never),
      patience,
    )

  const asp = <Answer>(
    { url, key }: Access,
    path: string,
    parameters: Readonly<Record<string, string>>,
    read: (text: string) => Answer,
    patience?: number,
  ) => {
    const query = new URLSearchParams({ apikey: key, ...parameters })
    return call(`asp ${path}`, `${url}/api/${path}?${query.toString()}`, {}, read, patience)
  }

  const xml = <Answer>(
    { url, key }: Access,
    [path, root]: readonly [string, string],
    content: string,
    read: (text: string) => Answer,
    patience?: number,
  ) =>
    call(
      `xml ${path}`,
      `${url}/api/${path}`,
      {
        method: 'POST',
        headers: { 'Content-Type': 'text/xml' },
        body: `<${root}><ApiKey>${key}</ApiKey><User/><Password/>${content}</${root}>`,
      },
      read,
      patience,
    )

  const overRest: Interface = {
    sendMax: 1000,
    send: (access, { numbers, text, scheduled, ...how }) =>
      rest(
        access,
        '/sms/outgoing/send',
        { message: text, recipients: numbers.map((mobileNumber) => ({ mobileNumber })), scheduledTime: scheduled },
        (answer: { recipients: { apiMessageId: number | null; acceptError: string }[] }) =>
          answer.recipients.map(({ apiMessageId, acceptError }) => apiMessageId ?? acceptError),
        how,
      ),
    status: (access, ids) =>
      rest(access, '/sms/outgoing/status', ids, (answer: { messageStatuses: { statusCode: number }[] }) =>
        answer.messageStatuses.map(({ statusCode }) => statusCode),
      ),
    remove: (access, ids) =>
      rest(
        access,
        '/sms/scheduled/delete',
        ids,
        (answer: { deletedMessageStatuses: { deleted: boolean; deleteError: string }[] }) =>
          answer.deletedMessageStatuses.map(({ deleted, deleteError }) => (deleted ? 'DELETED' : deleteError)),
      ),
  }

  const overAsp: Interface = {
    sendMax: 100,
    send: (access, { numbers, text, scheduled, patience, key = '' }) =>
      asp(
        access,
        'batchmessage.asp',
        {
          message: text,
          numbers: numbers.join(';'),
          clientref: key,
          ...(scheduled === undefined ? {} : { scheduled }),
        },
        (answer) => pairsOf(answer).map(idOrWord),
        patience,
      ),
    status: (access, ids) =>
      asp(access, 'requestbatch.asp', { messageid: `${ids.join(';')};` }, (answer) =>
        pairsOf(answer).map((facets) => Number(facets === 'NOTFOUND' ? -1 : facets.split(';')[3])),
      ),
    remove: (access, ids) => asp(access, 'deletescheduled.asp', { messageid: ids.join(';') }, pairsOf),
  }

  const overXml: Interface = {
    sendMax: 1000,
    send: (access, { numbers, text, scheduled, patience, key = '' }) =>
      xml(
        access,
        ['xmlsendsmsmulti.asp', 'Svc_Multi_Message'],
        `<Scheduled>${scheduled ?? ''}</Scheduled><ClientRef>${key}</ClientRef><Messages><Message><MessageText>${text}</MessageText><Numbers>${numbers
          .map((number) => `<Number>${number}</Number>`)
          .join('')}</Numbers></Message></Messages>`,
        (answer) => textsOf(answer, 'ID').map(idOrWord),
        patience,
      ),
    status: (access, ids) =>
      xml(access, ['xmlgetstatus.asp', 'Svc_StatusRequest'], idList(ids), (answer) =>
        textsOf(answer, 'StatusCode').map(Number),
      ),
    remove: (access, ids) =>
      xml(access, ['xmldeletescheduled.asp', 'Svc_DeleteScheduled'], idList(ids), (answer) =>
        textsOf(answer, 'Status'),
      ),
  }

  return {
    interfaces: { rest: overRest, asp: overAsp, xml: overXml },
    restBalance: (access: Access) =>
      rest(access, '/credits/balance', undefined, (answer: { creditBalance: number }) => number(answer.creditBalance)),
    aspBalance: (access: Access) =>
      asp(access, 'credits.asp', {}, (answer) => number(/^Credits=(\d+)$/.exec(answer)?.[1])),
    aspPoll: (access: Access, call: PollCall, patience?: number) =>
      asp(
        access,
        call === 'short code messages' ? 'httpgetscmessages.asp' : 'httpgetreplies.asp',
        call === 'replies without short codes' ? { excludesc: 'True' } : {},
        (answer) => answer.split('&').filter(Boolean).map(writtenBack),
        patience,
      ),
    /**
     * XML has no call that returns replies without short code messages, so `xmlgetreplies`, which returns both, serves
     * both kinds of poll for replies.
     */
    xmlPoll: (access: Access, call: PollCall, patience?: number) =>
      xml(
        access,
        call === 'short code messages'
          ? ['xmlgetscmessages.asp', 'Svc_SCmessages']
          : ['xmlgetreplies.asp', 'Svc_Replies'],
        '',
        (answer) => pairUp(textsOf(answer, 'CLI'), textsOf(answer, 'Message')),
        patience,
      ),
    /** Reads at most 1000 items of a REST list. */
    restList: (access: Access, list: '/sms/incoming' | '/shortcode/incoming', offset: number) =>
      rest(
        access,
        `${list}?offset=${offset}&limit=1000`,
        undefined,
        (answer: Record<'incomingMessages' | 'shortcodeMessages', { mobileNumber: string; messageText: string }[]>) =>
          (list === '/sms/incoming' ? answer.incomingMessages : answer.shortcodeMessages).map(
            ({ mobileNumber, messageText }) => ({ from: mobileNumber, text: messageText }),
          ),
      ),
    /** Returns the word of the query-string interface. */
    restTransfer: (access: Access, { from, to, quantity, key }: TransferOrder) =>
      rest(
        access,
        '/credits/transfer',
        { sendingAccountNumber: from, receivingAccountNumber: to, transferQuantity: quantity },
        (answer: { transferSuccessful: boolean; transferError?: string }) =>
          answer.transferSuccessful ? 'Success' : (answer.transferError ?? ''),
        { key },
      ),
    aspTransfer: (access: Access, { from, to, quantity, key = '' }: TransferOrder) =>
      asp(
        access,
        'creditstransfer.asp',
        { fromAccountId: String(from), toAccountId: String(to), transferQuantity: String(quantity), clientref: key },
        (answer) => /^Transfer=(\w+)$/.exec(answer)?.[1] ?? answer,
      ),
  }
}

export type Clients = ReturnType<typeof createClients>

/** Parses one item of a list of the query-string interface. */
function writtenBack(item: string): WrittenBack {
  const [, from, text] = /(?:^|;)CLI=([^;]*);DateReceived=[^;]*;Message=([^;]*)/.exec(item) ?? []
  if (from === undefined || text === undefined) throw new Error('no message')
  return { from, text }
}

function pairUp(numbers: readonly string[], texts: readonly string[]): WrittenBack[] {
  if (numbers.length !== texts.length) throw new Error('messages without a number or a text')
  return numbers.map((from, i) => ({ from, text: texts[i] ?? '' }))
}

/** Returns the values of `name=value&name=value&`. */
const pairsOf = (text: string): string[] =>
  text
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => pair.slice(pair.indexOf('=') + 1))

const idOrWord = (text: string): number | string => (/^\d+$/.test(text) ? Number(text) : text)

const textsOf = (document: string, element: string): string[] =>
  Array.from(document.matchAll(new RegExp(`<${element}>([^<]*)</${element}>`, 'g')), ([, text = '']) => text)

const idList = (ids: readonly number[]): string =>
  `<MessageIDs>${ids.map((id) => `<MessageID><ID>${id}</ID></MessageID>`).join('')}</MessageIDs>`

function number(value: unknown): number {
  const read = Number(value)
  if (value === undefined || !Number.isFinite(read)) throw new Error('no number')
  return read
}
