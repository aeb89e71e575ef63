import { gzipSync } from 'node:zlib'
import { testChance, totpCode, until } from '@gateway/core/testing'
import type { Browser } from 'playwright-core'
import { inTurn } from '../support/in-turn.ts'
import { runsGroup } from '../support/runs-group.ts'
import { makeWorkbook } from '../../apps/portal/testing/make-workbook.ts'
import { somebody, ways, type Person, type Way } from './person.ts'
import type { Credentials, Site } from './site.ts'

/** Environment of the journeys. */
export interface World {
  readonly browser: Browser
  readonly site: Site
}

/** A run without the group `browsers` walks every third journey. */
const shareOfJourneys = 3

let last = 0
/** Returns an unused number whose ending determines the outcome of a message to it. */
const aNumber = (ending = '01'): string => `2782${String(1000 + ++last).padStart(5, '0')}${ending}`

export function journeys(world: () => World): void {
  const people: Person[] = []
  afterEach(async () => {
    for (const person of people.splice(0)) await person.leave()
  })
  const enter = async (way: Way): Promise<Person> => {
    const person = await somebody(world().browser, world().site.url, way)
    people.push(person)
    return person
  }
  const holder = async (way: Way): Promise<Person> => {
    const person = await enter(way)
    await person.signIn(world().site.holder)
    return person
  }
  const operator = async (
    way: Way,
    credentials: (site: Site) => Credentials = ({ admin }) => admin,
  ): Promise<Person> => {
    const person = await enter(way)
    await person.signInAsOperator(credentials(world().site))
    return person
  }

  test('the link that the first start prints opens the overview once', async () => {
    const person = await enter('by keyboard, with scripts')
    await person.go(world().site.link)
    await person.press('Sign in')
    await person.sees('You have not sent anything yet', '#latest')
    const other = await enter('by mouse, without scripts')
    await other.go(world().site.link)
    await other.press('Sign in')
    await other.sees('This link was already used')
  })

  test('a page with everything that it loads has at most 60 kB, compressed', async () => {
    const person = await holder('by mouse, with scripts')
    const { page } = person
    // Leaves the previous page first, so that its pending requests are not counted.
    await page.goto('about:blank')
    const loaded = new Set<string>()
    page.on('request', (request) => {
      if (request.resourceType() !== 'eventsource') loaded.add(request.url())
    })
    await page.goto('/send', { waitUntil: 'networkidle' })
    expect([...loaded]).toContainEqual(expect.stringMatching(/\/assets\/counter\.js$/))
    for (const url of loaded) expect(url).toMatch(world().site.url)
    // The browser may have discarded the bodies by now, so each URL is requested again.
    const bytes = await Promise.all(
      [...loaded].map(async (url) => gzipSync(await (await page.request.get(url)).body()).length),
    )
    expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(60_000)
  })

  test('a send is seen to become delivered without a reload', async () => {
    const person = await holder('by keyboard, with scripts')
    const number = aNumber()
    await send(person, number, 'Your parcel is at the counter.')
    await person.page.evaluate(() => document.body.setAttribute('data-loaded-once', ''))
    await person.sees('delivered', '#messages')
    expect(await person.page.locator('body[data-loaded-once]').count()).toBe(1)
    await person.follow(number)
    await person.sees(/The carrier accepted it as/)
  })

  const turn = testChance().below(shareOfJourneys)
  let journeyCount = 0
  /**
   * Registers a journey in one of the two ways, which the seed of the run chooses, or in both with `TEST_EVERY=1`. A
   * run without the group `browsers` registers only a share of the journeys, which the seed also chooses.
   */
  const journey = (title: string, walk: (way: Way) => Promise<void>): void => {
    const isInTurn = journeyCount++ % shareOfJourneys === turn
    if (isInTurn || runsGroup('browsers')) test.each(inTurn(ways))(`${title}, %s`, walk)
  }

  journey('signing in and out; a wrong password', async (way) => {
    const person = await enter(way)
    await person.go('/messages')
    await person.fill('Login', world().site.holder.name)
    await person.fill('Password', 'wrong')
    await person.press('Sign in')
    await person.sees('There is a problem')
    await person.fill('Password', world().site.holder.password)
    await person.press('Sign in')
    await person.sees('Messages', 'h1')
    await person.press('Sign out')
    await person.sees('Sign in', 'h1')
    await person.go('/messages')
    await person.sees('Sign in', 'h1')
  })

  journey('a quote with what is refused, the send, what became of it, and the story of a message', async (way) => {
    const person = await holder(way)
    const [good, bad] = [aNumber(), aNumber('90')]
    await person.follow('Send')
    if (person.hasScripts) {
      await person.fill('Text', 'Şimdi “%10” indirim')
      await person.sees('Because of Ş a part has room for 70 characters', '#field-text-hint')
    }
    await person.fill('Text', 'Sale starts tomorrow at 8. Your card gives 10 % off.')
    if (person.hasScripts) await person.sees('52 characters, 1 part.', '#field-text-hint')
    await person.fill('Numbers', `${good}\n${bad}\n0825-55\n${good}`)
    await person.page.locator('summary', { hasText: 'More options' }).click()
    await person.fill('Category (optional)', 'sale')
    if (person.hasScripts) await person.sees('2 messages, 1 part each: 2.0 credits.', '#quote')
    const before = await person.page.locator('#balance').innerText()
    await person.press('Check before sending')
    await person.sees('Nothing has been sent or charged yet.')
    await person.sees('Begins with 0: the country code is missing')
    await person.sees('The number is in the list already')
    await person.sees('Category:')
    expect(await person.page.locator('#balance').innerText()).toBe(before)
    await person.press('Send 2 messages now')
    await person.sees('2 messages accepted', 'h1')
    await person.sees('2 numbers got no message and cost nothing')
    await person.sees('not delivered', '#messages')
    await person.sees(/^delivered$/, '#messages')
    // The back button leads to the sent message and does not send again.
    const charged = await person.page.locator('#balance').innerText()
    const result = person.page.url()
    await person.page.goBack()
    await person.sees('2 messages accepted', 'h1')
    expect(person.page.url()).toBe(result)
    await person.page.reload()
    expect(await person.page.locator('#balance').innerText()).toBe(charged)
    await person.follow(bad)
    await person.sees(/Accepted: 1 part, 1\.0 credits charged/)
    await person.sees('The carrier could not deliver it.')
    await person.sees('SENDINGFAILED 103')
  })

  journey('a message is found by its number; one that waits for its time is cancelled', async (way) => {
    const person = await holder(way)
    const number = aNumber()
    await person.follow('Send')
    await person.fill('Text', 'See you at the opening.')
    await person.fill('Numbers', number)
    await person.fill('Time (optional)', '2027-11-30T14:30')
    await person.press('Check before sending')
    await person.press('Send 1 message at 30 November 2027, 14:30')
    await person.sees('scheduled', '#messages')
    await person.follow('Messages')
    await person.fill('Search', number)
    await person.press('Search')
    await person.sees(/^Message \d+ to/, 'h1')
    await person.follow('Change the text or the time')
    await person.fill('Text', 'See you at the opening at 2.')
    await person.press('Change the message')
    await person.sees('The message was changed')
    await person.press('Cancel this message')
    await person.sees('The message was cancelled')
    await person.sees('1.0 credits were returned.')
  })

  journey('a list in a file is checked row by row, and sent in the background', async (way) => {
    const person = await holder(way)
    const rows = Array.from({ length: 40 }, () => `${aNumber()};Nomsa`)
    const buffer = Buffer.from(['number;name', ...rows, '0825-55;Ben'].join('\n'))
    await person.go('/templates')
    await person.fill('Name', `Parcel ${ways.indexOf(way)}`)
    await person.fill('Text', 'Dear {name}, your parcel is at the counter.')
    await person.press('Add the template')
    await person.follow('Send messages')
    await person.choose('Template', `Parcel ${ways.indexOf(way)}`)
    await person.press('Use')
    await person.page.locator('input[type="file"]').setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer })
    // The preview moves the button when it appears, and a click at that moment has no effect.
    if (person.hasScripts) await person.page.locator('#preview blockquote').waitFor()
    await person.press('Check before sending')
    await person.sees('1 row will not be sent to')
    await person.sees('Dear Nomsa, your parcel is at the counter.')
    await person.fill('Your number', aNumber())
    await person.press('Send a test')
    await person.sees(/^The test was sent to/)
    await person.fill('Show the message of row', '42')
    await person.press('Show')
    await person.sees('Row 42 gets no message.')
    if (person.hasScripts) {
      await person.follow('Change it')
      await person.fill('Text', 'Your parcel is here, ')
      await person.press('{name}')
      await person.sees('Your parcel is here, Nomsa', 'blockquote')
      await person.press('Check before sending')
    }
    // Leaves one list waiting, because the tests of all pages need one.
    if (!person.hasScripts) return
    await person.press('Send 40 messages now')
    await person.sees(/delivered/i)
  })

  journey(
    'a list of a spreadsheet: its column is chosen, and numbers are shown as written and as sent to',
    async (way) => {
      const person = await holder(way)
      const [first, second, third] = [aNumber(), aNumber(), aNumber()]
      const office = Array.from({ length: 4 }, () => aNumber())
      const rows = [
        ['Ann', `${first}.0`, office[0]],
        ['Ben', `+27 (0)${second.slice(2)}`, office[1]],
        ['Cid', '2.78200E+10', office[2]],
        ['', third, office[3]],
      ]
      const buffer = Buffer.from(['full name, first;Mobile;Work phone', ...rows.map((row) => row.join(';'))].join('\n'))
      await person.follow('Send')
      await person.fill('Text', 'Dear {full name, first}, the shop is open.')
      await person.fill('Time (optional)', '2025-11-30T14:30')
      await person.page.locator('input[type="file"]').setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer })
      if (person.hasScripts) await person.page.locator('#preview blockquote').waitFor()
      await person.press('Check before sending')
      await person.sees('Several columns of your file could be the numbers')
      await person.choose('Column of the numbers', 'Mobile')
      await person.press('Use this column')
      await person.sees('The time that you chose has passed: 30 November 2025, 14:30.')
      await person.sees('2 rows will not be sent to')
      await person.sees('A spreadsheet rounded the number and digits are lost')
      await person.sees('A field of the text has no value in this row')
      await person.sees('2 numbers were cleaned up')
      await person.sees(`+27 (0)${second.slice(2)}`)
      await person.press('Send 2 messages at once')
      await person.sees('2 messages accepted', 'h1')
      await person.follow('Sends')
      await person.follow('Drafts')
      await person.sees('Sends that were prepared but not sent.')
    },
  )

  journey('a workbook whose numbers have no country code is read in the country of the account', async (way) => {
    const person = await holder(way)
    const setCountry = async (code: string): Promise<void> => {
      await person.go('/settings/country')
      await person.fill('Calling code', code)
      await person.press('Store')
      await person.sees('The setting is stored.')
    }
    await setCountry('27')
    const number = aNumber()
    const row = (...cells: readonly string[]): string =>
      `<row>${cells.map((text) => `<c t="inlineStr"><is><t>${text}</t></is></c>`).join('')}</row>`
    const buffer = makeWorkbook({ rows: row('Name', 'Mobile') + row('', `0${number.slice(2)}`) })
    await person.follow('Send')
    await person.fill('Text', 'Dear {name|customer}, we open at 8.')
    await person.page.locator('input[type="file"]').setInputFiles({ name: 'a.xlsx', mimeType: '', buffer })
    if (person.hasScripts) await person.page.locator('#preview blockquote').waitFor()
    await person.press('Check before sending')
    await person.sees('Dear customer, we open at 8.')
    await person.sees('1 number was cleaned up')
    await person.sees(`0${number.slice(2)}`)
    await person.press('Send 1 message now')
    await person.sees('1 message accepted', 'h1')
    await person.sees(number, '#messages')
    await setCountry('')
  })

  journey('an owner invites somebody, who chooses a password and signs in, and is locked', async (way) => {
    const owner = await holder(way)
    const email = `ann-${++last}@acme.example`
    await owner.follow('Settings')
    await owner.follow('Users')
    await owner.fill('E-mail', email)
    await owner.press('Make a link')
    await owner.sees(`A link for ${email}`, 'h1')
    const ann = await enter(way)
    await ann.go((await owner.page.locator('a.secret').getAttribute('href')) ?? '')
    await ann.fill('Password', 'ann-likes-tea')
    await ann.fill('Password again', 'ann-likes-tea')
    await ann.press('Set the password')
    await ann.sees('Your password is set', 'h1')
    await ann.follow('Sign in')
    await ann.fill('Login', email)
    await ann.fill('Password', 'ann-likes-tea')
    await ann.press('Sign in')
    await ann.sees(email, 'header')
    await owner.follow('I have copied it')
    await owner.follow(email)
    await owner.press('Lock')
    await owner.sees('The user was changed.')
    await ann.go('/messages')
    await ann.sees('Sign in', 'h1')
  })

  journey('support looks at the pages of an account, and stops', async (way) => {
    const person = await operator(way, ({ support }) => support)
    await person.go(`/operator/accounts/${world().site.acme.id}`)
    await person.press('View its pages')
    await person.sees(/you are viewing account/, '.acting')
    await person.follow('Settings')
    await person.sees(/Your role may look at this/)
    await person.press('Stop viewing')
    await person.sees(`Account ${world().site.acme.id}`, 'h1')
  })

  journey('a list of 10 000 rows with fields is stopped in the middle, and what was accepted is told', async (way) => {
    const person = await enter(way)
    await person.signIn(world().site.acme)
    const rows = Array.from({ length: 10_000 }, (_, i) => `${27830000000 + i};Nomsa ${i}`)
    const buffer = Buffer.from(['number;name', ...rows].join('\n'))
    await person.go('/send')
    await person.fill('Text', 'Dear {name}, your parcel is at the counter.')
    await person.fill('Time (optional)', '2027-11-30T14:30')
    await person.page.locator('input[type="file"]').setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer })
    // The preview moves the button when it appears, and a click at that moment has no effect.
    if (person.hasScripts) await person.page.locator('#preview blockquote').waitFor()
    await person.press('Check before sending')
    await person.sees('Dear Nomsa 0, your parcel is at the counter.')
    // The account may send to at most 400 numbers a second, so the send is still running when it is stopped.
    await person.press(/^Send 10\s000 messages/)
    await person.press('Stop')
    await person.sees(/^\S+\s?\S* messages? accepted/, 'h1')
    await person.sees('Stopped before its turn')
    const figures = (await person.page.locator('.figures').first().innerText()).replace(/[^\S\n]/g, '')
    const [accepted = NaN, remaining = NaN] = Array.from(figures.matchAll(/^([0-9]+)$/gm), ([, figure]) =>
      Number(figure),
    )
    expect(accepted + remaining).toBe(10_000)
    expect(remaining).toBeGreaterThan(0)
    const file = await person.page
      .context()
      .request.get(new URL(person.page.url()).pathname.replace(/sent$/, 'refused'))
    expect((await file.text()).trim().split('\r\n')).toHaveLength(remaining + 1)
  })

  test('the page of a running send offers the results and the cancellation without a reload', async () => {
    const person = await enter('by mouse, with scripts')
    await person.signIn(world().site.acme)
    // The account may send to at most 400 numbers a second, so the page is open while the send runs.
    const numbers = Array.from({ length: 2000 }, (_, i) => `${27840000000 + i}`)
    const buffer = Buffer.from(['number', ...numbers].join('\n'))
    await person.go('/send')
    await person.fill('Text', 'The counter closes at noon.')
    await person.fill('Time (optional)', '2027-11-30T14:30')
    await person.page.locator('input[type="file"]').setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer })
    await person.page.locator('#preview blockquote').waitFor()
    await person.press('Check before sending')
    await person.press(/^Send 2\s000 messages/)
    await person.page.locator('#stop button').waitFor()
    await person.page.evaluate(() => document.body.setAttribute('data-loaded-once', ''))
    await person.page.locator('#further').getByText('Download the results as CSV').waitFor()
    await person.page
      .locator('#cancel')
      .getByText(/^Cancel 2\s000 messages/)
      .waitFor()
    expect(await person.page.locator('#stop button').count()).toBe(0)
    expect(await person.page.locator('body[data-loaded-once]').count()).toBe(1)
    await person.press(/^Cancel 2\s000 messages/)
    await person.page.locator('#cancel button').waitFor({ state: 'detached' })
  })

  journey('a second factor is set up, asked for when signing in, and removed', async (way) => {
    const { acme } = world().site
    const person = await enter(way)
    await person.signIn(acme)
    await person.go('/settings/security')
    await person.fill('Your password', acme.password)
    await person.press('Set up a second factor')
    const secret = (await person.page.locator('code.secret').innerText()).replaceAll(' ', '')
    const code = (later: number) => totpCode(secret, Math.floor(Date.now() / 30_000) + later)
    await person.fill('Code', code(0))
    await person.press('Set it up')
    const recovery = await person.page.locator('.codes code').first().innerText()
    await person.press('Sign out')
    await person.fill('Login', acme.name)
    await person.fill('Password', acme.password)
    await person.press('Sign in')
    // Each code is accepted once, so the next one is used.
    await person.fill('Code', code(1))
    await person.press('Sign in')
    await person.page.getByRole('navigation').waitFor()
    await person.go('/settings/security')
    await person.fill('Code', recovery)
    await person.press('Remove the second factor')
    await person.sees('The second factor is removed.')
  })

  journey('an answer comes in, and is answered', async (way) => {
    const person = await holder(way)
    const number = aNumber('88')
    await send(person, number, 'Shall we deliver today?')
    await person.go('/inbox')
    // Inbound messages appear when the page is loaded again.
    await until(async () => {
      await person.page.reload()
      return (await person.page.getByText(number).count()) > 0
    }, 30_000)
    await person.sees('Yes, thank you')
    await person.follow(number)
    await person.sees('Shall we deliver today?')
    await person.fill('Text', 'It is on its way.')
    if (person.hasScripts) {
      await person.sees('17 characters, 1 part.', '#field-text-hint')
      await person.page.evaluate(() => document.body.setAttribute('data-loaded-once', ''))
    }
    await person.press('Send the answer')
    await person.sees('It is on its way.', '.conversation')
    // The page was not reloaded, and the field is empty and focused for the next reply.
    if (person.hasScripts) {
      expect(await person.page.locator('body[data-loaded-once]').count()).toBe(1)
      expect(await person.page.locator('#field-text:focus').inputValue()).toBe('')
    }
    // The earlier messages have no mark `as read`, so nobody had read them before the answer.
    expect(await person.page.getByText('as read').count()).toBe(0)
  })

  journey('a number is opted out, which a quote says, and may be written to again', async (way) => {
    const person = await holder(way)
    const number = aNumber()
    await person.follow('Opt-outs')
    await person.fill('Add a number', `+${number}`)
    await person.press('Opt out')
    await person.sees('The number is opted out')
    await person.follow('Send')
    await person.fill('Text', 'Hello')
    await person.fill('Numbers', number)
    await person.press('Check before sending')
    await person.sees('Opted out')
    expect(await person.page.getByRole('button', { name: /^Send / }).count()).toBe(0)
    await person.follow('Opt-outs')
    await person.press(`Allow again ${number}`)
    await person.sees('You can write to the number again.')
  })

  journey('a key is shown once, works, and is revoked', async (way) => {
    const person = await holder(way)
    await person.follow('Settings')
    await person.fill('Label', 'till 7')
    await person.press('Make a key')
    const key = await person.page.locator('.secret').innerText()
    const balance = () => fetch(`${world().site.url}/api/rest/v1/credits/balance`, { headers: { Authorization: key } })
    expect((await balance()).status).toBe(200)
    await person.follow('I have copied it')
    expect(await person.page.getByText(key).count()).toBe(0)
    await person.follow('Revoke')
    await person.press('Revoke the key')
    await person.sees('The key is revoked.')
    await until(async () => (await balance()).status === 401, 30_000)
  })

  journey('a webhook that fails shows each request; when it answers again what it missed comes', async (way) => {
    const { receiver } = world().site
    const person = await holder(way)
    await person.follow('Settings')
    await person.follow('Webhooks')
    receiver.mode = 'error'
    await person.fill('Address', `${receiver.url}${ways.indexOf(way)}`)
    await person.press('Add the webhook')
    await person.sees('Copy it now.')
    await person.follow('I have copied it')
    await person.press('Send a test')
    await person.sees('A test is on its way.')
    await person.sees('failed', '#attempts')
    receiver.mode = 'ok'
    await person.press('Send a test')
    await person.sees('delivered', '#attempts')
    await person.follow('Remove')
    await person.press('Remove the webhook')
    await person.sees('The webhook was removed')
    // Keep one webhook for the pages that are checked later.
    await person.fill('Address', `${receiver.url}${ways.indexOf(way)}`)
    await person.press('Add the webhook')
    await person.sees('Copy it now.')
  })

  journey('an SMPP credential is made, gets a new password and is removed', async (way) => {
    const person = await holder(way)
    await person.follow('Settings')
    await person.follow('SMPP')
    await person.press('Make a credential')
    await person.sees('Copy it now.')
    const password = await person.page.locator('code.secret').innerText()
    await person.follow('I have copied it')
    expect(await person.page.getByText(password).count()).toBe(0)
    const systemId = await person.page.locator('tbody a').first().innerText()
    await person.follow(systemId)
    await person.press('Make a new password')
    await person.sees('Copy it now.')
    expect(await person.page.locator('code.secret').innerText()).not.toBe(password)
    await person.follow('I have copied it')
    await person.follow(systemId)
    await person.follow('Remove it')
    await person.press('Remove it')
    await person.sees('The credential was removed.')
    // Keep one credential for the pages that are checked later.
    await person.press('Make a credential')
    await person.sees('Copy it now.')
  })

  journey('credits are moved to a sub account', async (way) => {
    const person = await holder(way)
    await person.follow('Accounts')
    await person.fill('Whole credits', '7')
    await person.press('Move credits')
    await person.sees('The credits were moved.')
    await person.follow('Statement')
    await person.sees('7.0')
  })

  journey('an operator adds credits with a reason, which the holder and the audit log are told', async (way) => {
    const person = await operator(way)
    await person.follow('Accounts')
    await person.follow('1')
    await person.fill('Credits', '500')
    await person.fill('Reason', `paid by invoice 77${ways.indexOf(way)}`)
    await person.press('Change the balance')
    await person.sees('500.0')
    await person.follow('Audit')
    await person.sees('ann')
    await person.press('Verify all entries')
    await person.sees(/^All .* entries are intact/)
    const holderPage = await holder(way)
    await holderPage.follow('Statement')
    await holderPage.sees(`paid by invoice 77${ways.indexOf(way)}`)
  })

  journey('a locked account feels it at once, and cannot sign in', async (way) => {
    const { acme } = world().site
    const [person, holderPage] = [await operator(way), await enter(way)]
    await holderPage.signIn(acme)
    await person.go(`/operator/accounts/${acme.id}`)
    await person.press('Lock this account')
    await person.sees('locked')
    if (!holderPage.hasScripts) await holderPage.follow('Messages')
    await holderPage.sees('Sign in', 'h1')
    await holderPage.fill('Login', acme.name)
    await holderPage.fill('Password', acme.password)
    await holderPage.press('Sign in')
    await holderPage.sees('This account is locked.')
    await person.press('Unlock this account')
    await person.sees('open')
  })

  journey('a carrier is paused and resumed: what is sent meanwhile waits', async (way) => {
    const [person, holderPage] = [await operator(way), await holder(way)]
    await person.follow('Carriers')
    await person.follow('simulator')
    await person.press(/^Pause/)
    await person.sees(/^It is paused since/)
    await until(async () => {
      await person.page.reload()
      return (await person.page.locator('.state').first().innerText()) === 'paused'
    }, 30_000)
    await send(holderPage, aNumber(), 'Our shop is closed on Monday.')
    await holderPage.sees('waiting', '#messages')
    await person.press('Resume')
    await holderPage.sees('delivered', '#messages')
  })

  journey('whoever is support reads, and changes no money', async (way) => {
    const person = await operator(way, ({ support }) => support)
    await person.go('/operator/accounts/1')
    await person.sees('Lock this account')
    expect(await person.page.getByRole('button', { name: 'Change the balance' }).count()).toBe(0)
  })
}

async function send(person: Person, number: string, text: string): Promise<void> {
  await person.follow('Send')
  await person.fill('Text', text)
  await person.fill('Numbers', number)
  await person.press('Check before sending')
  await person.press('Send 1 message now')
  await person.sees('1 message accepted', 'h1')
}
