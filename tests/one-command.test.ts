import { until } from '@gateway/core/testing'
import { readCurlLine, runCurlLine } from './support/curl.ts'
import { dataFolder, killLeftovers, startApp, startWhatIsShipped } from './support/process.ts'

startWhatIsShipped()
afterEach(killLeftovers)

test('a first start prints a key, each line of the page for developers works with it, and messages become DELIVERED', async () => {
  const data = await dataFolder()
  try {
    const gateway = await startApp('all-in-one', { DATA_DIR: data.path, CARRIERS: 'simulator:?delayMs=100' })
    const key = await until(() => /API key {3}(\S+)/.exec(gateway.output())?.[1])
    const page = await (await fetch(`${gateway.url}/developers`)).text()
    expect(page).toContain(`GATEWAY=${gateway.url}\n`)
    const lines = [...page.matchAll(/^curl .*$/gm)].map(([line]) =>
      line
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&amp;', '&')
        .replaceAll('$KEY', key)
        .replaceAll('$GATEWAY', gateway.url),
    )
    expect(lines).toHaveLength(10)
    const run = lines.map((line) => () => runCurlLine(readCurlLine(line)))
    const [restSend, aspSend, xmlSend, restStatus, aspStatus, xmlStatus, restBalance, aspBalance, toAnswer, replies] =
      run

    expect(await restSend?.()).toContain('"accepted":true')
    expect(await aspSend?.()).toMatch(/^27825550101=\d+&$/)
    expect(await xmlSend?.()).toMatch(/<ID>\d+<\/ID>/)
    const delivered = (text: string | undefined, word: RegExp) => text?.match(word)?.length === 3
    await until(async () => delivered(await restStatus?.(), /"status":"DELIVERED"/g))
    await until(async () => delivered(await aspStatus?.(), /=DELIVERED;/g))
    await until(async () => delivered(await xmlStatus?.(), /<Status>DELIVERED<\/Status>/g))
    expect(await restBalance?.()).toContain('"creditBalance":997.0')
    expect(await aspBalance?.()).toBe('Credits=997')
    expect(await toAnswer?.()).toMatch(/^27825550188=\d+&27825550189=\d+&$/)
    let read = ''
    await until(async () => (read += (await replies?.()) ?? '').match(/CLI=/g)?.length === 2)
    expect(read).toMatch(/CLI=27825550188;[^&]*Message=Yes, thank you;/)
    expect(read).toMatch(/CLI=27825550189;[^&]*Message=STOP;/)
    expect(await replies?.()).toBe('')

    expect(await (await fetch(`${gateway.url}/developers`)).text()).toContain('The gateway runs')
    expect((await fetch(`${gateway.url}/health/live`)).status).toBe(200)
    expect((await fetch(`${gateway.url}/health/ready`)).status).toBe(200)
    expect(await gateway.stop()).toBe(0)
  } finally {
    await data.remove()
  }
}, 120_000)

test('a second start finds the data of the first, and opens no second demo account', async () => {
  const data = await dataFolder()
  try {
    const environment = { DATA_DIR: data.path, CARRIERS: 'simulator:?delayMs=0' }
    const first = await startApp('all-in-one', environment)
    const key = await until(() => /API key {3}(\S+)/.exec(first.output())?.[1])
    expect(await first.stop()).toBe(0)
    const second = await startApp('all-in-one', environment)
    const balance = await fetch(`${second.url}/api/credits.asp?apikey=${key}`)
    expect(await balance.text()).toBe('Credits=1000')
    expect(second.output()).not.toContain('API key')
    expect(await second.stop()).toBe(0)
  } finally {
    await data.remove()
  }
}, 120_000)
