import { gzipSync } from 'node:zlib'
import type { CarrierId } from '@gateway/core/dispatch'
import { userRoles, type UserRole } from '@gateway/core/people'
import { secondsAfter } from '@gateway/core/time'
import { arrive, write, reportCarriers } from '@gateway/core/testing'
import { aHolder, startPortal, type Portal, type Shown, type Visitor } from '../../testing/start-portal.ts'
import { pages } from './index.ts'

let portal: Portal
let account: Awaited<ReturnType<typeof aHolder>>
let holder: Visitor
let admin: Visitor
let support: Visitor
/** Id of a message that waits for its scheduled time. */
let waiting: number | undefined

const evil = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>`

/** Puts the same hostile text into everything that strangers, account holders and carriers can write. */
beforeAll(async () => {
  const oidc = { issuer: 'http://127.0.0.1:9', clientId: 'gateway', clientSecret: undefined, claim: 'email' }
  portal = await startPortal({}, undefined, undefined, oidc)
  account = await aHolder(portal.ports, { login: 'evil"><img>', firstName: evil, surname: evil })
  holder = await portal.signedIn(account)
  ;[admin, support] = [await portal.operator('admin'), await portal.operator('support')]
  const { ports, gateway, backOffice } = portal
  const sent = await gateway.commands.sendMessages(account, [
    { text: evil, recipients: [{ number: '27820000009', reference: evil.slice(0, 60) as never }] },
  ])
  if (typeof sent === 'string' || 'overLimitSeconds' in sent) throw new Error('nothing was sent')
  const scheduled = secondsAfter(portal.clock.now(), 3600)
  const later = await gateway.commands.sendMessages(account, [
    { text: evil, recipients: [{ number: '27820000009' }], scheduled },
  ])
  waiting = typeof later === 'object' && 'flat' in later ? later.flat().map((one) => ('id' in one ? one.id : 0))[0] : 0
  await gateway.commands.addTemplate(account, { name: evil.slice(0, 60), text: evil })
  await write(ports, account, '27820000001')
  await arrive(ports, '27820000001', evil)
  await arrive(ports, '27820000001', `opt out ${evil}`)
  await arrive(ports, '27829999999', evil)
  await gateway.commands.issueKey(account, { label: evil.slice(0, 60) })
  await gateway.commands.inviteUser(account, { email: 'somebody@acme.example', role: 'reader' })
  for (const key of ['not begun', 'begun']) {
    const newSend = { columns: ['name'], text: evil, scheduled: undefined, key }
    const rows = [{ row: 1, number: '27820000007' as never, fields: [evil] }]
    const draft = await ports.bulkSends.add(account.id, newSend, [rows])
    if (key === 'begun') await gateway.commands.startBulkSend(account, draft, 0)
  }
  await gateway.commands.addWebhook(account, { url: `https://shop.example.com/?${encodeURI(evil)}'"` })
  await gateway.commands.addSmppCredential(account)
  await backOffice.commands.openAccount({ login: 'sub', parent: account.id, firstName: evil })
  await admin.submit(`/operator/accounts/${account.id}`, { amount: '5', why: evil }, 'form:has([value="top-up"])')
  await admin.submit('/operator/connect/twilio', {
    ...{ carrier: 'two', 'secrets.sid': evil.replaceAll(' ', ''), 'secrets.token': 'token', from: '<script>' },
    publicUrl: 'https://sms.example/"><img>',
  })
  await reportCarriers(ports, { id: 'p', host: evil, pid: 7 }, [
    { carrier: 'one' as CarrierId, mode: 'running', window: 50, unanswered: 0, status: undefined },
  ])
})
afterAll(() => portal.close())

/** Paths with their parameters filled in. Paths that are not listed get a value that no account has. */
const names: Readonly<Record<string, () => string>> = {
  '/messages/:id': () => '/messages/1',
  '/messages/:id/change': () => `/messages/${waiting}/change`,
  '/inbox/:from': () => '/inbox/27820000001',
  '/statement/:month': () => '/statement/2026-10',
  '/statement/:month/download': () => '/statement/2026-10/download',
  '/send/:id/sent': () => '/send/2/sent',
  '/send/:id/results': () => '/send/2/results',
  '/settings/keys/:id': () => '/settings/keys/1',
  '/settings/smpp/:id': () => '/settings/smpp/1',
  '/settings/smpp/:id/remove': () => '/settings/smpp/1/remove',
  '/settings/webhooks/:id': () => '/settings/webhooks/1',
  '/settings/webhooks/:id/remove': () => '/settings/webhooks/1/remove',
  '/operator/accounts/:id': () => `/operator/accounts/${account.id}`,
  '/operator/messages/:id': () => '/operator/messages/1',
  '/operator/carriers/:name': () => '/operator/carriers/one',
  '/operator/carriers/:name/connection': () => '/operator/carriers/two/connection',
  '/operator/connect/:provider': () => '/operator/connect/twilio',
}
const pathOf = (path: string): string => names[path]?.() ?? path.replaceAll(/:\w+/g, '1')

test.each(pages.map(({ path, audience }) => [path, audience] as const))(
  '%s shows everything that people have written as plain text',
  async (path, audience) => {
    const visitor = audience === 'operator' ? admin : holder
    for (const address of [
      pathOf(path),
      `${pathOf(path)}?q=${encodeURIComponent(evil)}&to=${encodeURIComponent(evil)}`,
    ]) {
      const shown = await visitor.get(address)
      const { html, headers } = shown.to === undefined ? shown : await visitor.get(shown.to)
      if (!/html/.test(headers['content-type'] ?? '')) {
        // A browser saves the file and does not guess its content type.
        expect(headers).toMatchObject({
          'content-type': expect.stringMatching(/^text\/csv/) as string,
          'content-disposition': expect.stringMatching(/^attachment;/) as string,
          'x-content-type-options': 'nosniff',
        })
        continue
      }
      expect([address, html.querySelectorAll('body script, img, [onerror]').map(String)]).toEqual([address, []])
      expect(
        html.querySelectorAll('a').filter((link) => /^\s*(?:javascript|data):/i.test(link.getAttribute('href') ?? '')),
      ).toEqual([])
    }
  },
)

test('the pages show the hostile replies, labels, names, reasons and carrier states, escaped', async () => {
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

/** Valid values for the fields of the operators' forms, by name. */
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
    const controls = form.querySelectorAll('input, textarea, select, button').map((control) => {
      const name = control.getAttribute('name') ?? ''
      return [name, filled[name] ?? control.getAttribute('value') ?? ''] as const
    })
    return {
      path: form.getAttribute('action') ?? '',
      fields: Object.fromEntries(controls.filter(([name]) => name !== '')),
    }
  })

/** Returns a string that identifies a form: its path and fields, without the keys that differ each time. */
const sameness = ({ path, fields }: Submission): string =>
  JSON.stringify([path, Object.entries(fields).filter(([name]) => !['token', 'operation', 'key'].includes(name))])

const ofOperators = pages.filter(({ audience, submit }) => audience === 'operator' && submit !== undefined)

test.each(ofOperators.map(({ path }) => [path] as const))(
  'a form of %s that support is not shown does nothing when support sends it all the same',
  async (path) => {
    const [all, own] = [formsOf(await admin.get(pathOf(path))), formsOf(await support.get(pathOf(path)))]
    const token = (await support.get('/operator')).html.querySelector('[name="token"]')?.getAttribute('value') ?? ''
    const hidden = all.filter((form) => !own.some((one) => sameness(one) === sameness(form)))
    const before = await portal.backOffice.queries.listChanges({}, 1000)
    for (const form of hidden) {
      const refused = await support.post(form.path, { ...form.fields, token })
      // Operators cannot change themselves, so such a form is answered with 404, which is accepted as well.
      expect([sameness(form), refused.status === 404 ? 403 : refused.status]).toEqual([sameness(form), 403])
    }
    expect(await portal.backOffice.queries.listChanges({}, 1000)).toEqual(before)
  },
)

test('several forms are hidden from support, so the test above has forms to submit', async () => {
  const path = `/operator/accounts/${account.id}`
  const [all, own] = [formsOf(await admin.get(path)), formsOf(await support.get(path))]
  expect(all.length - own.length).toBeGreaterThan(3)
})

/** Lowest role that may submit the forms of a page. 'none' means that the page has no form. */
const lowest: Readonly<Record<string, UserRole | 'none'>> = {
  '/': 'none',
  '/sign-out': 'reader',
  '/send': 'sender',
  '/send/:id': 'sender',
  '/send/:id/text': 'sender',
  '/send/:id/columns': 'sender',
  '/send/:id/changed': 'none',
  '/send/:id/sent': 'sender',
  '/send/:id/results': 'none',
  '/send/:id/refused': 'none',
  '/sends': 'none',
  '/drafts': 'sender',
  '/messages': 'none',
  '/messages/download': 'none',
  '/messages/:id': 'sender',
  '/messages/:id/change': 'sender',
  '/inbox': 'none',
  '/inbox/:from': 'sender',
  '/templates': 'sender',
  '/templates/:id': 'sender',
  '/opt-outs': 'sender',
  '/statement': 'none',
  '/statement/:month': 'none',
  '/statement/:month/download': 'none',
  '/accounts': 'owner',
  '/settings/keys': 'owner',
  '/settings/keys/:id': 'owner',
  '/settings/smpp': 'owner',
  '/settings/smpp/:id': 'owner',
  '/settings/smpp/:id/remove': 'owner',
  '/settings/webhooks': 'owner',
  '/settings/webhooks/:id': 'owner',
  '/settings/webhooks/:id/remove': 'owner',
  '/settings/country': 'owner',
  '/settings/users': 'owner',
  '/settings/users/:id': 'owner',
  '/settings/security': 'reader',
}

test('each page of account holders has a row in the table of roles', () => {
  const ofHolders = pages.filter(({ audience }) => audience === 'holder')
  expect(Object.keys(lowest).sort()).toEqual(ofHolders.map(({ path }) => path).sort())
  expect(ofHolders.filter(({ submit }) => submit === undefined).map(({ path }) => path)).toEqual(
    ofHolders.map(({ path }) => path).filter((path) => lowest[path] === 'none'),
  )
})

/** Roles of users, and 'onlooker' for an operator who is viewing the account. */
const roles = [...userRoles, 'onlooker'] as const
type Role = (typeof roles)[number]

describe('roles of users, and an operator who views the account', () => {
  const visitors = new Map<Role, Visitor>()
  beforeAll(async () => {
    for (const role of userRoles) visitors.set(role, await portal.signedInAs(role, account))
    const onlooker = await portal.operator('support')
    await onlooker.submit(`/operator/accounts/${account.id}`, {}, 'form:has([value="act-as"])')
    visitors.set('onlooker', onlooker)
  })
  const mayNot = (path: string): readonly Role[] => {
    const from = lowest[path]
    return from === undefined || from === 'none' ? [] : roles.slice(roles.indexOf(from) + 1)
  }
  const visitorOf = (role: Role): Visitor => visitors.get(role) ?? holder
  const changesMany = async () => (await portal.backOffice.queries.listChanges({}, 1000)).length

  test.each(Object.keys(lowest))(
    '%s can be read in each role, and has only the forms that the role may use',
    async (path) => {
      for (const role of roles) {
        const page = await visitorOf(role).get(pathOf(path))
        expect([role, page.status < 400]).toEqual([role, true])
        const forms = formsOf(page).filter((form) => form.path !== '/sign-out')
        const isForbidden = (form: Submission) =>
          Object.keys(lowest).some((one) => form.path === pathOf(one) && mayNot(one).includes(role))
        expect([role, forms.filter(isForbidden)]).toEqual([role, []])
      }
    },
  )

  test.each(Object.keys(lowest).filter((path) => mayNot(path).length > 0))(
    'every form of %s that a role may not use is refused when it is sent all the same, and nothing is done',
    async (path) => {
      const forms = [{ path: pathOf(path), fields: {} }, ...formsOf(await holder.get(pathOf(path)))]
      for (const role of mayNot(path)) {
        const visitor = visitorOf(role)
        const page = await visitor.get('/')
        const token = page.html.querySelector('[name="token"]')?.getAttribute('value') ?? ''
        const before = await changesMany()
        for (const form of forms.filter((one) => one.path.startsWith(pathOf(path)))) {
          const refused = await visitor.post(form.path, { ...form.fields, token })
          expect([role, form, refused.status]).toEqual([role, form, 403])
          expect(refused.text).toContain('Your role may not do this')
        }
        expect(await changesMany()).toBe(before)
      }
    },
  )

  test.each(Object.keys(lowest))('%s has no link to a form that the role may not use', async (path) => {
    const forms = pages.flatMap((page) => (page.audience === 'holder' && page.isForm === true ? [page.path] : []))
    expect(forms).toContain('/send')
    for (const role of roles) {
      const { html } = await visitorOf(role).get(pathOf(path))
      const links = html.querySelectorAll('a').map((link) => (link.getAttribute('href') ?? '').replace(/\?.*/, ''))
      const isForbidden = (link: string) =>
        forms.some(
          (form) => mayNot(form).includes(role) && new RegExp(`^${form.replaceAll(/:\w+/g, '[^/]+')}$`).test(link),
        )
      expect([role, links.filter(isForbidden)]).toEqual([role, []])
    }
  })

  test('a role sees the forms that it may submit', async () => {
    const formsMany = async (role: Role, path: string) =>
      (await visitorOf(role).get(path)).html.querySelectorAll('main form[method="post"]').length
    for (const path of ['/send', '/opt-outs']) expect([path, await formsMany('sender', path)]).not.toEqual([path, 0])
    for (const path of ['/settings/keys', '/settings/users', '/accounts'])
      expect([path, await formsMany('owner', path)]).not.toEqual([path, 0])
    expect(await formsMany('reader', '/settings/security')).toBeGreaterThan(0)
  })
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
