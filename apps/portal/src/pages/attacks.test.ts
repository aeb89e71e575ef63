import { gzipSync } from 'node:zlib'
import type { CarrierId } from '@gateway/core'
import { arrive, write } from '@gateway/core/testing'
import { aHolder, startPortal, type Portal, type Shown, type Visitor } from '../../testing/start-portal.ts'
import { pages } from './index.ts'

let portal: Portal
let account: Awaited<ReturnType<typeof aHolder>>
let holder: Visitor
let admin: Visitor
let support: Visitor

const evil = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>`

/** Everything that strangers, holders and carriers may write has the same in it. */
beforeAll(async () => {
  portal = await startPortal()
  account = await aHolder(portal.ports, { login: 'evil"><img>', firstName: evil, surname: evil })
  holder = await portal.signedIn(account)
  ;[admin, support] = [await portal.operator('admin'), await portal.operator('support')]
  const { ports, gateway, backOffice } = portal
  const sent = await gateway.sendMessages(account, [
    { text: evil, recipients: [{ number: '27820000009', reference: evil.slice(0, 60) as never }] },
  ])
  if (typeof sent === 'string' || 'overLimitSeconds' in sent) throw new Error('nothing was sent')
  await write(ports, account, '27820000001')
  await arrive(ports, '27820000001', evil)
  await arrive(ports, '27820000001', `opt out ${evil}`)
  await arrive(ports, '27829999999', evil)
  await gateway.issueKey(account, { label: evil.slice(0, 60) })
  await gateway.addWebhook(account, { url: `https://shop.example.com/?${encodeURI(evil)}'"` })
  await backOffice.openAccount({ login: 'sub', parent: account.id, firstName: evil })
  await admin.submit(`/operator/accounts/${account.id}`, { amount: '5', why: evil }, 'form:has([value="top-up"])')
  await ports.carrierStatuses.tell({ id: 'p', host: evil, pid: 7 }, [
    { carrier: 'one' as CarrierId, mode: 'running', window: 50, unanswered: 0, status: undefined },
  ])
})
afterAll(() => portal.close())

/** What stands in the place of a name of a path; a page that is not here is named by what no account has. */
const names: Readonly<Record<string, () => string>> = {
  '/messages/:id': () => '/messages/1',
  '/sends/:ids': () => '/sends/1-2',
  '/statement/:month': () => '/statement/2026-10',
  '/settings/keys/:id': () => '/settings/keys/1',
  '/settings/webhooks/:id': () => '/settings/webhooks/1',
  '/settings/webhooks/:id/remove': () => '/settings/webhooks/1/remove',
  '/operator/accounts/:id': () => `/operator/accounts/${account.id}`,
  '/operator/messages/:id': () => '/operator/messages/1',
  '/operator/carriers/:name': () => '/operator/carriers/one',
}
const pathOf = (path: string): string => names[path]?.() ?? path.replaceAll(/:\w+/g, '1')

test.each(pages.map(({ path, who }) => [path, who] as const))(
  '%s shows what people have written as text, whoever wrote it where',
  async (path, who) => {
    const visitor = who === 'operator' ? admin : holder
    for (const asked of [
      pathOf(path),
      `${pathOf(path)}?q=${encodeURIComponent(evil)}&to=${encodeURIComponent(evil)}`,
    ]) {
      const shown = await visitor.get(asked)
      const { html, headers } = shown.to === undefined ? shown : await visitor.get(shown.to)
      if (!/html/.test(headers['content-type'] ?? '')) {
        // A browser saves a file, and guesses nothing of what is in it.
        expect(headers).toMatchObject({
          'content-type': expect.stringMatching(/^text\/csv/) as string,
          'content-disposition': expect.stringMatching(/^attachment;/) as string,
          'x-content-type-options': 'nosniff',
        })
        continue
      }
      expect([asked, html.querySelectorAll('body script, img, [onerror]').map(String)]).toEqual([asked, []])
      expect(
        html.querySelectorAll('a').filter((link) => /^\s*(?:javascript|data):/i.test(link.getAttribute('href') ?? '')),
      ).toEqual([])
    }
  },
)

test('it is there to be seen: replies, labels, names, reasons and what carriers tell of themselves', async () => {
  for (const [visitor, path] of [
    ...['/', '/messages', '/inbox', '/opt-outs', '/accounts', '/settings/keys', '/statement/2026-10'].map(
      (one) => [holder, one] as const,
    ),
    ...['/operator/accounts', `/operator/accounts/${account.id}`, '/operator/arrivals', '/operator/carriers'].map(
      (one) => [admin, one] as const,
    ),
  ]) {
    expect([path, (await visitor.get(path)).html.toString()]).toEqual([path, expect.stringContaining('&lt;script')])
  }
})

/** What a form of an operator needs to be whole, by the name of the field. */
const filled: Readonly<Record<string, string>> = {
  ...{ amount: '5', why: 'paid', label: 'x', prefix: '27', price: '1.5', requests: '5', recipients: '5' },
  ...{ name: 'eve', password: 'a long enough one', number: '27820000005', role: 'admin' },
}

interface Submission {
  readonly path: string
  readonly fields: Readonly<Record<string, string>>
}

const formsOf = ({ html }: Shown): readonly Submission[] =>
  html.querySelectorAll('main form[method="post"]').map((form) => {
    const given = form.querySelectorAll('input, textarea, select, button').map((control) => {
      const name = control.getAttribute('name') ?? ''
      return [name, filled[name] ?? control.getAttribute('value') ?? ''] as const
    })
    return {
      path: form.getAttribute('action') ?? '',
      fields: Object.fromEntries(given.filter(([name]) => name !== '')),
    }
  })

/** What tells a form apart from others: all but keys that are made anew for each. */
const sameness = ({ path, fields }: Submission): string =>
  JSON.stringify([path, Object.entries(fields).filter(([name]) => !['token', 'operation', 'key'].includes(name))])

const ofOperators = pages.filter(({ who, submit }) => who === 'operator' && submit !== undefined)

test.each(ofOperators.map(({ path }) => [path] as const))(
  'a form of %s that support is not shown does nothing when support sends it all the same',
  async (path) => {
    const [all, own] = [formsOf(await admin.get(pathOf(path))), formsOf(await support.get(pathOf(path)))]
    const token = (await support.get('/operator')).html.querySelector('[name="token"]')?.getAttribute('value') ?? ''
    const hidden = all.filter((form) => !own.some((one) => sameness(one) === sameness(form)))
    const before = await portal.backOffice.listChanges({}, 1000)
    for (const form of hidden) {
      const refused = await support.post(form.path, { ...form.fields, token })
      // Or not found: nobody changes what they are themselves.
      expect([sameness(form), refused.status === 404 ? 403 : refused.status]).toEqual([sameness(form), 403])
    }
    expect(await portal.backOffice.listChanges({}, 1000)).toEqual(before)
  },
)

test('what is hidden from support is most of what moves money: the table above is not empty', async () => {
  const path = `/operator/accounts/${account.id}`
  const [all, own] = [formsOf(await admin.get(path)), formsOf(await support.get(path))]
  expect(all.length - own.length).toBeGreaterThan(3)
})

test('the first page has at most 60 kB, compressed, with everything that it loads, all from this host', async () => {
  const page = await fetch(portal.url, { headers: { Cookie: holder.cookie ?? '' } })
  const html = await page.text()
  const loaded = Array.from(html.matchAll(/<(?:link|script|img)[^>]+(?:href|src)="([^"]+)"/g), ([, path = '']) => path)
  expect(loaded.length).toBeGreaterThan(2)
  let bytes = gzipSync(html).length
  for (const path of loaded) {
    expect(path).toMatch(/^\/(?!\/)/)
    bytes += gzipSync(Buffer.from(await (await fetch(portal.url + path)).arrayBuffer())).length
  }
  expect(bytes).toBeLessThan(60_000)
})
