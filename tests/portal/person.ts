import { strict as assert } from 'node:assert'
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import type { Credentials } from './site.ts'

/** Way of using the portal: by keyboard only, or by mouse with or without scripts. */
export type Way = 'by keyboard, with scripts' | 'by mouse, without scripts' | 'by mouse, with scripts'
/** Ways in which each journey is made. */
export const ways: readonly Way[] = ['by keyboard, with scripts', 'by mouse, without scripts']

/** Person with a browser that has its own cookies. */
export interface Person {
  readonly page: Page
  readonly hasScripts: boolean
  go(path: string): Promise<void>
  follow(link: string | RegExp): Promise<void>
  press(button: string | RegExp): Promise<void>
  /** Replaces the content of a field. */
  fill(field: string, text: string): Promise<void>
  choose(field: string, option: string): Promise<void>
  /** Waits until a text is shown. Without scripts the page is reloaded until then. */
  sees(text: string | RegExp, where?: string): Promise<void>
  heading(): Promise<string>
  signIn(credentials: Credentials): Promise<void>
  signInAsOperator(credentials: Credentials): Promise<void>
  leave(): Promise<void>
}

const waitMs = 30_000
/** More tab stops than any page has. */
const stopsMax = 150

export async function somebody(browser: Browser, url: string, way: Way): Promise<Person> {
  const hasScripts = way !== 'by mouse, without scripts'
  // Sets a locale, because the browser would otherwise use that of the machine. Charts are not shown if that locale is
  // unusual.
  const context = await browser.newContext({ baseURL: url, javaScriptEnabled: hasScripts, locale: 'en-GB' })
  context.setDefaultTimeout(waitMs)
  const page = await context.newPage()
  return way === 'by keyboard, with scripts' ? withKeyboard(context, page) : withMouse(context, page, hasScripts)
}

const link = (page: Page, name: string | RegExp): Locator =>
  page.getByRole('link', { name, exact: typeof name === 'string' }).first()
const button = (page: Page, name: string | RegExp): Locator =>
  page.getByRole('button', { name, exact: typeof name === 'string' }).first()
const field = (page: Page, name: string): Locator => page.getByLabel(name, { exact: true }).first()

function personOf(
  context: BrowserContext,
  page: Page,
  how: Pick<Person, 'hasScripts' | 'follow' | 'press' | 'fill' | 'choose' | 'sees'>,
): Person {
  const enter = async (path: string, name: string, { name: login, password }: Credentials): Promise<void> => {
    await page.goto(path)
    await how.fill(name, login)
    await how.fill('Password', password)
    await how.press('Sign in')
    await page.getByRole('navigation').waitFor()
  }
  return {
    ...how,
    page,
    go: async (path) => {
      await page.goto(path)
    },
    heading: async () => ((await page.locator('h1').first().textContent()) ?? '').replace(/\s+/g, ' ').trim(),
    signIn: (credentials) => enter('/sign-in', 'Login', credentials),
    signInAsOperator: (credentials) => enter('/operator/sign-in', 'Name', credentials),
    leave: () => context.close(),
  }
}

function withMouse(context: BrowserContext, page: Page, hasScripts: boolean): Person {
  return personOf(context, page, {
    hasScripts,
    follow: (name) => link(page, name).click(),
    press: (name) => button(page, name).click(),
    fill: (name, text) => field(page, name).fill(text),
    choose: async (name, option) => {
      await field(page, name).selectOption({ label: option })
    },
    sees: async (text, where = 'main') => {
      const found = page.locator(where).getByText(text).first()
      for (const end = Date.now() + waitMs; Date.now() < end;) {
        if (await found.isVisible()) return
        await page.waitForTimeout(200)
        if (!hasScripts) await page.reload()
      }
      assert.fail(`${String(text)} is not shown at ${page.url()}: ${await page.locator('main').innerText()}`)
    },
  })
}

function withKeyboard(context: BrowserContext, page: Page): Person {
  /** Presses Tab until the control has the focus, which must be visible. */
  async function reach(control: Locator): Promise<void> {
    await control.waitFor()
    const name = await control.evaluate((element) => element.outerHTML)
    // Presses Tab once for each control up to this one. More presses follow if a control has several tab stops.
    const steps = await control.evaluate(stepsTo)
    await Promise.all(Array.from({ length: steps }, () => page.keyboard.press('Tab')))
    for (let more = 0; more < stopsMax; more++) {
      const { isThere, ring } = await control.evaluate((element) => ({
        isThere: element === document.activeElement,
        ring: getComputedStyle(element).outlineStyle,
      }))
      if (isThere) {
        assert.notEqual(ring, 'none', `the focus of ${name} is not seen`)
        return
      }
      await page.keyboard.press('Tab')
    }
    assert.fail(`${name} cannot be reached by the Tab key at ${page.url()}`)
  }
  const pressOn = async (control: Locator, key: string): Promise<void> => {
    await reach(control)
    await page.keyboard.press(key)
  }
  return personOf(context, page, {
    hasScripts: true,
    follow: (name) => pressOn(link(page, name), 'Enter'),
    press: (name) => pressOn(button(page, name), 'Enter'),
    fill: async (name, text) => {
      const control = field(page, name)
      await reach(control)
      if ((await control.getAttribute('type')) === 'datetime-local') await typeTime(page, text)
      else {
        await page.keyboard.press('Control+A')
        await page.keyboard.insertText(text)
      }
    },
    choose: async (name, option) => {
      await reach(field(page, name))
      await page.keyboard.type(option)
    },
    sees: async (text, where = 'main') => {
      const found = page.locator(where).getByText(text).first()
      await found.waitFor().catch(async () => {
        assert.fail(`${String(text)} is not shown at ${page.url()}: ${await page.locator('main').innerText()}`)
      })
    },
  })
}

/** Runs in the page. Returns the number of controls with a tab stop between the focused control and this one. */
function stepsTo(control: Element): number {
  const all = Array.from(document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]'))
  const stops = all.filter((one) => one.checkVisibility() && one.getAttribute('type') !== 'hidden')
  const after = (one: Element): number => stops.findIndex((stop) => stop === one)
  return Math.max(
    0,
    after(control) - Math.max(-1, document.activeElement === null ? -1 : after(document.activeElement)),
  )
}

/** Types `2026-11-30T14:00` into the parts of the control: month, day and year, then hour and minute. */
async function typeTime(page: Page, text: string): Promise<void> {
  const [, year = '', month = '', day = '', hour = '', minute = ''] =
    /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)$/.exec(text) ?? []
  await page.keyboard.type(`${month}${day}${year}`)
  await page.keyboard.press('Tab')
  const late = Number(hour) >= 12
  await page.keyboard.type(`${String(Number(hour) % 12 || 12).padStart(2, '0')}${minute}${late ? 'PM' : 'AM'}`)
}
