import type { Ports } from '@gateway/core'
import { startPortal, type Portal, type Shown, type Visitor } from '../../testing/start-portal.ts'
import type { Page } from '../page.ts'
import { pages } from './index.ts'

/** Texts that PostgreSQL refuses: with U+0000, or with an unpaired surrogate. */
const isStorable = (text: string): boolean => !text.includes('\0') && Buffer.from(text).toString() === text

function refuseOdd(value: unknown): void {
  if (typeof value === 'string' && !isStorable(value))
    throw new Error('invalid byte sequence for encoding "UTF8": 0x00')
  if (Array.isArray(value)) value.forEach(refuseOdd)
  else if (typeof value === 'object' && value !== null && !Buffer.isBuffer(value))
    Object.values(value).forEach(refuseOdd)
}

/** Wraps a port, or a group of ports, so that it refuses the texts that PostgreSQL refuses. */
const refusingOdd = <Port extends object>(port: Port): Port =>
  new Proxy(port, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key)
      if (typeof member === 'object' && member !== null) return refusingOdd(member)
      if (typeof member !== 'function') return member
      return (...args: readonly unknown[]): unknown => {
        args.forEach(refuseOdd)
        return Reflect.apply(member, target, args)
      }
    },
  })

const asPostgres = (ports: Ports): Ports =>
  Object.fromEntries(
    Object.entries(ports).map(([name, port]) => [name, refusingOdd(port as object)]),
  ) as unknown as Ports

let portal: Portal
let holder: Visitor
let operator: Visitor
beforeAll(async () => {
  portal = await startPortal({ credits: 1000 }, undefined, undefined, undefined, asPostgres)
  holder = await portal.signedIn()
  operator = await portal.operator()
})
afterAll(() => portal.close())

const odd = [
  ...['\0', 'a\0b', '27820000001\0', '\u{1f600}', '\u202e\u200b', '9'.repeat(40), '-1', '0', '1e9', 'x'.repeat(3000)],
  ...['%', "'; drop table message; --", '<b>', '__proto__', '../../x', '2026-13-99T99:99', '999999999999999'],
]
const invalidlyEncoded = ['%ED%A0%80', '%FF', '%', '%00%00', '%E0%A4%A']

const visitorOf = ({ audience }: Page): Visitor => (audience === 'operator' ? operator : holder)

function expectPage({ status, html, headers }: Shown, of: string): void {
  const title = html.querySelector('h1')?.textContent
  expect([of, status < 500, title !== 'Something went wrong in the gateway']).toEqual([of, true, true])
  if (status !== 404) return
  expect([of, html.querySelector('nav[aria-label="Main"]') !== null]).toEqual([of, true])
  expect([of, html.querySelector('footer')?.textContent]).toEqual([
    of,
    expect.stringContaining(String(headers['x-request-id'])),
  ])
}

const signedIn = pages.filter(({ audience, path }) => audience !== 'anybody' && !path.includes('acting'))

test('no path parameter causes an internal error, and the 404 page has the menu and the request id', async () => {
  for (const page of signedIn.filter(({ path }) => path.includes(':')))
    for (const value of [...odd.map(encodeURIComponent), ...invalidlyEncoded])
      expectPage(await visitorOf(page).get(page.path.replace(/:\w+/, value)), `${page.path} ${value}`)
}, 120_000)

const names = 'q to after before from state template draft done written why received sent month account number sender'

test('no query parameter causes an internal error', async () => {
  for (const page of signedIn.filter(({ path }) => !path.includes(':')))
    for (const value of [...odd.map(encodeURIComponent), ...invalidlyEncoded]) {
      const query = names
        .split(' ')
        .map((name) => `${name}=${value}`)
        .join('&')
      expectPage(await visitorOf(page).get(`${page.path}?${query}`), `${page.path} ${value}`)
    }
}, 120_000)

test('no form field causes an internal error', async () => {
  for (const page of signedIn.filter(({ path }) => !path.includes(':') && !path.includes('sign-out')))
    for (const value of odd) {
      const { html } = await visitorOf(page).get(page.path)
      for (const form of html.querySelectorAll('main form[method="post"]')) {
        const token = form.querySelector('[name="token"]')?.getAttribute('value') ?? ''
        const fields = form.querySelectorAll('input, textarea, select').map((field) => field.getAttribute('name') ?? '')
        const filled = Object.fromEntries(fields.map((name) => [name, value]))
        const step = form.querySelector('[name="do"], [name="act"], [name="step"]')
        const stepField = step && { [step.getAttribute('name') ?? '']: step.getAttribute('value') ?? '' }
        const action = form.getAttribute('action') ?? page.path
        expectPage(await visitorOf(page).post(action, { ...filled, ...stepField, token }), `${page.path} ${value}`)
      }
    }
}, 120_000)

test('a file with odd characters is stored and shown', async () => {
  const { to = '' } = await holder.upload(
    '/send',
    { text: 'Dear {name}\0' },
    `Na\0me,Mobile\nA\0nn,27820000777\n${'Bob,27820000002\n'.repeat(9)}\0,x\0\n`,
  )
  const check = await holder.get(to)
  expect(check.status).toBe(200)
  expect(check.text).toContain('Dear Ann')
})

test('the page for an unknown path has the menu of the signed-in visitor and the request id', async () => {
  for (const [visitor, path] of [
    [holder, '/nothing'],
    [operator, '/operator/nothing'],
  ] as const) {
    const shown = await visitor.get(path)
    expect(shown.status).toBe(404)
    expectPage(shown, path)
  }
  const stranger = await portal.visitor().get('/nothing')
  expect([stranger.status, stranger.html.querySelector('nav')]).toEqual([404, null])
})

test.each([
  [new TypeError('optOuts is not a function'), 500, 'Something went wrong in the gateway'],
  [new Error('the database does not answer'), 503, 'The gateway cannot answer now'],
])('a page that fails with %s is answered %i, with the menu and the request id', async (problem, status, title) => {
  const failing = await startPortal({}, undefined, undefined, undefined, (ports) => ({
    ...ports,
    suppressions: {
      ...ports.suppressions,
      optOuts: () => {
        throw problem
      },
    },
  }))
  try {
    const visitor = await failing.signedIn()
    const shown = await visitor.get('/opt-outs')
    expect([shown.status, shown.html.querySelector('h1')?.textContent]).toEqual([status, title])
    expect(shown.headers['retry-after']).toBe(status === 503 ? '2' : undefined)
    expect(shown.html.querySelector('nav[aria-label="Main"]')).not.toBeNull()
    expect(shown.html.querySelector('footer')?.textContent).toContain(String(shown.headers['x-request-id']))
  } finally {
    await failing.close()
  }
})

test('a file whose first rows cannot be read is answered 503 with a page, which is not saved as the file', async () => {
  const failing = await startPortal({}, undefined, undefined, undefined, (ports) => ({
    ...ports,
    ledger: {
      ...ports.ledger,
      statement: () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('no connection')) }) }),
    },
  }))
  try {
    const visitor = await failing.signedIn()
    const shown = await visitor.get('/statement/2026-10/download')
    expect([shown.status, shown.html.querySelector('h1')?.textContent]).toEqual([503, 'The gateway cannot answer now'])
    expect(shown.headers['retry-after']).toBe('2')
    expect(shown.headers['content-type']).toContain('text/html')
    expect(shown.headers['content-disposition']).toBeUndefined()
    expect(shown.html.querySelector('nav[aria-label="Main"]')).not.toBeNull()
  } finally {
    await failing.close()
  }
})
