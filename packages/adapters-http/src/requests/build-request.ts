import type { Body } from '@gateway/core/messages'
import type { ProviderAccount } from '../account.ts'
import { ownNumberOf } from '../carrier/own-ids.ts'
import { fillFields, fillTemplate, fillText, type Values } from '../description/template.ts'
import { writeRecipient, writeSender } from '../numbers.ts'
import { basicAuthorization, secretValues } from './secret-values.ts'

/** Message as it is handed to a provider. */
export interface HttpSubmission {
  /** Recipient in international digits. */
  readonly to: string
  /** Sender address. If undefined, the account's own address is used. */
  readonly from: string | undefined
  readonly body: Body
  /** Our id of the message, for providers that return it in receipts or recognize a repetition by it. */
  readonly ownId: string
  /** URL for callbacks, if there is one. */
  readonly callback?: string | undefined
  readonly validSeconds?: number | undefined
  readonly flash?: true | undefined
  readonly priority?: number | undefined
  readonly category?: string | undefined
}

export interface HttpRequest {
  readonly method: 'POST' | 'PUT' | 'GET'
  readonly url: string
  /** Headers by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** Returns the request that hands a message to its provider. */
export function buildRequest(account: ProviderAccount, submission: HttpSubmission): HttpRequest {
  const { send } = account.provider.description
  const values = { ...valuesOf(account, submission), ...secretValues(account) }
  const query = new URLSearchParams(fillFields(send.query ?? {}, values)).toString()
  const url = urlOf(send.url, account.baseUrl, values)
  const content = contentOf(send, values)
  return {
    method: send.method ?? 'POST',
    url: query === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${query}`,
    headers: {
      accept: 'application/json',
      ...content.headers,
      ...(send.basic && { authorization: basicAuthorization(send.basic, values) }),
      ...Object.fromEntries(fillFields(send.headers ?? {}, values)),
    },
    body: content.body,
  }
}

function valuesOf(account: ProviderAccount, submission: HttpSubmission): Values {
  const { body, validSeconds } = submission
  const from = submission.from ?? account.from
  return {
    to: writeRecipient(submission.to, account),
    from: from === undefined ? undefined : writeSender(from, account),
    text: body.text,
    alphabet: body.encoding,
    parts: body.parts,
    ownId: submission.ownId,
    ownNumber: ownNumberOf(submission.ownId),
    callback: submission.callback,
    validSeconds,
    validMinutes: validSeconds === undefined ? undefined : Math.max(1, Math.ceil(validSeconds / 60)),
    validMilliseconds: validSeconds === undefined ? undefined : validSeconds * 1000,
    flash: submission.flash,
    priority: submission.priority,
    category: submission.category,
  }
}

/**
 * Fills the placeholders of a URL, percent-encoded. Throws if a value is missing, which checked descriptions prevent.
 */
function urlOf(template: string, baseUrl: string | undefined, values: Values): string {
  const [, origin = '', path = ''] = /^(https?:\/\/[^/]+)?(.*)$/s.exec(template) ?? []
  const encoded = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      value === undefined ? undefined : encodeURIComponent(String(value)),
    ]),
  )
  const filled = fillText(path, encoded)
  if (filled === undefined) throw new Error('a value for the URL of a request is missing')
  return `${baseUrl?.replace(/\/+$/, '') ?? origin}${String(filled)}`
}

type Send = ProviderAccount['provider']['description']['send']

function contentOf({ form, json }: Send, values: Values): Pick<HttpRequest, 'body' | 'headers'> {
  if (form !== undefined) {
    const body = new URLSearchParams(fillFields(form, values)).toString()
    return { body, headers: { 'content-type': 'application/x-www-form-urlencoded' } }
  }
  if (json === undefined) return { body: undefined, headers: {} }
  return { body: JSON.stringify(fillTemplate(json, values) ?? {}), headers: { 'content-type': 'application/json' } }
}
