import { readFileSync } from 'node:fs'
import { bodyOf } from '@gateway/core/messages'
import { accountAt, type ProviderAccount } from './account.ts'
import { readAnswer } from './answers/read-answer.ts'
import { readCallback } from './callbacks/read-callback.ts'
import { providerNames, shippedProvider } from './providers.ts'
import { buildRequest, type HttpSubmission } from './requests/build-request.ts'

interface RecordedRequest {
  readonly title: string
  readonly submission: Omit<HttpSubmission, 'body'> & { readonly text: string }
  readonly request: Readonly<Record<string, unknown>>
}

interface RecordedAnswer {
  readonly title: string
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
  readonly meaning: unknown
}

interface RecordedCallback {
  readonly title: string
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
  readonly read: unknown
}

interface Recorded {
  readonly secrets: Readonly<Record<string, string>>
  readonly baseUrl?: string
  readonly currency?: string
  readonly requests: readonly RecordedRequest[]
  readonly answers: readonly RecordedAnswer[]
  readonly callbacks: readonly RecordedCallback[]
}

const textOf = (body: unknown): string => (typeof body === 'string' ? body : JSON.stringify(body))

/** Removes fields that are undefined, which the recorded tables do not have. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

const recordedOf = (name: string): Recorded =>
  JSON.parse(readFileSync(new URL(`../providers/${name}.recorded.json`, import.meta.url), 'utf8')) as Recorded

const accountOf = (name: (typeof providerNames)[number], { secrets, ...settings }: Recorded): ProviderAccount =>
  accountAt(shippedProvider(name), {
    ...settings,
    secrets: Object.fromEntries(Object.entries(secrets).map(([secret, value]) => [secret, [value]])),
  })

describe.each(providerNames)('recorded traffic of %s', (name) => {
  const recorded = recordedOf(name)
  const account = accountOf(name, recorded)

  test.each(recorded.requests.map((each) => [each.title, each] as const))(
    'request: %s',
    (_, { submission, request }) => {
      const { text, ...rest } = submission
      const body = bodyOf(text)
      if (typeof body === 'string') throw new Error(body)
      const built = buildRequest(account, { ...rest, body })
      const isForm = built.headers['content-type']?.includes('form') === true
      const content = isForm
        ? { form: Object.fromEntries(new URLSearchParams(built.body)) }
        : { json: JSON.parse(built.body ?? '') as unknown }
      expect({ ...built, ...content }).toMatchObject(request)
      const [field, recordedContent] = Object.entries(request).find(([key]) => key === 'form' || key === 'json') ?? []
      expect(content).toEqual({ [field ?? '']: recordedContent })
    },
  )

  test.each(recorded.answers.map((each) => [each.title, each] as const))('answer: %s', (_, answer) => {
    const { status, headers = {}, body, meaning } = answer
    expect(asJson(readAnswer(account, { status, headers, body: textOf(body) }, '77-abc234', 0))).toEqual(meaning)
  })

  test.each(recorded.callbacks.map((each) => [each.title, each] as const))('callback: %s', (_, callback) => {
    const request = { ...callback, body: Buffer.from(textOf(callback.body)) }
    expect(asJson(readCallback(account, request))).toEqual(callback.read)
  })

  test('every secret is explained, and every kind of traffic is recorded', () => {
    const { description } = account.provider
    expect(Object.keys(recorded.secrets).filter((each) => each !== 'path')).toEqual(
      Object.keys(description.secrets ?? {}),
    )
    expect([recorded.requests.length, recorded.answers.length, recorded.callbacks.length]).not.toContain(0)
  })
})
