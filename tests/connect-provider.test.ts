import { until } from '@gateway/core/testing'
import { hasBrowser, startBrowser } from './portal/browser.ts'
import { somebody } from './portal/person.ts'
import { startProviderProcess, type RunningProvider } from './support/http-provider.ts'
import { operateJson } from './support/operate.ts'
import { databaseFolder, dataFolder, killLeftovers, startApp } from './support/process.ts'

afterAll(killLeftovers)

const testIt = hasBrowser
  ? test.each(['by mouse, without scripts', 'by keyboard, with scripts'] as const)
  : test.skip.each([''])

/** Seconds in which a new user gets from a fresh start to a delivered message. */
const secondsMax = 120

testIt(
  'a new user connects a provider at the portal, and a message is delivered through it, %s',
  async (way) => {
    const [data, folder, browser] = await Promise.all([databaseFolder(), dataFolder(), startBrowser()])
    const provider: RunningProvider = await startProviderProcess(folder.path, 'twilio', ['receiptDelay=200'])
    const begin = performance.now()
    const app = await startApp('all-in-one', { DATA_DIR: data.path })
    const environment = { DATA_DIR: data.path }
    const link = await until(() => /^ *(http\S+\/link\?token=\S+)$/m.exec(app.output())?.[1])
    const added = ['operator', 'add', 'ann', '--role', 'admin', '--generate']
    const { password } = await operateJson<{ password: string }>(added, environment)
    const token = 'hidden-token-of-twilio'

    const ann = await somebody(browser, app.url, way as Parameters<typeof somebody>[2])
    await ann.signInAsOperator({ name: 'ann', password })
    await ann.follow('Carriers')
    await ann.follow('Connect a provider, or see its connection')
    await ann.follow('Twilio')
    await ann.fill('Account SID', 'AC0123')
    await ann.fill('Auth token', token)
    await ann.fill('Sender', '+15005550006')
    await ann.fill('Base URL, if it is not the usual one', `http://127.0.0.1:${provider.port}`)
    await ann.press('Connect')
    await ann.sees('Connection of twilio, to Twilio', 'h1')
    await ann.sees(`${app.url}/carriers/twilio/callback`, 'code')
    expect(await ann.page.content()).not.toContain(token)
    await ann.fill('Number of your own phone', '27825550100')
    await ann.press('Send a test message')
    await ann.page.getByText('Twilio accepted the message. It is on its way to the phone.').waitFor()
    await ann.press('Start sending over twilio')
    await ann.sees('The carrier is started. The dispatchers send over it within seconds.')

    const holder = await somebody(browser, app.url, way as Parameters<typeof somebody>[2])
    await holder.go(link)
    await holder.press('Sign in')
    await holder.follow('Send')
    await holder.fill('Text', 'Your parcel is at the counter.')
    await holder.fill('Numbers', '27825550101')
    await holder.press('Check before sending')
    await holder.press('Send 1 message now')
    await holder.sees(/^delivered$/, '#messages')
    const seconds = (performance.now() - begin) / 1000
    process.stderr.write(`NOTICE: ${way}: a delivered message ${seconds.toFixed(1)} s after a fresh start\n`)
    expect(seconds).toBeLessThan(secondsMax)

    const lines = await provider.journal()
    expect(lines.filter(({ event }) => event === 'message').map(({ to }) => to)).toEqual(['27825550100', '27825550101'])
    expect(app.output()).not.toContain(token)

    expect(await app.stop()).toBe(0)
    await provider.stop()
    await browser.close()
    await data.remove()
    await folder.remove()
  },
  240_000,
)
