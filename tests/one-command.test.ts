import { until } from '@gateway/core/testing'
import { readCurlLine, runCurlLine } from './support/curl.ts'
import { dataFolder, killLeftovers, startApp, startWhatIsShipped } from './support/process.ts'

startWhatIsShipped()
afterEach(killLeftovers)

test('a first start prints a key, each line of the page for developers works with it, messages become DELIVERED, and a second start keeps the data and opens no second demo account', async () => {
  const data = await dataFolder()
  try {
    const environment = { DATA_DIR: data.path, CARRIERS: 'simulator:?delayMs=100' }
    const gateway = await startApp('all-in-one', environment)
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
    const call = (line: string | undefined) => runCurlLine(readCurlLine(line ?? ''))
    const [restSend, aspSend, xmlSend, restStatus, aspStatus, xmlStatus, ...others] = lines
    const [restBalance, aspBalance, toAnswer, replies] = others.map((line) => () => call(line))

    const rest = await call(restSend)
    expect(rest).toContain('"accepted":true')
    const query = await call(aspSend)
    expect(query).toMatch(/^27825550101=\d+&$/)
    const answers = [rest, query, await call(xmlSend)]
    const ids = answers.map((answer) => /(?:"apiMessageId":|=|<ID>)(\d+)/.exec(answer)?.[1] ?? answer)
    // The page says to put the ids that were answered in place of 1, 2 and 3. They differ from 1, 2 and 3 after a lost
    // answer of the database, after which the process does not use the ids again.
    const putIds = (line = '') =>
      line.replace(/(?<=\[|,|=|;|<ID>)[123](?=\]|,|;|<)/g, (nth) => ids[Number(nth) - 1] ?? nth)
    for (const [line, word] of [
      [restStatus, /"status":"DELIVERED"/g],
      [aspStatus, /=DELIVERED;/g],
      [xmlStatus, /<Status>DELIVERED<\/Status>/g],
    ] as const) {
      let status = ''
      const isDelivered = async () => (status = await call(putIds(line))).match(word)?.length === 3
      await until(isDelivered).catch((problem: unknown) => {
        throw new Error(`${line}\nids ${ids.join(' ')}: ${status}\n${gateway.output()}`, { cause: problem })
      })
    }
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

    const second = await startApp('all-in-one', environment)
    expect(await (await fetch(`${second.url}/api/credits.asp?apikey=${key}`)).text()).toBe('Credits=995')
    expect(second.output()).not.toContain('API key')
    expect(await second.stop()).toBe(0)
  } finally {
    await data.remove()
  }
}, 120_000)
