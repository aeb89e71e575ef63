import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AxeBuilder } from '@axe-core/playwright'
import { until } from '@gateway/core/testing'
import type { BrowserContext, Page as Tab } from 'playwright-core'
import { pages } from '../../apps/portal/src/pages/index.ts'
import { inTurn } from '../support/in-turn.ts'
import { somebody, type Person } from './person.ts'
import type { World } from './journeys.ts'

/** Folder to which `npx pnpm screenshots` writes a picture of each page; undefined: no pictures. */
const folder = process.env['SCREENSHOTS']

const wide = { width: 1100, height: 800 }
/** Narrow views that WCAG 2.2 requires: 320 pixels wide (1.4.10), and a page of 1280 pixels at 200 % (1.4.4). */
const narrow = { '320 px': { width: 320, height: 640 }, '200 %': { width: 640, height: 400 } }
const phone = { width: 390, height: 844 }

type Who = (typeof pages)[number]['audience']

const patterns = pages.map(({ path, audience }) => ({
  path,
  audience,
  of: new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`),
}))
/**
 * Returns the page of a path. A page with exactly this path takes precedence over a page whose path has a parameter.
 */
const pageAt = (path: string) =>
  patterns.find((one) => one.path === path) ??
  patterns.find(({ of, path: pattern }) => pattern.includes(':') && of.test(path))

/** Returns one address of each page that is reachable by links from `first`. */
async function follow(context: BrowserContext, first: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  const requested = new Map<string, string>()
  const queue = [...first]
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const page = pageAt(new URL(next, 'http://gateway').pathname)
    if (page === undefined || found.has(page.path) || requested.has(next)) continue
    requested.set(next, page.path)
    // The link may redirect to another page.
    const answer = await context.request.get(next)
    const { pathname, search } = new URL(answer.url())
    const shown = pageAt(pathname)
    if (answer.ok() && shown !== undefined && !found.has(shown.path)) found.set(shown.path, pathname + search)
    const html = await answer.text()
    queue.push(...Array.from(html.matchAll(/href="(\/[^"]*)"/g), ([, href = '']) => href.replaceAll('&amp;', '&')))
  }
  for (const [address, path] of requested) if (!found.has(path)) found.set(path, address)
  return found
}

/** Pages to which no other page links. */
const further: Readonly<Record<Who, readonly string[]>> = {
  anybody: [
    ...['/sign-in', '/link?token=none', '/invitation?token=none', '/operator/sign-in'],
    // A sign-in at a provider that does not respond, and a response of a provider that nobody requested.
    ...['/operator/sign-in/provider', '/operator/sign-in/answer'],
  ],
  holder: ['/', '/sign-out', '/send', '/send/1/sent'],
  operator: ['/operator', '/operator/acting', '/operator/sign-out', '/operator/messages?q=1'],
}

/** Pages that only a form leads to, with the page of the form. */
const answers: Readonly<
  Record<string, { readonly audience: Who; readonly get: (person: Person) => Promise<unknown> }>
> = {
  '/send, checked': {
    audience: 'holder',
    get: async (person) => {
      await person.go('/send')
      await person.fill('Text', 'Dear customer, your parcel is at the counter. Collect it by Friday.')
      await person.fill('Numbers', '27825550101\n27825550102\n27825550190\n0825-55\n27825550101')
      await person.page.locator('#quote', { hasText: '3 messages, 1 part each' }).waitFor()
      await person.press('Check before sending')
      await person.sees('Nothing has been sent')
    },
  },
  '/send, with problems': {
    audience: 'holder',
    get: async (person) => {
      await person.go('/send')
      await person.press('Check before sending')
      await person.sees('There is a problem')
    },
  },
  '/settings/keys, a new one': {
    audience: 'holder',
    get: async (person) => {
      await person.go('/settings/keys')
      await person.fill('Label', 'shop')
      await person.press('Make a key')
      await person.sees('Copy it now.')
    },
  },
  '/send, with a file and its columns': {
    audience: 'holder',
    get: async ({ page }) => {
      await page.goto('/send')
      await page.locator('#field-text').fill('Dear {name}, your parcel is at the counter.')
      const buffer = Buffer.from('Name,Mobile,Shop phone\nAnn,27825550101,27825550109\n')
      await page.locator('#field-file').setInputFiles({ name: 'list.csv', mimeType: 'text/csv', buffer })
      await page.locator('#preview blockquote').waitFor()
    },
  },
  '/messages, of nothing': { audience: 'holder', get: (person) => person.go('/messages/999999') },
  '/settings/users, a link': {
    audience: 'holder',
    get: async (person) => {
      await person.go('/settings/users')
      await person.fill('E-mail', 'bob@acme.example')
      await person.press('Make a link')
      await person.sees('It is shown only this once.')
    },
  },
  '/invitation, of somebody': {
    audience: 'holder',
    get: async ({ page }) => {
      await page.goto((await page.locator('main a.secret').getAttribute('href')) ?? '')
      await page.getByText('You sign in as').waitFor()
    },
  },
  '/, looked at by an operator': {
    audience: 'operator',
    get: async (person) => {
      await person.go('/operator/accounts/1')
      await person.press('View its pages')
      await person.sees('you are viewing account 1', '.acting')
    },
  },
  '/operator/audit, verified': {
    audience: 'operator',
    get: async (person) => {
      await person.go('/operator/audit')
      await person.press('Verify all entries')
      await person.sees('are intact')
    },
  },
}

/** Uploads one list that stays unchecked and one list that is sent. Returns the addresses of both. */
async function uploadLists(person: Person): Promise<readonly string[]> {
  const { page } = person
  const addresses: string[] = []
  for (const isSent of [false, true]) {
    await page.goto('/send')
    await page.locator('#field-text').fill('Dear {name}, your parcel is at the counter.')
    const buffer = Buffer.from('Name,Mobile\nAnn,27825550101\nBob,0825\n')
    await page.locator('#field-file').setInputFiles({ name: 'list.csv', mimeType: 'text/csv', buffer })
    // When the columns of the file and the preview appear, the button moves. A click at that moment has no effect, so
    // wait for the preview.
    await page.locator('#preview blockquote').waitFor()
    await person.press('Check before sending')
    await page.waitForURL(/\/send\/[0-9]+$/)
    if (isSent) {
      await person.press(/^Send [0-9]+ messages? now/)
      await page.waitForURL(/\/sent$/)
    }
    const { pathname } = new URL(page.url())
    addresses.push(pathname)
    if (!isSent) addresses.push(`${pathname}/text`, `${pathname}/columns`)
  }
  return addresses
}

/** Returns the address for changing a waiting message. */
async function changeOfWaiting(person: Person): Promise<string> {
  await person.go('/send')
  await person.fill('Text', 'See you at the opening.')
  await person.fill('Numbers', '27825550103')
  await person.fill('Time (optional)', '2027-11-30T14:30')
  await person.press('Check before sending')
  await person.press(/^Send 1 message at/)
  const link = person.page.locator('#messages a').first()
  return `${(await link.getAttribute('href')) ?? ''}/change`
}

/**
 * Connects a provider, which replaces the simulated carrier. Returns the addresses of the pages about the new carrier,
 * which is paused, so that nothing is sent.
 */
async function connectProvider(person: Person): Promise<Readonly<Record<string, string>>> {
  await person.go('/operator/connect/twilio')
  await person.fill('Account SID', 'AC0123')
  await person.fill('Auth token', 'token')
  await person.fill('Base URL, if it is not the usual one', 'http://127.0.0.1:9')
  await person.press('Connect')
  await person.sees('Connection of twilio, to Twilio', 'h1')
  const carrier = '/operator/carriers/twilio'
  await until(async () => (await person.page.context().request.get(carrier)).ok(), 30_000)
  return { '/operator/carriers/:name': carrier, '/operator/carriers/:name/connection': `${carrier}/connection` }
}

/** Checks every page as people see it. The journeys have filled the pages before. */
export function everyPage(world: () => World): void {
  const people = new Map<Who, Person>()
  const addresses = new Map<string, string>()
  beforeAll(async () => {
    const { browser, site } = world()
    for (const audience of ['anybody', 'holder', 'operator'] as const) {
      const person = await somebody(browser, site.url, 'by mouse, with scripts')
      if (audience === 'holder') await person.signIn(site.holder)
      if (audience === 'operator') await person.signInAsOperator(site.admin)
      people.set(audience, person)
      const lists = audience === 'holder' ? [...(await uploadLists(person)), await changeOfWaiting(person)] : []
      for (const [path, address] of await follow(person.page.context(), [...further[audience], ...lists])) {
        if (pageAt(path)?.audience === audience) addresses.set(path, address)
      }
      if (audience !== 'operator') continue
      for (const [path, address] of Object.entries(await connectProvider(person))) addresses.set(path, address)
    }
  })
  afterAll(async () => {
    for (const person of people.values()) await person.leave()
  })
  const as = (audience: Who): Person => {
    const person = people.get(audience)
    if (person === undefined) throw new Error(`nobody is ${audience}`)
    return person
  }

  const shown = pages.filter(({ isFile }) => isFile !== true)
  test.each(shown.map(({ path, audience }) => [path, audience] as const))('%s', async (path, audience) => {
    const address = addresses.get(path)
    // Without an address, either no journey has created the content of the page, or no link leads to it.
    if (address === undefined) throw new Error(`no link leads to ${path}`)
    const { page } = as(audience)
    await page.goto(address)
    await look(page, path)
  })

  test.each(Object.entries(answers))('%s', async (name, { audience, get }) => {
    await get(as(audience))
    await look(as(audience).page, name)
  })
}

const schemes = ['light', 'dark'] as const

/**
 * Asserts that axe finds no violation in one colour scheme (in both with `TEST_EVERY=1`). Also asserts that no element
 * is wider than a narrow or an enlarged page.
 */
async function look(page: Tab, name: string): Promise<void> {
  const file = name.replace(/^\//, '').replace(/[^\w-]+/g, '-') || 'overview'
  await page.setViewportSize(wide)
  if ((await page.locator('[data-island="chart"]').count()) > 0) await page.locator('.plot canvas').waitFor()
  const found = { light: '', dark: '', ...{ '320 px': '', '200 %': '' } }
  for (const colorScheme of folder === undefined ? inTurn(schemes) : schemes) {
    await page.emulateMedia({ colorScheme })
    found[colorScheme] = await axe(page)
    await picture(page, `${file}-${colorScheme}`)
  }
  await page.emulateMedia({ colorScheme: 'light' })
  for (const [size, viewport] of Object.entries(narrow)) {
    await page.setViewportSize(viewport)
    found[size as keyof typeof narrow] = await page.evaluate(tooWide)
  }
  if (folder !== undefined) await page.setViewportSize(phone)
  await picture(page, `${file}-phone`)
  expect(found).toEqual({ light: '', dark: '', '320 px': '', '200 %': '' })
}

async function axe(page: Tab): Promise<string> {
  // Only violations are described, because describing each passing node would double the time of axe.
  const builder = new AxeBuilder({ page }).setLegacyMode(true).options({ resultTypes: ['violations'] })
  const { violations } = await builder.analyze()
  return violations
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`))
    .join('\n')
}

/** Runs in the page. Returns the elements that make it scroll sideways. */
function tooWide(): string {
  const { scrollWidth, clientWidth } = document.documentElement
  if (scrollWidth <= clientWidth) return ''
  const all = Array.from(document.querySelectorAll('body *'))
  const beyond = all.filter((one) => one.getBoundingClientRect().right > clientWidth + 1)
  return `${scrollWidth} px: ${beyond
    .map((one) => one.outerHTML.slice(0, 100))
    .slice(-3)
    .join('\n')}`
}

/** Saves a picture as WebP, which has half the bytes. */
async function picture(page: Tab, name: string): Promise<void> {
  if (folder === undefined) return
  const height = await page.evaluate(() => document.documentElement.scrollHeight)
  const { width } = page.viewportSize() ?? wide
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', {
    ...{ format: 'webp', quality: 80, captureBeyondViewport: true },
    clip: { x: 0, y: 0, width, height, scale: 1 },
  })
  await session.detach()
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, `${name}.webp`), Buffer.from(data, 'base64'))
}
